//! The two databases: new stores in them, and how one is kept and restored.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use abide_testkit::postgres::Server as PostgresServer;

use crate::migrate::server::{Server, run};

#[derive(Clone, Copy, Debug)]
pub(super) enum Database {
    Sqlite,
    Postgres,
}

/// Where SQLite has the number of a file that is its user's.
const USER_VERSION: std::ops::Range<usize> = 60..64;

impl Database {
    /// The address of a store that is not there yet.
    pub(super) fn fresh(self, directory: &Path) -> String {
        match self {
            Database::Sqlite => address(directory),
            Database::Postgres => PostgresServer::shared().database(),
        }
    }

    /// The number of the format that this program makes.
    pub(super) fn latest(self) -> u32 {
        let directory = tempfile::tempdir().unwrap();
        let store = self.fresh(directory.path());
        assert!(Server::start(&store, directory.path(), &[]).stop().success());
        match self {
            Database::Sqlite => {
                let file = fs::read(directory.path().join("abide.db")).unwrap();
                u32::from_be_bytes(file[USER_VERSION].try_into().unwrap())
            }
            Database::Postgres => {
                let number =
                    PostgresServer::shared().ask(&store, "SELECT max(version) FROM abide.migrations");
                number.unwrap().parse().unwrap()
            }
        }
    }

    /// Copies a store that no server has.
    pub(super) fn keep(self, store: &str, directory: &Path, place: &Path) {
        match self {
            Database::Sqlite => {
                let copy = place.join("store.db").display().to_string();
                let copied = run(directory, &["backup", "--store", store, &copy]);
                assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
            }
            Database::Postgres => fs::write(place.join("store.sql"), dump(store)).unwrap(),
        }
    }

    /// The address of a store as it was kept.
    pub(super) fn restore(self, place: &Path, directory: &Path) -> String {
        match self {
            Database::Sqlite => {
                fs::copy(place.join("store.db"), directory.join("abide.db")).unwrap();
                address(directory)
            }
            Database::Postgres => {
                let dump = fs::read_to_string(place.join("store.sql")).unwrap();
                PostgresServer::shared().database_of(&dump)
            }
        }
    }
}

fn address(directory: &Path) -> String {
    format!("sqlite:{}", directory.join("abide.db").display())
}

/// As statements that any client can run.
fn dump(store: &str) -> String {
    let flags = ["--inserts", "--no-owner", "--no-privileges", "--schema=abide", "--dbname", store];
    let dumped = Command::new("pg_dump").args(flags).output().expect("pg_dump is installed with PostgreSQL");
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    String::from_utf8(dumped.stdout).unwrap()
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Database::Sqlite => "sqlite",
            Database::Postgres => "postgres",
        })
    }
}
