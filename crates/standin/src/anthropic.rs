//! Messages.

use serde_json::{Value, json};

use crate::reply::{Said, pieces};
use crate::request::{Open, ReceivedRequest, list_of, text_of};
use crate::script::Stop;

pub(crate) fn read(body: &Value, asked: &mut ReceivedRequest) -> Result<(), String> {
    if body.get("max_tokens").and_then(Value::as_u64).is_none_or(|limit| limit == 0) {
        return Err("max_tokens: Field required".to_owned());
    }
    if body.get("temperature").and_then(Value::as_f64).is_some_and(|given| given > 1.0) {
        return Err("temperature: range: 0..1".to_owned());
    }
    let mut open = Open::default();
    let messages = list_of(body, "messages")?;
    if messages[0].get("role") != Some(&json!("user")) {
        return Err("messages: first message must use the \"user\" role".to_owned());
    }
    for message in messages {
        let role = text_of(message, "role")?;
        if !matches!(role, "user" | "assistant") {
            return Err(format!("messages: Unexpected role \"{role}\""));
        }
        asked.turns += usize::from(role == "assistant");
        let plain;
        let blocks = match message.get("content") {
            Some(Value::String(text)) => {
                plain = [json!({"type": "text", "text": text})];
                &plain[..]
            }
            Some(Value::Array(blocks)) if !blocks.is_empty() => blocks.as_slice(),
            Some(_) | None => return Err("messages: content must not be empty".to_owned()),
        };
        for block in blocks {
            match (role, text_of(block, "type")?) {
                ("user", "tool_result") => {
                    open.answer(text_of(block, "tool_use_id")?)?;
                    asked.last = text_of(block, "content")?.to_owned();
                }
                ("assistant", "tool_use") => {
                    if !block.get("input").is_some_and(Value::is_object) {
                        return Err("tool_use.input: Input should be an object".to_owned());
                    }
                    open.call(text_of(block, "id")?);
                }
                (_, "text") => {
                    if role == "user" {
                        open.settled()?;
                    }
                    asked.last = text_of(block, "text")?.to_owned();
                    if asked.last.is_empty() {
                        return Err("messages: text content blocks must be non-empty".to_owned());
                    }
                }
                (_, kind) => return Err(format!("messages: there is no block of type {kind} here")),
            }
            asked.chars += asked.last.len();
        }
        if role == "user" {
            open.settled()?;
        }
    }
    open.settled()?;
    for tool in body.get("tools").and_then(Value::as_array).into_iter().flatten() {
        text_of(tool, "name")?;
        if !tool.get("input_schema").is_some_and(|schema| schema["type"] == "object") {
            return Err("tools: input_schema.type must be object".to_owned());
        }
    }
    if let Some(schema) = body.pointer("/output_config/format/schema") {
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Err("output_config.format.schema: additionalProperties must be false".to_owned());
        }
        asked.schema = Some(schema.clone());
    }
    asked.json = asked.schema.is_some();
    Ok(())
}

fn stop_reason(said: &Said) -> &'static str {
    match said.stop {
        Some(Stop::Length) => "max_tokens",
        Some(Stop::Refused) => "refusal",
        None if said.tool_calls.is_empty() => "end_turn",
        None => "tool_use",
    }
}

fn usage(said: &Said) -> Value {
    json!({
        "input_tokens": said.usage.input.saturating_sub(said.usage.cached_input),
        "cache_read_input_tokens": said.usage.cached_input,
        "cache_creation_input_tokens": 0,
        "output_tokens": said.usage.output,
    })
}

pub(crate) fn whole(said: &Said) -> Value {
    let mut content = Vec::new();
    if !said.text.is_empty() {
        content.push(json!({"type": "text", "text": said.text}));
    }
    for (id, name, arguments) in &said.tool_calls {
        let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
        content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    json!({
        "id": format!("msg_{}", said.number),
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": content,
        "stop_reason": stop_reason(said),
        "stop_sequence": null,
        "usage": usage(said),
    })
}

/// The name and the data of each event.
pub(crate) fn events(said: &Said) -> Vec<(String, Value)> {
    let mut begun = whole(said);
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = json!(1);
    let mut events = vec![json!({"type": "message_start", "message": begun}), json!({"type": "ping"})];
    let mut index = 0;
    if !said.text.is_empty() {
        let block = json!({"type": "text", "text": ""});
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.extend(said.pieces().map(|piece| {
            json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}})
        }));
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    }
    for (id, name, arguments) in &said.tool_calls {
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.extend(pieces(arguments).map(|piece| {
            let delta = json!({"type": "input_json_delta", "partial_json": piece});
            json!({"type": "content_block_delta", "index": index, "delta": delta})
        }));
        events.push(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    }
    let delta = json!({"stop_reason": stop_reason(said), "stop_sequence": null});
    let usage = json!({"output_tokens": said.usage.output});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    events.into_iter().map(|event| (event["type"].as_str().unwrap_or_default().to_owned(), event)).collect()
}
