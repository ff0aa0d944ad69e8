//! A workflow as its author writes it, in JSON or YAML. These types *are* the format: the reader, the JSON
//! Schema for editors and the builder all come from them. What a document means once it is checked is a
//! [`Definition`](super::Definition).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::problem::Problem;

/// A workflow: steps that run in the order written, or as a graph if any step says `after`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    /// What the workflow is called; runs are started by it.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
    /// Definitions are immutable: change the version to change a workflow. A run keeps the version it began with.
    #[serde(default = "first_version", skip_serializing_if = "is_first_version")]
    #[schemars(length(min = 1, max = 50))]
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub description: Option<String>,
    /// A JSON Schema that every run's input must satisfy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// How long a whole run may take, in milliseconds; then it fails, wherever it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// The same as a duration, such as `2d 4h` or `PT30M`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// What all calls to models of a run together may cost, in millionths of the currency of the price table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub budget_micros: Option<u64>,
    /// The retry policy of steps that have none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_retry: Option<Retry>,
    /// What becomes of a handler whose code does not fit what it has recorded, for tasks that do not say so themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_code_change: Option<OnCodeChange>,
    /// Called when a run has failed, each time it does, in a run of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<Hook>,
    /// Called when a run was cancelled, in a run of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_cancel: Option<Hook>,
    /// Whether a task stays with the build that took it first, for tasks that do not say so themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin_to_build: Option<bool>,
    /// What a completed run's `output` is; templates allowed. Without it, the output of the last step that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Headers of a call that starts a run by a trigger that its input keeps, beside those that always are:
    /// `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 100)))]
    pub keep_headers: Option<Vec<String>>,
    #[schemars(length(min = 1, max = 1000))]
    pub steps: Vec<Step>,
    /// What the builder was asked for and cannot be said in a document; `check` tells it.
    #[serde(skip)]
    pub(crate) misfits: Vec<Problem>,
}

fn first_version() -> String {
    "1".to_owned()
}

fn is_first_version(version: &str) -> bool {
    version == "1"
}

/// A handler that is called when a run has ended, with what became of it: `{run, input, state, error}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hook {
    /// The handler's registered name. It may be durable code like any other.
    #[schemars(length(min = 1, max = 200))]
    pub handler: String,
    /// Settings for the handler; templates allowed, over the `input` that the handler gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// The `defaultRetry` of the workflow if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// How long one attempt may work, in milliseconds; waiting does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// The same as a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// One step of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Unique in the workflow. `steps.<name>.output` is what it produced.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub description: Option<String>,
    /// An expression; when it is false, the step is skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The key of `state` under which the step's result is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub save_as: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// The steps that must be done before this one starts. If any step has it, the workflow is a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<String>>,
    /// In a written sequence: the step to go on with, further down, or `end`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(flatten)]
    pub kind: StepKind,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StepKind {
    Task(Task),
    #[serde(alias = "sleep")]
    Wait(Wait),
    Condition(Condition),
    #[serde(alias = "wait_for_signal")]
    ExternalEvent(ExternalEvent),
    WaitForEvent(WaitForEvent),
    Webhook(Webhook),
    Approval(Approval),
    Llm(Box<Llm>),
    Http(Box<Http>),
    Notify(Notify),
    Respond(Respond),
    #[serde(alias = "child")]
    Workflow(SubWorkflow),
    Map(Map),
}

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
    /// The same as a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The worker is taken for lost when it has not reported for this long, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub heartbeat_ms: Option<u64>,
    /// The same as a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<String>,
    /// What becomes of it when its code does not fit what it has recorded; `wait` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_code_change: Option<OnCodeChange>,
    /// Only workers of the build that takes it first are given it again, in this run; `false` if absent. Until an operator
    /// unpins it, it waits for them, however long they are away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin_to_build: Option<bool>,
}

/// What becomes of a handler whose code does not fit what it has recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnCodeChange {
    /// It waits for a worker with other code: a bad deploy costs time, never a run.
    #[default]
    Wait,
    /// The step fails.
    Fail,
}

/// Suspends the run durably: for a time, until an instant, or until the next time of a cron line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// How long to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_timestamp: Option<String>,
    /// Waits for the next time of this cron line, in `timezone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// An IANA zone such as `Europe/Berlin`; UTC if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// Goes on with one step or another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Such as `state.leadScore >= 80`.
    pub expression: String,
    /// The step to go on with when it is true, or `end`.
    pub true_step: String,
    /// The step to go on with when it is false, or `end`; without it, the one that follows in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_step: Option<String>,
}

/// Waits for a signal sent to this run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalEvent {
    /// The signal's type, such as `payment.received`.
    #[schemars(length(min = 1, max = 200))]
    pub signal_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// Waits for an event that is sent to everyone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitForEvent {
    /// The event's id; templates allowed, such as `order-{{ input.orderId }}`.
    #[schemars(length(min = 1, max = 200))]
    pub event_id: String,
    /// An expression over `event`, the event's data, and the run; only events for which it is true count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#match: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Events received up to this long before the wait begins count too, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback_ms: Option<u64>,
    /// The same as a duration. Without either, every event since the run was created counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback: Option<String>,
    /// What happens when the time is over; `continue` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// Waits for a call on its resume URL.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// The reply given at once to the caller that started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_to_send: Option<Reply>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Let a plain GET resume the run. Off by default: link scanners open every link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_get: bool,
    /// Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by
    /// default. They never get the run's output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_sync: bool,
    /// Headers of the call that are kept, beside those that always are: `content-type`, `user-agent`, `webhook-id`,
    /// `webhook-timestamp` and `webhook-signature`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 100)))]
    pub keep_headers: Option<Vec<String>>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// Waits for people to approve, reject or edit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The key of `state` whose value is shown, and replaced when it is edited.
    #[schemars(length(min = 1, max = 100))]
    pub content_key: String,
    /// A JSON Schema that edited content must satisfy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_schema: Option<Value>,
    /// What is asked; templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Who may decide: people by name, or `scope:approve` and `scope:admin` for any key with that scope. Every
    /// key with the scope `approve`, and whoever has a link, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 200)))]
    pub approvers: Option<Vec<String>>,
    /// Whether whoever started the run may decide; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_self_approval: Option<bool>,
    /// When those who may decide are reminded, after they were asked: `["4h", "1d"]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10))]
    pub remind_after: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub escalate_after_ms: Option<u64>,
    /// When others may decide too, after it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate_after: Option<String>,
    /// Who may decide from then on, besides the approvers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 200)))]
    pub escalate_to: Option<Vec<String>>,
    /// How many must approve; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub quorum: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnApprovalTimeout>,
    /// What happens when it is rejected; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_reject: Option<OnTimeout>,
}

/// Calls a model. Each call and each tool round is journalled, so that a crash pays for none twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Llm {
    /// The model's name, as in the server's settings.
    #[schemars(length(min = 1, max = 200))]
    pub model: String,
    /// Models to try, in order, when this one fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(length(min = 1, max = 200)))]
    pub fallback_models: Option<Vec<String>>,
    /// Templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    #[schemars(length(min = 1))]
    pub messages: Vec<Message>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat>,
    /// A JSON Schema the answer must satisfy; needs `responseFormat: json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// What all calls of the step together may cost, in millionths of the currency of the price table. A call that could
    /// cost more than is left is not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub budget_micros: Option<u64>,
    /// How many rounds of tool calls are allowed; 10 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20))]
    pub max_tool_rounds: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guardrails: Option<Vec<Guardrail>>,
    /// How long one attempt may work, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// The same as a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// One message to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub role: Role,
    /// Templates allowed.
    pub content: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System,
    User,
    Assistant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    Text,
    Json,
}

/// Something a model may call: a handler, or another workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1000))]
    pub description: Option<String>,
    /// A JSON Schema of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// The handler that serves it; the tool's name if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub handler: Option<String>,
    /// The workflow that serves it, instead of a handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub workflow: Option<String>,
}

/// A check of a model's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Guardrail {
    /// The answer satisfies `schema`, or the step's `outputSchema`.
    SchemaValidation {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_failure: Option<OnGuardrail>,
    },
    /// The answer contains none of these words or patterns and, if a judge is named, that model finds it safe.
    ContentSafety {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blocked: Option<Vec<String>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judge_model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_failure: Option<OnGuardrail>,
    },
    /// The number at `path` of a JSON answer is at least `minimum`.
    ConfidenceThreshold {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        #[schemars(range(min = 0.0, max = 1.0))]
        minimum: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_failure: Option<OnGuardrail>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnGuardrail {
    Block,
    Warn,
    RetryWithFeedback,
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
    pub delivery: Option<Delivery>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Everyone who waits for it.
    #[default]
    All,
    /// The one that has waited longest.
    One,
}

/// Answers the caller that started the run; the run goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Respond {
    /// 200 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 599))]
    pub status: Option<u16>,
    /// Templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
    /// Templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

/// A reply to whoever started the run.
pub type Reply = Respond;

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

/// How often, and after what time, a failed step is tried again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// All tries together; 3 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20))]
    pub max_attempts: Option<u32>,
    /// The initial back-off, before the second try, in milliseconds; 1000 if absent. Back-off has full jitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100))]
    pub backoff_ms: Option<u64>,
    /// By how much that grows from try to try; 2 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 10.0))]
    pub backoff_multiplier: Option<f64>,
    /// It never grows beyond this, in milliseconds; 300000 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100))]
    pub max_backoff_ms: Option<u64>,
}

/// What happens when a wait's time is over, or an approval is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    /// The step fails; it is not tried again.
    Fail,
    /// The run goes on with the output `{"timeout": true}`.
    Continue,
    /// The run goes on with this step.
    Goto(String),
}

/// What happens when nobody decided in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnApprovalTimeout {
    Fail,
    Continue,
    Approve,
    Reject,
    Goto(String),
}
