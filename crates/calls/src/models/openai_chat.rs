//! Chat completions: OpenAI's older protocol, and the one that most other servers speak.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call::{Answer, Call, Format, Message, Stop, ToolCall, Usage};
use super::exchange::class;
use super::failure::Failure;
use super::format;
use super::protocol::Accumulate;

pub(super) fn request(call: &Call, name: &str, stream: bool, max_tokens: &str) -> Value {
    let told = matches!(&call.format, Format::Schema(schema) if format::is_of_object(schema));
    let system = format::system(call, told).map(|text| json!({"role": "system", "content": text}));
    let messages: Vec<Value> = system.into_iter().chain(call.messages.iter().map(message)).collect();
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(name));
    body.insert("messages".to_owned(), json!(messages));
    if !call.tools.is_empty() {
        let tools: Vec<Value> =
            call.tools.iter().map(|tool| json!({"type": "function", "function": function(tool)})).collect();
        body.insert("tools".to_owned(), json!(tools));
    }
    match &call.format {
        Format::Text => {}
        Format::Schema(schema) if told => {
            let strict = format::is_strict(schema);
            let named = json!({"name": "answer", "schema": schema, "strict": strict});
            body.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": named}));
        }
        // What is not an object cannot be had in this mode.
        Format::Schema(_) => {}
        Format::Json => {
            body.insert("response_format".to_owned(), json!({"type": "json_object"}));
        }
    }
    if let Some(temperature) = call.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(limit) = call.max_tokens {
        body.insert(max_tokens.to_owned(), json!(limit));
    }
    if stream {
        body.insert("stream".to_owned(), json!(true));
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    Value::Object(body)
}

/// A tool as both of OpenAI's protocols describe it.
pub(super) fn function(tool: &super::call::Tool) -> Value {
    let parameters = tool.parameters.clone().unwrap_or_else(no_parameters);
    let mut function = json!({"name": tool.name, "parameters": parameters});
    if let Some(description) = &tool.description {
        function["description"] = json!(description);
    }
    function
}

pub(super) fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, tool_calls } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            let calls: Vec<Value> = tool_calls
                .iter()
                .map(|call| {
                    let function = json!({"name": call.name, "arguments": call.arguments});
                    json!({"id": call.id, "type": "function", "function": function})
                })
                .collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::ToolResult { call_id, content, failed: _ } => {
            json!({"role": "tool", "tool_call_id": call_id, "content": content})
        }
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Called>>,
}

#[derive(Deserialize)]
struct Called {
    id: String,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Usage {
        let cached = tokens.prompt_tokens_details.and_then(|details| details.cached_tokens);
        Usage {
            input: tokens.prompt_tokens,
            cached_input: cached.unwrap_or(0),
            output: tokens.completion_tokens,
        }
    }
}

pub(super) fn answer(response: Value) -> Result<Answer, Failure> {
    let completion: Completion = serde_json::from_value(response).map_err(Failure::malformed)?;
    let usage = completion.usage.map(Usage::from);
    let empty = || Failure::malformed("it holds no choice").with_usage(usage);
    let choice = completion.choices.into_iter().next().ok_or_else(empty)?;
    let tool_calls: Vec<ToolCall> = choice
        .message
        .tool_calls
        .into_iter()
        .flatten()
        .map(|called| ToolCall {
            id: called.id,
            name: called.function.name,
            arguments: called.function.arguments,
        })
        .collect();
    let refused = choice.message.refusal.is_some();
    Ok(Answer {
        text: choice.message.content.or(choice.message.refusal).unwrap_or_default(),
        stop: stop(choice.finish_reason.as_deref(), refused, !tool_calls.is_empty()),
        tool_calls,
        usage: usage.unwrap_or_default(),
    })
}

/// Some servers say `stop` although they call tools.
fn stop(reason: Option<&str>, refused: bool, tools: bool) -> Stop {
    match reason {
        Some("content_filter") => Stop::Refused,
        _ if refused => Stop::Refused,
        Some("length") => Stop::Length,
        _ if tools => Stop::Tools,
        _ => Stop::End,
    }
}

#[derive(Default)]
pub(super) struct Stream {
    text: String,
    refusal: bool,
    tool_calls: Vec<ToolCall>,
    finish_reason: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Change>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<Trouble>,
}

#[derive(Deserialize)]
struct Change {
    #[serde(default)]
    delta: Delta,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CalledPart>>,
}

#[derive(Deserialize)]
struct CalledPart {
    index: usize,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionPart>,
}

#[derive(Deserialize)]
struct FunctionPart {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

/// An error in the middle of a stream, as all three protocols write it.
#[derive(Deserialize)]
pub(super) struct Trouble {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Failure {
        let message = trouble.message.unwrap_or_else(|| "no reason was given".to_owned());
        // There is no status any more: the stream had begun well.
        let status = match trouble.kind.as_deref().or(trouble.code.as_deref()) {
            Some("rate_limit_error" | "rate_limit_exceeded") => ::http::StatusCode::TOO_MANY_REQUESTS,
            Some("invalid_request_error" | "invalid_prompt") => ::http::StatusCode::BAD_REQUEST,
            Some("authentication_error" | "permission_error") => ::http::StatusCode::UNAUTHORIZED,
            Some(_) | None => ::http::StatusCode::INTERNAL_SERVER_ERROR,
        };
        let class = class(status, trouble.kind.as_deref(), trouble.code.as_deref(), &message);
        Failure::new(class, format!("the provider gave up in the middle of its answer: {message}"))
    }
}

/// More tools than any answer calls: an index beyond this is an answer that cannot be read.
const TOOL_CALLS: usize = 256;

impl Stream {
    fn tool_call(&mut self, part: CalledPart) -> Result<(), Failure> {
        if part.index >= TOOL_CALLS {
            return Err(Failure::malformed(format!("it calls tool number {}", part.index)));
        }
        while self.tool_calls.len() <= part.index {
            self.tool_calls.push(ToolCall {
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
            });
        }
        let call = &mut self.tool_calls[part.index];
        call.id.push_str(part.id.as_deref().unwrap_or_default());
        if let Some(function) = part.function {
            call.name.push_str(function.name.as_deref().unwrap_or_default());
            call.arguments.push_str(function.arguments.as_deref().unwrap_or_default());
        }
        Ok(())
    }
}

impl Accumulate for Stream {
    fn take(&mut self, event: Value) -> Result<Option<String>, Failure> {
        let chunk: Chunk = serde_json::from_value(event).map_err(Failure::malformed)?;
        if let Some(trouble) = chunk.error {
            return Err(trouble.into());
        }
        if let Some(tokens) = chunk.usage {
            self.usage = Some(tokens.into());
        }
        let Some(change) = chunk.choices.into_iter().next() else { return Ok(None) };
        self.finish_reason = change.finish_reason.or(self.finish_reason.take());
        for part in change.delta.tool_calls.into_iter().flatten() {
            self.tool_call(part)?;
        }
        self.refusal |= change.delta.refusal.is_some();
        let text = change.delta.content.or(change.delta.refusal);
        self.text.push_str(text.as_deref().unwrap_or_default());
        Ok(text)
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn finish(self: Box<Self>) -> Result<Option<Answer>, Failure> {
        if self.finish_reason.is_none() {
            return Ok(None);
        }
        let stop = stop(self.finish_reason.as_deref(), self.refusal, !self.tool_calls.is_empty());
        let Stream { text, tool_calls, usage, .. } = *self;
        Ok(Some(Answer { text, tool_calls, stop, usage: usage.unwrap_or_default() }))
    }
}
