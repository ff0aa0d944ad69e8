//! Room under limits: what a run and its steps ask for, when, and what follows when they get it or do not (R22).

use std::sync::Arc;

use jiff::Timestamp;

use crate::capacity::{Ask, CapacityRequest, Policy, Rank, Room};
use crate::command::CallLimit;
use crate::definition::{Holds, Limit, LimitScope, OnTimeout, WhenFull};
use crate::effect::{CapacityEffect, RoundEffect};
use crate::expression::{EvaluationError, Template};
use crate::flow::begin::{dispatch, expression_failed};
use crate::flow::end::{cancel_run, fail_run};
use crate::flow::finish::fail_step;
use crate::flow::wait::{NewWait, await_waits, new_waitpoint, next_number, resume, start_run, take_way_out};
use crate::history::{Change, Failure, WakeOn};
use crate::id::{LimitId, StepAddress};
use crate::json;
use crate::limits;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::scope::RunScope;
use crate::status::{RunStatus, WaitStatus};
use crate::turn::Turn;
use crate::waitpoint::{CAPACITY, Kind, ListensFor, Waitpoint};

/// The failure of a run or a step that got no room in time.
const TIMED_OUT: &str = "CAPACITY_TIMED_OUT";

/// The room that a change frees, by whose it was.
pub(crate) fn freed_by(run: &Run, change: &Change) -> Vec<(Option<StepAddress>, Vec<Room>)> {
    // A run that collects starts does so no longer.
    let ended = if let Change::WaitResolved { number, .. } = change { Some(*number) } else { None };
    let collecting = ended.and_then(|number| run.waitpoint(number)?.listens_for.starts());
    let freed = run.freed_by(change).into_iter().filter(|freed| !freed.rooms.is_empty());
    let freed = freed.map(|freed| (freed.at, freed.rooms));
    let calls = run.calls_freed_by(change).map(|held| (Some(held.at), held.rooms.clone()));
    freed.chain(calls).chain(collecting.map(|it| (None, vec![it.room()]))).collect()
}

/// Whether a step may not be handed out before it gets room under its limits.
pub(crate) fn step_lacks_room(run: &Run, at: StepAddress) -> bool {
    !step_limits(run, at).is_empty() && run.rooms_of(Some(at)).is_none_or(|held| !held.is_complete)
}

fn step_limits(run: &Run, at: StepAddress) -> &[Limit] {
    run.defined(at).action.work().map_or(&[], |work| &work.limits)
}

/// What the run asks for before it begins.
pub(crate) fn request_of_run(run: &Run, now: Timestamp) -> Result<CapacityRequest, Failure> {
    request(run, None, now).map_err(|error| expression_failed(&error))
}

fn request(run: &Run, at: Option<StepAddress>, now: Timestamp) -> Result<CapacityRequest, EvaluationError> {
    let limits = at.map_or(&*run.definition.limits, |at| step_limits(run, at));
    let held = run.rooms_of(at).map_or(&[][..], |held| &held.rooms);
    // A run uses a rate once; a step each time it is handed out.
    let takes_tokens = at.is_some() || run.started_at.is_none() || run.rooms_of(None).is_none();
    let mut asks = Vec::with_capacity(limits.len());
    let mut group = None;
    for limit in limits {
        let Keyed { id, workflow, key } = key_of(run, at, limit)?;
        group = group.or(Some(id).filter(|_| !key.is_empty()));
        let slot = limit.concurrency.is_some() && !held.iter().any(|room| room.limit == id);
        let token = limit.rate.is_some() && takes_tokens;
        if slot || token {
            asks.push(Ask {
                limit: id,
                workflow,
                name: Arc::clone(&limit.name),
                key,
                policy: Policy { concurrency: limit.concurrency, rate: limit.rate },
                slot,
                token,
                holds: limit.holds,
                when_full: limit.when_full,
                kept: false,
            });
        }
    }
    let group = group.or_else(|| at.and_then(|_| group_of_run(run)));
    let (priority, call) = (priority(run)?, None);
    Ok(CapacityRequest { asks, line: 0, rank: Rank::of(now, priority), priority, call, moves: 0, group })
}

/// A limit with the key under which room is asked for, and whose it is.
struct Keyed {
    id: LimitId,
    workflow: Option<Arc<str>>,
    key: Arc<str>,
}

/// The key of a limit that a run, or one of its steps, asks for.
fn key_of(run: &Run, at: Option<StepAddress>, limit: &Limit) -> Result<Keyed, EvaluationError> {
    let scope = RunScope { run, at: at.unwrap_or(StepAddress::step(0)) };
    let key: Arc<str> = match &limit.key {
        Some(key) => rendered(key, &scope)?.chars().take(limits::LIMIT_KEY_CHARS).collect::<String>().into(),
        None => "".into(),
    };
    let workflow = match limit.scope {
        LimitScope::Workflow => Some(Arc::clone(&run.definition_ref.name)),
        LimitScope::Workspace => None,
    };
    Ok(Keyed { id: LimitId::of(run.workspace, workflow.as_deref(), &limit.name, &key), workflow, key })
}

/// The first key that the run's own limits have: in the lines of shared limits keys take turns.
fn group_of_run(run: &Run) -> Option<LimitId> {
    let mut keyed = run.definition.limits.iter().filter(|limit| limit.key.is_some());
    keyed.find_map(|limit| {
        let Keyed { id, key, workflow: _ } = key_of(run, None, limit).ok()?;
        (!key.is_empty()).then_some(id)
    })
}

fn priority(run: &Run) -> Result<u8, EvaluationError> {
    let Some(priority) = &run.definition.priority else { return Ok(0) };
    let given = priority.render(&RunScope { run, at: StepAddress::step(0) })?;
    Ok(priority_of(&given))
}

/// What a durable call asks for before it is made.
pub(crate) fn request_of_call(
    run: &Run,
    limit: &CallLimit,
    call: &Arc<str>,
    now: Timestamp,
) -> CapacityRequest {
    let workflow = match limit.scope {
        LimitScope::Workflow => Some(Arc::clone(&run.definition_ref.name)),
        LimitScope::Workspace => None,
    };
    let key: Arc<str> = limit.key.chars().take(limits::LIMIT_KEY_CHARS).collect::<String>().into();
    let ask = Ask {
        limit: LimitId::of(run.workspace, workflow.as_deref(), &limit.name, &key),
        workflow,
        name: Arc::clone(&limit.name),
        key,
        policy: limit.policy,
        slot: limit.policy.concurrency.is_some(),
        token: limit.policy.rate.is_some(),
        holds: Holds::Run,
        when_full: WhenFull::Queue,
        kept: false,
    };
    // What the run says of its priority was rendered when it began; what cannot be is none.
    let priority = priority(run).unwrap_or(0);
    let (asks, call, group) = (vec![ask], Some(Arc::clone(call)), group_of_run(run));
    CapacityRequest { asks, line: 0, rank: Rank::of(now, priority), priority, call, moves: 0, group }
}

/// A durable call whose wait for room somebody has ended takes the room, whether there is any or not.
pub(crate) fn seize_for_call(turn: &mut Turn<'_>, at: StepAddress, number: u32) -> Result<(), Refusal> {
    if turn.run.call_rooms.iter().any(|held| held.number == number) {
        return Ok(());
    }
    let (_, rooms) = asked_rooms(turn.run, number);
    turn.in_round(RoundEffect::Capacity(CapacityEffect::Seize { number }));
    turn.emit(Change::CapacityTaken { at: Some(at), rooms, number: Some(number) })
}

/// Whether the run, or this step, has limits of this name: a call of its handler would wait for itself.
pub(crate) fn has_limit(run: &Run, at: StepAddress, name: &str) -> bool {
    run.definition.limits.iter().chain(step_limits(run, at)).any(|limit| &*limit.name == name)
}

fn rendered(template: &Template, scope: &RunScope<'_>) -> Result<String, EvaluationError> {
    let value = template.render(scope)?;
    Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// What is not a priority is none: a run is not lost for it.
fn priority_of(value: &serde_json::Value) -> u8 {
    let number = json::whole(value).or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
    number.map_or(0, |number| u8::try_from(number.clamp(0, i64::from(limits::PRIORITY))).unwrap_or(0))
}

/// The instant until which room is waited for, and what happens then.
fn deadline(limits: &[Limit], now: Timestamp) -> (Option<Timestamp>, OnTimeout) {
    let timed = limits.iter().filter_map(|limit| Some((limit.timeout?, limit.on_timeout)));
    let first = timed.min_by_key(|(timeout, _)| *timeout);
    (first.map(|(timeout, _)| timeout.after(now)), first.map_or(OnTimeout::Fail, |(_, then)| then))
}

/// Opens the wait of the run itself for room, if it does not wait already.
pub(crate) fn wait_for_room(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let is_it = |wait: &Waitpoint| wait.kind == Kind::Capacity && wait.at.is_none();
    if turn.run.open_waitpoints().any(is_it) {
        return Ok(());
    }
    let request = match request_of_run(turn.run, turn.now) {
        Ok(request) => request,
        Err(failure) => return begin_and_fail(turn, failure),
    };
    if request.asks.is_empty() {
        return room_given(turn, Vec::new());
    }
    let (resume_at, _) = deadline(&turn.run.definition.limits, turn.now);
    let number = next_number(turn.run);
    let listens_for = ListensFor::Capacity(Box::new(request));
    let wait = NewWait { kind: Kind::Capacity, resume_at, listens_for, response: None };
    let opens = new_waitpoint(turn, None, format!("{CAPACITY}{number}").into(), wait);
    turn.emit(Change::WaitCreated { opens })?;
    turn.in_round(RoundEffect::Capacity(CapacityEffect::Ask { number }));
    Ok(())
}

/// Opens the wait of a step for room; it was about to be handed out.
pub(crate) fn step_waits_for_room(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    let request = match request(turn.run, Some(at), turn.now) {
        Ok(request) => request,
        Err(error) => return fail_step(turn, at, expression_failed(&error)),
    };
    if request.asks.is_empty() {
        turn.emit(Change::CapacityTaken { at: Some(at), rooms: Vec::new(), number: None })?;
        return dispatch(turn, at);
    }
    let (resume_at, _) = deadline(step_limits(turn.run, at), turn.now);
    let number = next_number(turn.run);
    let listens_for = ListensFor::Capacity(Box::new(request));
    let wait = NewWait { kind: Kind::Capacity, resume_at, listens_for, response: None };
    let opens = new_waitpoint(turn, Some(at), format!("{CAPACITY}{number}").into(), wait);
    turn.in_round(RoundEffect::Capacity(CapacityEffect::Ask { number }));
    await_waits(turn, at, vec![opens], vec![number], WakeOn::All)
}

/// Ends a wait for room that was given.
pub(crate) fn grant(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    let (at, rooms) = asked_rooms(turn.run, number);
    if let Some(at) = at {
        let number_of_call = turn.run.waitpoint(number).filter(|wait| wait.is_of_a_call()).map(|_| number);
        turn.emit(Change::CapacityTaken { at: Some(at), rooms, number: number_of_call })?;
        return super::wait::resolve_silently(turn, number);
    }
    turn.emit(Change::WaitResolved { number, status: WaitStatus::Completed, payload: None, signal: None })?;
    room_given(turn, rooms)
}

/// Goes on with a run that has room, or begins it.
pub(crate) fn room_given(turn: &mut Turn<'_>, rooms: Vec<Room>) -> Result<(), Refusal> {
    let held = if turn.run.pausing { Default::default() } else { turn.run.held.clone() };
    turn.emit(Change::CapacityTaken { at: None, rooms, number: None })?;
    if turn.run.status == RunStatus::Pending {
        return start_run(turn);
    }
    turn.agenda.extend(held);
    Ok(())
}

/// The wait of the run itself for room has ended, and not because room was given.
pub(crate) fn run_wait_over(turn: &mut Turn<'_>, number: u32, status: WaitStatus) -> Result<(), Refusal> {
    match status {
        WaitStatus::Pending => Ok(()),
        // Somebody let it in.
        WaitStatus::Completed => {
            let (_, rooms) = asked_rooms(turn.run, number);
            turn.in_round(RoundEffect::Capacity(CapacityEffect::Seize { number }));
            room_given(turn, rooms)
        }
        // A pause keeps what happens until it is lifted.
        WaitStatus::TimedOut if turn.run.status == RunStatus::Paused => Ok(()),
        WaitStatus::TimedOut => got_no_room(turn),
        WaitStatus::Cancelled => cancel_run(turn, Some("its wait for room was cancelled".to_owned())),
    }
}

fn got_no_room(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    begin_and_fail(turn, Failure::new(TIMED_OUT, "the run got no room under its limits in time"))
}

/// Whether the run's own wait for room timed out while the run was paused.
pub(crate) fn timed_out_in_pause(run: &Run) -> bool {
    let of_run = |wait: &&Waitpoint| wait.kind == Kind::Capacity && wait.at.is_none();
    let since_retried = |wait: &Waitpoint| wait.resolved_at >= run.retried_at;
    let last = run.waitpoints().rev().find(of_run).filter(|wait| since_retried(wait));
    run.status == RunStatus::Paused && last.is_some_and(|wait| wait.status == WaitStatus::TimedOut)
}

/// Lifts the pause of a run that got no room in time: it fails now.
pub(crate) fn fail_after_pause(turn: &mut Turn<'_>) -> Result<(), Refusal> {
    turn.emit(Change::WorkflowUnpaused)?;
    got_no_room(turn)
}

/// The wait of a step for room has ended.
pub(crate) fn step_wait_over(
    turn: &mut Turn<'_>,
    at: StepAddress,
    number: u32,
    status: WaitStatus,
) -> Result<(), Refusal> {
    match status {
        WaitStatus::Pending => Ok(()),
        WaitStatus::Completed => {
            if step_lacks_room(turn.run, at) {
                let (_, rooms) = asked_rooms(turn.run, number);
                turn.in_round(RoundEffect::Capacity(CapacityEffect::Seize { number }));
                turn.emit(Change::CapacityTaken { at: Some(at), rooms, number: None })?;
            }
            resume(turn, at)
        }
        WaitStatus::TimedOut => {
            let (_, way) = deadline(step_limits(turn.run, at), turn.now);
            let (output, message) =
                (serde_json::json!({ "timeout": true }), "the step got no room under its limits in time");
            take_way_out(turn, at, number, way, output, TIMED_OUT, message)
        }
        WaitStatus::Cancelled => {
            fail_step(turn, at, Failure::new("WAIT_CANCELLED", "what the step waited for was cancelled"))
        }
    }
}

fn asked_rooms(run: &Run, number: u32) -> (Option<StepAddress>, Vec<Room>) {
    let Some(wait) = run.waitpoint(number) else { return (None, Vec::new()) };
    (wait.at, wait.listens_for.capacity().map(CapacityRequest::rooms).unwrap_or_default())
}

/// A run that has not begun begins before it fails: only what runs can fail.
fn begin_and_fail(turn: &mut Turn<'_>, failure: Failure) -> Result<(), Refusal> {
    if turn.run.status == RunStatus::Pending {
        turn.emit(Change::WorkflowStarted { deadline: None })?;
    }
    fail_run(turn, failure)
}
