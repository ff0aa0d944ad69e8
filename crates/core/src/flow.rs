//! How a run goes on: which place begins next, what begins there, and what its end leads to.
//!
//! ```text
//!   agenda ──▶ begin ──▶ work goes out, a wait opens, or the step is over at once
//!      ▲                                      │
//!      └── advance ◀── complete · skip ◀──────┴── reports, timers, signals, … (commands)
//!                      fail ──▶ settle: the run fails, ends, waits or holds
//! ```

mod advance;
mod approval;
mod begin;
mod capacity;
mod child;
mod code;
mod end;
mod finish;
mod group;
mod guard;
mod hook;
mod later;
mod map;
mod members;
mod wait;

pub(crate) use advance::not_taken;
pub(crate) use approval::{Tally, tally, timeout_means, verdict};
pub(crate) use begin::expression_failed;
pub(crate) use capacity::{
    fail_after_pause, freed_by, grant, has_limit, request_of_call, request_of_run, timed_out_in_pause,
};
pub(crate) use child::{NewChild, ParentWaits, child_depth, start_child_run};
pub(crate) use code::{code_to_wait_for, wait_for_code};
pub(crate) use end::{cancel_run, skip_run};
pub(crate) use finish::{Completion, Exit, complete, fail_attempt, fail_step, recall, result_state};
pub(crate) use group::end_what_is_due;
pub(crate) use guard::open_guards;
pub(crate) use wait::{
    NewWait, await_waits, cancel_wait, deliver_mail, end_wait, look_for_early_ones, new_waitpoint,
    next_listener, next_number, resolve, start_run,
};

use crate::history::Change;
use crate::refusal::Refusal;
use crate::status::{RunStatus, WaitStatus};
use crate::turn::Turn;

/// Begins everything that can begin, and brings the run's own status in line with what is left. A sleep whose instant
/// had come when it began ends in the same decision, after the run was WAITING for it.
pub(crate) fn settle(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    loop {
        settle_once(turn)?;
        if turn.overdue.is_empty() && turn.agenda.is_empty() {
            return Ok(());
        }
        for number in std::mem::take(&mut turn.overdue) {
            if turn.run.open.contains_key(&number) {
                turn.by_the_clock(|turn| resolve(turn, number, WaitStatus::Completed, None))?;
            }
        }
    }
}

fn settle_once(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    while let Some(at) = turn.agenda.pop_front() {
        begin::begin(turn, at)?;
    }
    match turn.run.status {
        RunStatus::Running | RunStatus::Waiting => {}
        // A pause keeps what happens until it is lifted.
        RunStatus::Pending | RunStatus::Paused => return Ok(()),
        RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled => return Ok(()),
    }
    if let Some(failure) = turn.run.failure.clone() {
        end::fail_run(turn, failure)
    } else if turn.run.settled == turn.run.definition.steps.len() {
        end::complete_run(turn)
    } else if turn.run.lacks_room() && !turn.run.held.is_empty() && !turn.run.pausing {
        capacity::wait_for_room(turn)?;
        wait_if_nothing_runs(turn)
    } else if !turn.run.held.is_empty() {
        turn.wake_run()?;
        turn.emit(Change::WorkflowPausedByOperator)
    } else if turn.run.waiting > 0 {
        wait_if_nothing_runs(turn)
    } else {
        Ok(())
    }
}

fn wait_if_nothing_runs(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    if turn.run.running == 0 && turn.run.status == RunStatus::Running {
        let open = turn.run.open.keys().rev().filter_map(|number| turn.run.waitpoint(*number));
        let open = open.filter(|wait| !wait.is_aside() && !wait.is_guard());
        let last = open.map(|wait| (wait.kind, wait.resume_at)).next();
        let (reason, resume_at) = last.expect("a waiting step has a wait");
        turn.emit(Change::WorkflowPaused { reason, resume_at })
    } else {
        Ok(())
    }
}
