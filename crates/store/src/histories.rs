//! Histories: the truth about runs.

use abide_core::history::{DefinitionRef, Record};
use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Snapshot;

use crate::Error;

/// Reads what happened to runs.
pub trait Histories: Send {
    /// The history of a run, from its first record; `None` if there is no such run.
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error>;

    /// What brings runs up to date for one who knows them in these versions, of those that have another one by now.
    /// Version 0 is that of a run that is not known at all. A run that is damaged keeps none of the others back.
    ///
    /// A store without snapshots gives whole histories.
    fn updates(&mut self, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Update)>, Error> {
        let mut updates = Vec::new();
        for (run, version) in known {
            match self.load(*run) {
                Ok(stored) => {
                    let stored = stored.filter(|stored| stored.history.len() as u64 != *version);
                    updates.extend(stored.map(|stored| (*run, Ok(RunUpdate::Whole(stored)))));
                }
                Err(error) if error.is_damage() => updates.push((*run, Err(error))),
                Err(error) => return Err(error),
            }
        }
        Ok(updates)
    }

    /// The snapshot that is kept of a run, if there is one that this code can go on from.
    fn snapshot(&mut self, run: RunId) -> Result<Option<Snapshot>, Error> {
        let _none_is_kept_of = run;
        Ok(None)
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

/// What bringing one of several runs up to date takes.
pub type Update = Result<RunUpdate, Error>;

/// What makes a run out of what is known of it, verified by checksums and by the version that its row says.
#[derive(Clone, Debug, PartialEq)]
pub enum RunUpdate {
    /// All of its history.
    Whole(StoredRun),
    /// A snapshot, and the records after it.
    Snapshot { snapshot: Box<Snapshot>, records: Vec<Record> },
    /// The records after the version that is known.
    Records(Vec<Record>),
}

/// A run as it is loaded: its history, from the first record on.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    pub workspace: WorkspaceId,
    pub definition: DefinitionRef,
    pub history: Vec<Record>,
}
