//! Durable code in a handler waits: the worker reports its new journal entries and what it waits for, and lets
//! go. When the waits end, the task is handed out again with its journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::command::Reply;
use crate::command::http_call::check_call;
use crate::definition::{HTTP_CALL, HttpCall};
use crate::effect::ChildInput;
use crate::expression::Expression;
use crate::flow::{self, NewWait, ParentWaits, await_waits, new_waitpoint};
use crate::history::{Failure, JournalResult, WakeOn};
use crate::id::{RunId, StepAddress};
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::retry::RetryPolicy;
use crate::run::Run;
use crate::scope::is_known_name;
use crate::time::Millis;
use crate::turn::Turn;
use crate::waitpoint::{ApprovalRequest, EventFilter, Kind, ListensFor, NextAttempt, Waitpoint};

/// A handler is suspended until its waits end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskSuspended {
    pub at: StepAddress,
    pub lease_epoch: u32,
    pub entries: Vec<JournalResult>,
    pub waits: Vec<WaitSpec>,
    pub wake: WakeOn,
    pub checkpoint: Option<Json>,
    /// Waits of the journal that the code has no use for any more: the losers of a race that was decided.
    pub cancels: Vec<Arc<str>>,
}

/// A wait by its name in the journal. One that already has a waitpoint is waited for as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitSpec {
    pub name: Arc<str>,
    pub wait: WaitFor,
    /// What the code asked for, in its SDK's words: what must be the same for the recorded wait to answer it.
    pub asked: Option<Arc<str>>,
}

impl WaitSpec {
    /// A wait under a name of the journal.
    pub fn new(name: impl Into<Arc<str>>, wait: WaitFor) -> WaitSpec {
        WaitSpec { name: name.into(), wait, asked: None }
    }
}

/// A wait that is about to be opened for a task.
struct Opening {
    name: Arc<str>,
    wait: NewWait,
    asked: Option<Arc<str>>,
}

/// What a handler waits for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WaitFor {
    Sleep {
        duration: Millis,
    },
    Instant {
        at: Timestamp,
    },
    Signal {
        signal_type: Arc<str>,
        timeout: Option<Millis>,
    },
    Event {
        event_id: Arc<str>,
        matching: Option<String>,
        /// What fields of the event must be, beside `matching`: values that only the code knows, by their paths.
        fields: BTreeMap<String, Json>,
        lookback: Option<Millis>,
        timeout: Option<Millis>,
    },
    /// A waitpoint with a resume URL, created before or now.
    Call {
        allow_get: bool,
        timeout: Option<Millis>,
    },
    /// A waitpoint of this name that was created before, whatever ends it.
    Created,
    /// A rate limit: the same attempt goes on when it is over.
    RateLimit {
        until: Timestamp,
    },
    /// A run of another workflow, which is started and whose outcome is the wait's payload.
    Child {
        definition: Arc<str>,
        /// The newest if absent.
        version: Option<Arc<str>>,
        input: Json,
        timeout: Option<Millis>,
        /// The wait is over when the run is started, and the run goes on by itself.
        detached: bool,
    },
    /// A call that the engine makes; its outcome is the wait's payload.
    Http(Box<HttpCall>),
    /// A durable call failed: the handler goes on when it is time to make the call again.
    Retry {
        call: Arc<str>,
        /// The attempt that failed, from 1.
        attempt: u32,
        policy: RetryPolicy,
        /// Instead of the policy's back-off.
        retry_after: Option<Millis>,
        error: Failure,
    },
    Approval {
        prompt: Option<String>,
        content: Json,
        /// What edited content must satisfy; whoever sends it checks it first.
        content_schema: Option<Json>,
        approvers: Vec<Arc<str>>,
        quorum: u32,
        timeout: Option<Millis>,
    },
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
        turn.check_room_for_waits(waits.len())?;
        let mut known = Vec::new();
        let mut new: Vec<Opening> = Vec::new();
        let mut children: BTreeMap<RunId, NewChild> = BTreeMap::new();
        for spec in waits {
            turn.check_wait_name(&spec.name)?;
            if entries.iter().any(|entry| entry.name == spec.name) {
                return Err(Refusal::JournalConflict { name: spec.name.to_string() });
            }
            match turn.named_wait(at, &spec.name)? {
                Some(number) => {
                    // Whoever asks for what was created, asks for that, whatever it is.
                    if spec.wait != WaitFor::Created {
                        turn.check_same_wait(number, spec.wait.kind(), spec.asked.as_deref())?;
                    }
                    known.push(number);
                }
                None if new.iter().any(|opening| opening.name == spec.name) => {}
                None => {
                    let child = match &spec.wait {
                        WaitFor::Child { definition, version, input, detached, timeout: _ } => {
                            let (definition, version) = (Arc::clone(definition), version.clone());
                            Some(NewChild { definition, version, input: input.clone(), detached: *detached })
                        }
                        WaitFor::Http(call) => Some(NewChild {
                            definition: HTTP_CALL.into(),
                            version: Some(call.version().into()),
                            input: call.request(),
                            detached: false,
                        }),
                        WaitFor::Sleep { .. }
                        | WaitFor::Instant { .. }
                        | WaitFor::Signal { .. }
                        | WaitFor::Event { .. }
                        | WaitFor::Call { .. }
                        | WaitFor::Created
                        | WaitFor::RateLimit { .. }
                        | WaitFor::Retry { .. }
                        | WaitFor::Approval { .. } => None,
                    };
                    let wait = spec.wait.check(turn, at)?;
                    if let (Some(child), ListensFor::Child { run_id }) = (child, &wait.listens_for) {
                        children.insert(*run_id, child);
                    }
                    check_asked(spec.asked.as_deref())?;
                    let wait = turn.as_it_was_cut_off(at, &spec.name, wait);
                    new.push(Opening { name: spec.name, wait, asked: spec.asked });
                }
            }
        }
        turn.record_entries(at, entries)?;
        turn.cancel_named(at, &cancels)?;
        turn.save_checkpoint(at, checkpoint)?;
        let opens = number_from_next(turn, at, new);
        start_children(turn, &opens, children);
        let awaits = known.into_iter().chain(opens.iter().map(|wait| wait.number)).collect();
        await_waits(turn, at, opens, awaits, wake)?;
        Ok(Reply::Done)
    }
}

/// A run that is to be started for a wait.
struct NewChild {
    definition: Arc<str>,
    version: Option<Arc<str>>,
    input: Json,
    detached: bool,
}

fn start_children(turn: &mut Turn<'_>, opens: &[Waitpoint], mut children: BTreeMap<RunId, NewChild>) {
    for wait in opens {
        if let ListensFor::Child { run_id } = &wait.listens_for
            && let Some(NewChild { definition, version, input, detached }) = children.remove(run_id)
        {
            let waits = if detached {
                ParentWaits::UntilStarted(wait.number)
            } else {
                ParentWaits::UntilEnded(wait.number)
            };
            flow::start_child_run(turn, *run_id, waits, definition, version, ChildInput::Given(input));
        }
    }
}

fn number_from_next(turn: &Turn<'_>, at: StepAddress, waits: Vec<Opening>) -> Vec<Waitpoint> {
    let numbers = flow::next_number(turn.run)..;
    let numbered = numbers.zip(waits);
    numbered
        .map(|(number, Opening { name, wait, asked })| Waitpoint {
            number,
            asked,
            ..new_waitpoint(turn, Some(at), name, wait)
        })
        .collect()
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
            WaitFor::Approval { .. } => Kind::Approval,
        }
    }

    /// What the worker asks for, as a wait that keeps the limits.
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
            WaitFor::Child { definition, version: _, input, timeout, detached: _ } => {
                let run_id = fresh.filter(|_| !definition.is_empty());
                let run_id = run_id.ok_or_else(|| malformed("/waits/definition", "a workflow has a name"))?;
                within("the input's size in bytes", input.bytes(), limits::PAYLOAD_BYTES)?;
                turn.check_depth()?;
                Ok(new(Kind::Child, due(timeout)?, ListensFor::Child { run_id }))
            }
            WaitFor::Http(call) => {
                check_call(&call, turn.bounds.max_wait)?;
                turn.check_depth()?;
                let run_id = fresh.ok_or_else(|| malformed("/waits/url", "a call is made by a run"))?;
                Ok(new(Kind::Child, None, ListensFor::Child { run_id }))
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

/// What `match` and `where` say together. Whatever `match` names besides the event is bound when the wait begins, so a
/// name that means nothing now never will.
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
        if name.starts_with('$') {
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

    /// A sleep that its step's failure cut off goes on to the instant it had.
    fn as_it_was_cut_off(&self, at: StepAddress, name: &str, wait: NewWait) -> NewWait {
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
            if let Some(number) = number.filter(|number| self.run.open.contains(number)) {
                flow::cancel_wait(self, number)?;
            }
        }
        Ok(())
    }

    pub(super) fn check_room_for_waits(&self, more: usize) -> Result<(), Refusal> {
        within("the number of the run's waitpoints", self.run.waitpoints().len() + more, limits::WAITPOINTS)
    }
}
