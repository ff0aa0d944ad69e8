//! History: append-only, one record a transition. A run is what replaying its history gives, so a [`Change`]
//! carries everything its fold needs and the fold looks at nothing else.

mod about;
mod failure;
mod parts;
mod payloads;
mod sentence;

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::about::About;
pub use self::failure::{Failure, FailureCause, FailureDetail};
pub(crate) use self::failure::{cut, redacted, shortened};
pub use self::parts::{
    DefinitionRef, JournalResult, Level, LogLine, ModelCall, Parent, Scheduled, StateChange, WakeOn,
};
pub use self::sentence::{KnownWaits, Waits, sentence};
use crate::id::{EventUid, RunId, StepAddress, WorkspaceId};
use crate::json::Json;
use crate::status::WaitStatus;
use crate::trace::Traceparent;
use crate::waitpoint::{Actor, ByLink, Decision, Kind, Waitpoint};

/// One transition of a run, as its history keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Counted from 1 without gaps; also the version of the run after it.
    pub seq: u64,
    #[serde(rename = "time")]
    pub at: Timestamp,
    /// Who or what caused it.
    pub by: Actor,
    /// The trace of the request that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Traceparent>,
    #[serde(flatten)]
    pub change: Change,
}

/// What can happen to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub enum Change {
    WorkflowCreated(Box<Creation>),
    /// PENDING → RUNNING.
    WorkflowStarted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// RUNNING → WAITING: nothing in it runs, something waits. The reason is the wait begun last.
    WorkflowPaused {
        reason: Kind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume_at: Option<Timestamp>,
    },
    /// WAITING → RUNNING.
    WorkflowResumed,
    /// Someone asked for a pause; it takes effect at the next step boundary.
    WorkflowPauseRequested,
    /// RUNNING → PAUSED.
    WorkflowPausedByOperator,
    /// PAUSED → RUNNING, or a request that had not taken effect is withdrawn.
    WorkflowUnpaused,
    /// The run's time is over; it fails, at once or, if it is paused, when it is unpaused.
    WorkflowDeadlinePassed,
    WorkflowCompleted {
        output: Json,
    },
    WorkflowFailed {
        error: Failure,
        /// The run that calls the handler of `onFailure`, started with this record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handled_by: Option<RunId>,
    },
    WorkflowCancelled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The run that calls the handler of `onCancel`, started with this record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handled_by: Option<RunId>,
    },
    /// FAILED → RUNNING.
    WorkflowRetried {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// From here on the run is one of another version. Places in later records are those of that version.
    WorkflowMoved {
        from: DefinitionRef,
        to: DefinitionRef,
        /// Which step of the old version is which of the new one, for all that something has happened to.
        steps: Vec<(u16, u16)>,
        /// Graph: the steps of the new version that are not taken.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_taken: Vec<u16>,
        /// The new version may come to wait for events that the old one did not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        awaits_more: bool,
    },

    /// PENDING or FAILED → RUNNING: a visit begins.
    StepStarted {
        at: StepAddress,
        /// What was rendered for the executor, where it depends on the run's data.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
        request: Option<Json>,
    },
    /// RUNNING → WAITING, for all or any of `awaits`.
    StepWaiting {
        at: StepAddress,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        opens: Vec<Waitpoint>,
        awaits: Vec<u32>,
        wake: WakeOn,
    },
    /// WAITING → RUNNING: its waits are over; a task is handed out again.
    StepResumed {
        at: StepAddress,
    },
    /// RUNNING → WAITING: an attempt failed and another follows.
    StepRetrying {
        at: StepAddress,
        attempt: u32,
        error: Failure,
        opens: Waitpoint,
    },
    /// Work that would begin or go on is kept for the unpause.
    StepHeldBack {
        at: StepAddress,
    },
    StepCompleted {
        at: StepAddress,
        /// Absent where the output is the payload of `waitpoint`.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
        output: Option<Json>,
        /// The wait the step was resumed from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waitpoint: Option<u32>,
        #[serde(default, skip_serializing_if = "StateChange::is_nothing")]
        state: StateChange,
        /// Graph: the steps after this one that are not taken.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_taken: Vec<u16>,
    },
    StepFailed {
        at: StepAddress,
        error: Failure,
        /// Nothing it did: it was under way when another step, or the run, failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stopped: bool,
    },
    StepSkipped {
        at: StepAddress,
    },
    StepCancelled {
        at: StepAddress,
    },
    MapStarted {
        at: StepAddress,
        items: Json,
    },

    /// A worker took the task.
    TaskStarted {
        at: StepAddress,
        lease_epoch: u32,
        worker: Arc<str>,
        /// Which code the worker has, if it said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        build: Option<Arc<str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// From here on only workers of this build have the task: the one that took it first, or that an operator named.
    TaskPinned {
        at: StepAddress,
        build: Arc<str>,
    },
    /// An operator lifted the pin: any build may have the task.
    TaskUnpinned {
        at: StepAddress,
    },
    /// The step stays RUNNING; the worker let go until the pause ends.
    TaskPaused {
        at: StepAddress,
        opens: Waitpoint,
    },
    /// A worker's lease ended without a report; the same attempt is handed out again.
    TaskRedelivered {
        at: StepAddress,
        /// Whether the lost lease counts towards the lost-worker limit of the attempt.
        counted: bool,
    },
    JournalRecorded {
        at: StepAddress,
        entries: Vec<JournalResult>,
    },
    CheckpointSaved {
        at: StepAddress,
        checkpoint: Json,
    },
    /// The handler wrote to the log of the run.
    TaskLogged {
        at: StepAddress,
        lines: Vec<LogLine>,
        /// The log is full: what followed is left out, and so is whatever is written later.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        full: bool,
    },
    /// A model was called; what came of it is the journal's entry.
    LlmCallCompleted {
        at: StepAddress,
        call: ModelCall,
    },

    /// A waitpoint that nothing waits for yet.
    WaitCreated {
        opens: Waitpoint,
    },
    WaitResolved {
        number: u32,
        status: WaitStatus,
        /// Absent where the payload is the signal taken from the mailbox.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
        payload: Option<Json>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<u64>,
    },
    WaitRescheduled {
        number: u32,
        resume_at: Timestamp,
    },
    SignalReceived {
        id: u64,
        signal_type: Arc<str>,
        payload: Json,
    },
    EventMatched {
        number: u32,
        event: EventUid,
        /// When the event came: long before this record, if the wait looked back for it.
        received_at: Timestamp,
    },
    ApprovalRequested {
        number: u32,
    },
    /// Those who may decide are reminded.
    ApprovalReminded {
        number: u32,
    },
    /// These may decide too from here on.
    ApprovalEscalated {
        number: u32,
        approvers: Vec<Arc<str>>,
    },
    ApprovalDecided {
        number: u32,
        decision: Decision,
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
        edited_content: Option<Json>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The link it was decided by; `None` for a key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<ByLink>,
    },
}

/// What a run begins with, as its first record keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Creation {
    pub run_id: RunId,
    #[serde(default, skip_serializing_if = "WorkspaceId::is_default")]
    pub workspace: WorkspaceId,
    pub definition: DefinitionRef,
    pub input: Json,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The schedule that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Scheduled>,
    /// On whose behalf it was started, where that is not who caused this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<Actor>,
}
