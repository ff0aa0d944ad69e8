//! A worker is still at it, and may leave a checkpoint or journal entries on the way. The lease itself is the
//! engine's; the core only says whether the worker still has anything to do.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::history::{Change, JournalResult, ModelCall};
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::turn::Turn;

/// A worker reports that it is still at a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskHeartbeat {
    pub at: StepAddress,
    pub lease_epoch: u32,
    pub checkpoint: Option<Json>,
    pub entries: Vec<JournalResult>,
    /// What the entries that hold a model's answer used up; recorded with the entry, once.
    pub calls: Vec<ModelCall>,
    /// Waits of the journal that the code has no use for any more.
    pub cancels: Vec<Arc<str>>,
}

impl TaskHeartbeat {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskHeartbeat { at, lease_epoch, checkpoint, entries, calls, cancels } = self;
        let deadline = turn.fence(at, lease_epoch)?.deadline;
        if let Some(checkpoint) = &checkpoint {
            within("the checkpoint's size in bytes", checkpoint.bytes(), limits::PAYLOAD_BYTES)?;
        }
        let entries = turn.new_entries(at, entries)?;
        let is_new = |call: &ModelCall| entries.iter().any(|entry| entry.name == call.entry);
        let calls: Vec<ModelCall> = calls.into_iter().filter(is_new).collect();
        turn.record_entries(at, entries)?;
        for call in calls {
            turn.emit(Change::LlmCallCompleted { at, call })?;
        }
        turn.cancel_named(at, &cancels)?;
        turn.save_checkpoint(at, checkpoint)?;
        Ok(Reply::Leased { deadline })
    }
}

impl Turn<'_> {
    pub(super) fn save_checkpoint(
        &mut self,
        at: StepAddress,
        checkpoint: Option<Json>,
    ) -> Result<(), Refusal> {
        checkpoint.map_or(Ok(()), |checkpoint| self.emit(Change::CheckpointSaved { at, checkpoint }))
    }
}
