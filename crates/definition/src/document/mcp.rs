//! A workflow that clients of the Model Context Protocol see.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How MCP clients see the workflow: a tool that they call, or a prompt that they get. Those of the newest version count.
/// The description and the schema of the arguments are the workflow's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mcp {
    /// `tool` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<McpKind>,
    /// What people are shown instead of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub title: Option<String>,
    /// Whether a call may become a task; `whenLong` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<McpTask>,
    /// The tool changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// The tool may destroy something, where it is not `readOnly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// To call the tool again with the same arguments changes nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// The tool reaches what is outside of your own systems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Fields of the input that the caller is asked for before the run starts, if the arguments lack them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_first: Option<BTreeMap<String, McpAsk>>,
    /// What the caller is asked while the run waits, by the type of the signal that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<BTreeMap<String, McpAsk>>,
}

/// What a workflow is for an MCP client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpKind {
    Tool,
    Prompt,
}

/// Whether a call of a tool may become a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum McpTask {
    /// When the run does not end at once, and the client knows tasks.
    WhenLong,
    /// Every call. A client that does not know tasks is refused.
    Always,
    /// No call: the caller waits for the result.
    Never,
}

/// What a caller is asked: a person with a form, its model, or for its folders. Exactly one of `message`, `sampling` and
/// `roots`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpAsk {
    /// What a person is asked; templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1000))]
    pub message: Option<String>,
    /// With `message`: the JSON Schema of the form, an object whose fields are text, numbers, booleans or choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// What the client's model is asked: the parameters of `sampling/createMessage`, such as `messages` and `maxTokens`;
    /// templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Value>,
    /// The folders that the client works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<bool>,
}
