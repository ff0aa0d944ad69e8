//! Responses: OpenAI's own protocol. Nothing is kept at the provider; every call carries the whole conversation.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call::{Answer, Call, Format, Message, Stop, ToolCall, Usage};
use super::failure::Failure;
use super::format;
use super::openai_chat::{Trouble, function};
use super::protocol::Accumulate;

pub(super) fn request(call: &Call, name: &str, stream: bool) -> Value {
    let told = matches!(&call.format, Format::Schema(schema) if format::is_of_object(schema));
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(name));
    body.insert("store".to_owned(), json!(false));
    if let Some(system) = format::system(call, told) {
        // Beside `instructions`: the mode for JSON wants to see the word in the input.
        let mut input = vec![json!({"role": "system", "content": system})];
        input.extend(call.messages.iter().flat_map(items));
        body.insert("input".to_owned(), json!(input));
    } else {
        body.insert("input".to_owned(), call.messages.iter().flat_map(items).collect());
    }
    if !call.tools.is_empty() {
        let tools: Vec<Value> = call
            .tools
            .iter()
            .map(|tool| {
                let mut tool = function(tool);
                tool["type"] = json!("function");
                tool["strict"] = json!(false);
                tool
            })
            .collect();
        body.insert("tools".to_owned(), json!(tools));
    }
    match &call.format {
        Format::Text => {}
        Format::Schema(schema) if told => {
            let strict = format::is_strict(schema);
            let format = json!({"type": "json_schema", "name": "answer", "schema": schema, "strict": strict});
            body.insert("text".to_owned(), json!({"format": format}));
        }
        Format::Schema(_) => {}
        Format::Json => {
            body.insert("text".to_owned(), json!({"format": {"type": "json_object"}}));
        }
    }
    if let Some(temperature) = call.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(limit) = call.max_tokens {
        body.insert("max_output_tokens".to_owned(), json!(limit));
    }
    if stream {
        body.insert("stream".to_owned(), json!(true));
    }
    Value::Object(body)
}

fn items(message: &Message) -> Vec<Value> {
    match message {
        Message::System(text) => vec![json!({"role": "system", "content": text})],
        Message::User(text) => vec![json!({"role": "user", "content": text})],
        Message::Assistant { text, tool_calls } => {
            let said = (!text.is_empty()).then(|| json!({"role": "assistant", "content": text}));
            let called = tool_calls.iter().map(|call| {
                json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments})
            });
            said.into_iter().chain(called).collect()
        }
        Message::ToolResult { call_id, content, failed: _ } => {
            vec![json!({"type": "function_call_output", "call_id": call_id, "output": content})]
        }
    }
}

#[derive(Deserialize)]
struct Responded {
    status: String,
    #[serde(default)]
    error: Option<Trouble>,
    #[serde(default)]
    incomplete_details: Option<Incomplete>,
    #[serde(default)]
    output: Vec<Item>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Incomplete {
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item {
    Message {
        content: Vec<Content>,
    },
    FunctionCall {
        call_id: String,
        name: String,
        arguments: String,
    },
    /// Thoughts, and what else the provider lets its models do.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content {
    OutputText {
        text: String,
    },
    Refusal {
        refusal: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    input_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: u64,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Usage {
        let cached_input = tokens.input_tokens_details.map_or(0, |details| details.cached_tokens);
        Usage { input: tokens.input_tokens, cached_input, output: tokens.output_tokens }
    }
}

pub(super) fn answer(response: Value) -> Result<Answer, Failure> {
    let responded: Responded = serde_json::from_value(response).map_err(Failure::malformed)?;
    let usage = responded.usage.map(Usage::from);
    if let Some(trouble) = responded.error {
        return Err(Failure::from(trouble).with_usage(usage));
    }
    let mut answer = Answer {
        text: String::new(),
        tool_calls: Vec::new(),
        stop: Stop::End,
        usage: usage.unwrap_or_default(),
    };
    let mut refused = false;
    for item in responded.output {
        match item {
            Item::Message { content } => {
                for content in content {
                    match content {
                        Content::OutputText { text } => answer.text.push_str(&text),
                        Content::Refusal { refusal } => {
                            refused = true;
                            answer.text.push_str(&refusal);
                        }
                        Content::Other => {}
                    }
                }
            }
            Item::FunctionCall { call_id, name, arguments } => {
                answer.tool_calls.push(ToolCall { id: call_id, name, arguments });
            }
            Item::Other => {}
        }
    }
    let reason = responded.incomplete_details.and_then(|details| details.reason);
    answer.stop = match (responded.status.as_str(), reason.as_deref()) {
        ("incomplete", Some("content_filter")) => Stop::Refused,
        ("incomplete", _) => Stop::Length,
        ("completed", _) if refused => Stop::Refused,
        ("completed", _) if !answer.tool_calls.is_empty() => Stop::Tools,
        ("completed", _) => Stop::End,
        (status, _) => return Err(Failure::malformed(format!("its status is `{status}`")).with_usage(usage)),
    };
    Ok(answer)
}

/// The last event repeats the whole response; those before it are for those who watch.
#[derive(Default)]
pub(super) struct Stream {
    answer: Option<Answer>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Event {
    #[serde(rename = "response.output_text.delta")]
    Text { delta: String },
    #[serde(rename = "response.refusal.delta")]
    Refusal { delta: String },
    #[serde(rename = "response.completed", alias = "response.incomplete", alias = "response.failed")]
    Over { response: Value },
    #[serde(rename = "error")]
    Error(Value),
    #[serde(other)]
    Other,
}

impl Accumulate for Stream {
    fn take(&mut self, event: Value) -> Result<Option<String>, Failure> {
        match serde_json::from_value(event).map_err(Failure::malformed)? {
            Event::Text { delta } | Event::Refusal { delta } => Ok(Some(delta)),
            Event::Over { response } => {
                self.answer = Some(answer(response)?);
                Ok(None)
            }
            Event::Error(error) => {
                let told = error.get("error").filter(|told| told.is_object()).unwrap_or(&error);
                let trouble: Trouble = serde_json::from_value(told.clone()).map_err(Failure::malformed)?;
                Err(trouble.into())
            }
            Event::Other => Ok(None),
        }
    }

    fn usage(&self) -> Option<Usage> {
        self.answer.as_ref().map(|answer| answer.usage)
    }

    fn finish(self: Box<Self>) -> Result<Option<Answer>, Failure> {
        Ok(self.answer)
    }
}
