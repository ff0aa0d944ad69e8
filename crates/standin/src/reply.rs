//! A reply of the script as bytes of a protocol.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::request::{Protocol, ReceivedRequest};
use crate::script::{Cut, Reply, Stop, Usage};
use crate::{anthropic, openai_chat, openai_responses};

/// An answer, before a protocol.
pub(crate) struct Said {
    pub(crate) number: u64,
    pub(crate) model: String,
    pub(crate) text: String,
    /// The id, the name and the arguments of each.
    pub(crate) tool_calls: Vec<(String, String, String)>,
    pub(crate) stop: Option<Stop>,
    pub(crate) usage: Usage,
}

/// What goes back over the wire.
pub(crate) struct Outcome {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) pieces: Vec<Bytes>,
    pub(crate) cut: Option<Cut>,
    pub(crate) delay: Duration,
    /// What the caller pays for.
    pub(crate) usage: Option<Usage>,
}

const PIECE_CHARS: usize = 8;

pub(crate) fn pieces(text: &str) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = chars.chunks(PIECE_CHARS).map(|chunk| chunk.iter().collect()).collect();
    pieces.into_iter()
}

impl Said {
    pub(crate) fn pieces(&self) -> impl Iterator<Item = String> {
        pieces(&self.text)
    }

    fn of(reply: &Reply, asked: &ReceivedRequest, number: u64) -> Said {
        let text = match (&reply.text, &reply.json) {
            (Some(text), _) => text.clone(),
            (None, Some(json)) => json.to_string(),
            (None, None) => String::new(),
        };
        let calls = reply.tool_calls.iter().enumerate().map(|(index, call)| {
            let arguments = match &call.arguments {
                Value::String(text) => text.clone(),
                Value::Null => "{}".to_owned(),
                Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    call.arguments.to_string()
                }
            };
            (format!("call_{number}_{index}"), call.name.clone(), arguments)
        });
        let tool_calls: Vec<_> = calls.collect();
        let out = text.len()
            + tool_calls.iter().map(|(_, name, arguments)| name.len() + arguments.len()).sum::<usize>();
        let tokens = |chars: usize| chars.div_ceil(4) as u64;
        let by_length = Usage { input: tokens(asked.chars), cached_input: 0, output: tokens(out) };
        let usage = reply.usage.unwrap_or(by_length);
        Said { number, model: asked.model.clone(), text, tool_calls, stop: reply.stop, usage }
    }
}

pub(crate) fn outcome(protocol: Protocol, reply: &Reply, asked: &ReceivedRequest, number: u64) -> Outcome {
    let mut headers = Vec::new();
    if let Some(after) = &reply.retry_after {
        headers.push(("retry-after", after.clone()));
    }
    let delay = Duration::from_millis(reply.delay_ms.unwrap_or(0));
    let status = reply.status.unwrap_or(200);
    let plain = |body: String, headers| Outcome {
        status,
        headers,
        pieces: halves(body),
        cut: reply.cut,
        delay,
        usage: None,
    };
    let json = ("content-type", "application/json".to_owned());
    if let Some(body) = &reply.body {
        headers.push(json);
        return plain(body.clone(), headers);
    }
    if status != 200 {
        headers.push(json);
        return plain(error(protocol, status, reply), headers);
    }
    let said = Said::of(reply, asked, number);
    let usage = Some(said.usage);
    if asked.stream {
        headers.push(("content-type", "text/event-stream; charset=utf-8".to_owned()));
        let named = |(name, data): (String, Value)| Bytes::from(format!("event: {name}\ndata: {data}\n\n"));
        let pieces = match protocol {
            Protocol::OpenaiChat => openai_chat::events(&said, asked.usage_in_stream)
                .into_iter()
                .map(|data| Bytes::from(format!("data: {data}\n\n")))
                .collect(),
            Protocol::OpenaiResponses => openai_responses::events(&said).into_iter().map(named).collect(),
            Protocol::Anthropic => anthropic::events(&said).into_iter().map(named).collect(),
        };
        return Outcome { usage, pieces, ..plain(String::new(), headers) };
    }
    headers.push(json);
    let body = match protocol {
        Protocol::OpenaiChat => openai_chat::whole(&said),
        Protocol::OpenaiResponses => openai_responses::whole(&said),
        Protocol::Anthropic => anthropic::whole(&said),
    };
    Outcome { usage, ..plain(body.to_string(), headers) }
}

/// So that there is a middle to cut it in.
fn halves(body: String) -> Vec<Bytes> {
    let mut body = Bytes::from(body);
    let first = body.split_to(body.len() / 2);
    vec![first, body]
}

fn error(protocol: Protocol, status: u16, reply: &Reply) -> String {
    let (kind, message) = match status {
        400 => ("invalid_request_error", "The request is not one that is understood."),
        401 => ("authentication_error", "The key is missing or wrong."),
        403 => ("permission_error", "The key may not do this."),
        404 => ("not_found_error", "There is no such model."),
        429 => ("rate_limit_error", "Too many requests; slow down."),
        529 => ("overloaded_error", "Overloaded."),
        _ => ("api_error", "Something went wrong here."),
    };
    let (kind, message) = match &reply.error {
        Some(error) => (error.kind.as_str(), error.message.as_str()),
        None => (kind, message),
    };
    let body = match protocol {
        Protocol::Anthropic => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Protocol::OpenaiChat | Protocol::OpenaiResponses => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
    };
    body.to_string()
}
