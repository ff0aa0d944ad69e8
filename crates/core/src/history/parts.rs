//! What records are made of, where more than one kind of record or more than the history has use for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::{EventUid, RunId, ScheduleId, WaitpointId};
use crate::json::Json;

/// The occurrence of a schedule that a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scheduled {
    /// The schedule.
    pub schedule_id: ScheduleId,
    /// The instant that the occurrence was due at, however late the run was started.
    pub occurrence: Timestamp,
}

/// A version of a workflow, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefinitionRef {
    /// The name of the workflow.
    pub name: Arc<str>,
    /// The version.
    pub version: Arc<str>,
}

/// The parent of a run: the run that started it, and the wait that this run resolves by ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parent {
    /// The parent's wait; `None` when the parent does not wait for this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waitpoint: Option<WaitpointId>,
    /// The id of the parent.
    pub run_id: RunId,
    /// How many runs started runs to get here; 1 for the child of a run that nobody started.
    pub depth: u32,
    /// The run at the root of the tree of children; `None`: the parent itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<RunId>,
}

impl Parent {
    /// The run at the root of the tree of children.
    pub fn root(&self) -> RunId {
        self.root.unwrap_or(self.run_id)
    }
}

/// The event that a run was started on, by the `startOn` of its workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartedOn {
    /// The event's own number, `evt_…`.
    pub event: EventUid,
    /// The name of the event, such as `order.paid`.
    pub event_id: Arc<str>,
    /// When the event was received: what the run waits for comes after it.
    pub received_at: Timestamp,
}

/// When a step with several waits goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WakeOn {
    /// The step goes on when all have ended.
    #[default]
    All,
    /// The step goes on when the first has ended; the others are cancelled.
    Any,
    /// The step goes on when any has ended; the others stay open.
    Each,
    /// The step goes on when as many have come as its definition asks for; the others are cancelled.
    Group,
}

/// How a step's result changes `state`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateChange {
    /// The result does not change `state`.
    #[default]
    Nothing,
    /// The output, an object, is merged into `state` shallowly.
    MergeOutput,
    /// The output is stored in `state` under this key.
    OutputAs(Arc<str>),
    /// These keys are set in `state`.
    Set(BTreeMap<String, Json>),
}

impl StateChange {
    pub(super) fn is_nothing(&self) -> bool {
        *self == StateChange::Nothing
    }
}

/// A journal entry with the result of a durable call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalResult {
    /// The name of the durable call; what begins with `!` is the SDK's own.
    pub name: Arc<str>,
    /// What the call returned, in the SDK's form.
    pub result: Json,
}

/// A line of a run's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogLine {
    /// How much the line matters.
    pub level: Level,
    /// The text of the line, redacted and bounded when it is recorded.
    pub message: String,
}

impl LogLine {
    /// The room that the line takes in the log; more than its text, so that empty lines count, too.
    pub fn bytes(&self) -> usize {
        const FRAME: usize = 32;
        self.message.len() + FRAME
    }
}

/// How much a line of a log matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Details for whoever develops the handler.
    Debug,
    /// What is of use when nothing is wrong.
    #[default]
    Info,
    /// Something is wrong, and the handler goes on.
    Warn,
    /// Something failed.
    Error,
}

/// What one call to a model used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelCall {
    /// The journal entry that holds the answer.
    pub entry: Arc<str>,
    /// The name of the model, as the provider has it.
    pub model: Arc<str>,
    /// All tokens that went into the call.
    pub input_tokens: u64,
    /// The input tokens that the provider had cached, a part of all input tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input_tokens: u64,
    /// The tokens that came out of the call.
    pub output_tokens: u64,
    /// The price of the call in millionths of the price table's currency; `None` where the model has no price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Why there was no answer; `None` if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Arc<str>>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
