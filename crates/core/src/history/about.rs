//! What records are about, for code that treats many kinds of them alike, and the names of the kinds.

use std::slice;

use crate::history::Change;
use crate::id::StepAddress;
use crate::waitpoint::Waitpoint;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum About<'c> {
    /// The run as a whole, or its mailbox.
    Run,
    /// The status of a step run, or who has its task.
    Place {
        /// The address of the step.
        at: StepAddress,
        /// The waitpoints that begin with the record.
        opens: &'c [Waitpoint],
        /// The numbers of the waitpoints that the step goes on after.
        awaits: &'c [u32],
    },
    /// Progress of the task or the map of a step run.
    Progress {
        /// The address of the step.
        at: StepAddress,
    },
    /// A waitpoint that begins before anything waits for it.
    Opened(&'c Waitpoint),
    /// A waitpoint that began before the record.
    Wait {
        /// The waitpoint's number.
        number: u32,
        /// Whether the record changes the waitpoint.
        is_changed: bool,
    },
}

impl Change {
    /// What the record is about.
    pub fn about(&self) -> About<'_> {
        let place = |at: &StepAddress| About::Place { at: *at, opens: &[], awaits: &[] };
        match self {
            Change::WorkflowCreated(_)
            | Change::WorkflowStarted { .. }
            | Change::WorkflowPaused { .. }
            | Change::WorkflowResumed
            | Change::WorkflowPauseRequested
            | Change::WorkflowPausedByOperator
            | Change::WorkflowUnpaused
            | Change::WorkflowDeadlinePassed
            | Change::WorkflowCompleted { .. }
            | Change::WorkflowFailed { .. }
            | Change::WorkflowCancelled { .. }
            | Change::WorkflowRetried { .. }
            | Change::WorkflowMoved { .. }
            | Change::SignalReceived { .. } => About::Run,
            Change::StepStarted { at, .. }
            | Change::StepResumed { at }
            | Change::StepHeldBack { at }
            | Change::StepCompleted { at, .. }
            | Change::StepFailed { at, .. }
            | Change::StepSkipped { at }
            | Change::StepCancelled { at }
            | Change::TaskStarted { at, .. }
            | Change::TaskPinned { at, .. }
            | Change::TaskUnpinned { at }
            | Change::TaskRedelivered { at, .. } => place(at),
            Change::StepWaiting { at, opens, awaits, .. } => About::Place { at: *at, opens, awaits },
            Change::StepRetrying { at, opens, .. } | Change::TaskPaused { at, opens, .. } => {
                About::Place { at: *at, opens: slice::from_ref(opens), awaits: &[] }
            }
            Change::MapStarted { at, .. }
            | Change::JournalRecorded { at, .. }
            | Change::CheckpointSaved { at, .. }
            | Change::TaskLogged { at, .. }
            | Change::EventSent { at, .. }
            | Change::LlmCallCompleted { at, .. } => About::Progress { at: *at },
            Change::WaitCreated { opens } => About::Opened(opens),
            Change::CapacityTaken { at, .. } => at.map_or(About::Run, |at| About::Progress { at }),
            Change::WaitResolved { number, .. }
            | Change::CapacityQueued { number, .. }
            | Change::StartCollected { number, .. }
            | Change::WaitRescheduled { number, .. }
            | Change::ApprovalDecided { number, .. } => About::Wait { number: *number, is_changed: true },
            Change::EventMatched { number, .. }
            | Change::ApprovalRequested { number }
            | Change::ApprovalReminded { number }
            | Change::ApprovalEscalated { number, .. } => About::Wait { number: *number, is_changed: false },
        }
    }

    /// The waitpoints that begin with the record.
    pub fn opens(&self) -> &[Waitpoint] {
        match self.about() {
            About::Place { opens, .. } => opens,
            About::Opened(waitpoint) => slice::from_ref(waitpoint),
            About::Run | About::Progress { .. } | About::Wait { .. } => &[],
        }
    }

    /// The numbers of the waitpoints whose row the record makes or changes.
    pub fn waitpoints(&self) -> impl Iterator<Item = u32> {
        let changed = match self.about() {
            About::Wait { number, is_changed } => is_changed.then_some(number),
            About::Run | About::Place { .. } | About::Progress { .. } | About::Opened(_) => None,
        };
        self.opens().iter().map(|wait| wait.number).chain(changed)
    }

    /// The numbers of the waitpoints that the record speaks of and that began before it.
    pub fn speaks_of(&self) -> impl Iterator<Item = u32> {
        let (awaits, number) = match self.about() {
            About::Place { awaits, .. } => (awaits, None),
            About::Wait { number, .. } => (&[][..], Some(number)),
            About::Run | About::Progress { .. } | About::Opened(_) => (&[][..], None),
        };
        awaits.iter().copied().chain(number)
    }

    /// The address of the step whose task the record hands out, takes back or gives to a worker.
    pub fn task_place(&self) -> Option<StepAddress> {
        match self.about() {
            About::Place { at, .. } => Some(at),
            About::Run | About::Progress { .. } | About::Opened(_) | About::Wait { .. } => None,
        }
    }

    /// The `type` of the record in a history, as in `STEP_STARTED`.
    pub fn name(&self) -> &'static str {
        match self {
            Change::WorkflowCreated(_) => "WORKFLOW_CREATED",
            Change::WorkflowStarted { .. } => "WORKFLOW_STARTED",
            Change::WorkflowPaused { .. } => "WORKFLOW_PAUSED",
            Change::WorkflowResumed => "WORKFLOW_RESUMED",
            Change::WorkflowPauseRequested => "WORKFLOW_PAUSE_REQUESTED",
            Change::WorkflowPausedByOperator => "WORKFLOW_PAUSED_BY_OPERATOR",
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
            Change::StepHeldBack { .. } => "STEP_HELD_BACK",
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
            Change::EventSent { .. } => "EVENT_SENT",
            Change::LlmCallCompleted { .. } => "LLM_CALL_COMPLETED",
            Change::WaitCreated { .. } => "WAIT_CREATED",
            Change::WaitResolved { .. } => "WAIT_RESOLVED",
            Change::WaitRescheduled { .. } => "WAIT_RESCHEDULED",
            Change::CapacityTaken { .. } => "CAPACITY_TAKEN",
            Change::CapacityQueued { .. } => "CAPACITY_QUEUED",
            Change::StartCollected { .. } => "START_COLLECTED",
            Change::SignalReceived { .. } => "SIGNAL_RECEIVED",
            Change::EventMatched { .. } => "EVENT_MATCHED",
            Change::ApprovalRequested { .. } => "APPROVAL_REQUESTED",
            Change::ApprovalReminded { .. } => "APPROVAL_REMINDED",
            Change::ApprovalEscalated { .. } => "APPROVAL_ESCALATED",
            Change::ApprovalDecided { .. } => "APPROVAL_DECIDED",
        }
    }
}
