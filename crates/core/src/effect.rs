//! Effects: what a decision asks of others. They are values, of two kinds that differ in when they are performed: a
//! [`RoundEffect`] is decided in the same round as the decision that asks for it, and committed with it; an
//! [`AfterCommit`] leaves only when the records of its decision are durable.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::capacity::Room;
use crate::command::ChildOutcome;
use crate::history::{Parent, StartedOn};
use crate::id::{RunId, ScheduleId, StepAddress, WaitpointId, WorkspaceId};
use crate::json::Json;
use crate::waitpoint::Actor;

/// What a decision asks of other runs, of schedules and of stored events. It is decided in the same round, or stored in
/// the same commit as a [follow-up](crate::follow_up) and decided in a later one: it is never lost, and done once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RoundEffect {
    /// Offer this wait the events that are already stored, oldest first.
    LookBack {
        /// The waitpoint's number in its run.
        number: u32,
    },
    /// Start a child run; if that is impossible, tell the parent that its child failed.
    StartChild(Box<ChildStart>),
    /// Cancel a child run of this run.
    CancelChild {
        /// The id of the child run.
        run_id: RunId,
    },
    /// Resolve the wait of another run for this one, which has ended.
    TellParent {
        /// The parent's waitpoint.
        waitpoint: WaitpointId,
        /// How this run ended.
        outcome: ChildOutcome,
    },
    /// Tell the schedule that started this run that it has ended: an occurrence may be queued behind it.
    TellSchedule {
        /// The schedule that started this run.
        schedule: ScheduleId,
    },
    /// Take or give back room under limits.
    Capacity(CapacityEffect),
}

impl RoundEffect {
    /// The number of the wait that asks for room, if that is what is asked for.
    pub fn asks_for_room(&self) -> Option<u32> {
        if let RoundEffect::Capacity(CapacityEffect::Ask { number }) = self { Some(*number) } else { None }
    }
}

/// What a decision means for limits. Unlike other effects it is always decided in the same round: room is taken and given
/// back in the commit of the transition that needs or frees it (R22).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CapacityEffect {
    /// Give this wait room, or have it stand in line.
    Ask {
        /// The waitpoint's number in its run.
        number: u32,
    },
    /// This wait stands in line no longer.
    Leave {
        /// The waitpoint's number in its run.
        number: u32,
    },
    /// An operator has let this wait in past the line: it has room, whether there was any or not.
    Seize {
        /// The waitpoint's number in its run.
        number: u32,
    },
    /// This room is free again.
    Release {
        /// The address of the step that had it; `None`: the run itself.
        at: Option<StepAddress>,
        /// The room.
        rooms: Vec<Room>,
    },
}

/// An after-commit action: what leaves when the records of a decision are durable. It may be lost with the process:
/// tasks are found again by the run's state, and the others are hints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AfterCommit {
    /// Hand the task out, at least once; `Run::task` says what it is, and the lease epoch fences earlier holders.
    Dispatch {
        /// The address of the task's step.
        at: StepAddress,
        /// The lease epoch: the number that fences earlier holders.
        lease_epoch: u32,
    },
    /// Tell whoever has the task that it is not wanted any more.
    Recall {
        /// The address of the task's step.
        at: StepAddress,
        /// The lease epoch that the task was handed out under.
        lease_epoch: u32,
    },
    /// Offer the task to a worker with other code that already waits for work (R20).
    WantCode {
        /// The address of the task's step.
        at: StepAddress,
    },
    /// Answer the caller that started or resumed the run, if it still listens.
    Respond {
        /// The reply: `{status, headers, body}`.
        response: Json,
    },
}

/// The input of a child run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChildInput {
    /// The input, as it was rendered when the child was asked for.
    Given(Json),
    /// The input that [`Run::input_of`](crate::run::Run::input_of) of the parent renders for this step when the child
    /// is started.
    Of(StepAddress),
}

impl ChildInput {
    /// The input, if it was rendered when the child was asked for.
    pub fn given(&self) -> Option<&Json> {
        match self {
            ChildInput::Given(input) => Some(input),
            ChildInput::Of(_) => None,
        }
    }
}

/// A child run that a run asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildStart {
    /// The id of the child, chosen by the decision that asks for it.
    pub run_id: RunId,
    /// The workspace of the parent run.
    #[serde(default, skip_serializing_if = "WorkspaceId::is_default")]
    pub workspace: WorkspaceId,
    /// The name of the child's workflow.
    pub definition: Arc<str>,
    /// The version of the child's workflow; `None`: the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Arc<str>>,
    /// The input, or where to render it from.
    pub input: ChildInput,
    /// Labels that the child can be listed by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Arc<str>>,
    /// The run that asks for the child, and its wait.
    pub parent: Parent,
    /// The parent's wait that ends when the child is started, or could not be; `None`: no wait is about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tells: Option<WaitpointId>,
    /// Whether the child calls the handler of its parent's `onFailure` or `onCancel`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_hook: bool,
    /// The event that ended the parent and starts the child in its place, which waits for later ones only; `None`: it was no
    /// event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_on: Option<StartedOn>,
    /// On whose behalf the child is: that of its parent.
    pub started_by: Actor,
}
