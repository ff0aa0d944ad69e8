//! What records are made of, where more than one kind of record or more than the history has use for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{RunId, ScheduleId, WaitpointId};
use crate::json::Json;

/// The occurrence of a schedule that a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scheduled {
    pub schedule_id: ScheduleId,
    pub occurrence: Timestamp,
}

/// A version of a workflow, by name.
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
    pub(super) fn is_nothing(&self) -> bool {
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
    /// Input tokens that the provider had seen before, a part of all input tokens.
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
