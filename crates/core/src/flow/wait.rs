//! Waits: opening them, resolving them, and the one place where "go on" is decided.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;

use crate::command::ChildOutcome;
use crate::definition::{Action, OnTimeout};
use crate::effect::{AfterCommit, CapacityEffect, RoundEffect};
use crate::flow::begin::{begin_roots, dispatch};
use crate::flow::child::start_child_again;
use crate::flow::end::cancel_run;
use crate::flow::finish::{Completion, Exit, complete, fail_attempt, fail_step, result_state};
use crate::flow::guard::guard_over;
use crate::flow::{approval, capacity, group};
use crate::history::{Change, Failure, WakeOn};
use crate::id::StepAddress;
use crate::json::Json;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::shared_map::SharedMap;
use crate::status::{StepStatus, WaitStatus};
use crate::turn::Turn;
use crate::waitpoint::{Kind, ListensFor, OWN_WAIT, Waitpoint};

pub(crate) struct NewWait {
    pub(crate) kind: Kind,
    pub(crate) resume_at: Option<Timestamp>,
    pub(crate) listens_for: ListensFor,
    pub(crate) response: Option<Json>,
}

/// The number the next waitpoint will have.
pub(crate) fn next_number(run: &Run) -> u32 {
    u32::try_from(run.waitpoints().len() + 1).expect("fewer than limits::WAITPOINTS")
}

pub(crate) fn new_waitpoint(
    turn: &Turn<'_>,
    at: Option<StepAddress>,
    name: Arc<str>,
    wait: NewWait,
) -> Waitpoint {
    Waitpoint {
        number: next_number(turn.run),
        at,
        name,
        kind: wait.kind,
        asked: None,
        status: WaitStatus::Pending,
        created_at: turn.now,
        resume_at: wait.resume_at,
        listens_for: wait.listens_for,
        response_to_send: wait.response,
        resume_payload: None,
        event: None,
        resolved_by: None,
        resolved_at: None,
    }
}

/// Opens the wait that a step is for, and waits beside it that do not hold the step up. If its waitpoint was completed
/// before the step began, the step goes on at once.
pub(crate) fn open_own_wait(
    turn: &mut Turn<'_>,
    at: StepAddress,
    wait: NewWait,
    aside: Vec<(Arc<str>, NewWait)>,
) -> Result<(), Refusal> {
    // A child that is tried again waits under another name.
    let attempt = turn.run.step(at).map_or(1, |step| step.attempt);
    let name: Arc<str> = if attempt > 1 { format!("{OWN_WAIT}-{attempt}").into() } else { OWN_WAIT.into() };
    if let Some(response) = wait.response.clone() {
        turn.after_commit(AfterCommit::Respond { response });
    }
    let early = turn.run.step(at).and_then(|step| step.waits.get(&name).copied());
    if let Some(number) = early {
        return await_waits(turn, at, Vec::new(), vec![number], WakeOn::All);
    }
    let own = new_waitpoint(turn, Some(at), name, wait);
    let number = own.number;
    let aside = (number + 1..).zip(aside).map(|(number, (name, wait))| {
        let opened = new_waitpoint(turn, Some(at), name, wait);
        Waitpoint { number, ..opened }
    });
    let opens = std::iter::once(own).chain(aside).collect();
    await_waits(turn, at, opens, vec![number], WakeOn::All)
}

/// Makes the step wait for these waitpoints; signals and calls that came before are taken at once.
pub(crate) fn await_waits(
    turn: &mut Turn<'_>,
    at: StepAddress,
    opens: Vec<Waitpoint>,
    mut awaits: Vec<u32>,
    wake: WakeOn,
) -> Result<(), Refusal> {
    awaits.sort_unstable();
    awaits.dedup();
    let opened: Vec<u32> = opens.iter().map(|wait| wait.number).collect();
    turn.emit(Change::StepWaiting { at, opens, awaits, wake })?;
    for number in opened {
        if turn.run.waitpoint(number).is_some_and(|wait| wait.kind == Kind::Approval) {
            turn.emit(Change::ApprovalRequested { number })?;
        }
        look_for_early_ones(turn, number)?;
    }
    go_on_if_over(turn, at)
}

/// Offers a new wait what came before it (R5): signals in the mailbox now, stored events in the same round.
pub(crate) fn look_for_early_ones(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    let Some(waitpoint) = turn.run.waitpoint(number) else { return Ok(()) };
    match &waitpoint.listens_for {
        ListensFor::Signal { signal_type } => {
            let signal_type = Arc::clone(signal_type);
            deliver_mail(turn, &signal_type).map(|_| ())
        }
        ListensFor::Event(_) => {
            turn.in_round(RoundEffect::LookBack { number });
            Ok(())
        }
        ListensFor::Time
        | ListensFor::Call { .. }
        | ListensFor::Approval(_)
        | ListensFor::Child { .. }
        | ListensFor::Attempt(_)
        | ListensFor::Code(_)
        | ListensFor::Capacity(_)
        | ListensFor::Starts(_) => Ok(()),
    }
}

/// Hands the oldest kept signal to the wait that has waited longest, until one of them runs out.
///
/// A wait whose time is over takes none, and ends here: if it stayed open until its timer fires, a clock that goes back
/// would open it again beside a signal that it has not looked at (R5a).
pub(crate) fn deliver_mail(turn: &mut Turn<'_>, signal_type: &str) -> Result<Option<u32>, Refusal> {
    let mut last = None;
    loop {
        let oldest = turn.run.mailbox.get(signal_type).and_then(|kept| kept.values().next());
        let Some((signal, received_at)) = oldest.map(|signal| (signal.id, signal.received_at)) else {
            return Ok(last);
        };
        let Some(number) = next_listener(turn, signal_type, received_at) else {
            let Some(overdue) = overdue_listener(turn, signal_type) else { return Ok(last) };
            turn.by_the_clock(|turn| resolve(turn, overdue, WaitStatus::TimedOut, None))?;
            continue;
        };
        last = Some(number);
        let change = Change::WaitResolved {
            number,
            status: WaitStatus::Completed,
            payload: None,
            signal: Some(signal),
        };
        turn.emit(change)?;
        go_on(turn, number)?;
    }
}

/// A wait for a signal of this type whose own time is over. That of a step which waits for several things is ended by its
/// timer, before which events that came in time are offered.
fn overdue_listener(turn: &Turn<'_>, signal_type: &str) -> Option<u32> {
    let mut listeners = turn.run.listeners.get(signal_type)?.keys().copied();
    listeners.find(|number| turn.run.waitpoint(*number).is_some_and(|wait| wait.is_due(turn.now)))
}

/// The wait that takes a signal of this type: the one that has waited longest. A wait whose time is over takes only
/// what was received before that.
pub(crate) fn next_listener(turn: &Turn<'_>, signal_type: &str, received_at: Timestamp) -> Option<u32> {
    let mut listeners = turn.run.listeners.get(signal_type).into_iter().flat_map(SharedMap::keys).copied();
    listeners.find(|number| {
        let closes_at = turn.run.closes_at(*number);
        closes_at.is_none_or(|closes_at| turn.now < closes_at || received_at < closes_at)
    })
}

/// Resolves a pending waitpoint and goes on from it. The caller has checked that it is pending.
pub(crate) fn resolve(
    turn: &mut Turn<'_>,
    number: u32,
    status: WaitStatus,
    payload: Option<Json>,
) -> Result<(), Refusal> {
    end_wait(turn, number, status, payload)?;
    go_on(turn, number)
}

/// Cancels a pending waitpoint without going on.
pub(crate) fn cancel_wait(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    end_wait(turn, number, WaitStatus::Cancelled, None)
}

/// Resolves a pending waitpoint without going on. A child that nobody waits for any more is cancelled too.
pub(crate) fn end_wait(
    turn: &mut Turn<'_>,
    number: u32,
    status: WaitStatus,
    payload: Option<Json>,
) -> Result<(), Refusal> {
    let listens_for = turn.run.waitpoint(number).map(|wait| &wait.listens_for);
    match listens_for.filter(|_| status != WaitStatus::Completed) {
        Some(ListensFor::Child { run_id }) => {
            let run_id = *run_id;
            turn.in_round(RoundEffect::CancelChild { run_id });
        }
        Some(ListensFor::Capacity(_)) => {
            turn.in_round(RoundEffect::Capacity(CapacityEffect::Leave { number }));
        }
        Some(
            ListensFor::Time
            | ListensFor::Signal { .. }
            | ListensFor::Event(_)
            | ListensFor::Call { .. }
            | ListensFor::Approval(_)
            | ListensFor::Attempt(_)
            | ListensFor::Code(_)
            | ListensFor::Starts(_),
        )
        | None => {}
    }
    turn.emit(Change::WaitResolved { number, status, payload, signal: None })
}

/// Ends the wait of a step for room, which it has.
pub(super) fn resolve_silently(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    turn.emit(Change::WaitResolved { number, status: WaitStatus::Completed, payload: None, signal: None })?;
    go_on(turn, number)
}

/// Cancels the open waits of a step run, the oldest first.
pub(crate) fn cancel_open_waits(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    open_waits(turn.run, at).into_iter().try_for_each(|number| cancel_wait(turn, number))
}

/// The open waits of a step run, in ascending order. A handler may have thousands that are over, and a map thousands
/// of other items that wait: only the fewer of them are looked at (R25).
fn open_waits(run: &Run, at: StepAddress) -> Vec<u32> {
    let Some(step) = run.step(at) else { return Vec::new() };
    if run.open.len() < step.waits.len() {
        let is_here = |number: &u32| run.waitpoint(*number).is_some_and(|wait| wait.at == Some(at));
        return run.open.keys().copied().filter(is_here).collect();
    }
    let mut open: Vec<u32> = step.waits.values().copied().filter(|it| run.open.contains_key(it)).collect();
    open.sort_unstable();
    open
}

fn go_on(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    let Some(waitpoint) = turn.run.waitpoint(number) else { return Ok(()) };
    match (waitpoint.at, waitpoint.status) {
        (Some(at), WaitStatus::Completed) if waitpoint.is_deadline() => group::time_is_over(turn, at, number),
        (Some(at), WaitStatus::Completed) if waitpoint.is_aside() => {
            approval::remind_or_escalate(turn, at, number)
        }
        (Some(at), WaitStatus::Completed) if waitpoint.is_of_a_call() => {
            capacity::seize_for_call(turn, at, number)?;
            go_on_if_over(turn, at)
        }
        (Some(at), _) => go_on_if_over(turn, at),
        (None, _) if waitpoint.is_guard() => guard_over(turn, number),
        (None, status) if waitpoint.kind == Kind::Capacity => capacity::run_wait_over(turn, number, status),
        (None, WaitStatus::Cancelled) => cancel_run(turn, Some("its delayed start was cancelled".to_owned())),
        (None, WaitStatus::Completed | WaitStatus::TimedOut) => start_run(turn),
        (None, WaitStatus::Pending) => Ok(()),
    }
}

/// Begins a run, once it has room under its limits.
pub(crate) fn start_run(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    if turn.run.lacks_room() {
        return capacity::wait_for_room(turn);
    }
    let deadline = turn.run.definition.timeout.map(|timeout| timeout.after(turn.now));
    turn.emit(Change::WorkflowStarted { deadline })?;
    begin_roots(turn);
    Ok(())
}

/// Makes the step run go on if it waits and what it waits for is over; otherwise the waitpoint stays resolved until
/// the step comes to it (R5c).
pub(crate) fn go_on_if_over(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    let Some(awaiting) = turn.run.step(at).and_then(|step| step.awaiting.as_ref()) else { return Ok(()) };
    if !awaiting.is_over() {
        return Ok(());
    }
    if awaiting.wake == WakeOn::Group {
        return group::go_on_if_over(turn, at);
    }
    let awaiting = awaiting.clone();
    if awaiting.wake == WakeOn::Any {
        let losers = awaiting.waits.iter().copied().filter(|number| turn.run.open.contains_key(number));
        for loser in losers.collect::<Vec<_>>() {
            cancel_wait(turn, loser)?;
        }
    }
    let number = awaiting.waits[0];
    let waitpoint = turn.run.waitpoint(number).expect("a place awaits waitpoints of its run");
    let (kind, status) = (waitpoint.kind, waitpoint.status);
    let unfit = waitpoint.code_mismatch().filter(|_| status != WaitStatus::Completed);
    if let Some(mismatch) = unfit {
        let failure = mismatch.failure();
        fail_step(turn, at, failure)
    } else if kind == Kind::Capacity && !waitpoint.is_of_a_call() {
        capacity::step_wait_over(turn, at, number, status)
    } else if kind == Kind::Retry && status == WaitStatus::Cancelled && waitpoint.next_attempt().is_none() {
        let given_up = turn.run.step(at).and_then(|step| step.error.clone());
        let failure = given_up.unwrap_or_else(wait_cancelled);
        fail_step(turn, at, failure)
    } else if kind == Kind::Retry || matches!(turn.run.defined(at).action, Action::Work(_)) {
        resume(turn, at)
    } else {
        own_wait_over(turn, at, number)
    }
}

/// Hands a task out again, or retries a child; held back while the run is paused or lacks room under its limits.
pub(crate) fn resume(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    let waits = turn.run.step(at).is_some_and(|step| step.awaiting.as_ref().is_some_and(|it| it.is_over()));
    if !waits || turn.run.failure.is_some() {
        return Ok(());
    }
    if turn.run.holds_work() {
        return if turn.run.held.contains(&at) { Ok(()) } else { turn.emit(Change::StepHeldBack { at }) };
    }
    turn.wake_run()?;
    if matches!(turn.run.defined(at).action, Action::Work(_)) {
        turn.emit(Change::StepResumed { at })?;
        dispatch(turn, at)
    } else {
        start_child_again(turn, at)
    }
}

/// Ends a step whose own wait has ended.
fn own_wait_over(turn: &mut Turn<'_>, at: StepAddress, number: u32) -> Result<(), Refusal> {
    let waitpoint = turn.run.waitpoint(number).expect("a step awaits waitpoints of its run");
    let (kind, status, payload) = (waitpoint.kind, waitpoint.status, waitpoint.resume_payload.clone());
    if kind == Kind::Approval {
        // Nobody needs to be reminded any more.
        cancel_open_waits(turn, at)?;
    }
    match status {
        WaitStatus::Pending => Ok(()),
        WaitStatus::Cancelled => fail_step(turn, at, wait_cancelled()),
        WaitStatus::TimedOut => timed_out(turn, at, number),
        WaitStatus::Completed => match kind {
            Kind::Approval => approval::decided(turn, at, number),
            Kind::Child => child_ended(turn, at, number, payload.as_ref()),
            Kind::Delay
            | Kind::Webhook
            | Kind::Signal
            | Kind::Event
            | Kind::Pause
            | Kind::Retry
            | Kind::Schedule
            | Kind::Code
            | Kind::Capacity => match result_state(turn.run, at, payload.as_ref(), None) {
                Ok(state) => {
                    complete(turn, at, Completion { waitpoint: Some(number), state, ..Completion::default() })
                }
                Err(failure) => fail_step(turn, at, failure),
            },
        },
    }
}

/// Ends a step whose wait has timed out: an outcome, not a failure to retry (R6).
fn timed_out(turn: &mut Turn<'_>, at: StepAddress, number: u32) -> Result<(), Refusal> {
    let action = &turn.run.defined(at).action;
    if let Action::Approval(_) = action {
        return approval::timed_out(turn, at, number);
    }
    let on_timeout = action.deadline().map_or(OnTimeout::Fail, |deadline| deadline.on_timeout);
    take_way_out(
        turn,
        at,
        number,
        on_timeout,
        json!({ "timeout": true }),
        "WAIT_TIMED_OUT",
        "nothing came in time",
    )
}

/// Fails, goes on or jumps, as the definition says for a timeout or a rejection.
pub(crate) fn take_way_out(
    turn: &mut Turn<'_>,
    at: StepAddress,
    number: u32,
    way: OnTimeout,
    output: serde_json::Value,
    code: &str,
    message: &str,
) -> Result<(), Refusal> {
    let exit = match way {
        OnTimeout::Fail => return fail_step(turn, at, Failure::new(code, message)),
        OnTimeout::Continue => Exit::Next,
        OnTimeout::Goto(target) => Exit::Goto(target),
    };
    let (output, waitpoint) = (Some(output.into()), Some(number));
    complete(turn, at, Completion { output, waitpoint, exit, ..Completion::default() })
}

fn child_ended(
    turn: &mut Turn<'_>,
    at: StepAddress,
    number: u32,
    payload: Option<&Json>,
) -> Result<(), Refusal> {
    let outcome = payload.and_then(|payload| serde_json::from_value(serde_json::Value::clone(payload)).ok());
    let failure = match outcome {
        Some(ChildOutcome::Completed { output }) => {
            return match result_state(turn.run, at, Some(&output), None) {
                Ok(state) => {
                    let (output, waitpoint) = (Some(output), Some(number));
                    complete(turn, at, Completion { output, waitpoint, state, ..Completion::default() })
                }
                Err(failure) => fail_step(turn, at, failure),
            };
        }
        Some(ChildOutcome::Started { run_id }) => {
            let (output, waitpoint) = (Some(json!({ "runId": run_id }).into()), Some(number));
            return complete(turn, at, Completion { output, waitpoint, ..Completion::default() });
        }
        Some(ChildOutcome::Failed { error }) => {
            Failure::new("CHILD_FAILED", format!("the child run failed: {}: {}", error.code, error.message))
        }
        Some(ChildOutcome::Cancelled) => {
            return fail_step(turn, at, Failure::new("CHILD_CANCELLED", "the child run was cancelled"));
        }
        None => {
            return fail_step(turn, at, Failure::new("CHILD_FAILED", "the child run ended without a result"));
        }
    };
    // Through RUNNING, so that the failure of this attempt is like any other's.
    if turn.run.step_status(at) == StepStatus::Waiting {
        turn.wake_run()?;
        turn.emit(Change::StepResumed { at })?;
    }
    fail_attempt(turn, at, failure, true, None)
}

pub(super) fn wait_cancelled() -> Failure {
    Failure::new("WAIT_CANCELLED", "what the step waited for was cancelled")
}
