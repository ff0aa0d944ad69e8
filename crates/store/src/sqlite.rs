//! A store in one SQLite file. One process writes to it, and one connection of that process; any number of
//! [`Reader`]s look at it at the same time.
//!
//! A commit is one transaction, synced once, that touches few pages: history is only ever appended, a run's row is
//! written when the run is created and when its status or deadline changes, and a waitpoint has one narrow row.
//!
//! ```text
//!   open.rs   whose file is it, one writer       commit.rs  batches             column.rs  how values are stored
//!   list.rs   what people look for               find.rs    what engines need   forget.rs  retention
//! ```

mod column;
mod commit;
mod error;
mod find;
mod forget;
mod list;
mod migrations;
mod open;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use abide_core::command::Occurrence;
use abide_core::door::Remembered;
use abide_core::id::{OccurrenceId, RunId, WaitpointId};
use abide_core::status::RunStatus;
use jiff::Timestamp;
use rusqlite::Connection;

use crate::{
    Batch, Error, Page, RunFilter, RunSummary, Store, StoredDefinition, StoredRun, StoredTimer, Waiter,
    WaitpointFilter, WaitpointSummary,
};

/// The writer of a file.
#[derive(Debug)]
pub struct Sqlite {
    own: Reader,
    path: PathBuf,
    /// Nobody else writes while this is held; there is no need for it where there is no file.
    _lock: Option<File>,
}

impl Sqlite {
    /// Opens the file, or makes one where there is none. Refuses a file that another process has, that is not
    /// ours, or that a newer program wrote; it is left as it was.
    pub fn open(path: impl AsRef<Path>) -> Result<Sqlite, Error> {
        let path = open::resolve(path.as_ref());
        let lock = open::lock(&path)?;
        let own = Reader { connection: open::writer(&path)? };
        Ok(Sqlite { own, path, _lock: Some(lock) })
    }

    /// A store that is gone when its last connection is.
    pub fn open_in_memory() -> Result<Sqlite, Error> {
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let name = format!("file:/abide-{}?vfs=memdb", OPENED.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(name);
        let own = Reader { connection: open::writer(&path)? };
        Ok(Sqlite { own, path, _lock: None })
    }

    /// Another connection, for another thread.
    pub fn reader(&self) -> Result<Reader, Error> {
        Ok(Reader { connection: open::reader(&self.path)? })
    }
}

/// Reads what was committed; each call sees the newest state, and a state between two commits.
#[derive(Debug)]
pub struct Reader {
    connection: Connection,
}

/// The reading half of [`Store`], documented there.
impl Reader {
    pub fn load(&self, run: RunId) -> Result<Option<StoredRun>, Error> {
        find::load(&self.connection, run)
    }

    pub fn definition(&self, name: &str, version: Option<&str>) -> Result<Option<StoredDefinition>, Error> {
        find::definition(&self.connection, name, version)
    }

    pub fn timers(
        &self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error> {
        find::timers(&self.connection, after, until, limit)
    }

    pub fn waiters(
        &self,
        event_id: &str,
        after: Option<WaitpointId>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error> {
        find::waiters(&self.connection, event_id, after, limit)
    }

    pub fn occurrences(
        &self,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, OccurrenceId)>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, Error> {
        find::occurrences(&self.connection, event_id, since, after, limit)
    }

    pub fn remembered(&self, key: &str) -> Result<Option<Remembered>, Error> {
        find::remembered(&self.connection, key)
    }

    pub fn runs(&self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error> {
        list::runs(&self.connection, filter, page)
    }

    pub fn waitpoints(
        &self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error> {
        list::waitpoints(&self.connection, filter, page)
    }

    pub fn counts(&self) -> Result<Vec<(RunStatus, u64)>, Error> {
        list::counts(&self.connection)
    }
}

impl Store for Sqlite {
    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        commit::commit(&mut self.own.connection, batch)
    }

    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        self.own.load(run)
    }

    fn definition(&mut self, name: &str, version: Option<&str>) -> Result<Option<StoredDefinition>, Error> {
        self.own.definition(name, version)
    }

    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error> {
        self.own.timers(after, until, limit)
    }

    fn waiters(
        &mut self,
        event_id: &str,
        after: Option<WaitpointId>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error> {
        self.own.waiters(event_id, after, limit)
    }

    fn occurrences(
        &mut self,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, OccurrenceId)>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, Error> {
        self.own.occurrences(event_id, since, after, limit)
    }

    fn remembered(&mut self, key: &str) -> Result<Option<Remembered>, Error> {
        self.own.remembered(key)
    }

    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error> {
        self.own.runs(filter, page)
    }

    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error> {
        self.own.waitpoints(filter, page)
    }

    fn counts(&mut self) -> Result<Vec<(RunStatus, u64)>, Error> {
        self.own.counts()
    }

    fn forget_events(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        forget::events(&mut self.own.connection, before, limit)
    }

    fn forget_runs(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        forget::runs(&mut self.own.connection, before, limit)
    }
}

#[cfg(test)]
mod tests;
