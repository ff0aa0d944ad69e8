//! Where runs are kept. A [`Store`] takes batches and answers reads; it does not know why a row changes, and it
//! decides nothing.
//!
//! The truth about a run is its history, kept in chunks of one commit each. Everything else is there to find runs:
//! a summary row for each run, a row for each waitpoint. A run is loaded by replaying its chunks.
//!
//! ```text
//!   engine ── Batch ──▶ commit: history chunks · run rows · waitpoint rows · events · keys    one synced transaction
//!          ◀── reads ── load · due timers · waiters of an event · lists
//! ```

mod chunk;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod sqlite;

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_core::command::Occurrence;
use abide_core::door::Remembered;
use abide_core::history::{DefinitionRef, Record};
use abide_core::id::{OccurrenceId, RunId, WaitpointId};
use abide_core::run::{Run, Timer};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::{EventFilter, Kind};
use jiff::Timestamp;
use serde::Serialize;

/// A place where runs are kept. One writer has it; concurrent readers open their own.
pub trait Store: Send {
    /// Writes all of the batch or nothing. When it returns `Ok`, the batch is synced to disk and survives a crash of
    /// the machine. When it returns `Err`, nothing of it is there. When the process dies in its middle, the next one
    /// finds all of it or nothing.
    fn commit(&mut self, batch: &Batch<'_>) -> Result<(), Error>;

    /// The history of a run, from its first record; `None` if there is no such run.
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error>;

    /// The document of a definition: of this version, or the newest one.
    fn definition(&mut self, name: &str, version: Option<&str>) -> Result<Option<StoredDefinition>, Error>;

    /// Timers due up to and including `until`, in due order, beginning after `after`, at most `limit`.
    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error>;

    /// Open waits for an event id, oldest first, beginning after `after`, at most `limit`.
    fn waiters(
        &mut self,
        event_id: &str,
        after: Option<WaitpointId>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error>;

    /// Occurrences of an event id received at or after `since`, in the order they were received, beginning after
    /// `after`, at most `limit`.
    fn occurrences(
        &mut self,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, OccurrenceId)>,
        limit: usize,
    ) -> Result<Vec<Occurrence>, Error>;

    /// What was remembered under an idempotency key.
    fn remembered(&mut self, key: &str) -> Result<Option<Remembered>, Error>;

    /// Runs, newest first.
    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error>;

    /// Waitpoints in due order (those without an instant last).
    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error>;

    /// How many runs there are of each status.
    fn counts(&mut self) -> Result<Vec<(RunStatus, u64)>, Error>;

    /// Removes up to `limit` occurrences received before the instant, and says how many.
    fn forget_events(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error>;

    /// Removes up to `limit` runs that ended before the instant, with all that belongs to them, and says how many.
    fn forget_runs(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error>;
}

/// What is written together.
#[derive(Debug, Default)]
pub struct Batch<'a> {
    pub runs: Vec<RunWrite<'a>>,
    pub occurrences: Vec<&'a Occurrence>,
    pub remembered: Vec<&'a Remembered>,
    pub definitions: Vec<NewDefinition<'a>>,
}

/// A run that was decided on, after all decisions of the batch.
#[derive(Debug)]
pub struct RunWrite<'a> {
    /// The version the first decision was made on; 0 for a new run.
    pub based_on: u64,
    pub run: &'a Run,
    /// In order, from `based_on + 1` to the run's version.
    pub records: &'a [Record],
}

impl RunWrite<'_> {
    /// The waitpoints whose row changes.
    pub fn waitpoints(&self) -> BTreeSet<u32> {
        self.records.iter().flat_map(|record| record.change.waitpoints()).collect()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct NewDefinition<'a> {
    pub name: &'a str,
    pub version: &'a str,
    /// As JSON.
    pub document: &'a str,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDefinition {
    pub name: String,
    pub version: String,
    pub document: String,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    pub definition: DefinitionRef,
    pub history: Vec<Record>,
}

/// A timer that must go off. Ordered by its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredTimer {
    pub at: Timestamp,
    pub run: RunId,
    /// [`Timer::Waitpoint`] or [`Timer::Run`]; the time of an attempt is known only while its run is in memory.
    pub timer: Timer,
}

/// Somebody who waits for an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiter {
    pub waitpoint: WaitpointId,
    pub filter: EventFilter,
    /// Its deadline.
    pub resume_at: Option<Timestamp>,
}

/// Which runs to list; an absent field does not narrow it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFilter {
    pub statuses: Vec<RunStatus>,
    pub definition: Option<String>,
    pub version: Option<String>,
    pub tag: Option<String>,
    pub created_from: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
    /// Runs with an open wait of this kind.
    pub waits_for: Option<Kind>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitpointFilter {
    pub run: Option<RunId>,
    pub kind: Option<Kind>,
    pub status: Option<WaitStatus>,
    pub due_before: Option<Timestamp>,
    pub due_after: Option<Timestamp>,
    /// The event id or signal type it listens for.
    pub listens_for: Option<String>,
}

/// A part of a list: what comes after the cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<C> {
    pub after: Option<C>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    pub id: RunId,
    pub definition: DefinitionRef,
    pub status: RunStatus,
    pub tags: Vec<Arc<str>>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitpointSummary {
    pub id: WaitpointId,
    pub kind: Kind,
    pub status: WaitStatus,
    pub created_at: Timestamp,
    pub resume_at: Option<Timestamp>,
    pub listens_for: Option<String>,
}

/// What can go wrong with a store, by what can be done about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Try again later: the disk is full, the file is locked for a moment.
    #[error("the store cannot write at the moment: {0}")]
    Unavailable(String),
    /// Another process has the file.
    #[error("{0} is in use by another process; stop it, or give this one a store of its own")]
    InUse(String),
    /// The file is not a store of ours, or it is damaged.
    #[error("{path} cannot be opened as a store: {why}; {what_to_do}")]
    Unusable { path: String, why: String, what_to_do: &'static str },
    /// The run has moved on since it was loaded: load it and decide again.
    #[error("{0} has moved on since it was loaded")]
    Conflict(RunId),
    /// What was read does not make sense: a defect, or damage.
    #[error("the store holds something unreadable: {0}")]
    Corrupt(String),
}
