//! Secrets by name, and what keeps them out of everything that is stored or shown.
//!
//! A definition names a secret of its workspace; the value is known only to the call that carries it, and is sent only
//! to the hosts that the secret names. Keys of the server itself are not among them: no definition reaches those.

mod hosts;
mod redact;

use std::collections::BTreeMap;
use std::fmt;

use abide_core::id::WorkspaceId;

pub use hosts::{HostError, Hosts};
pub use redact::Redactor;

/// Before a secret's name in the environment.
pub const PREFIX: &str = "ABIDE_SECRET_";
/// Before a secret's name in the environment: the hosts it may be sent to.
pub const HOSTS_PREFIX: &str = "ABIDE_SECRET_HOSTS_";
pub const NAME_BYTES: usize = 100;
pub const VALUE_BYTES: usize = 64 * 1024;

/// A value that does not show itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Secret {
        Secret(value.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// The secrets that definitions may name, by workspace.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    values: BTreeMap<(WorkspaceId, String), Kept>,
}

/// A secret, and where it may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub value: Secret,
    pub hosts: Hosts,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(
        "`{name}` is not the name of a secret: letters, digits and `_`, at most {NAME_BYTES} (NAME_BYTES), and not `HOSTS_…`"
    )]
    BadName { name: String },
    #[error("secret `{name}` has {bytes} bytes, and at most {VALUE_BYTES} (VALUE_BYTES) are allowed")]
    TooLong { name: String, bytes: usize },
    #[error("secret `{name}` is empty")]
    Empty { name: String },
    #[error("secret `{name}` {why}")]
    Hosts { name: String, why: HostError },
    #[error(
        "there is no secret `{name}` in this workspace; whoever runs the server adds it to its file of secrets, or, for the \
         default workspace, sets {PREFIX}{name} and {HOSTS_PREFIX}{name}"
    )]
    Unknown { name: String },
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::BadName { .. } => "SECRET_BAD_NAME",
            Error::TooLong { .. } => "SECRET_TOO_LONG",
            Error::Empty { .. } => "SECRET_EMPTY",
            Error::Hosts { .. } => "SECRET_BAD_HOSTS",
            Error::Unknown { .. } => "SECRET_UNKNOWN",
        }
    }
}

impl Secrets {
    /// What is known by this name in the workspace already stays.
    pub fn insert<'h>(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        value: String,
        hosts: impl IntoIterator<Item = &'h str>,
    ) -> Result<(), Error> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_name = (1..=NAME_BYTES).contains(&name.len()) && name.bytes().all(fits);
        if !is_name || name.starts_with("HOSTS_") {
            return Err(Error::BadName { name: name.to_owned() });
        }
        if value.is_empty() {
            return Err(Error::Empty { name: name.to_owned() });
        }
        if value.len() > VALUE_BYTES {
            return Err(Error::TooLong { name: name.to_owned(), bytes: value.len() });
        }
        let hosts = Hosts::new(hosts).map_err(|why| Error::Hosts { name: name.to_owned(), why })?;
        let kept = Kept { value: Secret(value), hosts };
        self.values.entry((workspace, name.to_owned())).or_insert(kept);
        Ok(())
    }

    pub fn get(&self, workspace: WorkspaceId, name: &str) -> Result<&Kept, Error> {
        let found = self.values.get(&(workspace, name.to_owned()));
        found.ok_or_else(|| Error::Unknown { name: name.to_owned() })
    }

    /// Whose secrets there are, what they are called and where they may be sent.
    pub fn names(&self) -> impl Iterator<Item = (WorkspaceId, &str, &Hosts)> {
        self.values.iter().map(|((workspace, name), kept)| (*workspace, name.as_str(), &kept.hosts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEAM: WorkspaceId = WorkspaceId(1);

    #[test]
    fn a_secret_is_known_in_its_own_workspace_only() {
        let mut secrets = Secrets::default();
        secrets.insert(WorkspaceId::DEFAULT, "KEY", "ours".to_owned(), ["a.example"]).unwrap();
        secrets.insert(TEAM, "KEY", "theirs".to_owned(), ["b.example"]).unwrap();
        secrets.insert(TEAM, "KEY", "later".to_owned(), ["*"]).unwrap();
        secrets.insert(TEAM, "MORE", "more".to_owned(), ["*"]).unwrap();
        assert_eq!(secrets.get(WorkspaceId::DEFAULT, "KEY").unwrap().value.expose(), "ours");
        assert_eq!(secrets.get(TEAM, "KEY").unwrap().value.expose(), "theirs");
        assert_eq!(secrets.get(WorkspaceId::DEFAULT, "MORE").unwrap_err().code(), "SECRET_UNKNOWN");
        assert_eq!(secrets.get(WorkspaceId(2), "KEY").unwrap_err().code(), "SECRET_UNKNOWN");
        assert!(!format!("{secrets:?}").contains("ours"));
    }

    #[test]
    fn what_is_wrong_with_a_secret_is_said_without_its_value() {
        let error = Secrets::default().get(TEAM, "NOPE").unwrap_err();
        assert!(error.to_string().contains("ABIDE_SECRET_NOPE"), "{error}");
        let mut secrets = Secrets::default();
        let mut insert = |name: &str, value: &str, hosts: &[&'static str]| {
            secrets.insert(TEAM, name, value.to_owned(), hosts.iter().copied()).unwrap_err()
        };
        assert_eq!(insert("a-b", "x", &["*"]).code(), "SECRET_BAD_NAME");
        assert_eq!(insert("HOSTS_A", "x", &["*"]).code(), "SECRET_BAD_NAME");
        assert_eq!(insert("A", "", &["*"]).code(), "SECRET_EMPTY");
        assert_eq!(insert("A", &"x".repeat(VALUE_BYTES + 1), &["*"]).code(), "SECRET_TOO_LONG");
        let error = insert("A", "hunter2", &[]);
        assert!(
            error.to_string().contains("at least one") && !error.to_string().contains("hunter2"),
            "{error}"
        );
    }
}
