//! A workflow as its author writes it, in JSON or YAML. These types *are* the format: the reader, the JSON
//! Schema for editors and the builder all come from them. What a document means once it is checked is a
//! [`Definition`](super::Definition).

mod debounce;
mod group;
mod limits;
mod llm;
mod mcp;
mod starts;
mod waits;
mod work;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::problem::Problem;

pub use self::debounce::Debounce;
pub use self::group::{
    Member, MemberApproval, MemberExternalEvent, MemberWaitAll, MemberWaitAny, MemberWaitForEvent,
    MemberWaitSome, MemberWebhook, MemberWorkflow, OnRejectedMember, WaitAll, WaitAny, WaitSome,
};
pub use self::limits::{Holds, Limit, LimitScope, WhenFull};
pub use self::llm::{Guardrail, Llm, Message, OnGuardrail, ResponseFormat, Role, Tool};
pub use self::mcp::{Mcp, McpAsk, McpKind, McpTask};
pub use self::starts::{CancelOn, RestartOn, StartOn};
pub use self::waits::{Approval, ExternalEvent, OnApprovalTimeout, OnTimeout, Wait, WaitForEvent, Webhook};
pub use self::work::{
    FanOut, Http, Map, MapStep, MapStepKind, Method, Notify, OnCodeChange, OnItemFailure, StatusPattern,
    SubWorkflow, Task,
};

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
    /// Events that start runs, each when it is received. Those of the newest version count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 20))]
    pub start_on: Option<Vec<StartOn>>,
    /// Events that cancel a run, wherever it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 20))]
    pub cancel_on: Option<Vec<CancelOn>>,
    /// Events that cancel a run and start another of the newest version in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 20))]
    pub restart_on: Option<Vec<RestartOn>>,
    /// How long a whole run may take, in milliseconds; then it fails, wherever it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// `timeoutMs` as a duration, such as `2d 4h` or `PT30M`.
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
    /// Limits of the runs of this workflow: how many may be at work at once, and how many may begin in a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    pub limits: Option<Vec<Limit>>,
    /// Starts that come shortly after each other begin one run together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debounce: Option<Debounce>,
    /// Which of several runs that wait for the same room gets it first: 0 (if absent) to 9, or a template that gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Value>,
    /// Headers of a call that starts a run by a trigger that its input keeps, beside those that always are:
    /// `content-type`, `user-agent`, `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 100)))]
    pub keep_headers: Option<Vec<String>>,
    /// Offers the workflow to clients of the Model Context Protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Mcp>,
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
    /// `timeoutMs` as a duration.
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
    WaitAny(WaitAny),
    WaitAll(WaitAll),
    WaitSome(WaitSome),
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
    /// The longest back-off, in milliseconds; 300000 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100))]
    pub max_backoff_ms: Option<u64>,
}

impl StepKind {
    /// The call to a model that the step makes, or the step inside a `map`.
    pub fn llm(&self) -> Option<&Llm> {
        if let StepKind::Map(map) = self {
            return if let MapStepKind::Llm(llm) = &map.step.kind { Some(llm) } else { None };
        }
        if let StepKind::Llm(llm) = self { Some(llm) } else { None }
    }
}
