//! What became of a start that an event asked for, by the `startOn` of a workflow.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{EventUid, RunId};

/// What an event started, or was to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventStart {
    /// The name of the workflow.
    pub workflow: Arc<str>,
    /// The newest version of the workflow.
    pub version: Arc<str>,
    /// What became of the start.
    pub outcome: EventStartOutcome,
}

/// What became of a start that an event asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EventStartOutcome {
    /// The run is new.
    Started(RunId),
    /// The start was added to this run, which collects those of its key.
    Collected(RunId),
    /// An event with the same idempotency key started this run before.
    Repeated(RunId),
    /// There is no run: its input could not be rendered or does not fit, or there would be too many runs.
    Refused {
        /// The stable code of the refusal.
        code: Arc<str>,
        /// Why the start was refused.
        message: String,
    },
    /// A dry run: the event would start a run.
    WouldStart,
}

/// The last start of a workflow on an event that was refused, as it is kept for people to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedStart {
    /// The event's own number, `evt_…`.
    pub event: EventUid,
    /// When the start was refused.
    pub at: Timestamp,
    /// The stable code of the refusal.
    pub code: Arc<str>,
    /// Why the start was refused.
    pub message: String,
}
