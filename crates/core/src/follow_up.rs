//! Follow-ups: work for other runs that a decision asks for, kept in the store until it is done. Where a round is
//! full, the rest of it goes on in later ones, and nothing is lost between two commits.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::ChildOutcome;
use crate::effect::ChildStart;
use crate::id::{EventUid, LimitId, RunId, ScheduleId, WaitpointId};
use crate::run::Run;
use crate::status::RunStatus;

/// The size up to which an outcome is kept with the follow-up; a larger one is read from the run that had it.
const OUTCOME_BYTES: usize = 4 * 1024;

/// Work for other runs or schedules that a round had no room for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FollowUp {
    /// Start a child run.
    StartChild(Box<ChildStart>),
    /// Cancel a run whose parent does not wait for it any more, or that a schedule cancels.
    Cancel {
        /// The run to cancel.
        run: RunId,
        /// What is recorded as the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Resolve the wait of a parent: its child has ended, or could not be started.
    TellParent {
        /// The parent's waitpoint.
        waitpoint: WaitpointId,
        /// The child run.
        child: RunId,
        /// How the child ended; `None`: as the child's own history says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<ChildOutcome>,
    },
    /// Tell a schedule that a run of it has ended.
    TellSchedule {
        /// The schedule.
        schedule: ScheduleId,
        /// The run that has ended.
        run: RunId,
    },
    /// Start the run of an occurrence.
    StartScheduled {
        /// The schedule.
        schedule: ScheduleId,
        /// The id that the run is to have.
        run: RunId,
        /// The instant that the occurrence was due at.
        occurrence: Timestamp,
    },
    /// Give room under a limit to those next in line, while there is any.
    Grant {
        /// The key of the limit.
        limit: LimitId,
    },
    /// Have the keys of a limit do as an operator has set it, and give room where there is more.
    ApplySettings {
        /// What was set.
        settings: LimitId,
        /// The workflow of the limit; `None`: all of the workspace that name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workflow: Option<Arc<str>>,
        /// The name of the limit.
        name: Arc<str>,
        /// The only key that is meant; `None`: all of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Arc<str>>,
        /// The last key, in their order, that was looked at; `None`: none was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<(Arc<str>, LimitId)>,
    },
    /// Offer a stored event to the waits that have not been offered it yet.
    Deliver {
        /// The name of the event, such as `order.paid`.
        event_id: Arc<str>,
        /// The event's own number, `evt_…`.
        event: EventUid,
        /// When the event was received.
        received_at: Timestamp,
        /// Whether the event is only for the first wait that takes it.
        one: bool,
        /// The only run that the event is for; `None`: whoever waits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<RunId>,
        /// The last wait, in their order, that was offered the event; `None`: none was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<(Timestamp, WaitpointId)>,
    },
    /// Start the runs that a stored event starts, by the `startOn` of workflows.
    StartRuns {
        /// The name of the event, such as `order.paid`.
        event_id: Arc<str>,
        /// The event's own number, `evt_…`.
        event: EventUid,
        /// When the event was received.
        received_at: Timestamp,
        /// The run that sent the event; `None`: somebody from outside.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<RunId>,
        /// The last workflow, by name, and the last `startOn` of it that were looked at; `None`: none was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<(Arc<str>, u16)>,
    },
    /// Offer a wait for an event what was stored before it.
    LookBack {
        /// The waitpoint.
        waitpoint: WaitpointId,
        /// The last event that the wait was offered; `None`: none was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<(Timestamp, EventUid)>,
    },
}

impl FollowUp {
    /// The follow-up that tells a parent how its child ended.
    pub fn tell_parent(waitpoint: WaitpointId, child: RunId, outcome: ChildOutcome) -> FollowUp {
        let is_large = match &outcome {
            ChildOutcome::Completed { output } => output.bytes() > OUTCOME_BYTES,
            ChildOutcome::Failed { error } => error.message.len() > OUTCOME_BYTES,
            ChildOutcome::Started { .. } | ChildOutcome::Cancelled => false,
        };
        FollowUp::TellParent { waitpoint, child, outcome: (!is_large).then_some(outcome) }
    }

    /// The run that the follow-up is about, which exists or is to be started.
    pub fn run(&self) -> Option<RunId> {
        match self {
            FollowUp::StartChild(child) => Some(child.parent.run_id),
            FollowUp::Cancel { run, .. } => Some(*run),
            FollowUp::TellParent { waitpoint, .. } | FollowUp::LookBack { waitpoint, .. } => {
                Some(waitpoint.run)
            }
            FollowUp::TellSchedule { .. }
            | FollowUp::StartScheduled { .. }
            | FollowUp::Grant { .. }
            | FollowUp::ApplySettings { .. }
            | FollowUp::Deliver { .. }
            | FollowUp::StartRuns { .. } => None,
        }
    }
}

impl ChildOutcome {
    /// The outcome of a run that has ended, as its parent is told it; `None` while the run has not ended.
    pub fn of(run: &Run) -> Option<ChildOutcome> {
        match run.status {
            RunStatus::Completed => run.output.clone().map(|output| ChildOutcome::Completed { output }),
            RunStatus::Failed => run.error.clone().map(|error| ChildOutcome::Failed { error }),
            RunStatus::Cancelled => Some(ChildOutcome::Cancelled),
            RunStatus::Pending | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => None,
        }
    }
}
