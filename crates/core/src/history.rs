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
    DefinitionRef, JournalResult, Level, LogLine, ModelCall, Parent, Scheduled, StartedOn, StateChange,
    WakeOn,
};
pub use self::sentence::{KnownWaits, Waits, sentence};
use crate::capacity::Room;
use crate::id::{EventUid, RunId, StepAddress, WorkspaceId};
use crate::json::Json;
use crate::status::WaitStatus;
use crate::trace::Traceparent;
use crate::waitpoint::{Actor, ByLink, Decision, Kind, Waitpoint};

/// One transition of a run, as its history keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The number of the record: from 1 without gaps, and also the version of the run after it.
    pub seq: u64,
    /// When the change was decided.
    #[serde(rename = "time")]
    pub at: Timestamp,
    /// Who or what caused the change.
    pub by: Actor,
    /// The W3C trace context of the request that led to the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Traceparent>,
    /// What happened.
    #[serde(flatten)]
    pub change: Change,
}

/// What can happen to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "SCREAMING_SNAKE_CASE",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Change {
    /// A run was created; always the first record.
    WorkflowCreated(Box<Creation>),
    /// PENDING → RUNNING: the run begins its first step.
    WorkflowStarted {
        /// When the whole run must have ended; `None`: the definition has no `timeoutMs`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// RUNNING → WAITING: nothing in the run is at work, and something waits.
    WorkflowPaused {
        /// The kind of the wait that began last.
        reason: Kind,
        /// When that wait ends, or its deadline; `None`: it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume_at: Option<Timestamp>,
    },
    /// WAITING → RUNNING: a wait of the run has ended.
    WorkflowResumed,
    /// An operator asked for a pause; it takes effect at the next step boundary.
    WorkflowPauseRequested,
    /// RUNNING → PAUSED: the pause took effect.
    WorkflowPausedByOperator,
    /// PAUSED → RUNNING, or a pause that had not taken effect is withdrawn.
    WorkflowUnpaused,
    /// The deadline of the run has passed: the run fails, at once or, if it is paused, when it is unpaused.
    WorkflowDeadlinePassed,
    /// RUNNING → COMPLETED.
    WorkflowCompleted {
        /// The output of the run.
        output: Json,
    },
    /// RUNNING or WAITING → FAILED.
    WorkflowFailed {
        /// Why the run failed.
        error: Failure,
        /// The run that calls the handler of `onFailure`, started with this record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handled_by: Option<RunId>,
    },
    /// The run is CANCELLED.
    WorkflowCancelled {
        /// What whoever cancelled gave as a reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The run that calls the handler of `onCancel`, started with this record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handled_by: Option<RunId>,
    },
    /// FAILED → RUNNING: the run is retried.
    WorkflowRetried {
        /// When the whole run must have ended, counted anew; `None`: the definition has no `timeoutMs`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// The run goes on with another version. Step addresses in later records are of that version.
    WorkflowMoved {
        /// The version before.
        from: DefinitionRef,
        /// The version from here on.
        to: DefinitionRef,
        /// Which step of the old version is which of the new one, for all steps that something has happened to.
        steps: Vec<(u16, u16)>,
        /// The steps of the new version that are not taken; only in a graph.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_taken: Vec<u16>,
        /// Whether the new version may come to wait for events that the old one did not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        awaits_more: bool,
    },

    /// PENDING or FAILED → RUNNING: a visit of the step begins.
    StepStarted {
        /// The address of the step.
        at: StepAddress,
        /// What was rendered for the executor, where that depends on the run's data.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
        request: Option<Json>,
    },
    /// RUNNING → WAITING: the step waits for all or any of `awaits`.
    StepWaiting {
        /// The address of the step.
        at: StepAddress,
        /// The waitpoints that begin with the record.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        opens: Vec<Waitpoint>,
        /// The numbers of the waitpoints that the step waits for, which may have begun earlier.
        awaits: Vec<u32>,
        /// Whether the step goes on when all of them have ended, or any.
        wake: WakeOn,
    },
    /// WAITING → RUNNING: the waits of the step are over; a task is handed out again.
    StepResumed {
        /// The address of the step.
        at: StepAddress,
    },
    /// RUNNING → WAITING: an attempt failed and another follows after a back-off.
    StepRetrying {
        /// The address of the step.
        at: StepAddress,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// Why the attempt failed.
        error: Failure,
        /// The waitpoint of the back-off.
        opens: Waitpoint,
    },
    /// Work that would begin or go on is held back until the run is unpaused, or has room under its limits.
    StepHeldBack {
        /// The address of the step.
        at: StepAddress,
    },
    /// RUNNING or WAITING → COMPLETED.
    StepCompleted {
        /// The address of the step.
        at: StepAddress,
        /// The output of the step; `None` where it is the payload of `waitpoint`.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
        output: Option<Json>,
        /// The number of the waitpoint that the step was resumed from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waitpoint: Option<u32>,
        /// How the result changes `state`.
        #[serde(default, skip_serializing_if = "StateChange::is_nothing")]
        state: StateChange,
        /// The steps after this one that are not taken; only in a graph.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_taken: Vec<u16>,
    },
    /// The step is FAILED, for good unless the run is retried.
    StepFailed {
        /// The address of the step.
        at: StepAddress,
        /// Why the step failed.
        error: Failure,
        /// Whether the step did nothing wrong: it was under way when another step, or the run, failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stopped: bool,
    },
    /// PENDING → SKIPPED: its `when` was false, or the way to it was not taken.
    StepSkipped {
        /// The address of the step.
        at: StepAddress,
    },
    /// The step is CANCELLED.
    StepCancelled {
        /// The address of the step.
        at: StepAddress,
    },
    /// A map step has evaluated its list.
    MapStarted {
        /// The address of the map step.
        at: StepAddress,
        /// The list, one element an item.
        items: Json,
    },

    /// A worker took the task.
    TaskStarted {
        /// The address of the task's step.
        at: StepAddress,
        /// The lease epoch under which the worker has the task.
        lease_epoch: u32,
        /// The name of the worker.
        worker: Arc<str>,
        /// The build of the worker's code; `None` if the worker names none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        build: Option<Arc<str>>,
        /// When the time of the attempt ends; `None`: the task has no timeout.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// From here on only workers of this build get the task: the build that took it first, or that an operator named.
    TaskPinned {
        /// The address of the task's step.
        at: StepAddress,
        /// The build.
        build: Arc<str>,
    },
    /// An operator lifted the pin: workers of any build may get the task.
    TaskUnpinned {
        /// The address of the task's step.
        at: StepAddress,
    },
    /// The worker paused its task and gave up the lease; the step stays RUNNING.
    TaskPaused {
        /// The address of the task's step.
        at: StepAddress,
        /// The waitpoint of the pause.
        opens: Waitpoint,
    },
    /// A lease ended without a report; the same attempt is handed out again.
    TaskRedelivered {
        /// The address of the task's step.
        at: StepAddress,
        /// Whether the lost lease counts towards the lost-worker limit of the attempt.
        counted: bool,
    },
    /// Durable calls of the handler have results.
    JournalRecorded {
        /// The address of the task's step.
        at: StepAddress,
        /// The new entries of the journal, in their order.
        entries: Vec<JournalResult>,
    },
    /// The handler left data that it gets back when it is executed again.
    CheckpointSaved {
        /// The address of the task's step.
        at: StepAddress,
        /// The data; it replaces what was saved before.
        checkpoint: Json,
    },
    /// The handler wrote to the log of the run.
    TaskLogged {
        /// The address of the task's step.
        at: StepAddress,
        /// The lines, oldest first.
        lines: Vec<LogLine>,
        /// Whether the log is full: what followed is left out, and so is whatever is written later.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        full: bool,
    },
    /// The handler sent an event, under this lease.
    EventSent {
        /// The address of the step whose handler sent it.
        at: StepAddress,
        /// The lease epoch under which it was sent.
        lease_epoch: u32,
        /// The event's own id.
        event: EventUid,
        /// What waits find the event by.
        event_id: Arc<str>,
    },
    /// A model was called; its answer is an entry of the journal.
    LlmCallCompleted {
        /// The address of the step that called the model.
        at: StepAddress,
        /// What the call used up.
        call: ModelCall,
    },

    /// A waitpoint begins that nothing waits for yet.
    WaitCreated {
        /// The waitpoint.
        opens: Waitpoint,
    },
    /// PENDING → COMPLETED, TIMED_OUT or CANCELLED: a wait has ended.
    WaitResolved {
        /// The number of the waitpoint.
        number: u32,
        /// The status that the waitpoint has from here on.
        status: WaitStatus,
        /// What the wait ended with; `None` where that is the signal taken from the mailbox, or there is nothing.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
        payload: Option<Json>,
        /// The id of the signal that the wait took from the mailbox.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<u64>,
    },
    /// Room under limits was given, to the run or to an attempt of one of its steps.
    CapacityTaken {
        /// The address of the step; `None`: the run itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<StepAddress>,
        /// The room that is held.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rooms: Vec<Room>,
        /// The number of the waitpoint of the durable call that has it; `None`: the attempt, or the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
    },
    /// A wait for room stands in the line of another limit.
    CapacityQueued {
        /// The number of the waitpoint.
        number: u32,
        /// The limit, by its place among those that room is asked of.
        line: u16,
        /// Whether the wait keeps the room under the limit in whose line it stood.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        keeps: bool,
    },
    /// One more start came for a run that collects them before it begins.
    StartCollected {
        /// The number of the waitpoint.
        number: u32,
        /// The input of the start.
        input: Json,
        /// When the run begins if no other comes.
        resume_at: Timestamp,
    },
    /// An operator moved a wait to another instant.
    WaitRescheduled {
        /// The number of the waitpoint.
        number: u32,
        /// The instant at which the wait ends, or its deadline, from here on.
        resume_at: Timestamp,
    },
    /// A signal came and is in the mailbox.
    SignalReceived {
        /// The signal's number in its run, from 1.
        id: u64,
        /// The type by which a wait asks for the signal.
        signal_type: Arc<str>,
        /// The data of the signal.
        payload: Json,
    },
    /// A wait took an event; the record of the wait's end follows.
    EventMatched {
        /// The number of the waitpoint.
        number: u32,
        /// The event's own number, `evt_…`.
        event: EventUid,
        /// When the event was received: long before this record, if the wait looked back for it.
        received_at: Timestamp,
    },
    /// People are asked to decide.
    ApprovalRequested {
        /// The number of the approval's waitpoint.
        number: u32,
    },
    /// The approvers of a pending approval are reminded.
    ApprovalReminded {
        /// The number of the approval's waitpoint.
        number: u32,
    },
    /// A pending approval is escalated: more people may decide.
    ApprovalEscalated {
        /// The number of the approval's waitpoint.
        number: u32,
        /// The people who may decide from here on, in addition.
        approvers: Vec<Arc<str>>,
    },
    /// A person has voted.
    ApprovalDecided {
        /// The number of the approval's waitpoint.
        number: u32,
        /// What the person decided.
        decision: Decision,
        /// The content that replaces what was shown, where the decision is to edit.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
        edited_content: Option<Json>,
        /// What the person says about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comment: Option<String>,
        /// The link that the vote came by; `None` for a key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<ByLink>,
    },
}

/// What a run begins with, as its first record keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Creation {
    /// The id of the run.
    pub run_id: RunId,
    /// The workspace that the run belongs to.
    #[serde(default, skip_serializing_if = "WorkspaceId::is_default")]
    pub workspace: WorkspaceId,
    /// The version of the workflow that the run begins with.
    pub definition: DefinitionRef,
    /// The input of the run.
    pub input: Json,
    /// Labels that runs can be listed by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Arc<str>>,
    /// The run that started this one; `None`: nobody's child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The occurrence of a schedule that the run is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Scheduled>,
    /// The event that the run was started on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_on: Option<StartedOn>,
    /// On whose behalf the run is, where that is not who caused this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<Actor>,
}
