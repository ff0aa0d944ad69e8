//! The calls of tools that an answer asks for: what is run, and what is told to the model instead.

use abide_core::definition::Schema;
use abide_core::definition::document::Tool;
use serde_json::Value;

use super::TOOL_CALLS;
use super::journal::{Entry, Journal, ToolOutcome};
use crate::models::{Message, ToolCall};

/// One tool that is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRun {
    /// The name of the entry.
    pub entry: String,
    /// The name of the wait for whoever runs it.
    pub wait: String,
    pub tool: String,
    pub served_by: ServedBy,
    /// An object that satisfies the tool's schema.
    pub arguments: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedBy {
    Handler(String),
    Workflow(String),
}

/// The entry that holds the result of a tool, by the name of the wait for it.
pub fn entry_of_wait(wait: &str) -> Option<String> {
    wait.strip_prefix("run ").map(|number| format!("tool {number}"))
}

/// The results of one round as messages, or what is still to be run.
pub(super) fn round(
    tools: &[Tool],
    calls: &[ToolCall],
    number: u32,
    journal: &Journal,
) -> Result<Vec<Message>, Vec<ToolRun>> {
    let mut results = Vec::with_capacity(calls.len());
    let mut missing = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let entry = format!("tool {number}.{}", index + 1);
        let outcome = match (plan(tools, call, index), journal.get(&entry)) {
            (Err(why), _) => ToolOutcome::Failed(why),
            (Ok(_), Some(Entry::Tool { outcome })) => outcome.clone(),
            (Ok((tool, arguments)), Some(Entry::Answered { .. } | Entry::CallFailed { .. }) | None) => {
                missing.push(ToolRun {
                    entry,
                    wait: format!("run {number}.{}", index + 1),
                    tool: tool.name.clone(),
                    served_by: served_by(tool),
                    arguments,
                });
                continue;
            }
        };
        let (content, failed) = match outcome {
            ToolOutcome::Result(Value::String(text)) => (text, false),
            ToolOutcome::Result(value) => (value.to_string(), false),
            ToolOutcome::Failed(why) => (format!("Error: {why}"), true),
        };
        results.push(Message::ToolResult { call_id: call.id.clone(), content, failed });
    }
    if missing.is_empty() { Ok(results) } else { Err(missing) }
}

fn served_by(tool: &Tool) -> ServedBy {
    match (&tool.workflow, &tool.handler) {
        (Some(workflow), _) => ServedBy::Workflow(workflow.clone()),
        (None, Some(handler)) => ServedBy::Handler(handler.clone()),
        (None, None) => ServedBy::Handler(tool.name.clone()),
    }
}

/// The tool and its arguments, or what the model did wrong.
fn plan<'t>(tools: &'t [Tool], call: &ToolCall, index: usize) -> Result<(&'t Tool, Value), String> {
    if index >= TOOL_CALLS {
        return Err(format!("at most {TOOL_CALLS} tools are called at once; this one was not"));
    }
    let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else {
        let known: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return Err(format!("there is no tool `{}`; there are: {}", call.name, known.join(", ")));
    };
    let text = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
    let arguments: Value =
        serde_json::from_str(text).map_err(|error| format!("the arguments are not JSON: {error}"))?;
    if !arguments.is_object() {
        return Err("the arguments are not a JSON object".to_owned());
    }
    let Some(parameters) = &tool.parameters else { return Ok((tool, arguments)) };
    let schema =
        Schema::compile(parameters).map_err(|why| format!("the tool's schema cannot be used: {why}"))?;
    let wrong: Vec<String> =
        schema.errors(&arguments).into_iter().map(|(place, why)| format!("at `{place}`: {why}")).collect();
    if wrong.is_empty() {
        return Ok((tool, arguments));
    }
    Err(format!("the arguments do not satisfy the tool's schema: {}", wrong.join("; ")))
}
