//! What retention looks at before it forgets anything: what is old, and whether an open run may still come to it.

use std::sync::Arc;

use abide_core::definition::AwaitedEvent;
use abide_core::history::DefinitionRef;
use abide_core::id::{OccurrenceId, RunId, WorkspaceId};
use jiff::Timestamp;

/// Which events the runs of a definition may come to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaits {
    pub definition: DefinitionRef,
    pub events: Vec<AwaitedEvent>,
}

/// A place among events by the time they were received.
pub type EventPlace = (Timestamp, OccurrenceId);

/// A stored event, without its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldEvent {
    pub workspace: WorkspaceId,
    pub event_id: Arc<str>,
    pub received_at: Timestamp,
    pub id: OccurrenceId,
    /// The run that it was sent to, and whether that is open.
    pub sent_to: Option<(RunId, bool)>,
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

/// The run that a key started or was asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOfKey {
    /// It is about no run, or about one that was forgotten.
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
