//! The SQLite store does what every store does.

use std::fs;
use std::path::{Path, PathBuf};

use abide_store::Store;
use abide_store::conformance::Subject;
use abide_store::sqlite::Sqlite;
use tempfile::TempDir;

/// Stores in files, of which the last one made is remembered.
struct Files {
    directory: TempDir,
    made: u32,
}

impl Files {
    fn new() -> Files {
        Files { directory: TempDir::new().expect("a directory"), made: 0 }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join(format!("{}.db", self.made))
    }
}

impl Subject for Files {
    fn fresh(&mut self) -> Box<dyn Store> {
        self.made += 1;
        Box::new(Sqlite::open(self.path()).expect("a store"))
    }

    /// What is on disk while the store is open is what a crash leaves there; closing would tidy up.
    fn after_a_crash(&mut self, store: Box<dyn Store>) -> Box<dyn Store> {
        let old = self.path();
        self.made += 1;
        fs::copy(&old, self.path()).expect("a copy");
        fs::copy(log(&old), log(&self.path())).expect("a copy of the log");
        drop(store);
        Box::new(Sqlite::open(self.path()).expect("a store"))
    }

    fn directory(&mut self) -> PathBuf {
        self.made += 1;
        let directory = self.path().with_extension("d");
        fs::create_dir(&directory).expect("a directory");
        directory
    }

    fn open_backup(&mut self, backup: &Path) -> Box<dyn Store> {
        Box::new(Sqlite::open(backup).expect("a store"))
    }
}

fn log(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

abide_store::conformance!(Files::new());
