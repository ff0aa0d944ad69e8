//! Secrets, from the environment and from a file. Those that workflows may name belong to a workspace and say where they
//! may be sent; the server's own keys are kept apart, and no workflow reaches them.
//!
//! ```toml
//! [server]
//! SIGNING_KEY = "whsec_…"
//!
//! [workspaces.default.STRIPE]
//! valueFrom = "env:STRIPE_KEY"
//! hosts = ["api.stripe.com"]
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use abide_core::id::WorkspaceId;
use abide_engine::secrets::{HOSTS_PREFIX, PREFIX};
use abide_engine::{SIGNING_KEY, Secret, Secrets, SecretsError};
use abide_store::Workspace;
use serde::Deserialize;

/// What is wrong with the secrets that were given. It never shows a value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadSecrets {
    #[error("the secrets' file `{path}` cannot be read: {why}")]
    Unreadable { path: String, why: String },
    #[error(
        "the secrets' file `{path}`: {why}; it would look like\n  [workspaces.default.STRIPE]\n  value = \"…\"\n  hosts = [\"api.stripe.com\"]"
    )]
    NotSecrets { path: String, why: String },
    #[error("secret `{name}`: give either `value` or `valueFrom`")]
    OneValue { name: String },
    #[error(
        "secret `{name}`: `{from}` is not where a value comes from; it would look like `env:NAME` or `file:/run/secrets/name`"
    )]
    BadSource { name: String, from: String },
    #[error("secret `{name}`: {from} cannot be read: {why}")]
    Source { name: String, from: String, why: String },
    #[error(
        "secret `{name}` says nowhere where it may be sent, so any workflow could send it anywhere; set {HOSTS_PREFIX}{name} to \
         hosts such as `api.example.com`, or to `*` if that is meant"
    )]
    NoHosts { name: String },
    #[error("{HOSTS_PREFIX}{0} is set, and there is no secret {PREFIX}{0}")]
    StrayHosts(String),
    #[error("`{0}` is a key of the server itself; it belongs under [server], where no workflow reaches it")]
    OwnKey(String),
    #[error(transparent)]
    Secret(#[from] SecretsError),
}

/// All secrets that were given.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// The server's own keys: what it signs with, what it pays models with.
    own: BTreeMap<String, Secret>,
    named: Vec<Named>,
}

/// A secret that workflows of a workspace may name.
#[derive(Debug)]
struct Named {
    /// The workspace's name or id.
    workspace: String,
    name: String,
    value: String,
    hosts: Vec<String>,
}

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    server: BTreeMap<String, String>,
    #[serde(default)]
    workspaces: BTreeMap<String, BTreeMap<String, Entry>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    value: Option<String>,
    value_from: Option<String>,
    hosts: Vec<String>,
}

const DEFAULT: &str = "default";

impl Given {
    /// What is in the environment comes before what is in the file. `own` are the names of the server's own keys.
    pub(crate) fn read(
        variables: &[(String, String)],
        file: Option<&Path>,
        own: &BTreeSet<String>,
    ) -> Result<Given, BadSecrets> {
        let mut given = Given::default();
        given.add_variables(variables, own)?;
        if let Some(path) = file {
            given.add_file(path, variables, own)?;
        }
        Ok(given)
    }

    fn add_variables(
        &mut self,
        variables: &[(String, String)],
        own: &BTreeSet<String>,
    ) -> Result<(), BadSecrets> {
        let hosts_of: BTreeMap<&str, &str> = variables
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix(HOSTS_PREFIX)?, value.as_str())))
            .collect();
        let mut known = BTreeSet::new();
        for (variable, value) in variables.iter().filter(|(name, _)| !name.starts_with(HOSTS_PREFIX)) {
            let Some(name) = variable.strip_prefix(PREFIX) else { continue };
            known.insert(name);
            if own.contains(name) {
                self.own.insert(name.to_owned(), Secret::new(value));
                continue;
            }
            let hosts = hosts_of.get(name).ok_or_else(|| BadSecrets::NoHosts { name: name.to_owned() })?;
            let hosts = hosts.split([',', ' ']).filter(|host| !host.is_empty()).map(str::to_owned).collect();
            let (workspace, name, value) = (DEFAULT.to_owned(), name.to_owned(), value.clone());
            self.named.push(Named { workspace, name, value, hosts });
        }
        match hosts_of.keys().find(|name| !known.contains(**name)) {
            Some(stray) => Err(BadSecrets::StrayHosts((*stray).to_owned())),
            None => Ok(()),
        }
    }

    fn add_file(
        &mut self,
        path: &Path,
        variables: &[(String, String)],
        own: &BTreeSet<String>,
    ) -> Result<(), BadSecrets> {
        let shown = path.display().to_string();
        let unreadable =
            |error: std::io::Error| BadSecrets::Unreadable { path: shown.clone(), why: error.to_string() };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        // What a parser says may quote the line, and a line may hold a value.
        let why = |line: Option<usize>| match line {
            Some(line) => format!("line {line} is not as it should be"),
            None => "it is not as it should be".to_owned(),
        };
        let document: Result<Document, String> = if is_json {
            serde_json::from_str(&text).map_err(|error| why(Some(error.line())))
        } else {
            toml::from_str(&text).map_err(|error| {
                let line = error.span().map(|span| text[..span.start.min(text.len())].lines().count().max(1));
                why(line)
            })
        };
        let document = document.map_err(|why| BadSecrets::NotSecrets { path: shown.clone(), why })?;
        crate::private::warn_if_shared(path);
        for (name, value) in document.server {
            self.own.entry(name).or_insert_with(|| Secret::new(value));
        }
        for (workspace, secrets) in document.workspaces {
            for (name, entry) in secrets {
                if workspace == DEFAULT && own.contains(&name) {
                    return Err(BadSecrets::OwnKey(name));
                }
                let Entry { value, value_from, hosts } = entry;
                let value = match (value, value_from) {
                    (Some(value), None) => value,
                    (None, Some(from)) => read_from(&name, &from, variables)?,
                    (Some(_), Some(_)) | (None, None) => return Err(BadSecrets::OneValue { name }),
                };
                self.named.push(Named { workspace: workspace.clone(), name, value, hosts });
            }
        }
        Ok(())
    }

    /// One of the server's own keys.
    pub(crate) fn own(&self, name: &str) -> Option<&Secret> {
        self.own.get(name)
    }

    /// As the engine takes them. A workspace that is not there yet is told about, and its secrets wait for a restart.
    pub(crate) fn for_workflows(&self, workspaces: &[Workspace]) -> Result<Secrets, BadSecrets> {
        let mut secrets = Secrets::default();
        for Named { workspace, name, value, hosts } in &self.named {
            let is_meant =
                |known: &&Workspace| known.name == *workspace || known.id.to_string() == *workspace;
            let found = match workspace.as_str() {
                DEFAULT => Some(WorkspaceId::DEFAULT),
                _ => workspaces.iter().find(is_meant).map(|known| known.id),
            };
            match found {
                Some(id) => secrets.insert(id, name, value.clone(), hosts.iter().map(String::as_str))?,
                None => {
                    // Whatever is wrong with it is told now, not when the workspace is made.
                    let mut checked = Secrets::default();
                    checked.insert(
                        WorkspaceId::DEFAULT,
                        name,
                        value.clone(),
                        hosts.iter().map(String::as_str),
                    )?;
                    tracing::warn!(
                        workspace,
                        secret = name,
                        "there is no such workspace yet; make it and start again"
                    );
                }
            }
        }
        Ok(secrets)
    }

    /// Names and where each may be sent, for people: `(workspace, name, hosts)`, the server's own first.
    pub(crate) fn listed(&self) -> Vec<(String, String, String)> {
        let own =
            self.own.keys().map(|name| ("(server)".to_owned(), name.clone(), "the server's own".to_owned()));
        let named = self
            .named
            .iter()
            .map(|named| (named.workspace.clone(), named.name.clone(), named.hosts.join(", ")));
        own.chain(named).collect()
    }
}

/// The names of the server's own keys, with those of these providers of models.
pub(crate) fn own_names(key_names: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    key_names.into_iter().chain([SIGNING_KEY.to_owned()]).collect()
}

fn read_from(name: &str, from: &str, variables: &[(String, String)]) -> Result<String, BadSecrets> {
    let failed =
        |why: &str| BadSecrets::Source { name: name.to_owned(), from: from.to_owned(), why: why.to_owned() };
    match from.split_once(':') {
        Some(("env", variable)) => {
            let found = variables.iter().find(|(known, _)| known == variable);
            found.map(|(_, value)| value.clone()).ok_or_else(|| failed("it is not set"))
        }
        Some(("file", path)) => {
            let text = std::fs::read_to_string(path).map_err(|error| failed(&error.to_string()))?;
            Ok(text.trim_end_matches(['\r', '\n']).to_owned())
        }
        Some(_) | None => Err(BadSecrets::BadSource { name: name.to_owned(), from: from.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(variables: &[(&str, &str)], file: Option<&str>) -> Result<Given, BadSecrets> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.toml");
        std::fs::write(&path, file.unwrap_or_default()).unwrap();
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let own = own_names(["OPENAI_API_KEY".to_owned()]);
        Given::read(&variables, file.map(|_| path.as_path()), &own)
    }

    fn team() -> Workspace {
        Workspace { id: WorkspaceId(1), name: "team".to_owned(), created_at: jiff::Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn secrets_belong_to_a_workspace_and_name_their_hosts() {
        let file = r#"
            [server]
            SIGNING_KEY = "whsec_x"
            [workspaces.default.STRIPE]
            value = "from the file"
            hosts = ["*.stripe.com"]
            [workspaces.team.STRIPE]
            valueFrom = "env:TEAM_STRIPE"
            hosts = ["api.stripe.com"]
            [workspaces.later.KEY]
            value = "x"
            hosts = ["*"]
        "#;
        let variables = [
            ("ABIDE_SECRET_STRIPE", "from the environment"),
            ("ABIDE_SECRET_HOSTS_STRIPE", "api.stripe.com, files.stripe.com"),
            ("ABIDE_SECRET_OPENAI_API_KEY", "sk-own"),
            ("TEAM_STRIPE", "theirs"),
        ];
        let given = given(&variables, Some(file)).unwrap();
        let secrets = given.for_workflows(&[team()]).unwrap();
        let ours = secrets.get(WorkspaceId::DEFAULT, "STRIPE").unwrap();
        assert_eq!(ours.value.expose(), "from the environment");
        assert_eq!(ours.hosts.to_string(), "api.stripe.com, files.stripe.com");
        assert_eq!(secrets.get(WorkspaceId(1), "STRIPE").unwrap().value.expose(), "theirs");
        for own in ["SIGNING_KEY", "OPENAI_API_KEY"] {
            assert!(given.own(own).is_some());
            assert_eq!(secrets.get(WorkspaceId::DEFAULT, own).unwrap_err().code(), "SECRET_UNKNOWN");
        }
        assert_eq!(secrets.names().count(), 2);
    }

    #[test]
    fn what_is_wrong_is_told_with_what_would_be_right_and_without_a_value() {
        let entry = |more: &str| format!("[workspaces.default.A]\nvalue = \"hunter2\"\n{more}");
        for (variables, file, says) in [
            (&[("ABIDE_SECRET_A", "hunter2")][..], None, "ABIDE_SECRET_HOSTS_A"),
            (&[("ABIDE_SECRET_HOSTS_A", "x.example")], None, "no secret ABIDE_SECRET_A"),
            (&[], Some(entry("")), "hosts ="),
            (&[], Some(entry("hosts = []")), "at least one"),
            (&[], Some(entry("hosts = [\"a b\"]")), "`a b`"),
            (&[], Some(entry("hosts = [\"*\"]\nwhere = 1")), "line"),
            (&[], Some(entry("hosts = [\"*\"]\nvalueFrom = \"env:X\"")), "either `value` or `valueFrom`"),
            (
                &[],
                Some("[workspaces.default.A]\nvalueFrom = \"vault:x\"\nhosts = [\"*\"]".to_owned()),
                "env:NAME",
            ),
            (
                &[],
                Some("[workspaces.default.A]\nvalueFrom = \"env:NO\"\nhosts = [\"*\"]".to_owned()),
                "not set",
            ),
            (&[], Some(entry("hosts = [\"*\"]").replace(".A]", ".SIGNING_KEY]")), "[server]"),
        ] {
            let read = given(variables, file.as_deref());
            let error = read.and_then(|given| given.for_workflows(&[])).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains("hunter2"), "{says}: {error}");
        }
    }
}
