//! Workflows as prompts: `prompts/get` starts a run, and its output is the messages.

use abide_definition::document::McpKind;
use serde_json::{Value, json};

use crate::api::text;
use crate::call::{Call, Turn};
use crate::discover::{LISTED_MS, cached};
use crate::dispatch::{Context, required};
use crate::outcome;
use crate::rpc::Error;

pub(crate) async fn list(context: &Context) -> Result<Value, Error> {
    let offered = context.gateway.catalog.prompts(&context.api).await?;
    let prompts: Vec<Value> = offered.iter().map(|prompt| prompt.listed_as_prompt()).collect();
    Ok(cached(context.client.era, json!({ "prompts": prompts }), LISTED_MS))
}

pub(crate) async fn get(context: &Context, params: &Value) -> Result<Value, Error> {
    let name = required(params, "name")?;
    let found = context.gateway.catalog.named(&context.api, name, McpKind::Prompt).await?;
    let offered = found.ok_or_else(|| Error::invalid(format!("there is no prompt `{name}`")))?;
    let call = Call::read(context, offered, params)?.without_tasks();
    match call.turn().await? {
        Turn::Ended(run) => messages(&run),
        Turn::Asks(asks, run) => Ok(crate::call::input_required(&asks, &run)),
        Turn::AskFirst(questions) => {
            Ok(json!({ "resultType": "input_required", "inputRequests": questions }))
        }
        Turn::Refused(result) => Err(Error::invalid(text(&result["content"][0], "text"))),
        Turn::Task(run) | Turn::GoesOn(run) => {
            let id = text(&run, "id");
            Err(Error::busy(format!("the run {id} of this prompt goes on; it has no messages yet")))
        }
    }
}

/// The output itself, if it has messages; otherwise it is what the user says.
fn messages(run: &Value) -> Result<Value, Error> {
    let result = outcome::result(run)?;
    if result["isError"] == true {
        let data = json!({ "runId": run["id"], "error": run["error"] });
        return Err(Error::internal(text(&result["content"][0], "text"), data));
    }
    let output = &run["output"];
    if let Some(messages) = output.get("messages").filter(|messages| messages.is_array()) {
        let mut prompt = json!({ "messages": messages });
        if let Some(description) = output.get("description").and_then(Value::as_str) {
            prompt["description"] = description.into();
        }
        return Ok(prompt);
    }
    let blocks = result["content"].as_array().into_iter().flatten();
    let messages: Vec<Value> = blocks.map(|block| json!({ "role": "user", "content": block })).collect();
    Ok(json!({ "messages": messages }))
}
