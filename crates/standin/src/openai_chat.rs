//! Chat completions.

use serde_json::{Value, json};

use crate::reply::Said;
use crate::request::{Open, ReceivedRequest, list_of, text_of};
use crate::script::Stop;

pub(crate) fn read(body: &Value, asked: &mut ReceivedRequest) -> Result<(), String> {
    let mut open = Open::default();
    for message in list_of(body, "messages")? {
        let content = message.get("content").and_then(Value::as_str);
        match text_of(message, "role")? {
            "tool" => open.answer(text_of(message, "tool_call_id")?)?,
            "assistant" => {
                open.settled()?;
                asked.turns += 1;
                let calls = message.get("tool_calls").and_then(Value::as_array);
                for call in calls.into_iter().flatten() {
                    text_of(call.get("function").ok_or("a tool call without `function`")?, "arguments")?;
                    open.call(text_of(call, "id")?);
                }
                if content.is_none() && calls.is_none() {
                    return Err("an assistant's message without `content` and `tool_calls`".to_owned());
                }
            }
            "system" | "developer" | "user" => {
                open.settled()?;
                content.ok_or("a message without `content`")?;
            }
            role => return Err(format!("there is no role `{role}`")),
        }
        asked.last = content.unwrap_or_default().to_owned();
        asked.chars += asked.last.len();
    }
    open.settled()?;
    for tool in body.get("tools").and_then(Value::as_array).into_iter().flatten() {
        text_of(tool.get("function").ok_or("a tool without `function`")?, "name")?;
    }
    match body.pointer("/response_format/type").and_then(Value::as_str) {
        None | Some("text") => {}
        Some("json_object") => {
            if !body["messages"].to_string().contains("JSON") {
                return Err("messages must contain the word JSON to use json_object".to_owned());
            }
            asked.json = true;
        }
        Some("json_schema") => {
            asked.json = true;
            text_of(&body["response_format"]["json_schema"], "name")?;
            asked.schema = body.pointer("/response_format/json_schema/schema").cloned();
        }
        Some(kind) => return Err(format!("there is no response format `{kind}`")),
    }
    asked.usage_in_stream = body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
    Ok(())
}

fn usage(said: &Said) -> Value {
    json!({
        "prompt_tokens": said.usage.input,
        "completion_tokens": said.usage.output,
        "total_tokens": said.usage.input + said.usage.output,
        "prompt_tokens_details": {"cached_tokens": said.usage.cached_input},
    })
}

fn finish_reason(said: &Said) -> &'static str {
    match said.stop {
        Some(Stop::Length) => "length",
        Some(Stop::Refused) => "content_filter",
        None if said.tool_calls.is_empty() => "stop",
        None => "tool_calls",
    }
}

fn calls(said: &Said) -> Vec<Value> {
    said.tool_calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        })
        .collect()
}

pub(crate) fn whole(said: &Said) -> Value {
    let content = if said.text.is_empty() { Value::Null } else { json!(said.text) };
    let mut message = json!({"role": "assistant", "content": content, "refusal": null});
    if !said.tool_calls.is_empty() {
        message["tool_calls"] = json!(calls(said));
    }
    json!({
        "id": format!("chatcmpl-{}", said.number),
        "object": "chat.completion",
        "created": 1,
        "model": said.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(said)}],
        "usage": usage(said),
    })
}

/// The data of each event.
pub(crate) fn events(said: &Said, with_usage: bool) -> Vec<String> {
    let chunk = |delta: Value, finish_reason: Value| {
        json!({
            "id": format!("chatcmpl-{}", said.number),
            "object": "chat.completion.chunk",
            "created": 1,
            "model": said.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        })
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    events.extend(said.pieces().map(|piece| chunk(json!({"content": piece}), Value::Null)));
    for (index, (id, name, arguments)) in said.tool_calls.iter().enumerate() {
        let begun = json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
        events.push(chunk(json!({"tool_calls": [begun]}), Value::Null));
        for piece in crate::reply::pieces(arguments) {
            let part = json!({"index": index, "function": {"arguments": piece}});
            events.push(chunk(json!({"tool_calls": [part]}), Value::Null));
        }
    }
    events.push(chunk(json!({}), json!(finish_reason(said))));
    if with_usage {
        let mut last = chunk(json!({}), Value::Null);
        last["choices"] = json!([]);
        last["usage"] = usage(said);
        events.push(last);
    }
    events.iter().map(Value::to_string).chain(["[DONE]".to_owned()]).collect()
}
