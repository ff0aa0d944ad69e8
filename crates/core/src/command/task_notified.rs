//! A handler sends an event. Whether its worker still has the task is decided on the run, with the event; the event itself
//! is the engine's.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::history::Change;
use crate::id::{EventUid, StepAddress};
use crate::refusal::Refusal;
use crate::turn::Turn;

/// A worker sends an event in the name of a task that it has.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskNotified {
    /// The address of the step whose handler sends the event.
    pub at: StepAddress,
    /// The lease epoch that the worker has the task under.
    pub lease_epoch: u32,
    /// The event's own id.
    pub event: EventUid,
    /// What waits find the event by.
    pub event_id: Arc<str>,
}

impl TaskNotified {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskNotified { at, lease_epoch, event, event_id } = self;
        turn.fence(at, lease_epoch)?;
        turn.emit(Change::EventSent { at, lease_epoch, event, event_id })?;
        Ok(Reply::Done)
    }
}
