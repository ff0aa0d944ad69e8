//! A worker takes a task. From here its attempt's time runs.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::flow;
use crate::history::Change;
use crate::id::StepAddress;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::time::Millis;
use crate::turn::Turn;

/// A worker has taken a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskStarted {
    pub at: StepAddress,
    pub lease_epoch: u32,
    pub worker: Arc<str>,
    /// Which code the worker has, if it says so.
    pub build: Option<Arc<str>>,
    /// Who hands it on, if somebody has it already.
    pub from: Option<Arc<str>>,
}

impl TaskStarted {
    /// By a worker that does not say which code it has.
    pub fn new(at: StepAddress, lease_epoch: u32, worker: impl Into<Arc<str>>) -> TaskStarted {
        TaskStarted { at, lease_epoch, worker: worker.into(), build: None, from: None }
    }

    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskStarted { at, lease_epoch, worker, build, from } = self;
        let task = turn.fence(at, lease_epoch)?;
        within("the worker's name's length", worker.chars().count(), limits::NAME_CHARS)?;
        let chars = build.as_ref().map_or(0, |build| build.chars().count());
        within("the build id's length", chars, limits::BUILD_CHARS)?;
        if task.is_pinned_away_from(build.as_deref()) {
            let build = task.pinned_to().map(|build| build.to_string()).unwrap_or_default();
            return Err(Refusal::PinnedToBuild { step: turn.run.step_name(at), build });
        }
        if let Some(unfit) =
            task.unfit.as_deref().filter(|unfit| unfit.excludes(build.as_deref().unwrap_or("")))
        {
            // It has been tried, and would come to the same.
            let unfit = unfit.clone();
            return flow::wait_for_code(turn, at, unfit).map(Reply::Waitpoint);
        }
        if let Some(holder) = &task.worker
            && from.as_ref() != Some(holder)
        {
            let (step, worker) = (turn.run.step_name(at), holder.to_string());
            return Err(Refusal::AlreadyTaken { step, lease_epoch, worker });
        }
        let work = turn.run.defined(at).action.work();
        let timeout = work.and_then(|work| work.timeout);
        let pins_to =
            build.clone().filter(|_| task.pin.is_none() && work.is_some_and(|work| work.pin_to_build));
        if task.worker.is_some() {
            // Its time runs on.
            let deadline = task.deadline;
            turn.emit(Change::TaskStarted { at, lease_epoch, worker, build, deadline })?;
            pin(turn, at, pins_to)?;
            return Ok(Reply::Leased { deadline });
        }
        let left = timeout.map(|timeout| Millis(timeout.0.saturating_sub(task.worked.0)));
        let deadline = left.map(|left| left.after(turn.now));
        turn.emit(Change::TaskStarted { at, lease_epoch, worker, build, deadline })?;
        pin(turn, at, pins_to)?;
        Ok(Reply::Leased { deadline })
    }
}

fn pin(turn: &mut Turn<'_>, at: StepAddress, build: Option<Arc<str>>) -> Result<(), Refusal> {
    build.map_or(Ok(()), |build| turn.emit(Change::TaskPinned { at, build }))
}
