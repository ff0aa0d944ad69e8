//! A worker pauses its task and lets go. The step stays RUNNING and no attempt is used up.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::flow::{NewWait, new_waitpoint};
use crate::history::Change;
use crate::id::At;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::time::Millis;
use crate::turn::Turn;
use crate::waitpoint::{Kind, ListensFor};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskPaused {
    pub at: At,
    pub delivery: u32,
    /// Of the pause; once per name and visit.
    pub name: Arc<str>,
    pub duration: Millis,
    /// Handed back with the task; an earlier one stays when this is absent.
    pub checkpoint: Option<Json>,
}

impl TaskPaused {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskPaused { at, delivery, name, duration, checkpoint } = self;
        turn.fence(at, delivery)?;
        turn.check_wait_name(&name)?;
        if let Some(number) = turn.named_wait(at, &name)? {
            let waitpoint = turn.run.waitpoint(number).expect("a step's waits are its run's");
            return Err(Refusal::already_resolved(turn.run.waitpoint_id(number), waitpoint));
        }
        turn.check_duration("/durationMs", duration)?;
        turn.check_room_for_waits(1)?;
        if let Some(checkpoint) = &checkpoint {
            within("the checkpoint's size in bytes", checkpoint.bytes(), limits::PAYLOAD_BYTES)?;
        }
        turn.save_checkpoint(at, checkpoint)?;
        let (resume_at, listens_for) = (Some(duration.after(turn.now)), ListensFor::Time);
        let wait = NewWait { kind: Kind::Pause, resume_at, listens_for, response: None };
        let opens = new_waitpoint(turn, Some(at), name, wait);
        let id = turn.run.waitpoint_id(opens.number);
        turn.emit(Change::TaskPaused { at, opens })?;
        Ok(Reply::Waitpoint(id))
    }
}
