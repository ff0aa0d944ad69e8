//! The PostgreSQL store does what every store does. A backup of it is an SQLite store.

use std::fs;
use std::path::{Path, PathBuf};

use abide_store::Store;
use abide_store::conformance::Subject;
use abide_store::postgres::Postgres;
use abide_store::sqlite::Sqlite;
use abide_testkit::postgres::Server;
use tempfile::TempDir;

/// Databases of one server, of which the last one made is remembered.
struct Databases {
    address: String,
    directory: TempDir,
    made: u32,
}

impl Databases {
    fn new() -> Databases {
        Databases { address: String::new(), directory: TempDir::new().expect("a directory"), made: 0 }
    }

    fn open(&self) -> Box<dyn Store> {
        Box::new(Postgres::open(&self.address).expect("a store"))
    }
}

impl Subject for Databases {
    fn fresh(&mut self) -> Box<dyn Store> {
        self.address = Server::shared().database();
        self.open()
    }

    /// The next process is there before the server has heard that this one is gone.
    fn after_a_crash(&mut self, store: Box<dyn Store>) -> Box<dyn Store> {
        let next = self.open();
        drop(store);
        next
    }

    fn directory(&mut self) -> PathBuf {
        self.made += 1;
        let directory = self.directory.path().join(self.made.to_string());
        fs::create_dir(&directory).expect("a directory");
        directory
    }

    fn open_backup(&mut self, backup: &Path) -> Box<dyn Store> {
        Box::new(Sqlite::open(backup).expect("a store"))
    }
}

abide_store::conformance!(Databases::new());
