//! Where runs are kept: a file, or a database that others may work on, too.

use std::fmt;
use std::path::PathBuf;

use abide_store::postgres::{self, Postgres};
use abide_store::sqlite::{Opening, Sqlite};
use abide_store::{Error, Store};

use crate::client;

/// What a place looks like, for those who have given something else.
pub(crate) const LIKE: &str =
    "a store; it would look like `sqlite:abide.db` or `postgres://user@host/database`";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    File(PathBuf),
    Database(String),
}

impl Place {
    pub(crate) fn parse(text: &str) -> Option<Place> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            return (!path.is_empty()).then(|| Place::File(path.into()));
        }
        let is_database = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        is_database.then(|| Place::Database(text.to_owned()))
    }

    /// What was given with a flag. What cannot be read may have a password in it, so it is not repeated.
    pub(crate) fn given(flag: &str, text: &str) -> Result<Place, client::Error> {
        Place::parse(text).ok_or_else(|| client::Error::Usage(format!("{flag} is not {LIKE}")))
    }

    pub(crate) fn open(&self) -> Result<Box<dyn Store>, Error> {
        self.open_with(Opening::default())
    }

    pub(crate) fn open_with(&self, opening: Opening) -> Result<Box<dyn Store>, Error> {
        Ok(match self {
            Place::File(path) => Box::new(Sqlite::open_with(path, opening)?),
            Place::Database(address) => Box::new(Postgres::open(address)?),
        })
    }
}

/// Without a password.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => write!(f, "sqlite:{}", path.display()),
            Place::Database(address) => f.write_str(&postgres::shown(address)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_or_a_database_and_is_shown_without_a_password() {
        assert_eq!(Place::parse("sqlite:a/b.db"), Some(Place::File("a/b.db".into())));
        let database = Place::parse("postgres://ann:secret@db.example/flows").unwrap();
        assert_eq!(database.to_string(), "postgresql://ann@db.example:5432/flows");
        for other in ["", "sqlite:", "a.db", "mysql://host/db"] {
            assert_eq!(Place::parse(other), None, "{other}");
        }
    }
}
