//! Several waits of one step: when as many have come as are wanted, and what becomes of the rest.
//!
//! A wait has *come* when what it waits for is there. It is *out* when it ended without that: its time was over, or it was
//! cancelled. A rejected approval (unless `onReject` says otherwise) and a child that did not complete fail the step.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::command::ChildOutcome;
use crate::definition::{Action, Group, Member, OnTimeout};
use crate::flow::approval::{Tally, tally};
use crate::flow::finish::{Completion, Exit, complete, fail_step, result_state};
use crate::flow::wait::{resolve, take_way_out, wait_cancelled};
use crate::history::{Failure, StateChange, WakeOn};
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::refusal::Refusal;
use crate::run::{Awaiting, Run, defined};
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::{Decision, Kind, ListensFor, Waitpoint};

/// How far one of several waits is, or several of them together.
enum Progress {
    Open,
    Came(Coming),
    Out { late: bool },
    Failed(Failure),
}

/// When a wait came: the order of those that came in the same instant is that of their numbers, which is that of their
/// names.
type Coming = (Timestamp, u32);

/// Completes or fails a step that waits for several things, if it is known what becomes of it.
pub(super) fn go_on_if_over(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    let definition = Arc::clone(&turn.run.definition);
    let Some(group) = defined(&definition, at).action.group() else { return Ok(()) };
    match progress(turn.run, at, group) {
        Progress::Open => Ok(()),
        Progress::Came((_, number)) => end(turn, at, group, number),
        Progress::Out { late: true } => {
            let number = last_late(turn.run, at).unwrap_or_default();
            too_late(turn, at, group, number)
        }
        Progress::Out { late: false } => fail_step(turn, at, wait_cancelled()),
        Progress::Failed(failure) => fail_step(turn, at, failure),
    }
}

/// Ends a step that waits for several things because its time is over.
pub(super) fn time_is_over(turn: &mut Turn<'_>, at: StepAddress, number: u32) -> Result<(), Refusal> {
    let definition = Arc::clone(&turn.run.definition);
    let awaits = turn.run.step(at).is_some_and(|step| step.awaiting.is_some());
    match defined(&definition, at).action.group().filter(|_| awaits) {
        Some(group) => too_late(turn, at, group, number),
        None => Ok(()),
    }
}

fn end(turn: &mut Turn<'_>, at: StepAddress, group: &Group, number: u32) -> Result<(), Refusal> {
    let result = match result(turn.run, at, group) {
        Ok(result) => result,
        Err(failure) => return fail_step(turn, at, failure),
    };
    let first = group.members.iter().find(|member| result.get("first").is_some_and(|it| *it == *member.name));
    let exit = first.and_then(|first| first.goto).map_or(Exit::Next, Exit::Goto);
    let output = Json::new(Value::Object(result));
    match state(turn.run, at, group, &output) {
        Ok(state) => {
            let (output, waitpoint) = (Some(output), Some(number));
            complete(turn, at, Completion { output, waitpoint, state, exit })
        }
        Err(failure) => fail_step(turn, at, failure),
    }
}

fn too_late(turn: &mut Turn<'_>, at: StepAddress, group: &Group, number: u32) -> Result<(), Refusal> {
    let came = group.members.iter().filter(|member| came(turn.run, at, member).is_some()).count();
    let (needed, way) = (group.needed(), group.deadline.on_timeout);
    let output = match way {
        OnTimeout::Fail => Ok(Map::new()),
        OnTimeout::Continue | OnTimeout::Goto(_) => result(turn.run, at, group),
    };
    let mut output = match output {
        Ok(output) => output,
        Err(failure) => return fail_step(turn, at, failure),
    };
    output.insert("timeout".to_owned(), json!(true));
    let message = format!("{came} of the {needed} waits that are needed came in time");
    take_way_out(turn, at, number, way, Value::Object(output), "WAIT_TIMED_OUT", &message)
}

/// `{first, results}`: the wait that came first, and what each came with that came, at most as many as are needed.
fn result(run: &Run, at: StepAddress, group: &Group) -> Result<Map<String, Value>, Failure> {
    let mut bytes = 0;
    let result = results(run, at, group, &mut bytes);
    if bytes > limits::STATE_BYTES {
        let message = format!("the results are larger than {} bytes", limits::STATE_BYTES);
        return Err(Failure::new("STATE_TOO_LARGE", message));
    }
    Ok(result)
}

fn results(run: &Run, at: StepAddress, group: &Group, bytes: &mut usize) -> Map<String, Value> {
    let mut all: Vec<(Coming, &Member)> =
        group.members.iter().filter_map(|member| Some((came(run, at, member)?, member))).collect();
    all.sort_by_key(|(when, _)| *when);
    all.truncate(group.needed());
    let mut by_name = Map::new();
    for (_, member) in &all {
        let result = match &member.action {
            Action::Group(inner) => Value::Object(results(run, at, inner, bytes)),
            Action::Work(_)
            | Action::Wait(_)
            | Action::Condition { .. }
            | Action::Signal { .. }
            | Action::Event { .. }
            | Action::Webhook { .. }
            | Action::Approval(_)
            | Action::Respond { .. }
            | Action::Child { .. }
            | Action::Map(_) => came_with(run, at, member, bytes),
        };
        by_name.insert(member.name.to_string(), result);
    }
    let mut told = Map::new();
    if let Some((_, first)) = all.first() {
        told.insert("first".to_owned(), json!(first.name));
    }
    told.insert("results".to_owned(), Value::Object(by_name));
    told
}

/// What a wait came with. What would make the whole too large is counted, and left out.
fn came_with(run: &Run, at: StepAddress, member: &Member, bytes: &mut usize) -> Value {
    let Some(payload) = wait_of(run, at, member).and_then(|wait| wait.resume_payload.as_ref()) else {
        return Value::Null;
    };
    *bytes += payload.bytes();
    if *bytes > limits::STATE_BYTES {
        return Value::Null;
    }
    match (&member.action, child_outcome(payload)) {
        (Action::Child { .. }, Some(ChildOutcome::Completed { output })) => Value::clone(&output),
        (_, _) => Value::clone(payload),
    }
}

/// How the results change `state`: content that was edited replaces what was shown.
fn state(run: &Run, at: StepAddress, group: &Group, output: &Json) -> Result<StateChange, Failure> {
    let saved = result_state(run, at, Some(output), None)?;
    let edited = group.waits().into_iter().filter_map(|member| {
        let Action::Approval(approval) = &member.action else { return None };
        let request = wait_of(run, at, member).filter(|wait| !wait.is_pending())?.listens_for.approval()?;
        let is_edited = request.decisions.iter().any(|vote| vote.decision == Decision::Edit);
        is_edited.then(|| (approval.content_key.to_string(), request.content.clone()))
    });
    let mut set: BTreeMap<String, Json> = edited.collect();
    if set.is_empty() {
        return Ok(saved);
    }
    if let StateChange::OutputAs(key) = saved {
        set.insert(key.to_string(), output.clone());
    }
    Ok(StateChange::Set(set))
}

fn progress(run: &Run, at: StepAddress, group: &Group) -> Progress {
    let (mut came, mut open, mut late) = (Vec::new(), 0, false);
    for member in &group.members {
        match progress_of(run, at, member) {
            Progress::Open => open += 1,
            Progress::Came(coming) => came.push(coming),
            Progress::Out { late: is_late } => late |= is_late,
            Progress::Failed(failure) => return Progress::Failed(failure),
        }
    }
    came.sort_unstable();
    match came.get(group.needed().saturating_sub(1)) {
        Some(last) => Progress::Came(*last),
        None if came.len() + open < group.needed() => Progress::Out { late },
        None => Progress::Open,
    }
}

fn progress_of(run: &Run, at: StepAddress, member: &Member) -> Progress {
    if let Action::Group(inner) = &member.action {
        return progress(run, at, inner);
    }
    let Some(wait) = wait_of(run, at, member) else { return Progress::Open };
    match wait.status {
        WaitStatus::Pending => Progress::Open,
        WaitStatus::TimedOut => Progress::Out { late: true },
        WaitStatus::Cancelled => Progress::Out { late: false },
        WaitStatus::Completed => match failed(member, wait) {
            Some(failure) => Progress::Failed(failure),
            None => Progress::Came((wait.resolved_at.unwrap_or(wait.created_at), wait.number)),
        },
    }
}

pub(super) fn came(run: &Run, at: StepAddress, member: &Member) -> Option<Coming> {
    if let Progress::Came(coming) = progress_of(run, at, member) { Some(coming) } else { None }
}

/// Why a wait that has ended fails the whole step.
fn failed(member: &Member, wait: &Waitpoint) -> Option<Failure> {
    let name = &member.path;
    match (&member.action, &wait.listens_for) {
        (Action::Approval(approval), ListensFor::Approval(request)) => {
            let is_rejected = tally(request).0 == Tally::Rejected && approval.on_reject == OnTimeout::Fail;
            let message = || format!("the approval `{name}` was rejected");
            is_rejected.then(|| Failure::new("APPROVAL_REJECTED", message()))
        }
        (Action::Child { .. }, _) => match wait.resume_payload.as_ref().and_then(child_outcome) {
            Some(ChildOutcome::Completed { .. } | ChildOutcome::Started { .. }) => None,
            Some(ChildOutcome::Failed { error }) => {
                let message = format!("the child run of `{name}` failed: {}: {}", error.code, error.message);
                Some(Failure::new("CHILD_FAILED", message))
            }
            Some(ChildOutcome::Cancelled) => {
                Some(Failure::new("CHILD_CANCELLED", format!("the child run of `{name}` was cancelled")))
            }
            None => {
                let message = format!("the child run of `{name}` ended without a result");
                Some(Failure::new("CHILD_FAILED", message))
            }
        },
        (_, _) => None,
    }
}

fn child_outcome(payload: &Json) -> Option<ChildOutcome> {
    serde_json::from_value(Value::clone(payload)).ok()
}

fn wait_of<'r>(run: &'r Run, at: StepAddress, member: &Member) -> Option<&'r Waitpoint> {
    run.waitpoint(*run.step(at)?.waits.get(&member.path)?)
}

fn last_late(run: &Run, at: StepAddress) -> Option<u32> {
    let waits = run.step(at)?.waits.values();
    let is_late = |number: &u32| run.waitpoint(*number).is_some_and(|it| it.status == WaitStatus::TimedOut);
    waits.copied().filter(is_late).max()
}

/// Ends what of a step's waits is due up to this one: the earliest first, of the same instant the deadline, then by name. A
/// wait that stands alone is the only one.
pub(crate) fn end_what_is_due(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    for number in due_up_to(turn.run, number, turn.now) {
        let Some(wait) = turn.run.waitpoint(number).filter(|wait| wait.is_pending()) else { continue };
        let status = if wait.kind.ends_by_time() { WaitStatus::Completed } else { WaitStatus::TimedOut };
        resolve(turn, number, status, None)?;
    }
    Ok(())
}

fn due_up_to(run: &Run, number: u32, now: Timestamp) -> Vec<u32> {
    let mut due: Vec<(Option<Timestamp>, bool, u32)> = run
        .beside(number)
        .filter(|wait| wait.is_due(now))
        .map(|wait| (wait.resume_at, !wait.is_deadline(), wait.number))
        .collect();
    due.sort_unstable();
    let up_to = due.iter().position(|(_, _, other)| *other == number).map_or(0, |place| place + 1);
    due.truncate(up_to);
    if due.is_empty() { vec![number] } else { due.into_iter().map(|(_, _, number)| number).collect() }
}

impl Run {
    /// The open waits of the step that waits for this one among several; none if the step waits for this one alone.
    pub fn beside(&self, number: u32) -> impl Iterator<Item = &Waitpoint> {
        let at = self.waitpoint(number).and_then(|wait| wait.at);
        let step = at.and_then(|at| self.step(at));
        let is_of_several = |awaiting: &Awaiting| awaiting.wake == WakeOn::Group;
        let step = step.filter(|step| step.awaiting.as_ref().is_some_and(is_of_several));
        let waits = step.into_iter().flat_map(|step| step.waits.values());
        waits.filter_map(|number| self.waitpoint(*number)).filter(|wait| wait.is_pending())
    }

    /// The waits for events that are offered what is stored before the timer of this wait fires: what came in time is not
    /// missed because it is delivered late.
    pub fn offered_before(&self, number: u32) -> Vec<u32> {
        let own = self.waitpoint(number).filter(|wait| wait.is_pending());
        let mut numbers: Vec<u32> = own
            .into_iter()
            .chain(self.beside(number))
            .filter(|wait| wait.kind == Kind::Event)
            .map(|wait| wait.number)
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The waitpoint that holds the deadline of the step that waits for this one among several.
    pub(crate) fn shared_deadline(&self, number: u32) -> Option<&Waitpoint> {
        self.beside(number).find(|wait| wait.is_deadline() && wait.number != number)
    }

    /// From when on nothing but time ends the wait: its own deadline, or that of the step that waits for several things.
    pub fn closes_at(&self, number: u32) -> Option<Timestamp> {
        let own = self.waitpoint(number).and_then(|wait| wait.resume_at);
        let shared = self.shared_deadline(number).and_then(|wait| wait.resume_at);
        own.into_iter().chain(shared).min()
    }

    /// What a wait is for, as the definition says it: what its step does, or one of several waits of it.
    pub fn action_of(&self, wait: &Waitpoint) -> Option<&Action> {
        let action = &self.defined(wait.at?).action;
        match action.group() {
            Some(group) => group.wait(&wait.name).map(|member| &member.action),
            None => Some(action),
        }
    }
}
