//! Messages: Anthropic's protocol.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::MAX_TOKENS;
use super::call::{Answer, Call, Format, Message, Stop, ToolCall, Usage};
use super::failure::Failure;
use super::format;
use super::openai_chat::{Trouble, no_parameters};
use super::protocol::Accumulate;

pub(super) fn request(call: &Call, name: &str, stream: bool) -> Value {
    let native = match &call.format {
        Format::Schema(schema) if format::is_of_object(schema) => format::narrowed(schema),
        Format::Schema(_) | Format::Json | Format::Text => None,
    };
    // This protocol has one system prompt, and no messages of the system.
    let system: Vec<String> = format::system(call, native.is_some())
        .into_iter()
        .chain(call.messages.iter().filter_map(|message| match message {
            Message::System(text) => Some(text.clone()),
            Message::User(_) | Message::Assistant { .. } | Message::ToolResult { .. } => None,
        }))
        .collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(name));
    body.insert("max_tokens".to_owned(), json!(call.max_tokens.unwrap_or(MAX_TOKENS)));
    if !system.is_empty() {
        body.insert("system".to_owned(), json!(system.join("\n\n")));
    }
    body.insert("messages".to_owned(), json!(messages(&call.messages)));
    if !call.tools.is_empty() {
        let tools: Vec<Value> = call
            .tools
            .iter()
            .map(|tool| {
                let schema = tool.parameters.clone().unwrap_or_else(no_parameters);
                let mut described = json!({"name": tool.name, "input_schema": schema});
                if let Some(description) = &tool.description {
                    described["description"] = json!(description);
                }
                described
            })
            .collect();
        body.insert("tools".to_owned(), json!(tools));
    }
    if let Some(schema) = native {
        body.insert("output_config".to_owned(), json!({"format": {"type": "json_schema", "schema": schema}}));
    }
    if let Some(temperature) = call.temperature {
        // Definitions allow up to two, as the other protocols do.
        body.insert("temperature".to_owned(), json!(temperature.min(1.0)));
    }
    if stream {
        body.insert("stream".to_owned(), json!(true));
    }
    Value::Object(body)
}

/// All results of a round stand in one message, before anything else that the user says.
fn messages(messages: &[Message]) -> Vec<Value> {
    let mut said: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::System(_) => continue,
            Message::User(text) => ("user", vec![json!({"type": "text", "text": text})]),
            Message::Assistant { text, tool_calls } => ("assistant", assistant(text, tool_calls)),
            Message::ToolResult { call_id, content, failed } => {
                let mut result = json!({"type": "tool_result", "tool_use_id": call_id, "content": content});
                if *failed {
                    result["is_error"] = json!(true);
                }
                ("user", vec![result])
            }
        };
        match said.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            Some(_) | None => said.push((role, blocks)),
        }
    }
    said.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn assistant(text: &str, tool_calls: &[ToolCall]) -> Vec<Value> {
    // An empty text is refused.
    let text = (!text.is_empty() || tool_calls.is_empty()).then(|| {
        let text = if text.is_empty() { "(nothing)" } else { text };
        json!({"type": "text", "text": text})
    });
    let calls = tool_calls.iter().map(|call| {
        // What the model wrote may not be JSON; it is told so in the result.
        let input = serde_json::from_str::<Value>(&call.arguments).ok().filter(Value::is_object);
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input.unwrap_or_else(|| json!({}))})
    });
    text.into_iter().chain(calls).collect()
}

#[derive(Deserialize)]
struct Said {
    content: Vec<Block>,
    #[serde(default)]
    stop_reason: Option<String>,
    usage: Tokens,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    /// Thoughts, and what the provider's own tools did.
    #[serde(other)]
    Other,
}

/// What went in comes in three parts.
#[derive(Clone, Copy, Default, Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Usage {
        let cached_input = tokens.cache_read_input_tokens.unwrap_or(0);
        let written = tokens.cache_creation_input_tokens.unwrap_or(0);
        let input = tokens.input_tokens.unwrap_or(0).saturating_add(cached_input).saturating_add(written);
        Usage { input, cached_input, output: tokens.output_tokens.unwrap_or(0) }
    }
}

pub(super) fn answer(response: Value) -> Result<Answer, Failure> {
    let said: Said = serde_json::from_value(response).map_err(Failure::malformed)?;
    let mut text = String::new();
    let mut tool_calls = Vec::new();
    for block in said.content {
        match block {
            Block::Text { text: part } => text.push_str(&part),
            Block::ToolUse { id, name, input } => {
                tool_calls.push(ToolCall { id, name, arguments: input.to_string() });
            }
            Block::Other => {}
        }
    }
    Ok(Answer { text, tool_calls, stop: stop(said.stop_reason.as_deref()), usage: said.usage.into() })
}

fn stop(reason: Option<&str>) -> Stop {
    match reason {
        Some("tool_use") => Stop::Tools,
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
        Some("refusal") => Stop::Refused,
        Some(_) | None => Stop::End,
    }
}

#[derive(Default)]
pub(super) struct Stream {
    blocks: Vec<(usize, Growing)>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
    over: bool,
}

enum Growing {
    Text(String),
    ToolUse(ToolCall),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Started,
    },
    ContentBlockStart {
        index: usize,
        content_block: Block,
    },
    ContentBlockDelta {
        index: usize,
        delta: Added,
    },
    MessageDelta {
        delta: Stopped,
        #[serde(default)]
        usage: Tokens,
    },
    MessageStop,
    Error {
        error: Trouble,
    },
    /// Pings, ends of blocks, and what is to come.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Started {
    #[serde(default)]
    usage: Tokens,
}

#[derive(Deserialize)]
struct Stopped {
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Added {
    TextDelta {
        text: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    Other,
}

impl Accumulate for Stream {
    fn take(&mut self, event: Value) -> Result<Option<String>, Failure> {
        match serde_json::from_value(event).map_err(Failure::malformed)? {
            Event::MessageStart { message } => self.usage = Some(message.usage.into()),
            Event::ContentBlockStart { index, content_block } => match content_block {
                Block::Text { text } => {
                    self.blocks.push((index, Growing::Text(text.clone())));
                    return Ok(Some(text));
                }
                Block::ToolUse { id, name, .. } => {
                    self.blocks
                        .push((index, Growing::ToolUse(ToolCall { id, name, arguments: String::new() })));
                }
                Block::Other => {}
            },
            Event::ContentBlockDelta { index, delta } => {
                let block = self.blocks.iter_mut().find(|(at, _)| *at == index).map(|(_, block)| block);
                match (block, delta) {
                    (Some(Growing::Text(all)), Added::TextDelta { text }) => {
                        all.push_str(&text);
                        return Ok(Some(text));
                    }
                    (Some(Growing::ToolUse(call)), Added::InputJsonDelta { partial_json }) => {
                        call.arguments.push_str(&partial_json);
                    }
                    (_, Added::Other) => {}
                    (_, Added::TextDelta { .. } | Added::InputJsonDelta { .. }) => {
                        return Err(Failure::malformed(format!("block {index} is not what its parts say")));
                    }
                }
            }
            Event::MessageDelta { delta, usage } => {
                self.stop_reason = delta.stop_reason;
                let total = self.usage.get_or_insert_default();
                total.output = usage.output_tokens.unwrap_or(total.output);
            }
            Event::MessageStop => self.over = true,
            Event::Error { error } => return Err(error.into()),
            Event::Other => {}
        }
        Ok(None)
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn finish(self: Box<Self>) -> Result<Option<Answer>, Failure> {
        if !self.over {
            return Ok(None);
        }
        let mut text = String::new();
        let mut tool_calls = Vec::new();
        for (_, block) in self.blocks {
            match block {
                Growing::Text(part) => text.push_str(&part),
                Growing::ToolUse(mut call) => {
                    if call.arguments.is_empty() {
                        call.arguments.push_str("{}");
                    }
                    tool_calls.push(call);
                }
            }
        }
        let stop = stop(self.stop_reason.as_deref());
        Ok(Some(Answer { text, tool_calls, stop, usage: self.usage.unwrap_or_default() }))
    }
}
