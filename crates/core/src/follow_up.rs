//! What one run's decision asks of others, kept in the store until it is done: where a round is full, the rest of it goes
//! on in later ones, and nothing is lost between two commits.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::ChildOutcome;
use crate::effect::ChildStart;
use crate::id::{EventUid, RunId, ScheduleId, WaitpointId};
use crate::run::Run;
use crate::status::RunStatus;

/// An outcome up to this size is kept with the follow-up; a larger one is read from the run that had it.
const OUTCOME_BYTES: usize = 4 * 1024;

/// What is left to do for other runs or schedules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FollowUp {
    StartChild(Box<ChildStart>),
    Cancel {
        run: RunId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A child has ended, or could not be started.
    TellParent {
        waitpoint: WaitpointId,
        child: RunId,
        /// As the child says, if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<ChildOutcome>,
    },
    TellSchedule {
        schedule: ScheduleId,
        run: RunId,
    },
    StartScheduled {
        schedule: ScheduleId,
        run: RunId,
        occurrence: Timestamp,
    },
    /// An event that is stored, to those who wait for it and have not been offered it.
    Deliver {
        event_id: Arc<str>,
        event: EventUid,
        received_at: Timestamp,
        /// To the first that takes it.
        one: bool,
        /// Only to this run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<RunId>,
        /// The waits up to this one were offered it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<(Timestamp, WaitpointId)>,
    },
    /// A wait for an event, to be offered what was there before it.
    LookBack {
        waitpoint: WaitpointId,
        /// The last event that the wait was offered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<(Timestamp, EventUid)>,
    },
}

impl FollowUp {
    /// Tells a parent what became of its child.
    pub fn tell_parent(waitpoint: WaitpointId, child: RunId, outcome: ChildOutcome) -> FollowUp {
        let is_large = match &outcome {
            ChildOutcome::Completed { output } => output.bytes() > OUTCOME_BYTES,
            ChildOutcome::Failed { error } => error.message.len() > OUTCOME_BYTES,
            ChildOutcome::Started { .. } | ChildOutcome::Cancelled => false,
        };
        FollowUp::TellParent { waitpoint, child, outcome: (!is_large).then_some(outcome) }
    }

    /// The run it is about: one that is there, or is to be.
    pub fn run(&self) -> Option<RunId> {
        match self {
            FollowUp::StartChild(child) => Some(child.parent.run_id),
            FollowUp::Cancel { run, .. } => Some(*run),
            FollowUp::TellParent { waitpoint, .. } | FollowUp::LookBack { waitpoint, .. } => {
                Some(waitpoint.run)
            }
            FollowUp::TellSchedule { .. } | FollowUp::StartScheduled { .. } | FollowUp::Deliver { .. } => {
                None
            }
        }
    }
}

impl ChildOutcome {
    /// What a run that has ended means to its parent; `None` while it has not.
    pub fn of(run: &Run) -> Option<ChildOutcome> {
        match run.status {
            RunStatus::Completed => run.output.clone().map(|output| ChildOutcome::Completed { output }),
            RunStatus::Failed => run.error.clone().map(|error| ChildOutcome::Failed { error }),
            RunStatus::Cancelled => Some(ChildOutcome::Cancelled),
            RunStatus::Pending | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => None,
        }
    }
}
