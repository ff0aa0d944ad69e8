//! A worker extends its lease, and may record a checkpoint or journal entries. The lease itself is the engine's; the
//! core only says whether the worker still has anything to do.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::history::{Change, JournalResult, ModelCall};
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::turn::Turn;

/// A heartbeat: a worker is still at a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskHeartbeat {
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch of the report; an older one is refused.
    pub lease_epoch: u32,
    /// Data that the handler gets back when it is executed again; `None`: what was saved before stays.
    pub checkpoint: Option<Json>,
    /// Results of durable calls to append to the journal.
    pub entries: Vec<JournalResult>,
    /// The model calls whose answers are among the entries, with their tokens and cost; each is recorded once, with
    /// its entry.
    pub calls: Vec<ModelCall>,
    /// Names of waits in the journal that the code has no use for any more; they are cancelled.
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
