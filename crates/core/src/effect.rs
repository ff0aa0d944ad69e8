//! Effects: what a decision asks of the world. Values only; the engine stores those that must not be lost in the
//! same commit as the records, and performs them after it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::ChildOutcome;
use crate::history::Parent;
use crate::id::{At, RunId, ScheduleId, WaitpointId, WorkspaceId};
use crate::json::Json;
use crate::waitpoint::Actor;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Effect {
    /// Hand the task out: `Run::task` says what it is. At least once; the delivery number fences the rest.
    Dispatch {
        at: At,
        delivery: u32,
    },
    /// The task is not wanted any more; a worker that has it may stop.
    Recall {
        at: At,
        delivery: u32,
    },
    /// A worker with other code may come for the task of this place, if one waits for work.
    WantCode {
        at: At,
    },
    /// Offer this wait the events that are stored already, oldest first.
    LookBack {
        number: u32,
    },
    /// Start a run; if that is impossible, say so to the parent as a failed child.
    StartChild(Box<ChildStart>),
    CancelChild {
        run_id: RunId,
    },
    /// This run has ended and another waits for it.
    TellParent {
        waitpoint: WaitpointId,
        outcome: ChildOutcome,
    },
    /// This run has ended, and the schedule that started it may have more to start.
    TellSchedule {
        schedule: ScheduleId,
    },
    /// Answer the caller that started or resumed the run, if it still listens. Lost when it does not.
    Respond {
        response: Json,
    },
}

impl Effect {
    /// Whether it must be kept until it is done. The others are hints.
    pub fn is_durable(&self) -> bool {
        match self {
            Effect::Dispatch { .. }
            | Effect::Recall { .. }
            | Effect::LookBack { .. }
            | Effect::StartChild(_)
            | Effect::CancelChild { .. }
            | Effect::TellParent { .. }
            | Effect::TellSchedule { .. } => true,
            Effect::Respond { .. } | Effect::WantCode { .. } => false,
        }
    }
}

/// What a child begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChildInput {
    Given(Json),
    /// [`Run::input_of`](crate::run::Run::input_of) of its parent says it, when it is started.
    Of(At),
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildStart {
    pub run_id: RunId,
    /// Its parent's.
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
    /// It calls the handler of its parent's `onFailure` or `onCancel`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_hook: bool,
    /// On whose behalf its parent was.
    pub started_by: Actor,
}
