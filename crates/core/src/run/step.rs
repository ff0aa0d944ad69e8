//! The state of step runs: steps and items of maps, the tasks that are worked on there, and maps under way.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::history::{Failure, WakeOn};
use crate::json::Json;
use crate::run::Pin;
use crate::shared_map::SharedMap;
use crate::status::StepStatus;
use crate::time::Millis;
use crate::waitpoint::CodeMismatch;

/// The state of one step run: a step, or an item of a map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepState {
    /// The status of the step run.
    pub status: StepStatus,
    /// How often the step has begun: more than once when a failed run is retried.
    pub visit: u32,
    /// The attempt of this visit, from 1.
    pub attempt: u32,
    /// The number of attempts before the one in which the handler last recorded something new: its policy counts from
    /// there (R21).
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub(crate) renewed_at: u32,
    /// When this visit began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When this visit ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The output of a COMPLETED step.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub output: Option<Json>,
    /// Why a FAILED step failed, or why its last attempt did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Whether the step failed only because another one did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stopped: bool,
    /// The numbers of the step's waitpoints by name, also of those completed before it began. A task's own outlive a
    /// retry, for its journal does; all others are of this visit.
    #[serde(default, skip_serializing_if = "SharedMap::is_empty")]
    pub waits: SharedMap<Arc<str>, u32>,
    /// When the sleeps were to end that a failure ended early, by name: opened again, they end then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) cut_off: BTreeMap<Arc<str>, Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) awaiting: Option<Awaiting>,
    /// The task of the step; `None` if its kind has none, or it has not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<TaskState>>,
    /// The items of a map step; `None` if it is none, or has not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<Box<MapState>>,
    /// How many of the steps that this one is `after` are settled; only in a graph.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) settled_before: u16,
    /// How many of the settled steps that this one is `after` were not skipped; only in a graph.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) taken_before: u16,
    /// Whether a step before it went another way; only in a graph.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) untaken: bool,
}

pub(super) fn is_none_of(count: &u32) -> bool {
    *count == 0
}

fn is_zero(count: &u16) -> bool {
    *count == 0
}

/// What a step run waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Awaiting {
    /// The numbers of the waitpoints, in ascending order.
    pub(crate) waits: Vec<u32>,
    pub(crate) pending: u32,
    pub(crate) wake: WakeOn,
}

impl StepState {
    /// How many attempts of the policy are used up: those since the handler last recorded something new, this one
    /// included.
    pub(crate) fn attempts_used(&self) -> u32 {
        self.attempt.saturating_sub(self.renewed_at)
    }
}

impl Awaiting {
    pub(crate) fn is_over(&self) -> bool {
        match self.wake {
            WakeOn::All => self.pending == 0,
            // How many must come is for the definition to say.
            WakeOn::Any | WakeOn::Each | WakeOn::Group => {
                usize::try_from(self.pending) != Ok(self.waits.len())
            }
        }
    }
}

/// The task of a step run: work that is done outside of the core, by a worker or an executor of the engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskState {
    /// The lease epoch: how often the task has been handed out. A report with an older one is refused.
    pub lease_epoch: u32,
    /// Whether the task is handed out, or ready to be.
    pub out: bool,
    /// The name of the worker that has the task; `None`: nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Arc<str>>,
    /// The build of whoever has the task, or had it last, as far as they named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) build: Option<Arc<str>>,
    /// The builds that are known not to fit the journal, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unfit: Option<Box<CodeMismatch>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pin: Option<Pin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) taken_at: Option<Timestamp>,
    /// When the time of the attempt ends; `None`: the task has no timeout, or nobody has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// When the task was last put out for a worker to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_since: Option<Timestamp>,
    /// How long workers had this attempt of the task, in executions that are over; waiting does not count.
    pub worked: Millis,
    pub(crate) lost_leases: u32,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub(crate) request: Option<Json>,
    /// Data that the handler left to get back when it is executed again.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub checkpoint: Option<Json>,
    #[serde(default, skip_serializing_if = "SharedMap::is_empty")]
    pub(crate) journal: SharedMap<Arc<str>, JournalEntry>,
    /// How often something was recorded in the journal: the next entry comes after all that are there.
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub(crate) recorded: u32,
    /// When a worker took the task last, or its handler recorded something last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JournalEntry {
    /// The position of the entry: entries are handed back in the order they were made.
    pub(crate) order: u32,
    pub(crate) what: Journalled,
    /// When the entry was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded_at: Option<Timestamp>,
    /// Since when the handler may have been at the call: a worker took the task then, or recorded the entry before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Journalled {
    Result(Json),
    Wait(u32),
}

/// The items of a map under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MapState {
    pub(super) list: Json,
    pub(crate) items: SharedMap<u32, StepState>,
    /// The index of the first item that has not begun.
    pub(crate) next: u32,
    pub(crate) under_way: u32,
    /// How many items have completed, or failed where failures are collected.
    pub(crate) done: u32,
}

impl MapState {
    pub(crate) fn new(list: Json) -> MapState {
        MapState { list, items: SharedMap::new(), next: 0, under_way: 0, done: 0 }
    }

    /// How many items the list has.
    pub fn len(&self) -> u32 {
        self.list.as_array().map_or(0, |list| u32::try_from(list.len()).unwrap_or(u32::MAX))
    }

    /// Whether the list has no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
