//! How runs come about besides being asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event that starts a run of the workflow's newest version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartOn {
    /// The event's id.
    #[schemars(length(min = 1, max = 200))]
    pub event_id: String,
    /// An expression over `event`, the event's data; only events for which it is true start a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#match: Option<String>,
    /// The run's input; templates over `event` allowed. The event's data if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// A template over `event`; events that give the same key start one run together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub idempotency_key: Option<String>,
}

/// An event that cancels a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelOn {
    /// The event's id.
    #[schemars(length(min = 1, max = 200))]
    pub event_id: String,
    /// An expression over `event`, the event's data, and the run's `input`; only events for which it is true count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#match: Option<String>,
}

/// An event that cancels a run and starts another in its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestartOn {
    /// The event's id.
    #[schemars(length(min = 1, max = 200))]
    pub event_id: String,
    /// An expression over `event`, the event's data, and the run's `input`; only events for which it is true count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#match: Option<String>,
    /// The new run's input; templates over `event` allowed. That of the run it replaces if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}
