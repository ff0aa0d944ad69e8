//! A timer is due. Whether its instant has come is compared here, with the clock that was given (R3).

use crate::command::Reply;
use crate::flow;
use crate::history::{Change, Failure};
use crate::id::StepAddress;
use crate::refusal::Refusal;
use crate::run::Timer;
use crate::turn::Turn;

pub(super) fn decide(turn: &mut Turn<'_>, timer: Timer) -> Result<Reply, Refusal> {
    match timer {
        Timer::Waitpoint(number) => wait_due(turn, number),
        Timer::Attempt { at, lease_epoch } => attempt_due(turn, at, lease_epoch),
        Timer::Run => run_due(turn),
    }?;
    Ok(Reply::Done)
}

fn wait_due(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    let waitpoint = turn.pending(number)?;
    let instant = waitpoint.resume_at.ok_or(Refusal::NoSuchTimer)?;
    if !waitpoint.is_due(turn.now) {
        return Err(Refusal::NotDue { waitpoint: turn.run.waitpoint_id(number), at: instant });
    }
    flow::end_what_is_due(turn, number)
}

fn attempt_due(turn: &mut Turn<'_>, at: StepAddress, lease_epoch: u32) -> Result<(), Refusal> {
    let task = turn.fence(at, lease_epoch)?;
    if task.deadline.is_none_or(|deadline| turn.now < deadline) {
        return Err(Refusal::NoSuchTimer);
    }
    flow::recall(turn, at);
    let failure = Failure::new("STEP_TIMED_OUT", "the attempt worked longer than its `timeoutMs`");
    flow::fail_attempt(turn, at, failure, true, None)
}

fn run_due(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    turn.refuse_ended()?;
    let due = turn.run.deadline.is_some_and(|deadline| turn.now >= deadline);
    if !due || turn.run.deadline_passed {
        return Err(Refusal::NoSuchTimer);
    }
    turn.emit(Change::WorkflowDeadlinePassed)
}
