//! Secrets by name, and what keeps them out of everything that is stored or shown.
//!
//! A definition names a secret; its value comes from the environment (`ABIDE_SECRET_NAME`) or from a file, and is known
//! only to the call that carries it.

mod redact;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

pub use redact::Redactor;

/// Before a secret's name in the environment.
pub const PREFIX: &str = "ABIDE_SECRET_";
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

#[derive(Clone, Debug, Default)]
pub struct Secrets {
    values: BTreeMap<String, Secret>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the secrets' file `{path}` cannot be read: {why}")]
    Unreadable { path: String, why: String },
    #[error("line {line} of the secrets' file `{path}`: {why}; write `NAME=value`")]
    BadLine { path: String, line: usize, why: &'static str },
    #[error(
        "`{name}` is not the name of a secret: letters, digits and `_`, at most {NAME_BYTES} (NAME_BYTES)"
    )]
    BadName { name: String },
    #[error("secret `{name}` has {bytes} bytes, and at most {VALUE_BYTES} (VALUE_BYTES) are allowed")]
    TooLong { name: String, bytes: usize },
    #[error("secret `{name}` is empty")]
    Empty { name: String },
    #[error(
        "there is no secret `{name}`; set {PREFIX}{name} in the environment of the server, or add it to its file of secrets"
    )]
    Unknown { name: String },
}

impl Error {
    pub fn code(&self) -> &'static str {
        match self {
            Error::Unreadable { .. } => "SECRETS_UNREADABLE",
            Error::BadLine { .. } => "SECRETS_BAD_LINE",
            Error::BadName { .. } => "SECRET_BAD_NAME",
            Error::TooLong { .. } => "SECRET_TOO_LONG",
            Error::Empty { .. } => "SECRET_EMPTY",
            Error::Unknown { .. } => "SECRET_UNKNOWN",
        }
    }
}

impl Secrets {
    /// Those of the variables that begin with `ABIDE_SECRET_`.
    pub fn from_variables(variables: impl IntoIterator<Item = (String, String)>) -> Result<Secrets, Error> {
        let mut secrets = Secrets::default();
        for (name, value) in variables {
            if let Some(name) = name.strip_prefix(PREFIX) {
                secrets.insert(name, value)?;
            }
        }
        Ok(secrets)
    }

    /// Adds those of a file of `NAME=value` lines; what is known by name already stays. A value may stand in double
    /// quotes, where `\n` is a new line.
    pub fn add_file(&mut self, path: &Path) -> Result<(), Error> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::Unreadable { path: shown.clone(), why: error.to_string() })?;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let bad = |why| Error::BadLine { path: shown.clone(), line: index + 1, why };
            let (name, value) = line.split_once('=').ok_or_else(|| bad("there is no `=`"))?;
            let (name, value) = (name.trim(), value.trim());
            let value = match value.strip_prefix('"') {
                None => value.to_owned(),
                Some(quoted) => {
                    let quoted = quoted.strip_suffix('"').ok_or_else(|| bad("the quotes are not closed"))?;
                    quoted.replace("\\n", "\n")
                }
            };
            if !self.values.contains_key(name) {
                self.insert(name, value)?;
            }
        }
        Ok(())
    }

    pub fn insert(&mut self, name: &str, value: String) -> Result<(), Error> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || name.len() > NAME_BYTES || !name.bytes().all(fits) {
            return Err(Error::BadName { name: name.to_owned() });
        }
        if value.is_empty() {
            return Err(Error::Empty { name: name.to_owned() });
        }
        if value.len() > VALUE_BYTES {
            return Err(Error::TooLong { name: name.to_owned(), bytes: value.len() });
        }
        self.values.insert(name.to_owned(), Secret(value));
        Ok(())
    }

    pub fn get(&self, name: &str) -> Result<&Secret, Error> {
        self.values.get(name).ok_or_else(|| Error::Unknown { name: name.to_owned() })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.values.iter().map(|(name, secret)| (name.as_str(), secret)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn secrets_come_from_the_environment_and_then_from_a_file() {
        let variables = [("ABIDE_SECRET_A", "from the environment"), ("PATH", "/bin")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut secrets = Secrets::from_variables(variables).unwrap();
        let (_folder, path) = file("# keys\nA=from the file\nB = \"two\\nlines\"\n\nC=x=y\n");
        secrets.add_file(&path).unwrap();
        assert_eq!(secrets.get("A").unwrap().expose(), "from the environment");
        assert_eq!(secrets.get("B").unwrap().expose(), "two\nlines");
        assert_eq!(secrets.get("C").unwrap().expose(), "x=y");
        assert_eq!(secrets.names().collect::<Vec<_>>(), ["A", "B", "C"]);
        assert!(!format!("{secrets:?}").contains("environment"));
    }

    #[test]
    fn what_is_wrong_with_a_secret_is_said_without_its_value() {
        let (_folder, path) = file("GOOD=1\nhunter2\n");
        let error = Secrets::default().add_file(&path).unwrap_err();
        assert!(error.to_string().contains("line 2") && !error.to_string().contains("hunter2"), "{error}");
        let error = Secrets::default().get("NOPE").unwrap_err();
        assert!(error.to_string().contains("ABIDE_SECRET_NOPE"), "{error}");
        let mut secrets = Secrets::default();
        assert_eq!(secrets.insert("a-b", "x".to_owned()).unwrap_err().code(), "SECRET_BAD_NAME");
        assert_eq!(secrets.insert("A", String::new()).unwrap_err().code(), "SECRET_EMPTY");
        assert_eq!(secrets.insert("A", "x".repeat(VALUE_BYTES + 1)).unwrap_err().code(), "SECRET_TOO_LONG");
    }
}
