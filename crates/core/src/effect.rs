//! Effects: what a decision asks of others. Values only, in two kinds that differ in when they are done: a
//! [`RoundEffect`] is decided in the same round as the decision that asks for it, and committed with it; an
//! [`AfterCommit`] leaves only when the records of its decision are durable.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::ChildOutcome;
use crate::history::Parent;
use crate::id::{RunId, ScheduleId, StepAddress, WaitpointId, WorkspaceId};
use crate::json::Json;
use crate::waitpoint::Actor;

/// What a decision asks of other runs, of schedules and of stored events. It is decided in the same round, or stored in
/// the same commit as a [follow-up](crate::follow_up) and decided in a later one: it is never lost, and done once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RoundEffect {
    /// Offer this wait the events that are stored already, oldest first.
    LookBack {
        /// The waitpoint's number in its run.
        number: u32,
    },
    /// Start a run; if that is impossible, say so to the parent as a failed child.
    StartChild(Box<ChildStart>),
    /// Cancel a run that this one started.
    CancelChild {
        /// The child.
        run_id: RunId,
    },
    /// This run has ended and another waits for it.
    TellParent {
        /// The parent's wait.
        waitpoint: WaitpointId,
        /// What became of this run.
        outcome: ChildOutcome,
    },
    /// This run has ended, and the schedule that started it may have more to start.
    TellSchedule {
        /// The schedule that started this run.
        schedule: ScheduleId,
    },
}

/// What leaves when the records of a decision are durable. It may be lost with the process: tasks are found again by
/// the run's state, and the others are hints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AfterCommit {
    /// Hand the task out: `Run::task` says what it is. At least once; the lease epoch fences the rest.
    Dispatch {
        /// The place of the task.
        at: StepAddress,
        /// The number that fences earlier holders.
        lease_epoch: u32,
    },
    /// The task is not wanted any more; a worker that has it may stop.
    Recall {
        /// The place of the task.
        at: StepAddress,
        /// The number that the task was handed out under.
        lease_epoch: u32,
    },
    /// A worker with other code may come for the task of this place, if one waits for work.
    WantCode {
        /// The place of the task.
        at: StepAddress,
    },
    /// Answer the caller that started or resumed the run, if it still listens.
    Respond {
        /// The answer.
        response: Json,
    },
}

/// What a child begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChildInput {
    Given(Json),
    /// [`Run::input_of`](crate::run::Run::input_of) of its parent says it, when it is started.
    Of(StepAddress),
}

impl ChildInput {
    /// It, if it was rendered when it was asked for.
    pub fn given(&self) -> Option<&Json> {
        match self {
            ChildInput::Given(input) => Some(input),
            ChildInput::Of(_) => None,
        }
    }
}

/// A child that a run asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildStart {
    pub run_id: RunId,
    /// The workspace of the parent run.
    #[serde(default, skip_serializing_if = "WorkspaceId::is_default")]
    pub workspace: WorkspaceId,
    pub definition: Arc<str>,
    /// The newest if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Arc<str>>,
    pub input: ChildInput,
    pub parent: Parent,
    /// A wait that ends when the child is started, or could not be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tells: Option<WaitpointId>,
    /// The child calls the handler of its parent's `onFailure` or `onCancel`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_hook: bool,
    /// On whose behalf its parent was.
    pub started_by: Actor,
}
