//! History: append-only, one record a transition. A run is what replaying its history gives, so a [`Change`]
//! carries everything its fold needs and the fold looks at nothing else.

mod failure;
mod payloads;
mod sentence;

use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::failure::{Failure, FailureCause, FailureDetail};
pub(crate) use self::failure::{cut, redacted, shortened};
pub use self::sentence::{KnownWaits, Waits, sentence};
use crate::id::{At, OccurrenceId, RunId, ScheduleId, WaitpointId, WorkspaceId};
use crate::json::Json;
use crate::status::WaitStatus;
use crate::trace::Traceparent;
use crate::waitpoint::{Actor, ByLink, Decision, Kind, Waitpoint};

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
    WorkflowHeld,
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
        bars: Vec<u16>,
        /// The new version may come to wait for events that the old one did not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        awaits_more: bool,
    },

    /// PENDING or FAILED → RUNNING: a visit begins.
    StepStarted {
        at: At,
        /// What was rendered for the executor, where it depends on the run's data.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
        request: Option<Json>,
    },
    /// RUNNING → WAITING, for all or any of `awaits`.
    StepWaiting {
        at: At,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        opens: Vec<Waitpoint>,
        awaits: Vec<u32>,
        wake: WakeOn,
    },
    /// WAITING → RUNNING: its waits are over; a task is handed out again.
    StepResumed {
        at: At,
    },
    /// RUNNING → WAITING: an attempt failed and another follows.
    StepRetrying {
        at: At,
        attempt: u32,
        error: Failure,
        opens: Waitpoint,
    },
    /// Work that would begin or go on is kept for the unpause.
    StepHeld {
        at: At,
    },
    StepCompleted {
        at: At,
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
        bars: Vec<u16>,
    },
    StepFailed {
        at: At,
        error: Failure,
        /// Nothing it did: it was under way when another step, or the run, failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stopped: bool,
    },
    StepSkipped {
        at: At,
    },
    StepCancelled {
        at: At,
    },
    MapStarted {
        at: At,
        items: Json,
    },

    /// A worker took the task.
    TaskStarted {
        at: At,
        delivery: u32,
        worker: Arc<str>,
        /// Which code the worker has, if it said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        build: Option<Arc<str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    },
    /// From here on only workers of this build have the task: the one that took it first, or that an operator named.
    TaskPinned {
        at: At,
        build: Arc<str>,
    },
    /// An operator lifted the pin: any build may have the task.
    TaskUnpinned {
        at: At,
    },
    /// The step stays RUNNING; the worker let go until the pause ends.
    TaskPaused {
        at: At,
        opens: Waitpoint,
    },
    /// A worker's lease ended without a report; the same attempt is handed out again.
    TaskRedelivered {
        at: At,
        /// Whether it counts towards the lost-worker limit of the attempt.
        counted: bool,
    },
    JournalRecorded {
        at: At,
        entries: Vec<JournalResult>,
    },
    CheckpointSaved {
        at: At,
        checkpoint: Json,
    },
    /// The handler wrote to the log of the run.
    TaskLogged {
        at: At,
        lines: Vec<LogLine>,
        /// The log is full: what followed is left out, and so is whatever is written later.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        full: bool,
    },
    /// A model was called; what came of it is the journal's entry.
    LlmCallCompleted {
        at: At,
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
        occurrence: OccurrenceId,
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

impl Change {
    /// What the payloads of the record take.
    pub fn payload_bytes(&self) -> usize {
        fn of(payload: Option<&Json>) -> usize {
            payload.map_or(0, Json::bytes)
        }
        let opened: usize = self.opens().iter().map(Waitpoint::payload_bytes).sum();
        opened
            + match self {
                Change::WorkflowCreated(creation) => creation.input.bytes(),
                Change::WorkflowCompleted { output } => output.bytes(),
                Change::StepStarted { request, .. } => of(request.as_ref()),
                Change::StepCompleted { output, state, .. } => {
                    let state = match state {
                        StateChange::Set(values) => values.values().map(Json::bytes).sum(),
                        StateChange::Nothing | StateChange::MergeOutput | StateChange::OutputAs(_) => 0,
                    };
                    of(output.as_ref()) + state
                }
                Change::MapStarted { items, .. } => items.bytes(),
                Change::JournalRecorded { entries, .. } => {
                    entries.iter().map(|entry| entry.result.bytes()).sum()
                }
                Change::CheckpointSaved { checkpoint, .. } => checkpoint.bytes(),
                Change::TaskLogged { lines, .. } => lines.iter().map(LogLine::bytes).sum(),
                Change::WaitResolved { payload, .. } => of(payload.as_ref()),
                Change::SignalReceived { payload, .. } => payload.bytes(),
                Change::ApprovalDecided { edited_content, .. } => of(edited_content.as_ref()),
                Change::WorkflowStarted { .. }
                | Change::WorkflowPaused { .. }
                | Change::WorkflowResumed
                | Change::WorkflowPauseRequested
                | Change::WorkflowHeld
                | Change::WorkflowUnpaused
                | Change::WorkflowDeadlinePassed
                | Change::WorkflowFailed { .. }
                | Change::WorkflowCancelled { .. }
                | Change::WorkflowRetried { .. }
                | Change::WorkflowMoved { .. }
                | Change::StepWaiting { .. }
                | Change::StepResumed { .. }
                | Change::StepRetrying { .. }
                | Change::StepHeld { .. }
                | Change::StepFailed { .. }
                | Change::StepSkipped { .. }
                | Change::StepCancelled { .. }
                | Change::TaskStarted { .. }
                | Change::TaskPinned { .. }
                | Change::TaskUnpinned { .. }
                | Change::TaskPaused { .. }
                | Change::TaskRedelivered { .. }
                | Change::LlmCallCompleted { .. }
                | Change::WaitCreated { .. }
                | Change::WaitRescheduled { .. }
                | Change::EventMatched { .. }
                | Change::ApprovalRequested { .. }
                | Change::ApprovalReminded { .. }
                | Change::ApprovalEscalated { .. } => 0,
            }
    }

    /// The waitpoints whose row it makes or changes.
    pub fn waitpoints(&self) -> impl Iterator<Item = u32> {
        let (opens, changes) = self.opens_and_changes();
        opens.iter().map(|wait| wait.number).chain(changes)
    }

    /// The waitpoints that begin with it.
    pub fn opens(&self) -> &[Waitpoint] {
        self.opens_and_changes().0
    }

    fn opens_and_changes(&self) -> (&[Waitpoint], Option<u32>) {
        match self {
            Change::StepWaiting { opens, .. } => (opens, None),
            Change::StepRetrying { opens, .. }
            | Change::TaskPaused { opens, .. }
            | Change::WaitCreated { opens } => (slice::from_ref(opens), None),
            Change::WaitResolved { number, .. }
            | Change::WaitRescheduled { number, .. }
            | Change::ApprovalDecided { number, .. } => (&[], Some(*number)),
            Change::WorkflowCreated(_)
            | Change::WorkflowStarted { .. }
            | Change::WorkflowPaused { .. }
            | Change::WorkflowResumed
            | Change::WorkflowPauseRequested
            | Change::WorkflowHeld
            | Change::WorkflowUnpaused
            | Change::WorkflowDeadlinePassed
            | Change::WorkflowCompleted { .. }
            | Change::WorkflowFailed { .. }
            | Change::WorkflowCancelled { .. }
            | Change::WorkflowRetried { .. }
            | Change::WorkflowMoved { .. }
            | Change::StepStarted { .. }
            | Change::StepResumed { .. }
            | Change::StepHeld { .. }
            | Change::StepCompleted { .. }
            | Change::StepFailed { .. }
            | Change::StepSkipped { .. }
            | Change::StepCancelled { .. }
            | Change::MapStarted { .. }
            | Change::TaskStarted { .. }
            | Change::TaskPinned { .. }
            | Change::TaskUnpinned { .. }
            | Change::TaskRedelivered { .. }
            | Change::JournalRecorded { .. }
            | Change::CheckpointSaved { .. }
            | Change::TaskLogged { .. }
            | Change::LlmCallCompleted { .. }
            | Change::SignalReceived { .. }
            | Change::EventMatched { .. }
            | Change::ApprovalRequested { .. }
            | Change::ApprovalReminded { .. }
            | Change::ApprovalEscalated { .. } => (&[], None),
        }
    }

    /// The place whose task it hands out, takes back or gives to somebody.
    pub fn task_place(&self) -> Option<At> {
        match self {
            Change::StepStarted { at, .. }
            | Change::StepWaiting { at, .. }
            | Change::StepResumed { at }
            | Change::StepRetrying { at, .. }
            | Change::StepHeld { at }
            | Change::StepCompleted { at, .. }
            | Change::StepFailed { at, .. }
            | Change::StepSkipped { at }
            | Change::StepCancelled { at }
            | Change::TaskStarted { at, .. }
            | Change::TaskPinned { at, .. }
            | Change::TaskUnpinned { at }
            | Change::TaskPaused { at, .. }
            | Change::TaskRedelivered { at, .. } => Some(*at),
            Change::WorkflowCreated(_)
            | Change::WorkflowStarted { .. }
            | Change::WorkflowPaused { .. }
            | Change::WorkflowResumed
            | Change::WorkflowPauseRequested
            | Change::WorkflowHeld
            | Change::WorkflowUnpaused
            | Change::WorkflowDeadlinePassed
            | Change::WorkflowCompleted { .. }
            | Change::WorkflowFailed { .. }
            | Change::WorkflowCancelled { .. }
            | Change::WorkflowRetried { .. }
            | Change::WorkflowMoved { .. }
            | Change::MapStarted { .. }
            | Change::JournalRecorded { .. }
            | Change::CheckpointSaved { .. }
            | Change::TaskLogged { .. }
            | Change::LlmCallCompleted { .. }
            | Change::WaitCreated { .. }
            | Change::WaitResolved { .. }
            | Change::WaitRescheduled { .. }
            | Change::SignalReceived { .. }
            | Change::EventMatched { .. }
            | Change::ApprovalRequested { .. }
            | Change::ApprovalReminded { .. }
            | Change::ApprovalEscalated { .. }
            | Change::ApprovalDecided { .. } => None,
        }
    }

    /// The name it has in a history, as `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Change::WorkflowCreated(_) => "WORKFLOW_CREATED",
            Change::WorkflowStarted { .. } => "WORKFLOW_STARTED",
            Change::WorkflowPaused { .. } => "WORKFLOW_PAUSED",
            Change::WorkflowResumed => "WORKFLOW_RESUMED",
            Change::WorkflowPauseRequested => "WORKFLOW_PAUSE_REQUESTED",
            Change::WorkflowHeld => "WORKFLOW_HELD",
            Change::WorkflowUnpaused => "WORKFLOW_UNPAUSED",
            Change::WorkflowDeadlinePassed => "WORKFLOW_DEADLINE_PASSED",
            Change::WorkflowCompleted { .. } => "WORKFLOW_COMPLETED",
            Change::WorkflowFailed { .. } => "WORKFLOW_FAILED",
            Change::WorkflowCancelled { .. } => "WORKFLOW_CANCELLED",
            Change::WorkflowRetried { .. } => "WORKFLOW_RETRIED",
            Change::WorkflowMoved { .. } => "WORKFLOW_MOVED",
            Change::StepStarted { .. } => "STEP_STARTED",
            Change::StepWaiting { .. } => "STEP_WAITING",
            Change::StepResumed { .. } => "STEP_RESUMED",
            Change::StepRetrying { .. } => "STEP_RETRYING",
            Change::StepHeld { .. } => "STEP_HELD",
            Change::StepCompleted { .. } => "STEP_COMPLETED",
            Change::StepFailed { .. } => "STEP_FAILED",
            Change::StepSkipped { .. } => "STEP_SKIPPED",
            Change::StepCancelled { .. } => "STEP_CANCELLED",
            Change::MapStarted { .. } => "MAP_STARTED",
            Change::TaskStarted { .. } => "TASK_STARTED",
            Change::TaskPinned { .. } => "TASK_PINNED",
            Change::TaskUnpinned { .. } => "TASK_UNPINNED",
            Change::TaskPaused { .. } => "TASK_PAUSED",
            Change::TaskRedelivered { .. } => "TASK_REDELIVERED",
            Change::JournalRecorded { .. } => "JOURNAL_RECORDED",
            Change::CheckpointSaved { .. } => "CHECKPOINT_SAVED",
            Change::TaskLogged { .. } => "TASK_LOGGED",
            Change::LlmCallCompleted { .. } => "LLM_CALL_COMPLETED",
            Change::WaitCreated { .. } => "WAIT_CREATED",
            Change::WaitResolved { .. } => "WAIT_RESOLVED",
            Change::WaitRescheduled { .. } => "WAIT_RESCHEDULED",
            Change::SignalReceived { .. } => "SIGNAL_RECEIVED",
            Change::EventMatched { .. } => "EVENT_MATCHED",
            Change::ApprovalRequested { .. } => "APPROVAL_REQUESTED",
            Change::ApprovalReminded { .. } => "APPROVAL_REMINDED",
            Change::ApprovalEscalated { .. } => "APPROVAL_ESCALATED",
            Change::ApprovalDecided { .. } => "APPROVAL_DECIDED",
        }
    }
}

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

/// The occurrence of a schedule that a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scheduled {
    pub schedule_id: ScheduleId,
    pub occurrence: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DefinitionRef {
    pub name: Arc<str>,
    pub version: Arc<str>,
}

/// The wait of another run that this run ends by ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parent {
    /// `None` when the parent does not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waitpoint: Option<WaitpointId>,
    pub run_id: RunId,
    /// How many runs started runs to get here.
    pub depth: u32,
    /// The run that all this began with; the parent itself, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<RunId>,
}

impl Parent {
    /// The run that all this began with.
    pub fn root(&self) -> RunId {
        self.root.unwrap_or(self.run_id)
    }
}

/// When a step with several waits goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WakeOn {
    /// When all have ended.
    #[default]
    All,
    /// When the first has ended; the others are cancelled.
    Any,
    /// When any has ended; the others stay open.
    Each,
}

/// How a step's result changes `state`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateChange {
    #[default]
    Nothing,
    /// The output, an object, is merged shallowly.
    MergeOutput,
    /// The output is stored under a key.
    OutputAs(Arc<str>),
    Set(BTreeMap<String, Json>),
}

impl StateChange {
    fn is_nothing(&self) -> bool {
        *self == StateChange::Nothing
    }
}

/// A named result in a task's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalResult {
    pub name: Arc<str>,
    pub result: Json,
}

/// A line of a run's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    pub level: Level,
    pub message: String,
}

impl LogLine {
    /// What the line takes of the log's room, however short it is.
    pub fn bytes(&self) -> usize {
        const FRAME: usize = 32;
        self.message.len() + FRAME
    }
}

/// How much a line of a log matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Debug,
    #[default]
    Info,
    Warn,
    Error,
}

/// What one call to a model used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelCall {
    /// The journal's entry that holds what came of it.
    pub entry: Arc<str>,
    pub model: Arc<str>,
    /// All tokens that went in.
    pub input_tokens: u64,
    /// Those of them that the provider had seen before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input_tokens: u64,
    pub output_tokens: u64,
    /// In millionths of the currency of the price table; absent where the model has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Why there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Arc<str>>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
