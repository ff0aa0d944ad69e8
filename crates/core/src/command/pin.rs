//! An operator pins the tasks of a run to another build, or lifts their pins. This concerns only tasks that have been
//! pinned: their steps say `pinToBuild`, and a worker has taken them.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::effect::AfterCommit;
use crate::flow;
use crate::history::Change;
use crate::id::StepAddress;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::run::{Pin, Run};
use crate::status::{StepStatus, WaitStatus};
use crate::turn::Turn;

/// An operator pins tasks to a build, or lifts their pins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PinTasks {
    /// The handler whose tasks are pinned; `None`: all tasks of the run that are pinned already.
    pub handler: Option<Arc<str>>,
    /// The build that may have the tasks from here on, or that any may.
    pub pin: Pin,
}

impl PinTasks {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        turn.refuse_ended()?;
        if let Pin::To(build) = &self.pin {
            within("the build id's length", build.chars().count(), limits::BUILD_CHARS)?;
            if build.is_empty() {
                let message = "a build id is text; to let any build have it, lift the pin".to_owned();
                return Err(Refusal::Malformed { pointer: "/build", message });
            }
        }
        let places = self.places(turn.run);
        for at in &places {
            let change = match self.pin.clone() {
                Pin::To(build) => Change::TaskPinned { at: *at, build },
                Pin::Lifted => Change::TaskUnpinned { at: *at },
            };
            turn.emit(change)?;
            offer_again(turn, *at)?;
        }
        Ok(if places.is_empty() { Reply::Unchanged } else { Reply::Done })
    }

    /// The addresses of the tasks whose pin changes.
    fn places(&self, run: &Run) -> Vec<StepAddress> {
        let places = run.step_runs().filter(|(at, step)| {
            let is_open = matches!(step.status, StepStatus::Running | StepStatus::Waiting);
            let pin = step.task.as_ref().and_then(|task| task.pin.as_ref());
            let handler = run.defined(*at).action.work().map(|work| &work.handler);
            let is_meant = self.handler.as_ref().is_none_or(|meant| handler == Some(meant));
            is_open && is_meant && pin.is_some_and(|pin| *pin != self.pin)
        });
        places.map(|(at, _)| at).collect()
    }
}

/// Hands a task out anew to workers of the other build, if nobody has it; a worker that has it keeps its lease.
fn offer_again(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    let task = turn.run.step(at).and_then(|step| step.task.as_deref());
    if let Some(lease_epoch) =
        task.filter(|task| task.out && task.worker.is_none()).map(|task| task.lease_epoch)
    {
        turn.emit(Change::TaskRedelivered { at, counted: false })?;
        turn.after_commit(AfterCommit::Recall { at, lease_epoch });
        turn.after_commit(AfterCommit::Dispatch { at, lease_epoch: lease_epoch + 1 });
    }
    let is_code =
        |number: &u32| turn.run.waitpoint(*number).is_some_and(|wait| wait.code_mismatch().is_some());
    let awaiting = turn.run.step(at).and_then(|step| step.awaiting.as_ref());
    let code = awaiting.and_then(|awaiting| awaiting.waits.first().copied()).filter(is_code);
    // Whoever may have it from here on tries again, unless the time of the wait is over and its timer about to end it (R4).
    code.filter(|number| turn.open_to_others(*number).is_ok())
        .map_or(Ok(()), |number| flow::resolve(turn, number, WaitStatus::Completed, None))
}
