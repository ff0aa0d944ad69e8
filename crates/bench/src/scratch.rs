//! Where a workload keeps its store.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder for stores. One that was not asked for is removed with this.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
    _own: Option<TempDir>,
}

impl Scratch {
    pub(super) fn fresh(folder: Option<PathBuf>) -> anyhow::Result<Scratch> {
        let Some(folder) = folder else {
            let own = tempfile::Builder::new().prefix("abide-bench-").tempdir()?;
            return Ok(Scratch { folder: own.path().to_owned(), _own: Some(own) });
        };
        fs::create_dir_all(&folder)?;
        let scratch = Scratch { folder, _own: None };
        let store = scratch.store();
        anyhow::ensure!(
            !store.exists(),
            "{} is there already; give a folder without one, so that nothing old is measured",
            store.display()
        );
        Ok(scratch)
    }

    pub(super) fn store(&self) -> PathBuf {
        self.folder.join("bench.db")
    }

    /// Where a node notes who wakes.
    pub(super) fn notes(&self, node: usize) -> PathBuf {
        self.folder.join(format!("notes-{node}"))
    }

    /// A second store, in a folder of its own inside.
    pub(super) fn another(&self, name: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder.join("bench.db"))
    }
}

/// What a store takes on disk, with its log.
pub(super) fn disk_bytes(store: &Path) -> u64 {
    let size = |path: PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
    size(store.to_owned()) + size(PathBuf::from(format!("{}-wal", store.display())))
}
