//! A worker takes a task. From here on the time of its attempt runs.

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
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch under which the task was handed out; an older one is refused.
    pub lease_epoch: u32,
    /// The name of the worker.
    pub worker: Arc<str>,
    /// The build of the worker's code; `None` if the worker names none.
    pub build: Option<Arc<str>>,
    /// The worker that has the task and hands it on to this one; `None`: nobody has it.
    pub from: Option<Arc<str>>,
}

impl TaskStarted {
    /// A task taken by a worker that names no build.
    pub fn new(at: StepAddress, lease_epoch: u32, worker: impl Into<Arc<str>>) -> TaskStarted {
        TaskStarted { at, lease_epoch, worker: worker.into(), build: None, from: None }
    }

    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskStarted { at, lease_epoch, worker, build, from } = self;
        let task = turn.fence(at, lease_epoch)?;
        check_worker(&worker, build.as_deref())?;
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

/// Whether a worker of this name and build may take tasks: both have a limit (R16).
pub fn check_worker(worker: &str, build: Option<&str>) -> Result<(), Refusal> {
    within("the worker's name's length", worker.chars().count(), limits::NAME_CHARS)?;
    within("the build id's length", build.map_or(0, |build| build.chars().count()), limits::BUILD_CHARS)
}

fn pin(turn: &mut Turn<'_>, at: StepAddress, build: Option<Arc<str>>) -> Result<(), Refusal> {
    build.map_or(Ok(()), |build| turn.emit(Change::TaskPinned { at, build }))
}
