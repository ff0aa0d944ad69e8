//! Durable code in a handler waits: the worker reports its new journal entries and what it waits for, and gives up
//! its lease. When the waits end, the task is handed out again with its journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::capacity::Policy;
use crate::command::Reply;
use crate::command::http_call::check_call;
use crate::command::wait_for::{CallLimit, WaitFor};
use crate::definition::is_own;
use crate::expression::Expression;
use crate::flow::{self, NewWait, await_waits};
use crate::history::{JournalResult, WakeOn};
use crate::id::{RunId, StepAddress};
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::run::Run;
use crate::scope::is_known_name;
use crate::time::Millis;
use crate::turn::Turn;
use crate::waitpoint::{ApprovalRequest, EventFilter, Kind, ListensFor, NextAttempt};

/// A handler is suspended until its waits end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskSuspended {
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch of the report; an older one is refused.
    pub lease_epoch: u32,
    /// Results of durable calls to append to the journal.
    pub entries: Vec<JournalResult>,
    /// What the handler waits for; a wait that the journal has already goes on as it is.
    pub waits: Vec<WaitSpec>,
    /// Whether the handler is resumed when all waits have ended, or any.
    pub wake: WakeOn,
    /// Data that the handler gets back when it is resumed; `None`: what was saved before stays.
    pub checkpoint: Option<Json>,
    /// Names of waits in the journal that the code has no use for any more, such as the losers of a race; they are
    /// cancelled.
    pub cancels: Vec<Arc<str>>,
}

/// A wait by its name in the journal. If the journal has a wait of that name, that one is waited for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitSpec {
    /// The name of the durable call; unique in the step's visit.
    pub name: Arc<str>,
    /// What the call waits for.
    pub wait: WaitFor,
    /// What the code asked for, in its SDK's words: only the same question gets the recorded wait's answer (R19).
    pub asked: Option<Arc<str>>,
}

impl WaitSpec {
    /// A wait under a name of the journal, without the SDK's words for it.
    pub fn new(name: impl Into<Arc<str>>, wait: WaitFor) -> WaitSpec {
        WaitSpec { name: name.into(), wait, asked: None }
    }
}

impl TaskSuspended {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskSuspended { at, lease_epoch, entries, waits, wake, checkpoint, cancels } = self;
        turn.fence(at, lease_epoch)?;
        let entries = turn.new_entries(at, entries)?;
        if let Some(checkpoint) = &checkpoint {
            within("the checkpoint's size in bytes", checkpoint.bytes(), limits::PAYLOAD_BYTES)?;
        }
        if waits.is_empty() {
            return Err(malformed("/waits", "at least one wait is needed"));
        }
        let asked = turn.asked_waits(at, &entries, waits)?;
        turn.record_entries(at, entries)?;
        turn.cancel_named(at, &cancels)?;
        turn.save_checkpoint(at, checkpoint)?;
        let (known, opens) = asked.open(turn, at);
        let awaits = known.into_iter().chain(opens.iter().map(|wait| wait.number)).collect();
        await_waits(turn, at, opens, awaits, wake)?;
        Ok(Reply::Done)
    }
}

impl WaitFor {
    pub(super) fn kind(&self) -> Kind {
        match self {
            WaitFor::Sleep { .. } | WaitFor::Instant { .. } => Kind::Delay,
            WaitFor::Signal { .. } => Kind::Signal,
            WaitFor::Event { .. } => Kind::Event,
            WaitFor::Call { .. } | WaitFor::Created => Kind::Webhook,
            WaitFor::RateLimit { .. } | WaitFor::Retry { .. } => Kind::Retry,
            WaitFor::Child { .. } | WaitFor::Http(_) => Kind::Child,
            WaitFor::Capacity { .. } => Kind::Capacity,
            WaitFor::Approval { .. } => Kind::Approval,
        }
    }

    /// The wait that the worker asks for, checked against the limits.
    pub(super) fn check(self, turn: &mut Turn<'_>, at: StepAddress) -> Result<NewWait, Refusal> {
        let is_child = matches!(self, WaitFor::Child { .. } | WaitFor::Http(_));
        let fresh = is_child.then(|| RunId::new(turn.now, turn.random.draw_u128()));
        let drawn = if matches!(self, WaitFor::Retry { .. }) { turn.random.draw() } else { 0 };
        let turn = &*turn;
        let due = |timeout: Option<Millis>| {
            timeout.map(|timeout| turn.check_duration("/waits/timeoutMs", timeout)).transpose()
        };
        let new = |kind, resume_at, listens_for| NewWait { kind, resume_at, listens_for, response: None };
        match self {
            WaitFor::Sleep { duration } => {
                let instant = turn.check_duration("/waits/durationMs", duration)?;
                Ok(new(Kind::Delay, Some(instant), ListensFor::Time))
            }
            WaitFor::Instant { at: instant } => {
                let max_wait = turn.bounds.max_wait;
                if instant > max_wait.after(turn.now) {
                    return Err(malformed("/waits/at", format!("more than {max_wait} from now")));
                }
                Ok(new(Kind::Delay, Some(instant), ListensFor::Time))
            }
            WaitFor::Signal { signal_type, timeout } => {
                check_name("/waits/signalType", &signal_type)?;
                Ok(new(Kind::Signal, due(timeout)?, ListensFor::Signal { signal_type }))
            }
            WaitFor::Event { event_id, matching, fields, lookback, timeout } => {
                check_name("/waits/eventId", &event_id)?;
                let bytes = fields.values().map(Json::bytes).sum();
                within("the size of `where` in bytes", bytes, limits::PAYLOAD_BYTES)?;
                let matching = condition(turn.run, matching.as_deref(), &fields)?;
                let since = lookback.map_or(turn.run.created_at, |lookback| lookback.before(turn.now));
                let forgotten_before = turn.bounds.forgotten_before(turn.run, since, turn.now);
                let bound = Default::default();
                let mut filter = EventFilter { event_id, since, forgotten_before, matching, bound };
                filter.bind(turn.run, at);
                filter.bind_fields(fields);
                Ok(new(Kind::Event, due(timeout)?, ListensFor::Event(filter)))
            }
            WaitFor::Call { allow_get, timeout } => {
                Ok(new(Kind::Webhook, due(timeout)?, ListensFor::Call { allow_get }))
            }
            WaitFor::Created => {
                Err(malformed("/waits/name", "there is no waitpoint of this name; it is to be created first"))
            }
            WaitFor::RateLimit { until } => {
                // Longer than that nobody is believed.
                let until = until.min(turn.bounds.max_wait.after(turn.now));
                Ok(new(Kind::Retry, Some(until), ListensFor::Time))
            }
            WaitFor::Retry { call, attempt, policy, retry_after, error } => {
                check_name("/waits/call", &call)?;
                let most = policy.max_attempts;
                within("the attempts of a call", to_usize(most), to_usize(limits::CALL_ATTEMPTS))?;
                if !(1..most).contains(&attempt) {
                    let message = format!("attempt {attempt} of {most} is not followed by another");
                    return Err(malformed("/waits/attempt", message));
                }
                let backoff = retry_after.unwrap_or_else(|| policy.backoff_after(attempt, drawn));
                let resume_at = backoff.min(turn.bounds.max_wait).after(turn.now);
                let error = error.shortened(limits::ATTEMPT_ERROR_CHARS);
                let next = NextAttempt { call, attempt, max_attempts: most, error };
                Ok(new(Kind::Retry, Some(resume_at), ListensFor::Attempt(next)))
            }
            WaitFor::Child { definition, version: _, input, timeout, detached: _, tags } => {
                let run_id = fresh.filter(|_| !definition.is_empty());
                let run_id = run_id.ok_or_else(|| malformed("/waits/definition", "a workflow has a name"))?;
                within("the input's size in bytes", input.bytes(), limits::PAYLOAD_BYTES)?;
                within("the number of tags", tags.len(), limits::TAGS)?;
                tags.iter().try_for_each(|tag| check_name("/waits/tags", tag))?;
                turn.check_depth()?;
                Ok(new(Kind::Child, due(timeout)?, ListensFor::Child { run_id }))
            }
            WaitFor::Http(call) => {
                check_call(&call, turn.bounds.max_wait)?;
                turn.check_depth()?;
                let run_id = fresh.ok_or_else(|| malformed("/waits/url", "a call is made by a run"))?;
                Ok(new(Kind::Child, None, ListensFor::Child { run_id }))
            }
            WaitFor::Capacity { call, limit, timeout } => {
                check_name("/waits/call", &call)?;
                check_limit(turn, at, &limit)?;
                let request = flow::request_of_call(turn.run, &limit, &call, turn.now);
                Ok(new(Kind::Capacity, due(timeout)?, ListensFor::Capacity(Box::new(request))))
            }
            WaitFor::Approval { prompt, content, content_schema, approvers, quorum, timeout } => {
                within("the content's size in bytes", content.bytes(), limits::PAYLOAD_BYTES)?;
                let schema_bytes = content_schema.as_ref().map_or(0, Json::bytes);
                within("the contentSchema's size in bytes", schema_bytes, limits::CONTENT_SCHEMA_BYTES)?;
                within("the number of approvers", approvers.len(), limits::APPROVERS)?;
                within(
                    "the prompt's size in bytes",
                    prompt.as_ref().map_or(0, String::len),
                    limits::PAYLOAD_BYTES,
                )?;
                for (index, approver) in approvers.iter().enumerate() {
                    check_name("/waits/approvers", approver)?;
                    if approvers[..index].contains(approver) {
                        return Err(malformed("/waits/approvers", format!("`{approver}` is named twice")));
                    }
                }
                let most = if approvers.is_empty() { limits::APPROVERS } else { approvers.len() };
                if quorum == 0 || usize::try_from(quorum).is_ok_and(|quorum| quorum > most) {
                    return Err(malformed("/waits/quorum", format!("{quorum} of {most} cannot be reached")));
                }
                let request = ApprovalRequest {
                    prompt,
                    content,
                    content_schema,
                    approvers,
                    quorum,
                    allow_self_approval: true,
                    decisions: Vec::new(),
                };
                Ok(new(Kind::Approval, due(timeout)?, ListensFor::Approval(request)))
            }
        }
    }
}

/// What `match` and `where` say together. Whatever `match` names besides the event is bound when the wait begins, so
/// a name that is unknown now always will be.
fn condition(
    run: &Run,
    matching: Option<&str>,
    fields: &BTreeMap<String, Json>,
) -> Result<Option<Expression>, Refusal> {
    let parse = |source: &str, pointer| {
        Expression::parse(source).map_err(|error| malformed(pointer, error.to_string()))
    };
    let given = matching.map(|source| parse(source, "/waits/match")).transpose()?;
    let heads = given.iter().flat_map(Expression::paths).filter_map(|path| path.into_iter().next());
    if let Some(unknown) = heads.into_iter().find(|head| !is_known_name(run, head)) {
        let message = format!(
            "`{unknown}` is known here neither as `input`, `state`, `steps`, `run` or `event` nor as a key of `state`; \
             a value of the code goes into `where`"
        );
        return Err(malformed("/waits/match", message));
    }
    if fields.is_empty() {
        return Ok(given);
    }
    let own = given.iter().map(|given| format!("({})", given.source()));
    let source = own.chain(fields.keys().map(|path| EventFilter::field_is(path))).collect::<Vec<_>>();
    parse(&source.join(" and "), "/waits/where").map(Some)
}

fn check_name(pointer: &'static str, name: &str) -> Result<(), Refusal> {
    if (1..=limits::NAME_CHARS).contains(&name.chars().count()) {
        Ok(())
    } else {
        Err(malformed(pointer, format!("must have 1 to {} characters", limits::NAME_CHARS)))
    }
}

fn check_limit(turn: &Turn<'_>, at: StepAddress, limit: &CallLimit) -> Result<(), Refusal> {
    let Policy { concurrency, rate } = limit.policy;
    if !(1..=limits::STEP_NAME_CHARS).contains(&limit.name.chars().count()) || is_own(&limit.name) {
        return Err(malformed("/waits/limit/name", "a limit has a name of 1 to 100 characters without `$`"));
    }
    if concurrency.is_none() && rate.is_none() {
        return Err(malformed("/waits/limit", "it is not said how many may have room"));
    }
    if concurrency == Some(0)
        || rate.is_some_and(|rate| rate.count == 0 || rate.burst == 0 || rate.per.0 == 0)
    {
        return Err(malformed("/waits/limit", "there would never be room"));
    }
    if flow::has_limit(turn.run, at, &limit.name) {
        let message = "the run or its step has room under this limit: the call would wait for itself";
        return Err(malformed("/waits/limit/name", message));
    }
    Ok(())
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

pub(super) fn check_asked(asked: Option<&str>) -> Result<(), Refusal> {
    asked.map_or(Ok(()), |asked| check_name("/waits/asked", asked))
}

pub(super) fn malformed(pointer: &'static str, message: impl Into<String>) -> Refusal {
    Refusal::Malformed { pointer, message: message.into() }
}

impl Turn<'_> {
    pub(crate) fn check_wait_name(&self, name: &str) -> Result<(), Refusal> {
        if is_own(name) {
            return Err(malformed("/name", "names that begin with `$` are the engine's"));
        }
        check_name("/name", name)
    }

    fn check_depth(&self) -> Result<(), Refusal> {
        let (depth, most) = (to_usize(flow::child_depth(self.run)), to_usize(limits::CHILD_DEPTH));
        within("the depth of runs that start runs", depth, most)
    }

    /// The waitpoint of this name, if the step's visit has one. A result of that name is a conflict.
    pub(super) fn named_wait(&self, at: StepAddress, name: &str) -> Result<Option<u32>, Refusal> {
        let step = self.run.step(at);
        let wait = step.and_then(|step| step.waits.get(name).copied());
        let journalled =
            step.and_then(|step| step.task.as_ref()).is_some_and(|task| task.journal.contains_key(name));
        if wait.is_none() && journalled {
            return Err(Refusal::JournalConflict { name: name.to_owned() });
        }
        Ok(wait)
    }

    /// A recorded wait answers only the question that it was opened for (R19).
    pub(super) fn check_same_wait(
        &self,
        number: u32,
        kind: Kind,
        asked: Option<&str>,
    ) -> Result<(), Refusal> {
        let Some(wait) = self.run.waitpoint(number) else { return Ok(()) };
        let other = asked.zip(wait.asked.as_deref()).filter(|(asked, recorded)| asked != recorded);
        let name = wait.name.to_string();
        match other {
            Some((asked, recorded)) => {
                let (recorded, asked) = (recorded.to_owned(), asked.to_owned());
                Err(Refusal::JournalMismatch { name, recorded, asked })
            }
            None if wait.kind != kind => {
                let (recorded, asked) = (wait.kind.to_string(), kind.to_string());
                Err(Refusal::JournalMismatch { name, recorded, asked })
            }
            None => Ok(()),
        }
    }

    /// A sleep that the failure of its step ended early goes on to the instant that it had.
    pub(super) fn as_it_was_cut_off(&self, at: StepAddress, name: &str, wait: NewWait) -> NewWait {
        let cut_off = self.run.step(at).and_then(|step| step.cut_off.get(name).copied());
        match cut_off {
            Some(resume_at) if wait.kind == Kind::Delay => NewWait { resume_at: Some(resume_at), ..wait },
            Some(_) | None => wait,
        }
    }

    /// The instant a wait of this length ends; too long a wait is refused.
    pub(super) fn check_duration(
        &self,
        pointer: &'static str,
        duration: Millis,
    ) -> Result<Timestamp, Refusal> {
        let max_wait = self.bounds.max_wait;
        if duration > max_wait {
            return Err(malformed(pointer, format!("{duration} is longer than {max_wait}")));
        }
        Ok(duration.after(self.now))
    }

    /// Cancels what is still open of these waits of a step. What has ended meanwhile stays as it is.
    pub(super) fn cancel_named(&mut self, at: StepAddress, names: &[Arc<str>]) -> Result<(), Refusal> {
        for name in names {
            let number = self.run.step(at).and_then(|step| step.waits.get(name).copied());
            if let Some(number) = number.filter(|number| self.run.open.contains_key(number)) {
                flow::cancel_wait(self, number)?;
            }
        }
        Ok(())
    }

    pub(super) fn check_room_for_waits(&self, more: usize) -> Result<(), Refusal> {
        within("the number of the run's waitpoints", self.run.waitpoints().len() + more, limits::WAITPOINTS)
    }
}
