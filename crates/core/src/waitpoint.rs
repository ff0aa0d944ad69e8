//! The waitpoint: one durable row for every pause. A sleep, a signal, an event, a webhook, an approval, a child
//! run, a worker's own pause and a retry's back-off are all one of these, listed and steered in the same way.

mod approval;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::capacity::CapacityRequest;
use crate::debounce::Collecting;
use crate::definition::is_own;
use crate::expression::Expression;
use crate::history::Failure;
use crate::id::{EventUid, RunId, StepAddress};
use crate::json::Json;
use crate::status::WaitStatus;

pub use abide_definition::BY_SCOPE;
pub use approval::{ApprovalRequest, ApprovalVote, ByLink, Decision};

/// The names of waits that only the engine gives. A worker's own names may not begin with `$`.
pub(crate) const OWN_WAIT: &str = "$wait";
pub(crate) const DELAYED_START: &str = "$start";
pub(crate) const BACK_OFF: &str = "$retry-";
pub(crate) const REMINDER: &str = "$remind";
pub(crate) const ESCALATION: &str = "$escalate";
pub(crate) const DEADLINE: &str = "$deadline";
pub(crate) const CODE: &str = "$code-";
pub(crate) const CAPACITY: &str = "$capacity-";
pub(crate) const CANCEL_ON: &str = "$cancelOn-";
pub(crate) const RESTART_ON: &str = "$restartOn-";

/// The actor that ends a wait whose time is over.
pub const CLOCK: &str = "timer";

/// A waitpoint: the one durable row of a pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Waitpoint {
    /// The number of the waitpoint in its run, from 1; [`WaitpointId`](crate::id::WaitpointId) is the public form.
    pub number: u32,
    /// The address of the step that waits; `None` for the delayed start of a run, for an event that ends
    /// the whole run, and for a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<StepAddress>,
    /// The name of the wait: unique in the step's visit.
    pub name: Arc<str>,
    /// What the waitpoint waits for.
    pub kind: Kind,
    /// What durable code asked for, in its SDK's words. Code that asks for something else under this name has
    /// changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Arc<str>>,
    /// Whether the wait is open, and how it ended.
    pub status: WaitStatus,
    /// When the wait began.
    pub created_at: Timestamp,
    /// When a DELAY, RETRY or PAUSE ends; the deadline of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_at: Option<Timestamp>,
    /// What ends the wait besides the clock, by kind.
    #[serde(default, skip_serializing_if = "ListensFor::is_time")]
    pub listens_for: ListensFor,
    /// WEBHOOK: the reply given at once to the caller that started or resumed the run.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub response_to_send: Option<Json>,
    /// What the wait ended with: `{body, headers, queryParams}`, an event's data, a decision, …
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub resume_payload: Option<Json>,
    /// EVENT: the event that ended the wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<TakenEvent>,
    /// Who or what ended the wait; `None` while it is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<Actor>,
    /// When the wait ended; `None` while it is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
}

/// The event that a wait took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TakenEvent {
    /// The event's own number, `evt_…`.
    pub id: EventUid,
    /// When the event was received, which may be long before the wait began.
    pub received_at: Timestamp,
}

impl Waitpoint {
    /// Whether the waitpoint is still to be resolved.
    pub fn is_pending(&self) -> bool {
        self.status == WaitStatus::Pending
    }

    /// Whether the waitpoint is a step's own back-off, after which another attempt begins. A rate limit is a RETRY
    /// too, in the same attempt.
    pub fn is_back_off(&self) -> bool {
        self.kind == Kind::Retry && self.name.starts_with(BACK_OFF)
    }

    /// The mismatch of code and journal, of a wait for other code.
    pub fn code_mismatch(&self) -> Option<&CodeMismatch> {
        if let ListensFor::Code(mismatch) = &self.listens_for { Some(mismatch) } else { None }
    }

    /// Whether the waitpoint is the engine's own, so that no journal holds it.
    pub(crate) fn is_beside_the_journal(&self) -> bool {
        self.is_back_off() || self.kind == Kind::Code || (self.kind == Kind::Capacity && !self.is_of_a_call())
    }

    /// Whether a durable call of a handler waits for room, and not the run or an attempt of a step.
    pub(crate) fn is_of_a_call(&self) -> bool {
        self.listens_for.capacity().is_some_and(|request| request.call.is_some())
    }

    /// The back-off of a durable call, of a waitpoint that is one: the handler is resumed when it ends, whatever
    /// ended it.
    pub fn next_attempt(&self) -> Option<&NextAttempt> {
        if let ListensFor::Attempt(next) = &self.listens_for { Some(next) } else { None }
    }

    /// The durable call of a handler that waits, or that is to be retried; of a step that waits for several things, the name
    /// of this one. `None` where the step itself waits, for a rate limit too, or the engine.
    pub fn call(&self) -> Option<&Arc<str>> {
        let asking = self.listens_for.capacity().and_then(|request| request.call.as_ref());
        match self.next_attempt().map(|next| &next.call).or(asking) {
            Some(call) => Some(call),
            None if self.kind == Kind::Retry => None,
            None => self.at.and(Some(&self.name)).filter(|name| !is_own(name)),
        }
    }

    /// Whether the waitpoint only says when somebody is reminded, or when the time of a step is over, and is nothing that the
    /// step waits for.
    pub fn is_aside(&self) -> bool {
        self.name.starts_with(REMINDER) || &*self.name == ESCALATION || self.is_deadline()
    }

    /// Whether the waitpoint holds the one deadline of a step that waits for several things.
    pub fn is_deadline(&self) -> bool {
        &*self.name == DEADLINE
    }

    /// Whether more people may decide when the waitpoint's time comes.
    pub(crate) fn is_escalation(&self) -> bool {
        &*self.name == ESCALATION
    }

    /// Whether the waitpoint is for an event that ends the whole run: it stands beside the run, and holds no step up.
    pub fn is_guard(&self) -> bool {
        self.at.is_none() && (self.name.starts_with(CANCEL_ON) || self.name.starts_with(RESTART_ON))
    }

    /// The size of the waitpoint's payloads in a record, in bytes.
    pub(crate) fn payload_bytes(&self) -> usize {
        let listens = match &self.listens_for {
            ListensFor::Approval(request) => {
                request.content.bytes() + request.content_schema.as_ref().map_or(0, Json::bytes)
            }
            ListensFor::Event(filter) => filter.bound.values().map(Json::bytes).sum(),
            ListensFor::Time
            | ListensFor::Signal { .. }
            | ListensFor::Call { .. }
            | ListensFor::Child { .. }
            | ListensFor::Attempt(_)
            | ListensFor::Code(_)
            | ListensFor::Capacity(_)
            | ListensFor::Starts(_) => 0,
        };
        listens + self.response_to_send.as_ref().map_or(0, Json::bytes)
    }

    /// The payload that ended the wait, as callers outside are shown it. A delay that is over has the shape of a call
    /// in which nothing was sent, so that code that is re-executed need not ask what it waited for.
    pub fn shown_payload(&self) -> Option<Json> {
        let is_over = matches!(self.kind, Kind::Delay | Kind::Pause) && self.status == WaitStatus::Completed;
        let empty = || Json::new(json!({ "body": {}, "headers": {}, "queryParams": {} }));
        self.resume_payload.clone().or_else(|| is_over.then(empty))
    }

    /// Whether the waitpoint's time has come: a resolution at this instant or later is refused (R4).
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.resume_at.is_some_and(|at| now >= at)
    }
}

/// The kind of a waitpoint: what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Kind {
    /// A sleep: for an instant.
    Delay,
    /// A call on a resume link.
    Webhook,
    /// A signal to the run.
    Signal,
    /// An event.
    Event,
    /// A decision of people.
    Approval,
    /// A child run.
    Child,
    /// A worker's own pause of its task.
    Pause,
    /// A back-off, of a step or of a durable call, or the end of a rate limit.
    Retry,
    /// The next occurrence of a schedule; such a waitpoint belongs to no run.
    Schedule,
    /// Code that fits what a handler has recorded (R20).
    Code,
    /// Room under limits (R22).
    Capacity,
}

impl Kind {
    /// Every kind of waitpoint.
    pub const ALL: [Kind; 11] = [
        Kind::Delay,
        Kind::Webhook,
        Kind::Signal,
        Kind::Event,
        Kind::Approval,
        Kind::Child,
        Kind::Pause,
        Kind::Retry,
        Kind::Schedule,
        Kind::Code,
        Kind::Capacity,
    ];

    /// Whether time ends a wait of this kind as it should: for the others its instant is a deadline.
    pub fn ends_by_time(self) -> bool {
        match self {
            Kind::Delay | Kind::Pause | Kind::Retry | Kind::Schedule => true,
            Kind::Webhook
            | Kind::Signal
            | Kind::Event
            | Kind::Approval
            | Kind::Child
            | Kind::Code
            | Kind::Capacity => false,
        }
    }
}

impl Kind {
    /// The article before the kind in a sentence: `an APPROVAL`, `a DELAY`.
    pub fn article(self) -> &'static str {
        match self {
            Kind::Event | Kind::Approval => "an",
            Kind::Delay
            | Kind::Webhook
            | Kind::Signal
            | Kind::Child
            | Kind::Pause
            | Kind::Retry
            | Kind::Schedule
            | Kind::Code
            | Kind::Capacity => "a",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Delay => "DELAY",
            Kind::Webhook => "WEBHOOK",
            Kind::Signal => "SIGNAL",
            Kind::Event => "EVENT",
            Kind::Approval => "APPROVAL",
            Kind::Child => "CHILD",
            Kind::Pause => "PAUSE",
            Kind::Retry => "RETRY",
            Kind::Schedule => "SCHEDULE",
            Kind::Code => "CODE",
            Kind::Capacity => "CAPACITY",
        })
    }
}

/// What ends a waitpoint, besides the steering that ends any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ListensFor {
    /// The clock alone.
    #[default]
    Time,
    /// A signal to the run.
    Signal {
        /// The type of the signal.
        signal_type: Arc<str>,
    },
    /// An event that the filter accepts.
    Event(EventFilter),
    /// A call on the resume link.
    Call {
        /// Whether a GET on the link resolves the wait.
        allow_get: bool,
    },
    /// A decision of people.
    Approval(ApprovalRequest),
    /// The end of a child run, or its start where that is all that is waited for.
    Child {
        /// The id of the child.
        run_id: RunId,
    },
    /// The clock: a durable call that failed is retried.
    Attempt(NextAttempt),
    /// A worker whose code fits what the handler has recorded.
    Code(CodeMismatch),
    /// Room under limits.
    Capacity(Box<CapacityRequest>),
    /// The clock: that no more starts come for a run that collects them.
    Starts(Box<Collecting>),
}

impl ListensFor {
    /// The events that the wait takes, of a wait for an event.
    pub fn event(&self) -> Option<&EventFilter> {
        if let ListensFor::Event(filter) = self { Some(filter) } else { None }
    }

    /// The question, of a wait for an approval.
    pub fn approval(&self) -> Option<&ApprovalRequest> {
        if let ListensFor::Approval(request) = self { Some(request) } else { None }
    }

    /// What is asked of limits, of a wait for room.
    pub fn capacity(&self) -> Option<&CapacityRequest> {
        if let ListensFor::Capacity(request) = self { Some(request) } else { None }
    }

    fn is_time(&self) -> bool {
        *self == ListensFor::Time
    }
}

/// The back-off of one durable call of a handler, before its next attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NextAttempt {
    /// The name of the durable call.
    pub call: Arc<str>,
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// All attempts that the call may have.
    pub max_attempts: u32,
    /// Why the last attempt failed.
    pub error: Failure,
}

/// A mismatch between a handler's code and its journal (R20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CodeMismatch {
    /// The name of the handler.
    pub handler: Arc<str>,
    /// The builds whose code does not fit, the last one last; an empty name is a worker that names no build.
    pub builds: Vec<Arc<str>>,
    /// The only build that the task may be given to, if it is among those that do not fit: then an operator decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_to: Option<Arc<str>>,
    /// What the journal holds, in words.
    pub recorded: String,
    /// What the code asked for instead, in words.
    pub found: String,
}

impl CodeMismatch {
    /// Whether the code of this build has been tried, and does not fit.
    pub fn excludes(&self, build: &str) -> bool {
        self.builds.iter().any(|unfit| **unfit == *build)
    }

    /// The failure of a step that does not wait for other code.
    pub(crate) fn failure(&self) -> Failure {
        Failure::new(
            "CODE_CHANGED",
            format!("the journal holds {}, and the code comes to {}", self.recorded, self.found),
        )
    }
}

/// The events that a wait takes. Self-contained: what `match` reads of the run is bound when the wait begins, so that
/// an event finds its waiters without loading their runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventFilter {
    /// The name of the event, such as `order.paid`.
    pub event_id: Arc<str>,
    /// The lookback: events received before this instant are not looked at.
    pub since: Timestamp,
    /// Events received between `since` and this instant may have been forgotten before the wait began; `None`: all
    /// are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten_before: Option<Timestamp>,
    /// The `match` expression that the event's data must satisfy; `None`: any data.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<Expression>,
    /// The run's values that `match` names, by path.
    #[serde(default, rename = "with", skip_serializing_if = "BTreeMap::is_empty")]
    pub bound: BTreeMap<String, Json>,
}

/// An actor: who or what did something. A key, a link's recipient, a worker, the clock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Actor(pub Arc<str>);

impl Actor {
    /// The actor of this name.
    pub fn new(name: &str) -> Actor {
        Actor(name.into())
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
