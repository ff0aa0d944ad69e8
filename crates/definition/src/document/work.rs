//! Steps that have work done: by handlers, by the engine, by other workflows, or once for each item of a list.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ExternalEvent, Limit, Llm, Retry, Wait, WaitForEvent, Webhook};

/// Runs a registered handler: in process, a polling worker, or a URL called by the engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The handler's registered name.
    #[schemars(length(min = 1, max = 200))]
    pub handler: String,
    /// Settings for the handler; templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// What the handler gets as its input; templates allowed. Without it, the run's input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// How long one attempt may work, in milliseconds; waiting does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// `timeoutMs` as a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The worker is taken for lost when it has not reported for this long, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub heartbeat_ms: Option<u64>,
    /// `heartbeatMs` as a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<String>,
    /// What becomes of it when its code does not fit what it has recorded; `wait` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_code_change: Option<OnCodeChange>,
    /// Only workers of the build that takes it first are given it again, in this run; `false` if absent. Until an operator
    /// unpins it, it waits for them, however long they are away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin_to_build: Option<bool>,
    /// Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    pub limits: Option<Vec<Limit>>,
}

/// What becomes of a handler whose code does not fit what it has recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnCodeChange {
    /// The step waits for a worker with other code: a bad deploy costs time, never a run.
    #[default]
    Wait,
    /// The step fails.
    Fail,
}

/// The engine makes an HTTP call. `{{ secret.NAME }}` in its URL, headers and body is filled in when the call is made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Http {
    /// Templates allowed.
    #[schemars(length(min = 1, max = 8192))]
    pub url: String,
    /// `GET` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
    /// JSON, or text when it is a string; templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Statuses that fail the step, such as `4xx`, `5xx` or `404`; both classes if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<Vec<StatusPattern>>,
    /// Sign the call with the server's signing key, as Standard Webhooks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sign: bool,
    /// Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    pub limits: Option<Vec<Limit>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

/// An HTTP status such as `404`, or a class of them such as `5xx`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StatusPattern {
    One(#[schemars(range(min = 100, max = 599))] u16),
    Class(#[schemars(extend("enum" = ["1xx", "2xx", "3xx", "4xx", "5xx"]))] String),
}

/// Sends an event to everyone who waits for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notify {
    /// Templates allowed.
    #[schemars(length(min = 1, max = 200))]
    pub event_id: String,
    /// Templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Only this run gets it; templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// `all` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<FanOut>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FanOut {
    /// Everyone who waits for it.
    #[default]
    All,
    /// The one that has waited longest.
    One,
}

/// Starts a run of another workflow and waits for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubWorkflow {
    /// The other workflow's name.
    #[schemars(length(min = 1, max = 200))]
    pub definition: String,
    /// The newest version if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50))]
    pub version: Option<String>,
    /// Templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Wait for the run to end; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
}

/// Does one step for every item of a list, in parallel; the results are in the items' order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Map {
    /// The list, or an expression or template that gives one.
    pub items: Value,
    /// The step to do; its templates see `item` and `index`.
    pub step: Box<MapStep>,
    /// How many items at a time; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10000))]
    pub concurrency: Option<u32>,
    /// What a failed item does: `fail` the step at once (if absent), or `collect` it as `{"error": …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_item_failure: Option<OnItemFailure>,
}

/// The step of a `map`: any step that does something or waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MapStep {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    #[serde(flatten)]
    pub kind: MapStepKind,
}

/// What the step of a `map` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MapStepKind {
    Task(Task),
    #[serde(alias = "sleep")]
    Wait(Wait),
    #[serde(alias = "wait_for_signal")]
    ExternalEvent(ExternalEvent),
    WaitForEvent(WaitForEvent),
    Webhook(Webhook),
    Llm(Box<Llm>),
    Http(Box<Http>),
    Notify(Notify),
    #[serde(alias = "child")]
    Workflow(SubWorkflow),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnItemFailure {
    #[default]
    Fail,
    Collect,
}
