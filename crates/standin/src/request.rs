//! A call as the script sees it, whatever its protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{anthropic, openai_chat, openai_responses};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReceivedRequest {
    pub(crate) model: String,
    pub(crate) stream: bool,
    /// Whether the stream is to end with what was used up.
    pub(crate) usage_in_stream: bool,
    /// The text of the last message.
    pub(crate) last: String,
    /// Answers of the model in the conversation so far.
    pub(crate) turns: usize,
    pub(crate) json: bool,
    pub(crate) schema: Option<Value>,
    /// Characters of the whole conversation.
    pub(crate) chars: usize,
}

impl Protocol {
    pub(crate) fn of_path(path: &str) -> Option<Protocol> {
        match path {
            "/v1/chat/completions" => Some(Protocol::OpenaiChat),
            "/v1/responses" => Some(Protocol::OpenaiResponses),
            "/v1/messages" => Some(Protocol::Anthropic),
            _ => None,
        }
    }

    /// The call, or what a real provider would find wrong with it.
    pub(crate) fn read(self, body: &Value) -> Result<ReceivedRequest, String> {
        let model = body.get("model").and_then(Value::as_str).ok_or("`model` is missing")?;
        let mut asked = ReceivedRequest {
            model: model.to_owned(),
            stream: body.get("stream") == Some(&Value::Bool(true)),
            ..ReceivedRequest::default()
        };
        match self {
            Protocol::OpenaiChat => openai_chat::read(body, &mut asked)?,
            Protocol::OpenaiResponses => openai_responses::read(body, &mut asked)?,
            Protocol::Anthropic => anthropic::read(body, &mut asked)?,
        }
        Ok(asked)
    }
}

/// Every tool call must be answered before the conversation goes on, and nothing else may be.
#[derive(Default)]
pub(crate) struct Open {
    ids: Vec<String>,
}

impl Open {
    pub(crate) fn call(&mut self, id: &str) {
        self.ids.push(id.to_owned());
    }

    pub(crate) fn answer(&mut self, id: &str) -> Result<(), String> {
        let at = self.ids.iter().position(|open| open == id);
        self.ids.remove(at.ok_or_else(|| format!("a result for the tool call `{id}`, which is not open"))?);
        Ok(())
    }

    pub(crate) fn settled(&self) -> Result<(), String> {
        match self.ids.first() {
            None => Ok(()),
            Some(id) => Err(format!("the tool call `{id}` was not answered")),
        }
    }
}

pub(crate) fn text_of<'v>(value: &'v Value, name: &str) -> Result<&'v str, String> {
    value.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` is missing or is not a string"))
}

pub(crate) fn list_of<'v>(value: &'v Value, name: &str) -> Result<&'v [Value], String> {
    let list = value.get(name).and_then(Value::as_array).filter(|list| !list.is_empty());
    list.map(Vec::as_slice)
        .ok_or_else(|| format!("`{name}` is missing or is not a list with something in it"))
}
