//! Responses.

use serde_json::{Value, json};

use crate::reply::{Said, pieces};
use crate::request::{Open, ReceivedRequest, list_of, text_of};
use crate::script::Stop;

pub(crate) fn read(body: &Value, asked: &mut ReceivedRequest) -> Result<(), String> {
    let mut open = Open::default();
    let mut said_by_model = false;
    for item in list_of(body, "input")? {
        let of_model = match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                text_of(item, "arguments")?;
                text_of(item, "name")?;
                open.call(text_of(item, "call_id")?);
                true
            }
            Some("function_call_output") => {
                open.answer(text_of(item, "call_id")?)?;
                asked.last = text_of(item, "output")?.to_owned();
                false
            }
            None | Some("message") => {
                let role = text_of(item, "role")?;
                if !matches!(role, "system" | "developer" | "user" | "assistant") {
                    return Err(format!("there is no role `{role}`"));
                }
                open.settled()?;
                asked.last = text_of(item, "content")?.to_owned();
                role == "assistant"
            }
            Some(kind) => return Err(format!("there is no item of type `{kind}`")),
        };
        // A text and the calls beside it are one answer.
        asked.turns += usize::from(of_model && !said_by_model);
        said_by_model = of_model;
        asked.chars += asked.last.len();
    }
    open.settled()?;
    for tool in body.get("tools").and_then(Value::as_array).into_iter().flatten() {
        text_of(tool, "name")?;
    }
    match body.pointer("/text/format/type").and_then(Value::as_str) {
        None | Some("text") => {}
        Some("json_object") => {
            if !body["input"].to_string().contains("JSON") {
                return Err("input must contain the word JSON to use json_object".to_owned());
            }
            asked.json = true;
        }
        Some("json_schema") => {
            asked.json = true;
            text_of(&body["text"]["format"], "name")?;
            asked.schema = body.pointer("/text/format/schema").cloned();
        }
        Some(kind) => return Err(format!("there is no format `{kind}`")),
    }
    Ok(())
}

pub(crate) fn whole(said: &Said) -> Value {
    let mut output = Vec::new();
    if !said.text.is_empty() || said.tool_calls.is_empty() {
        let content = match said.stop {
            Some(Stop::Refused) => json!({"type": "refusal", "refusal": said.text}),
            Some(Stop::Length) | None => json!({"type": "output_text", "text": said.text, "annotations": []}),
        };
        output.push(json!({"type": "message", "id": format!("msg_{}", said.number), "status": "completed",
            "role": "assistant", "content": [content]}));
    }
    for (id, name, arguments) in &said.tool_calls {
        output.push(json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": arguments, "status": "completed"}));
    }
    let short = said.stop == Some(Stop::Length);
    json!({
        "id": format!("resp_{}", said.number),
        "object": "response",
        "created_at": 1,
        "status": if short { "incomplete" } else { "completed" },
        "error": null,
        "incomplete_details": if short { json!({"reason": "max_output_tokens"}) } else { Value::Null },
        "model": said.model,
        "output": output,
        "usage": {
            "input_tokens": said.usage.input,
            "input_tokens_details": {"cached_tokens": said.usage.cached_input},
            "output_tokens": said.usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": said.usage.input + said.usage.output,
        },
    })
}

/// The name and the data of each event.
pub(crate) fn events(said: &Said) -> Vec<(String, Value)> {
    let response = whole(said);
    let mut begun = response.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        if item["type"] == "message" {
            for piece in said.pieces() {
                let kind = match said.stop {
                    Some(Stop::Refused) => "response.refusal.delta",
                    Some(Stop::Length) | None => "response.output_text.delta",
                };
                events.push(
                    json!({"type": kind, "item_id": item["id"], "output_index": index, "content_index": 0,
                    "delta": piece}),
                );
            }
        } else {
            for piece in pieces(item["arguments"].as_str().unwrap_or_default()) {
                events.push(json!({"type": "response.function_call_arguments.delta", "item_id": item["id"],
                    "output_index": index, "delta": piece}));
            }
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    let last = format!("response.{}", response["status"].as_str().unwrap_or_default());
    events.push(json!({"type": last, "response": response}));
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = json!(number);
        (event["type"].as_str().unwrap_or_default().to_owned(), event)
    });
    numbered.collect()
}
