//! A worker pauses its task and gives up its lease. The step stays RUNNING and no attempt is used up.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::flow::{NewWait, new_waitpoint};
use crate::history::Change;
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::time::Millis;
use crate::turn::Turn;
use crate::waitpoint::{Kind, ListensFor};

/// A worker pauses its task for a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskPaused {
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch of the report; an older one is refused.
    pub lease_epoch: u32,
    /// The name of the pause. Used again it becomes `name#2`, `name#3` and so on: a loop may use one name.
    pub name: Arc<str>,
    /// How long the task pauses.
    pub duration: Millis,
    /// Data that is handed back with the task; `None`: what was saved before stays.
    pub checkpoint: Option<Json>,
}

impl TaskPaused {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskPaused { at, lease_epoch, name, duration, checkpoint } = self;
        turn.fence(at, lease_epoch)?;
        turn.check_wait_name(&name)?;
        let name = turn.name_of_pause(at, name)?;
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

impl Turn<'_> {
    /// The name under which a pause is recorded: names are unique in a step's visit.
    fn name_of_pause(&self, at: StepAddress, name: Arc<str>) -> Result<Arc<str>, Refusal> {
        let Some(number) = self.named_wait(at, &name)? else { return Ok(name) };
        let waitpoint = self.run.waitpoint(number).expect("a step's waits are its run's");
        if waitpoint.kind != Kind::Pause {
            return Err(Refusal::already_resolved(self.run.waitpoint_id(number), waitpoint));
        }
        let numbered = |count: u32| format!("{name}#{count}");
        let is_taken = |count: u32| {
            let step = self.run.step(at);
            let journal = step.and_then(|step| step.task.as_ref()).map(|task| &task.journal);
            let name = numbered(count);
            step.is_some_and(|step| step.waits.contains_key(name.as_str()))
                || journal.is_some_and(|journal| journal.contains_key(name.as_str()))
        };
        // A loop numbers its pauses without gaps, so the first free number is found by halving.
        let (mut taken, mut free) = (1, 2);
        while is_taken(free) {
            (taken, free) = (free, free * 2);
        }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2;
            if is_taken(middle) { taken = middle } else { free = middle }
        }
        Ok(numbered(free).into())
    }
}
