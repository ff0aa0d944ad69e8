//! The simulated store does what every store does, as far as engines ask it.

use std::path::{Path, PathBuf};

use abide_sim::engine::store::{Kind, SimStore};
use abide_store::Store;
use abide_store::conformance::Subject;

struct Simulated;

impl Subject for Simulated {
    fn fresh(&mut self) -> Box<dyn Store> {
        Box::new(SimStore::new(Kind::Cluster))
    }

    /// It lives as long as its world.
    fn after_a_crash(&mut self, store: Box<dyn Store>) -> Box<dyn Store> {
        store
    }

    fn directory(&mut self) -> PathBuf {
        unreachable!("the simulated store has no files")
    }

    fn open_backup(&mut self, _: &Path) -> Box<dyn Store> {
        unreachable!("the simulated store has no backups")
    }
}

abide_store::conformance!(working: Simulated);
