//! Histories: the truth about runs.

use abide_core::history::{DefinitionRef, Record};
use abide_core::id::{RunId, WorkspaceId};

use crate::Error;

/// Reads what happened to runs.
pub trait Histories: Send {
    /// The history of a run, from its first record; `None` if there is no such run.
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error>;

    /// The histories of those runs that have another version than the one that is known, where there is one.
    /// One that is damaged keeps none of the others back.
    fn load_changed(&mut self, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Loaded)>, Error> {
        let mut changed = Vec::new();
        for (run, version) in known {
            match self.load(*run) {
                Ok(stored) => {
                    let stored = stored.filter(|stored| stored.history.len() as u64 != *version);
                    changed.extend(stored.map(|stored| (*run, Ok(stored))));
                }
                Err(error) if error.is_damage() => changed.push((*run, Err(error))),
                Err(error) => return Err(error),
            }
        }
        Ok(changed)
    }

    /// What follows record `after` in the history of a run: at most `limit` records, and none after those whose payloads
    /// have `bytes` together. What lies before it is not read.
    fn records_after(
        &mut self,
        run: RunId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Record>, Error>;

    /// How many records there are of each of these runs, where there are any.
    fn versions(&mut self, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error> {
        let mut versions = Vec::new();
        for run in runs {
            versions.extend(self.load(*run)?.map(|stored| (*run, stored.history.len() as u64)));
        }
        Ok(versions)
    }
}

/// What loading one of several runs came to.
pub type Loaded = Result<StoredRun, Error>;

/// A run as it is loaded: its history, from the first record on.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    pub workspace: WorkspaceId,
    pub definition: DefinitionRef,
    pub history: Vec<Record>,
}
