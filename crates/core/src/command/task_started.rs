//! A worker takes a task. From here its attempt's time runs.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::definition::Action;
use crate::history::Change;
use crate::id::At;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::time::Millis;
use crate::turn::Turn;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskStarted {
    pub at: At,
    pub delivery: u32,
    pub worker: Arc<str>,
    /// Who hands it on, if somebody has it already.
    pub from: Option<Arc<str>>,
}

impl TaskStarted {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskStarted { at, delivery, worker, from } = self;
        let task = turn.fence(at, delivery)?;
        within("the worker's name's length", worker.chars().count(), limits::NAME_CHARS)?;
        if let Some(holder) = &task.worker
            && from.as_ref() != Some(holder)
        {
            let (step, worker) = (turn.run.step_name(at), holder.to_string());
            return Err(Refusal::AlreadyTaken { step, delivery, worker });
        }
        let timeout = match &turn.run.defined(at).action {
            Action::Work(work) => work.timeout,
            Action::Wait(_)
            | Action::Condition { .. }
            | Action::Signal { .. }
            | Action::Event { .. }
            | Action::Webhook { .. }
            | Action::Approval(_)
            | Action::Respond { .. }
            | Action::Child { .. }
            | Action::Map(_) => None,
        };
        if task.worker.is_some() {
            // Its time runs on.
            let deadline = task.deadline;
            turn.emit(Change::TaskStarted { at, delivery, worker, deadline })?;
            return Ok(Reply::Leased { deadline });
        }
        let left = timeout.map(|timeout| Millis(timeout.0.saturating_sub(task.worked.0)));
        let deadline = left.map(|left| left.after(turn.now));
        turn.emit(Change::TaskStarted { at, delivery, worker, deadline })?;
        Ok(Reply::Leased { deadline })
    }
}
