//! The waitpoint: one durable row for every pause. A sleep, a signal, an event, a webhook, an approval, a child
//! run, a worker's own pause and a retry's back-off are all one of these, listed and steered in the same way.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::expression::Expression;
use crate::history::Failure;
use crate::id::{EventUid, RunId, StepAddress};
use crate::json::Json;
use crate::status::WaitStatus;

pub use abide_definition::BY_SCOPE;

/// Names that only the engine gives. A worker's own names may not begin with `$`.
pub(crate) const OWN_WAIT: &str = "$wait";
pub(crate) const DELAYED_START: &str = "$start";
pub(crate) const BACK_OFF: &str = "$retry-";
pub(crate) const REMINDER: &str = "$remind";
pub(crate) const ESCALATION: &str = "$escalate";
pub(crate) const CODE: &str = "$code-";

/// Who ends a wait whose time is over.
pub const CLOCK: &str = "timer";

/// The one durable row of a pause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waitpoint {
    /// Counted from 1 in its run; `WaitpointId` is the public form.
    pub number: u32,
    /// Whose pause it is; `None` for the delayed start of the run itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<StepAddress>,
    /// Unique for a step's visit.
    pub name: Arc<str>,
    pub kind: Kind,
    /// What durable code asked for, in its SDK's words. Code that asks for something else under this name has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Arc<str>>,
    pub status: WaitStatus,
    pub created_at: Timestamp,
    /// When a DELAY, RETRY or PAUSE ends; the deadline of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "ListensFor::is_time")]
    pub listens_for: ListensFor,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub response_to_send: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub resume_payload: Option<Json>,
    /// Of an EVENT: the event that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<TakenEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<Actor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
}

/// Which event a wait took, and how old it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TakenEvent {
    pub id: EventUid,
    pub received_at: Timestamp,
}

impl Waitpoint {
    /// Whether the waitpoint is still to be resolved.
    pub fn is_pending(&self) -> bool {
        self.status == WaitStatus::Pending
    }

    /// A step's own back-off, after which another attempt begins. A rate limit is a RETRY too, in the same attempt.
    pub fn is_back_off(&self) -> bool {
        self.kind == Kind::Retry && self.name.starts_with(BACK_OFF)
    }

    /// What of the code does not fit, of a wait for other code.
    pub fn code_mismatch(&self) -> Option<&CodeMismatch> {
        if let ListensFor::Code(mismatch) = &self.listens_for { Some(mismatch) } else { None }
    }

    /// Whether the waitpoint is the engine's, and no durable call of a handler: no journal holds it.
    pub(crate) fn is_beside_the_journal(&self) -> bool {
        self.is_back_off() || self.kind == Kind::Code
    }

    /// The back-off of a durable call: the handler is resumed when it ends, whatever ended it.
    pub fn next_attempt(&self) -> Option<&NextAttempt> {
        if let ListensFor::Attempt(next) = &self.listens_for { Some(next) } else { None }
    }

    /// The durable call of a handler whose wait it is: the one that waits, or that is to be made again. `None` where the
    /// step itself waits, for a rate limit too, or the engine.
    pub fn call(&self) -> Option<&Arc<str>> {
        match self.next_attempt() {
            Some(next) => Some(&next.call),
            None if self.kind == Kind::Retry => None,
            None => self.at.and(Some(&self.name)).filter(|name| !name.starts_with('$')),
        }
    }

    /// Whether the waitpoint only says when somebody is reminded, and does not hold its step up.
    pub fn is_aside(&self) -> bool {
        self.name.starts_with(REMINDER) || &*self.name == ESCALATION
    }

    /// When its time comes, more people may decide.
    pub(crate) fn is_escalation(&self) -> bool {
        &*self.name == ESCALATION
    }

    /// What it takes in a record.
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
            | ListensFor::Code(_) => 0,
        };
        listens + self.response_to_send.as_ref().map_or(0, Json::bytes)
    }

    /// What ended it, as callers outside are shown it. A delay that is over has the shape of a call in which nothing
    /// was sent, so that code which was entered again need not ask what it waited for.
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

/// What a waitpoint waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Kind {
    Delay,
    Webhook,
    Signal,
    Event,
    Approval,
    Child,
    Pause,
    Retry,
    /// Of a schedule, not of a run: its next occurrence.
    Schedule,
    /// For code that fits what a handler has recorded.
    Code,
}

impl Kind {
    /// Every kind there is.
    pub const ALL: [Kind; 10] = [
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
    ];

    /// Whether the passing of time is what ends it as it should, rather than what it must not outlast.
    pub fn ends_by_time(self) -> bool {
        match self {
            Kind::Delay | Kind::Pause | Kind::Retry | Kind::Schedule => true,
            Kind::Webhook | Kind::Signal | Kind::Event | Kind::Approval | Kind::Child | Kind::Code => false,
        }
    }
}

impl Kind {
    /// What stands before it in a sentence: `an APPROVAL`, `a DELAY`.
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
            | Kind::Code => "a",
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
        })
    }
}

/// What ends a waitpoint, besides the steering that ends any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ListensFor {
    /// Only the clock.
    #[default]
    Time,
    Signal {
        signal_type: Arc<str>,
    },
    Event(EventFilter),
    Call {
        allow_get: bool,
    },
    Approval(ApprovalRequest),
    Child {
        run_id: RunId,
    },
    /// The clock: a durable call that failed is made again.
    Attempt(NextAttempt),
    /// A worker whose code fits what the handler has recorded.
    Code(CodeMismatch),
}

impl ListensFor {
    /// The events that it takes, of a wait for an event.
    pub fn event(&self) -> Option<&EventFilter> {
        if let ListensFor::Event(filter) = self { Some(filter) } else { None }
    }

    /// What is asked, of an approval.
    pub fn approval(&self) -> Option<&ApprovalRequest> {
        if let ListensFor::Approval(request) = self { Some(request) } else { None }
    }

    fn is_time(&self) -> bool {
        *self == ListensFor::Time
    }
}

/// The back-off of one durable call of a handler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NextAttempt {
    /// The durable call's name.
    pub call: Arc<str>,
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// All that the call may have.
    pub max_attempts: u32,
    /// Why the last attempt failed.
    pub error: Failure,
}

/// Code that came to something else than its handler has recorded (R20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeMismatch {
    pub handler: Arc<str>,
    /// The builds whose code does not fit, the last one last. The empty one is code that did not say which build it is.
    pub builds: Vec<Arc<str>>,
    /// The only build that the task may be given to, which is among those that do not fit: an operator decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_to: Option<Arc<str>>,
    /// What the journal holds.
    pub recorded: String,
    /// What the code came to instead.
    pub found: String,
}

impl CodeMismatch {
    /// Whether the code of this build has been tried, and does not fit.
    pub fn excludes(&self, build: &str) -> bool {
        self.builds.iter().any(|unfit| **unfit == *build)
    }

    /// What the step fails with where it does not wait for other code.
    pub(crate) fn failure(&self) -> Failure {
        Failure::new(
            "CODE_CHANGED",
            format!("the journal holds {}, and the code comes to {}", self.recorded, self.found),
        )
    }
}

/// Which events a wait takes. Self-contained: what `match` reads of the run is bound when the wait begins, so
/// that an event finds its waiters without loading their runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventFilter {
    pub event_id: Arc<str>,
    /// Events received before this are not looked at.
    pub since: Timestamp,
    /// Events received between `since` and this may have been forgotten before the wait began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgotten_before: Option<Timestamp>,
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<Expression>,
    /// The run's values that `match` names, by path.
    #[serde(default, rename = "with", skip_serializing_if = "BTreeMap::is_empty")]
    pub bound: BTreeMap<String, Json>,
}

/// What people are asked to decide, and what they have decided so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What was shown; replaced when someone edits it.
    pub content: Json,
    /// A JSON Schema that edited content must satisfy. It is checked before a vote comes here.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub content_schema: Option<Json>,
    /// Empty: anyone with the right to approve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<Arc<str>>,
    pub quorum: u32,
    /// Whether whoever started the run may decide.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub allow_self_approval: bool,
    /// Decisions about the present content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<ApprovalVote>,
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

impl ApprovalRequest {
    /// What stands for the content that is shown: who decides can say that it was this.
    pub fn content_digest(&self) -> String {
        let written = serde_json::to_vec(&self.content).expect("content is JSON");
        let digits = Sha256::digest(&written).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("sha256:{digits}")
    }

    /// Whether somebody has decided about the present content.
    pub(crate) fn has_decided(&self, by: &Actor) -> bool {
        self.decisions.iter().any(|vote| vote.by == *by)
    }

    /// How many may decide; unknown where anyone may, or anyone with a scope.
    pub(crate) fn voters(&self) -> Option<usize> {
        let counted = !self.approvers.is_empty()
            && self.approvers.iter().all(|approver| !approver.starts_with(BY_SCOPE));
        counted.then_some(self.approvers.len())
    }
}

/// One person's decision about the present content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalVote {
    pub by: Actor,
    pub decision: Decision,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The link it was decided by; `None` for a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<ByLink>,
}

/// The link by which somebody decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ByLink {
    /// Who made the link.
    pub made_by: Actor,
    /// The link is for nobody in particular: whoever has it may be anyone, also who started the run.
    #[serde(default)]
    pub for_anyone: bool,
}

/// What a person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Approve,
    Reject,
    Edit,
}

/// Who or what did something: a key, a link's recipient, a worker, the clock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Actor(pub Arc<str>);

impl Actor {
    /// Somebody or something of this name.
    pub fn new(name: &str) -> Actor {
        Actor(name.into())
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
