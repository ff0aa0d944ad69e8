//! Reading the settings, each with where it came from, and making of them what the server takes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use abide_definition::problem::nearest;
use abide_definition::time::Millis;
use abide_engine::Retention;
use abide_engine::vault::Vault;
use abide_server::{Auth, BadNetwork, Limits, Network, Quotas, Settings};

use super::known::{Flags, KNOWN, Known};
use crate::place::{self, Place};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Flag,
    Variable(String),
    File(PathBuf),
    Default,
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            From::Flag => f.write_str("flag"),
            From::Variable(name) => write!(f, "{name}"),
            From::File(path) => write!(f, "{}", path.display()),
            From::Default => f.write_str("default"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) from: From,
}

/// Every setting, as it was written.
#[derive(Debug)]
pub(crate) struct Config {
    values: BTreeMap<&'static str, Value>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum BadConfig {
    #[error("{} cannot be read: {error}", file.display())]
    File { file: PathBuf, error: io::Error },
    #[error("{} is not TOML: {why}", file.display())]
    NotToml { file: PathBuf, why: String },
    #[error("{}: `{name}` is not a setting{}; `abide config` lists them", file.display(), hint(.nearest.as_deref()))]
    Unknown { file: PathBuf, name: String, nearest: Option<String> },
    #[error("{name} ({from}): `{text}` is not {expected}")]
    Wrong { name: &'static str, from: From, text: String, expected: &'static str },
    #[error("{name} ({from}): {why}")]
    Bad { name: &'static str, from: From, why: String },
    #[error(transparent)]
    Secrets(#[from] super::secrets::BadSecrets),
    #[error("the master key: {0}")]
    MasterKey(abide_engine::vault::Error),
    #[error("the secret `SIGNING_KEY`: {0}")]
    SigningKey(abide_engine::signing::KeyError),
    #[error(
        "handler_url: tasks that are posted are signed, and there is no key to sign with; set ABIDE_SECRET_SIGNING_KEY to \
         `whsec_` and 24 to 64 bytes in base64, such as `whsec_$(openssl rand -base64 32)`"
    )]
    NoSigningKey,
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// How apps of the Upstash Workflow SDK are served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upstash {
    pub(crate) development: bool,
}

impl Config {
    pub(crate) fn read(
        flags: &Flags,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Config, BadConfig> {
        let named = flags.config.clone().or_else(|| variable("ABIDE_CONFIG").map(PathBuf::from));
        let path = named.clone().unwrap_or_else(super::default_file);
        let file = match fs::read_to_string(&path) {
            Ok(text) => read_file(&path, &text)?,
            Err(error) if named.is_none() && error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(BadConfig::File { file: path, error }),
        };
        let of = |known: &Known| {
            let flag = flags.given(known.name).map(|text| Value { text, from: From::Flag });
            let variable = || {
                let name = known.variable();
                variable(&name).map(|text| Value { text, from: From::Variable(name) })
            };
            let in_file = || {
                let text = file.get(known.name)?.clone();
                Some(Value { text, from: From::File(path.clone()) })
            };
            let default = || Value { text: known.default.to_owned(), from: From::Default };
            flag.or_else(variable).or_else(in_file).unwrap_or_else(default)
        };
        Ok(Config { values: KNOWN.iter().map(|known| (known.name, of(known))).collect() })
    }

    /// In the order they are documented.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&'static Known, &Value)> {
        KNOWN.iter().map(|known| (known, &self.values[known.name]))
    }

    pub(crate) fn text(&self, name: &'static str) -> &str {
        &self.values[name].text
    }

    /// Whether somebody has set it: it is not just the default.
    pub(crate) fn is_given(&self, name: &'static str) -> bool {
        self.values[name].from != From::Default
    }

    fn parsed<T>(
        &self,
        name: &'static str,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, BadConfig> {
        let Value { text, from } = &self.values[name];
        parse(text).ok_or_else(|| BadConfig::Wrong { name, from: from.clone(), text: text.clone(), expected })
    }

    pub(super) fn wrong(&self, name: &'static str, text: &str, expected: &'static str) -> BadConfig {
        BadConfig::Wrong { name, from: self.values[name].from.clone(), text: text.to_owned(), expected }
    }

    pub(super) fn bad(&self, name: &'static str, text: &str, why: String) -> BadConfig {
        let why = if why.contains(text) { why } else { format!("`{text}`: {why}") };
        BadConfig::Bad { name, from: self.values[name].from.clone(), why }
    }

    fn number<T: FromStr>(&self, name: &'static str) -> Result<T, BadConfig> {
        self.parsed(name, "a number", |text| text.replace('_', "").parse().ok())
    }

    fn quota<T: FromStr>(&self, name: &'static str) -> Result<Option<T>, BadConfig> {
        self.parsed(name, "a number, or `none`", |text| match text {
            "none" => Some(None),
            text => text.replace('_', "").parse().ok().map(Some),
        })
    }

    pub(super) fn list(&self, name: &'static str) -> Vec<String> {
        let items = self.text(name).split(',').map(str::trim);
        items.filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }

    fn kept(&self, name: &'static str) -> Result<Option<Millis>, BadConfig> {
        self.parsed(name, "a duration such as `30d`, or `for ever`", |text| match text {
            "for ever" | "forever" => Some(None),
            text => Millis::parse(text).ok().map(Some),
        })
    }

    pub(crate) fn store(&self) -> Result<Place, BadConfig> {
        self.parsed("store", place::LIKE, Place::parse)
    }

    /// Whether clients of the Model Context Protocol are served.
    pub(crate) fn mcp(&self) -> Result<bool, BadConfig> {
        self.parsed("mcp", "`true` or `false`", |text| text.parse::<bool>().ok())
    }

    /// Whether apps of the Upstash Workflow SDK are served; with `development`, by credentials that everybody knows.
    pub(crate) fn upstash(&self) -> Result<Option<Upstash>, BadConfig> {
        let says = |name| self.parsed(name, "`true` or `false`", |text| text.parse::<bool>().ok());
        let (on, development) = (says("upstash")?, says("upstash_dev")?);
        Ok((on || development).then_some(Upstash { development }))
    }

    /// The master key, from the environment or a file, and the one before it while it changes.
    pub(crate) fn vault(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Vault, BadConfig> {
        let file = Some(self.text("master_key_file")).filter(|file| !file.is_empty());
        let key = match (variable("ABIDE_MASTER_KEY"), file) {
            (Some(_), Some(_)) => {
                let why = "the master key is given as ABIDE_MASTER_KEY, too; give one of them".to_owned();
                return Err(self.bad("master_key_file", "", why));
            }
            (Some(key), None) => key,
            (None, Some(file)) => {
                let path = PathBuf::from(file);
                crate::private::warn_if_shared(&path);
                fs::read_to_string(&path).map_err(|error| BadConfig::File { file: path, error })?
            }
            (None, None) => return Ok(Vault::default()),
        };
        Vault::new(&key, variable("ABIDE_OLD_MASTER_KEY").as_deref()).map_err(BadConfig::MasterKey)
    }

    pub(crate) fn retention(&self) -> Result<Retention, BadConfig> {
        Ok(Retention {
            runs: self.kept("keep_runs")?,
            events: self.kept("keep_events")?,
            events_at_most: self.kept("keep_events_at_most")?,
            keys: self.kept("keep_keys")?,
            deliveries: self.kept("keep_deliveries")?,
        })
    }

    pub(crate) fn max_wait(&self) -> Result<Millis, BadConfig> {
        self.parsed("max_wait", "a duration of at least 1s; it would look like `365d`", |text| {
            Millis::parse(text).ok().filter(|length| *length >= Millis(1_000))
        })
    }

    pub(crate) fn logs_json(&self) -> Result<bool, BadConfig> {
        self.parsed("log_format", "`text` or `json`", |text| match text {
            "text" => Some(false),
            "json" => Some(true),
            _ => None,
        })
    }

    fn trusted_proxies(&self) -> Result<Vec<Network>, BadConfig> {
        let name = "trusted_proxy";
        let read =
            |text: &String| text.parse().map_err(|error: BadNetwork| self.bad(name, text, error.to_string()));
        self.list(name).iter().map(read).collect()
    }

    pub(crate) fn server(&self) -> Result<Settings, BadConfig> {
        let listen = self.parsed("listen", "an address; it would look like `127.0.0.1:22433`", |text| {
            text.parse::<SocketAddr>().ok()
        })?;
        let auth = self.parsed("auth", "`required` or `loopback`", |text| match text {
            "required" => Some(Auth::Required),
            "loopback" => Some(Auth::OnLoopbackOpen),
            _ => None,
        })?;
        let allow_everyone = self.parsed("allow_everyone", "`true` or `false`", |text| text.parse().ok())?;
        let shutdown_time = self.parsed("shutdown_time", "a duration; it would look like `10s`", |text| {
            Millis::parse(text).ok().map(|Millis(ms)| Duration::from_millis(ms))
        })?;
        let limits = Limits {
            connections: self.number("max_connections")?,
            connections_per_address: self.number("max_connections_per_address")?,
            requests_per_second: self.number("requests_per_second")?,
            shutdown_time,
            ..Limits::default()
        };
        Ok(Settings {
            listen,
            auth,
            allow_everyone,
            public_url: Some(self.text("public_url").to_owned()).filter(|url| !url.is_empty()),
            allowed_hosts: self.list("allow_host"),
            trusted_proxies: self.trusted_proxies()?,
            allowed_origins: self.list("allow_origin"),
            traces: Some(self.text("traces").to_owned()).filter(|url| !url.is_empty()),
            limits,
            quotas: Quotas {
                open_runs: self.quota("quota_open_runs")?,
                stored_bytes: self.quota("quota_stored_bytes")?,
                starts_per_second: self.quota("quota_starts_per_second")?,
                calls: self.quota("quota_calls")?,
                schedules: self.quota("quota_schedules")?,
                webhooks: self.quota("quota_webhooks")?,
                share: None,
            },
            development: false,
        })
    }
}

fn read_file(path: &Path, text: &str) -> Result<BTreeMap<String, String>, BadConfig> {
    let not_toml = |error: toml::de::Error| BadConfig::NotToml { file: path.into(), why: error.to_string() };
    let table: toml::Table = text.parse().map_err(not_toml)?;
    let mut values = BTreeMap::new();
    for (name, value) in table {
        let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
            let nearest = nearest(&name, KNOWN.iter().map(|known| known.name)).map(str::to_owned);
            return Err(BadConfig::Unknown { file: path.into(), name, nearest });
        };
        let wrong = |text: String| BadConfig::Wrong {
            name: known.name,
            from: From::File(path.into()),
            text,
            expected: "text, a number, true or false, or a list of texts",
        };
        values.insert(name, plain(&value).ok_or_else(|| wrong(value.type_str().to_owned()))?);
    }
    Ok(values)
}

/// A value as it would be written in the environment.
fn plain(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(value) => Some(value.to_string()),
        toml::Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(plain).collect();
            items.map(|items| items.join(","))
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(flags: Flags, variables: &[(&str, &str)]) -> Result<Config, BadConfig> {
        let find = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Config::read(&flags, find)
    }

    fn in_file(text: &str) -> (tempfile::TempDir, Flags) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("abide.toml");
        fs::write(&path, text).unwrap();
        let mut flags = Flags::default();
        flags.config = Some(path);
        (directory, flags)
    }

    #[test]
    fn the_environment_comes_before_the_file_and_the_file_before_the_default() {
        let (_directory, flags) = in_file("listen = \"127.0.0.1:1\"\nmax_connections = 7\n");
        let config = config(flags, &[("ABIDE_LISTEN", "127.0.0.1:2")]).unwrap();
        assert_eq!(config.values["listen"].from, From::Variable("ABIDE_LISTEN".to_owned()));
        assert_eq!(config.server().unwrap().listen.port(), 2);
        assert_eq!(config.server().unwrap().limits.connections, 7);
        assert!(matches!(config.values["max_connections"].from, From::File(_)));
        assert_eq!(config.values["auth"].from, From::Default);
    }

    #[test]
    fn a_setting_that_does_not_exist_is_refused_with_the_nearest_name() {
        let (_directory, flags) = in_file("lisen = \"127.0.0.1:1\"\n");
        let error = config(flags, &[]).unwrap_err().to_string();
        assert!(error.contains("`lisen` is not a setting; did you mean `listen`?"), "{error}");
    }

    #[test]
    fn a_wrong_value_says_where_it_came_from_and_what_would_be_right() {
        let config = config(Flags::default(), &[("ABIDE_AUTH", "yes"), ("ABIDE_STORE", "redis:x")]).unwrap();
        let error = config.server().unwrap_err().to_string();
        assert_eq!(error, "auth (ABIDE_AUTH): `yes` is not `required` or `loopback`");
        assert!(config.store().unwrap_err().to_string().contains("sqlite:abide.db"));
    }

    #[test]
    fn the_defaults_are_those_of_the_server() {
        let config = config(Flags::default(), &[]).unwrap();
        let (ours, theirs) = (config.server().unwrap(), Settings::default());
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        assert_eq!(config.retention().unwrap(), Retention::default());
    }
}
