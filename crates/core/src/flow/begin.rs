//! Beginning a step run: what each kind of step does first.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::definition::{Action, Approval, Deadline, Definition, Executor, Order, Until, Work};
use crate::effect::AfterCommit;
use crate::expression::{EvaluationError, Expression, Template};
use crate::flow::advance::{advance, is_not_taken};
use crate::flow::capacity;
use crate::flow::child::start_child;
use crate::flow::finish::{Completion, Exit, complete, fail_step};
use crate::flow::later::{self, Rendered};
use crate::flow::map;
use crate::flow::members::{self, Kept};
use crate::flow::wait::{NewWait, open_own_wait, resume};
use crate::history::{Change, Failure};
use crate::id::StepAddress;
use crate::json::{self, Json};
use crate::limits;
use crate::refusal::Refusal;
use crate::run::{Run, defined};
use crate::scope::RunScope;
use crate::status::{StepStatus, WaitStatus};
use crate::time::{self, Millis};
use crate::turn::Turn;
use crate::waitpoint::{ApprovalRequest, ESCALATION, EventFilter, Kind, ListensFor, OWN_WAIT, REMINDER};

/// Puts the steps that wait for nothing on the agenda.
pub(crate) fn begin_roots(turn: &mut Turn<'_>) {
    let definition = &turn.run.definition;
    match definition.order {
        Order::Sequence => turn.agenda.push_back(StepAddress::step(0)),
        Order::Graph => {
            let roots = (0..).zip(&definition.steps).filter(|(_, step)| step.after.is_empty());
            turn.agenda.extend(roots.map(|(index, _)| StepAddress::step(index)));
        }
    }
}

/// Begins, or goes on with, a step run from the agenda.
pub(crate) fn begin(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    if turn.run.failure.is_some() || turn.run.status.has_ended() {
        return Ok(());
    }
    match turn.run.step_status(at) {
        StepStatus::Pending if at.item.is_none() && is_not_taken(turn, at.step) => skip(turn, at.step),
        StepStatus::Pending | StepStatus::Failed => begin_anew(turn, at),
        StepStatus::Running | StepStatus::Waiting
            if turn.run.step(at).is_some_and(|step| step.map.is_some()) =>
        {
            map::fill(turn, at.step)
        }
        StepStatus::Running | StepStatus::Waiting => resume(turn, at),
        StepStatus::Completed | StepStatus::Skipped | StepStatus::Cancelled => Ok(()),
    }
}

fn skip(turn: &mut Turn<'_>, step: u16) -> Result<(), Refusal> {
    turn.emit(Change::StepSkipped { at: StepAddress::step(step) })?;
    advance(turn, step, Exit::Next)
}

pub(crate) fn begin_anew(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    if turn.run.holds_work() {
        return turn.emit(Change::StepHeldBack { at });
    }
    if let Some(failure) = overspent(turn) {
        turn.wake_run()?;
        turn.emit(Change::StepStarted { at, request: None })?;
        return fail_step(turn, at, failure);
    }
    let definition = Arc::clone(&turn.run.definition);
    // Asked once: a step that began and failed is not skipped when the run is retried.
    if let Some(when) = &definition.step(at.step).when
        && at.item.is_none()
        && turn.run.step_status(at) == StepStatus::Pending
    {
        let (is_true, cost) = when.is_true_at(&RunScope { run: turn.run, at });
        turn.spend(cost);
        match is_true {
            Ok(true) => {}
            Ok(false) => return skip(turn, at.step),
            Err(error) => {
                turn.wake_run()?;
                turn.emit(Change::StepStarted { at, request: None })?;
                return fail_step(turn, at, expression_failed(&error));
            }
        }
    }
    turn.wake_run()?;
    act(turn, at, &definition)
}

/// Why nothing more may begin in this decision: it has used up its budget.
pub(crate) fn overspent(turn: &Turn<'_>) -> Option<Failure> {
    let (what, _, limit) = turn.spent().into_iter().find(|(_, spent, limit)| spent > limit)?;
    let message = format!(
        "one decision came to more than {limit} {what}; let fewer steps or items begin at once (`concurrency`, a `wait` \
         in between), or give them less data"
    );
    Some(Failure::new("DECISION_TOO_LARGE", message))
}

fn act(turn: &mut Turn<'_>, at: StepAddress, definition: &Definition) -> Result<(), Refusal> {
    let step = defined(definition, at);
    if let Action::Work(work) = &step.action {
        return begin_work(turn, at, work);
    }
    let kept_instant = kept_instant(turn.run, at);
    let kept = step.action.group().map(|group| Kept::of(turn.run, at, group)).unwrap_or_default();
    turn.emit(Change::StepStarted { at, request: None })?;
    match &step.action {
        Action::Work(_) => Ok(()),
        Action::Wait(until) => begin_wait(turn, at, until, kept_instant),
        Action::Condition { expression, on_true, on_false } => {
            let (is_true, cost) = expression.is_true_at(&RunScope { run: turn.run, at });
            turn.spend(cost);
            match is_true {
                Ok(result) => {
                    let on_false = on_false.unwrap_or(step.next);
                    let (taken, other) = if result { (*on_true, on_false) } else { (on_false, *on_true) };
                    let other = (other != taken).then_some(other);
                    let completion = Completion::of(json!({ "result": result }).into());
                    complete(turn, at, Completion { exit: Exit::Branch { taken, other }, ..completion })
                }
                Err(error) => fail_step(turn, at, expression_failed(&error)),
            }
        }
        Action::Signal { signal_type, deadline } => {
            let listens_for = ListensFor::Signal { signal_type: Arc::clone(signal_type) };
            let resume_at = due(turn.now, deadline);
            open_own_wait(
                turn,
                at,
                NewWait { kind: Kind::Signal, resume_at, listens_for, response: None },
                Vec::new(),
            )
        }
        Action::Event { event_id, matching, lookback, deadline } => {
            let filter = match event_filter(turn, at, event_id, matching.as_ref(), *lookback) {
                Ok(filter) => filter,
                Err(failure) => return fail_step(turn, at, failure),
            };
            let (resume_at, listens_for) = (due(turn.now, deadline), ListensFor::Event(filter));
            open_own_wait(
                turn,
                at,
                NewWait { kind: Kind::Event, resume_at, listens_for, response: None },
                Vec::new(),
            )
        }
        Action::Webhook { response, allow_get, deadline, .. } => {
            let response = match response.as_ref().map(|response| render(turn.run, at, response)).transpose()
            {
                Ok(response) => response,
                Err(error) => return fail_step(turn, at, expression_failed(&error)),
            };
            let listens_for = ListensFor::Call { allow_get: *allow_get };
            let resume_at = due(turn.now, deadline);
            open_own_wait(
                turn,
                at,
                NewWait { kind: Kind::Webhook, resume_at, listens_for, response },
                Vec::new(),
            )
        }
        Action::Approval(approval) => begin_approval(turn, at, approval),
        Action::Respond { response } => match render(turn.run, at, response) {
            Ok(response) => {
                turn.after_commit(AfterCommit::Respond { response: response.clone() });
                complete(turn, at, Completion::of(response))
            }
            Err(error) => fail_step(turn, at, expression_failed(&error)),
        },
        Action::Child { .. } => start_child(turn, at),
        Action::Map(map) => map::begin(turn, at.step, map),
        Action::Group(group) => members::begin(turn, at, group, &kept),
    }
}

/// A sleep that was stopped because another step failed keeps its instant when the run is retried.
fn kept_instant(run: &Run, at: StepAddress) -> Option<Timestamp> {
    let state = run.step(at)?;
    let wait = run.waitpoint(*state.waits.get(OWN_WAIT)?)?;
    let cancelled = wait.kind == Kind::Delay && wait.status == WaitStatus::Cancelled;
    wait.resume_at.filter(|_| state.stopped && cancelled)
}

fn begin_work(turn: &mut Turn<'_>, at: StepAddress, work: &Work) -> Result<(), Refusal> {
    match request(turn, at, work) {
        Ok(request) => {
            turn.emit(Change::StepStarted { at, request })?;
            dispatch(turn, at)
        }
        Err(error) => {
            turn.emit(Change::StepStarted { at, request: None })?;
            fail_step(turn, at, expression_failed(&error))
        }
    }
}

/// Hands the task of a RUNNING step out, once it has room under the limits of the step.
pub(crate) fn dispatch(turn: &mut Turn<'_>, at: StepAddress) -> Result<(), Refusal> {
    if capacity::step_lacks_room(turn.run, at) {
        return capacity::step_waits_for_room(turn, at);
    }
    let lease_epoch =
        turn.run.step(at).and_then(|step| step.task.as_ref()).map_or(0, |task| task.lease_epoch);
    turn.after_commit(AfterCommit::Dispatch { at, lease_epoch });
    Ok(())
}

/// The request to the executor, where it depends on the run's data and is not rendered when the task is handed out;
/// the rest is in the definition.
fn request(turn: &mut Turn<'_>, at: StepAddress, work: &Work) -> Result<Option<Json>, EvaluationError> {
    let parts = [("config", &work.config), ("input", &work.input)];
    let mut rendered = Map::new();
    for (key, template) in parts {
        if let Some(template) = template
            && template.as_constant().is_none()
            && let Rendered::Now(value) = later::render_now_or_later(turn, at, template, true)?
        {
            rendered.insert(key.to_owned(), Value::clone(&*value));
        }
    }
    let is_fixed = |template: &&Template| rendered.contains_key("input") || template.as_constant().is_some();
    if let Some(template) = work.input.as_ref().filter(|_| work.executor == Executor::Http).filter(is_fixed) {
        let places = template.secrets(&RunScope { run: turn.run, at })?;
        if !places.is_empty() {
            let places = serde_json::to_value(places).expect("places are JSON");
            rendered.insert("secrets".to_owned(), places);
        }
    }
    Ok((!rendered.is_empty()).then(|| Json::new(Value::Object(rendered))))
}

pub(super) fn render(run: &Run, at: StepAddress, template: &Template) -> Result<Json, EvaluationError> {
    match template.as_constant() {
        Some(constant) => Ok(constant.clone()),
        None => template.render(&RunScope { run, at }),
    }
}

fn begin_wait(
    turn: &mut Turn<'_>,
    at: StepAddress,
    until: &Until,
    kept: Option<Timestamp>,
) -> Result<(), Refusal> {
    match sleep_until(turn, at, until, kept) {
        Err(failure) => fail_step(turn, at, failure),
        Ok(instant) => {
            let (kind, resume_at, listens_for) = (Kind::Delay, Some(instant), ListensFor::Time);
            let number = super::wait::next_number(turn.run);
            open_own_wait(turn, at, NewWait { kind, resume_at, listens_for, response: None }, Vec::new())?;
            // It is over before anybody can look, and recorded like every wait.
            if instant <= turn.now {
                turn.overdue.push(number);
            }
            Ok(())
        }
    }
}

/// When a sleep ends: at the instant that it had before, or as its definition says from now on.
pub(super) fn sleep_until(
    turn: &Turn<'_>,
    at: StepAddress,
    until: &Until,
    kept: Option<Timestamp>,
) -> Result<Timestamp, Failure> {
    let instant = kept.map_or_else(|| instant(turn.run, at, until, turn.now), Ok)?;
    // What the definition says was checked when it was deployed.
    if !matches!(until, Until::For(_)) && instant > turn.bounds.max_wait.after(turn.now) {
        let message = format!("{instant} is more than {} from now (`--max-wait`)", turn.bounds.max_wait);
        return Err(Failure::new("WAIT_TOO_LONG", message));
    }
    Ok(instant)
}

fn instant(run: &Run, at: StepAddress, until: &Until, now: Timestamp) -> Result<Timestamp, Failure> {
    match until {
        Until::For(length) => Ok(length.after(now)),
        Until::Instant(instant) => Ok(*instant),
        Until::ForRendered(template) => {
            let value = render(run, at, template).map_err(|error| expression_failed(&error))?;
            let length = match (&*value, json::whole(&value)) {
                (Value::String(text), _) => Millis::parse(text).ok(),
                (_, ms) => ms.and_then(|ms| u64::try_from(ms).ok()).map(Millis),
            };
            let bad = || bad_time(&value, "a duration such as `30s`, or a whole number of milliseconds");
            length.map(|length| length.after(now)).ok_or_else(bad)
        }
        Until::InstantRendered(template) => {
            let value = render(run, at, template).map_err(|error| expression_failed(&error))?;
            let instant = match (&*value, json::whole(&value)) {
                (Value::String(text), _) => time::instant(text),
                (_, ms) => ms.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
            };
            instant.ok_or_else(|| bad_time(&value, "an RFC 3339 instant, or milliseconds since 1970"))
        }
        Until::Cron(cron) => cron
            .next_after(now)
            .ok_or_else(|| Failure::new("BAD_TIME", format!("`{}` never comes again", cron.line()))),
    }
}

fn bad_time(value: &Value, expected: &str) -> Failure {
    let shown: String = value.to_string().chars().take(100).collect();
    Failure::new("BAD_TIME", format!("the template gave {shown}; expected {expected}"))
}

pub(super) fn due(now: Timestamp, deadline: &Deadline) -> Option<Timestamp> {
    deadline.timeout.map(|timeout| timeout.after(now))
}

pub(super) fn event_filter(
    turn: &Turn<'_>,
    at: StepAddress,
    event_id: &Template,
    matching: Option<&Expression>,
    lookback: Option<Millis>,
) -> Result<EventFilter, Failure> {
    let event_id = render(turn.run, at, event_id).map_err(|error| expression_failed(&error))?;
    let named = event_id.as_str().filter(|id| (1..=limits::NAME_CHARS).contains(&id.chars().count()));
    let Some(event_id) = named else {
        let message = format!("the event id must be a text of 1 to {} characters", limits::NAME_CHARS);
        return Err(Failure::new("BAD_EVENT_ID", message));
    };
    let since = lookback.map_or(turn.run.created_at, |lookback| lookback.before(turn.now));
    let mut filter = EventFilter {
        event_id: event_id.into(),
        since,
        forgotten_before: turn.bounds.forgotten_before(turn.run, since, turn.now),
        matching: matching.cloned(),
        bound: Default::default(),
    };
    filter.bind(turn.run, at);
    Ok(filter)
}

/// What people are asked.
pub(super) fn approval_request(
    turn: &Turn<'_>,
    at: StepAddress,
    approval: &Approval,
) -> Result<ApprovalRequest, Failure> {
    let Some(content) = turn.run.state.get(&*approval.content_key).cloned() else {
        let message =
            format!("`state.{}` is what should be approved, and it is not there", approval.content_key);
        return Err(Failure::new("APPROVAL_CONTENT_MISSING", message));
    };
    let prompt = approval.prompt.as_ref().map(|prompt| render(turn.run, at, prompt)).transpose();
    let prompt = prompt.map_err(|error| expression_failed(&error))?;
    Ok(ApprovalRequest {
        prompt: prompt.and_then(|prompt| prompt.as_str().map(str::to_owned)),
        content,
        content_schema: approval.content_schema.clone(),
        approvers: approval.approvers.clone(),
        quorum: approval.quorum,
        allow_self_approval: approval.allow_self_approval,
        decisions: Vec::new(),
    })
}

fn begin_approval(turn: &mut Turn<'_>, at: StepAddress, approval: &Approval) -> Result<(), Refusal> {
    let listens_for = match approval_request(turn, at, approval) {
        Ok(request) => ListensFor::Approval(request),
        Err(failure) => return fail_step(turn, at, failure),
    };
    let resume_at = approval.timeout.map(|timeout| timeout.after(turn.now));
    let reminders =
        (1..).zip(&approval.remind_after).map(|(number, after)| (format!("{REMINDER}-{number}"), *after));
    let escalation = approval.escalation.iter().map(|escalation| (ESCALATION.to_owned(), escalation.after));
    let aside = reminders.chain(escalation).map(|(name, after)| {
        let (resume_at, listens_for) = (Some(after.after(turn.now)), ListensFor::Time);
        (name.into(), NewWait { kind: Kind::Delay, resume_at, listens_for, response: None })
    });
    let aside = aside.collect();
    let wait = NewWait { kind: Kind::Approval, resume_at, listens_for, response: None };
    open_own_wait(turn, at, wait, aside)
}

pub(crate) fn expression_failed(error: &EvaluationError) -> Failure {
    Failure::new("EXPRESSION_FAILED", error.to_string())
}
