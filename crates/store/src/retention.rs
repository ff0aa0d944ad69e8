//! Retention: what is old, whether an open run may still come to it, and what is forgotten.

use std::sync::Arc;

use abide_core::definition::AwaitedEvent;
use abide_core::history::DefinitionRef;
use abide_core::id::{EventUid, RunId, WorkspaceId};
use jiff::Timestamp;

use crate::row::RowReader;
use crate::{Error, code};

/// Finds what is old, and says what it finds without loading it.
pub trait Retention: Send {
    /// Which events the runs of each definition of a workspace may come to wait for. One that was stored without a word
    /// about it may wait for any.
    fn awaits(&mut self, workspace: WorkspaceId) -> Result<Vec<Awaits>, Error>;

    /// The run that was started first, of those that have not ended: of this definition, or of all in the workspace.
    fn oldest_open(
        &mut self,
        workspace: WorkspaceId,
        definition: Option<&DefinitionRef>,
    ) -> Result<Option<RunId>, Error>;

    /// Events received before the instant, of this event id or of all, in the order they were received, beginning after
    /// `after`, at most `limit`.
    fn old_events(
        &mut self,
        event: (WorkspaceId, Option<&str>),
        before: Timestamp,
        after: Option<EventPlace>,
        limit: usize,
    ) -> Result<Vec<OldEvent>, Error>;

    /// Idempotency keys written before the instant, in that order, beginning after `after`, at most `limit`.
    fn old_keys(
        &mut self,
        before: Timestamp,
        after: Option<&KeyPlace>,
        limit: usize,
    ) -> Result<Vec<OldKey>, Error>;

    /// Runs that ended before the instant, in that order, beginning after `after`, at most `limit`.
    fn ended_runs(
        &mut self,
        before: Timestamp,
        after: (Timestamp, RunId),
        limit: usize,
    ) -> Result<Vec<(Timestamp, RunId)>, Error>;

    /// Those of these runs to which something of the kind belongs.
    fn owners(&mut self, runs: &[RunId], what: OfRun) -> Result<Vec<RunId>, Error>;
}

/// Forgets what is old, a little at a time.
pub trait WriteRetention: Send {
    /// Removes these events, and says how many of them were there.
    fn forget_events(&mut self, events: &[OldEvent]) -> Result<usize, Error>;

    /// Removes up to `limit` of what belongs to these runs and is not in their history, and says how many. What belongs
    /// to a run that is open is left alone.
    fn forget_of(&mut self, runs: &[RunId], what: OfRun, limit: usize) -> Result<usize, Error>;

    /// Removes up to `limit` runs that ended before the instant, with all that belongs to them, and says how many. Their
    /// idempotency keys stay: from the end of the run on they are as old as any other.
    fn forget_runs(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error>;

    /// Removes these idempotency keys, except those of a run that is open, and says how many.
    fn forget_keys(&mut self, keys: &[String]) -> Result<usize, Error>;

    /// Removes up to `limit` deliveries created before the instant that are not pending, and says how many.
    fn forget_deliveries(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error>;
}

/// Which events the runs of a definition may come to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaits {
    pub definition: DefinitionRef,
    pub events: Vec<AwaitedEvent>,
}

impl Awaits {
    /// Of `name, version, awaits`.
    pub(crate) fn read(row: &impl RowReader) -> Result<Awaits, Error> {
        let definition = DefinitionRef { name: row.name(0)?.into(), version: row.name(1)?.into() };
        let events = row.optional_json(2)?.unwrap_or_else(|| vec![AwaitedEvent::ANY]);
        Ok(Awaits { definition, events })
    }
}

/// A place among events by the time they were received.
pub type EventPlace = (Timestamp, EventUid);

/// A stored event, without its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldEvent {
    pub workspace: WorkspaceId,
    pub event_id: Arc<str>,
    pub received_at: Timestamp,
    pub id: EventUid,
    /// The run that it was sent to, and whether that is open.
    pub sent_to: Option<(RunId, bool)>,
}

impl OldEvent {
    /// Of `event_id, received_at, id, run`, and whether that run is open: a number, or null where there is none.
    pub(crate) fn read(row: &impl RowReader, workspace: WorkspaceId) -> Result<OldEvent, Error> {
        let is_open = row.optional_integer(4)? == Some(1);
        Ok(OldEvent {
            workspace,
            event_id: row.name(0)?.into(),
            received_at: row.instant(1)?,
            id: EventUid(row.id(2)?),
            sent_to: row.optional_run(3)?.map(|run| (run, is_open)),
        })
    }
}

/// A place among idempotency keys by the time they were written.
pub type KeyPlace = (Timestamp, String);

/// An idempotency key, without its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldKey {
    pub key: String,
    pub written_at: Timestamp,
    pub run: RunOfKey,
}

impl OldKey {
    /// Of `key, written_at`, and the end of its run: [`NOT_ENDED`] of one that is open, null where there is none.
    pub(crate) fn read(row: &impl RowReader) -> Result<OldKey, Error> {
        let run = match row.optional_integer(2)? {
            None => RunOfKey::None,
            Some(NOT_ENDED) => RunOfKey::Open,
            Some(ended_at) => RunOfKey::Ended(code::read_instant(ended_at)),
        };
        Ok(OldKey { key: row.name(0)?, written_at: row.instant(1)?, run })
    }
}

/// Stands for the end of a run that is open.
pub(crate) const NOT_ENDED: i64 = -1;

/// The run that a key started or was asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOfKey {
    /// The key is about no run, or about one that was forgotten.
    None,
    Open,
    Ended(Timestamp),
}

/// What is forgotten of runs that have ended, but not with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfRun {
    Events,
    Keys,
}
