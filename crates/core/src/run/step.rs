//! How far the places of a run are: steps and items of maps, the tasks that are worked on there, and maps under way.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::history::{Failure, WakeOn};
use crate::json::Json;
use crate::run::Pin;
use crate::status::StepStatus;
use crate::time::Millis;
use crate::waitpoint::CodeMismatch;

/// How far one place of a run is: a step, or an item of a map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepState {
    pub status: StepStatus,
    /// How often the step has begun: more than once when a failed run is retried.
    pub visit: u32,
    /// Of this visit, from 1.
    pub attempt: u32,
    /// The attempts before the one in which a handler last recorded something new: its policy counts from there (R21).
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub(crate) renewed_at: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub output: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// The step failed only because another one did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stopped: bool,
    /// The step's waitpoints by name, also those completed before it began. A task's own outlive a retry, for its journal does;
    /// all others are of this visit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub waits: BTreeMap<Arc<str>, u32>,
    /// When the sleeps were to end that a failure cut off, by name: taken up again, they end then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) cut_off: BTreeMap<Arc<str>, Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) awaiting: Option<Awaiting>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<TaskState>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<Box<MapState>>,
    /// Graph: how many of the steps it is `after` are settled, and how many of those are not skipped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) settled_before: u16,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) taken_before: u16,
    /// Graph: a step before it went another way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) untaken: bool,
}

pub(super) fn is_none_of(count: &u32) -> bool {
    *count == 0
}

fn is_zero(count: &u16) -> bool {
    *count == 0
}

/// What a place waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Awaiting {
    /// In ascending order.
    pub(crate) waits: Vec<u32>,
    pub(crate) pending: u32,
    pub(crate) wake: WakeOn,
}

impl StepState {
    /// How many attempts of the policy are used up: those since the handler last recorded something new, this one included.
    pub(crate) fn attempts_used(&self) -> u32 {
        self.attempt.saturating_sub(self.renewed_at)
    }
}

impl Awaiting {
    pub(crate) fn is_over(&self) -> bool {
        match self.wake {
            WakeOn::All => self.pending == 0,
            WakeOn::Any | WakeOn::Each => usize::try_from(self.pending) != Ok(self.waits.len()),
        }
    }
}

/// The part of a place that is worked on outside: by a worker or an executor of the engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskState {
    /// How often the task has been handed out. This number is the fence: a report with an older one is refused.
    pub lease_epoch: u32,
    /// Handed out, or ready to be.
    pub out: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Arc<str>>,
    /// The code that whoever has it, or had it last, said it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) build: Option<Arc<str>>,
    /// Code that is known not to fit the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unfit: Option<Box<CodeMismatch>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pin: Option<Pin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) taken_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Time this attempt has worked in earlier executions; waiting does not count.
    pub(crate) worked: Millis,
    pub(crate) lost_leases: u32,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub(crate) request: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::json::present")]
    pub checkpoint: Option<Json>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) journal: BTreeMap<Arc<str>, JournalEntry>,
    /// How often something was recorded in the journal: the next entry comes after all that are there.
    #[serde(default, skip_serializing_if = "is_none_of")]
    pub(crate) recorded: u32,
    /// When a worker took it last, or its handler recorded something last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JournalEntry {
    /// Entries are handed back in the order they were made.
    pub(crate) order: u32,
    pub(crate) what: Journalled,
    /// When it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recorded_at: Option<Timestamp>,
    /// Since when the handler may have been at it: a worker took the task then, or recorded what came before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Journalled {
    Result(Json),
    Wait(u32),
}

/// A map under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MapState {
    pub(super) list: Json,
    pub(crate) items: BTreeMap<u32, StepState>,
    /// The first item that has not begun.
    pub(crate) next: u32,
    pub(crate) under_way: u32,
    /// Completed, or failed where failures are collected.
    pub(crate) done: u32,
}

impl MapState {
    pub(crate) fn new(list: Json) -> MapState {
        MapState { list, items: BTreeMap::new(), next: 0, under_way: 0, done: 0 }
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
