//! Steps that call a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Limit;

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
    /// `timeoutMs` as a duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Limits of the attempts of this step: how many may be at work at once, and how many may begin in a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 8))]
    pub limits: Option<Vec<Limit>>,
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
