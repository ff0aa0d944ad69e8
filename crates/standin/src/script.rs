//! What is answered to whom.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::request::ReceivedRequest;

/// The first rule that fits a call and is not used up answers it. Without one, the answer repeats the question, or is
/// the least that satisfies the schema that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Script {
    /// Callers must show this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Rule {
    /// Only calls to this model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Only calls whose last message contains this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// Only calls after so many answers in the same conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// How many calls it answers; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<usize>,
    pub reply: Reply,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Reply {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The text, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Another status than 200, with an error of the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// The header, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<String>,
    /// The body as it stands here, instead of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolCall {
    pub name: String,
    /// A string goes out as it is, which need not be JSON where the protocol carries a string.
    #[serde(default)]
    pub arguments: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    Length,
    Refused,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Usage {
    pub input: u64,
    pub cached_input: u64,
    pub output: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Error {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
}

/// When the connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Before a byte is answered.
    Before,
    /// In the middle of the answer.
    During,
}

impl Reply {
    pub fn text(text: impl Into<String>) -> Reply {
        Reply { text: Some(text.into()), ..Reply::default() }
    }

    pub fn json(json: Value) -> Reply {
        Reply { json: Some(json), ..Reply::default() }
    }

    pub fn tool(name: impl Into<String>, arguments: Value) -> Reply {
        Reply { tool_calls: vec![ToolCall { name: name.into(), arguments }], ..Reply::default() }
    }

    pub fn status(status: u16) -> Reply {
        Reply { status: Some(status), ..Reply::default() }
    }
}

impl Script {
    /// These answers, one after the other.
    pub fn of(replies: impl IntoIterator<Item = Reply>) -> Script {
        let once = |reply| Rule { times: Some(1), reply, ..Rule::default() };
        Script { key: None, rules: replies.into_iter().map(once).collect() }
    }

    /// The rule that answers, if one does. `used` counts what each rule has answered.
    pub(crate) fn choose(&self, asked: &ReceivedRequest, used: &mut Vec<usize>) -> Option<usize> {
        used.resize(self.rules.len(), 0);
        let index = self.rules.iter().zip(used.iter()).position(|(rule, used)| rule.fits(asked, *used))?;
        used[index] += 1;
        Some(index)
    }
}

impl Rule {
    fn fits(&self, asked: &ReceivedRequest, used: usize) -> bool {
        self.times.is_none_or(|times| used < times)
            && self.model.as_ref().is_none_or(|model| *model == asked.model)
            && self.turn.is_none_or(|turn| turn == asked.turns)
            && self.contains.as_ref().is_none_or(|part| asked.last.contains(part))
    }
}

/// What is answered without a rule.
pub(crate) fn by_default(asked: &ReceivedRequest) -> Reply {
    match &asked.schema {
        Some(schema) => Reply::json(least(schema)),
        None if asked.json => Reply::json(json!({"answer": asked.last})),
        None => Reply::text(format!("You said: {}", asked.last)),
    }
}

/// The least value of a simple schema.
fn least(schema: &Value) -> Value {
    let first = |word: &str| schema.get(word).and_then(Value::as_array).and_then(|values| values.first());
    if let Some(value) = schema.get("const").or(first("enum")) {
        return value.clone();
    }
    if let Some(variant) = first("anyOf") {
        return least(variant);
    }
    let kind = schema.get("type").and_then(Value::as_str).or(first("type").and_then(Value::as_str));
    match kind {
        Some("object") => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let members: Map<String, Value> = properties
                .into_iter()
                .flatten()
                .map(|(name, member)| (name.clone(), least(member)))
                .collect();
            Value::Object(members)
        }
        Some("array") => json!([]),
        Some("string") => json!("text"),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        Some(_) | None => Value::Null,
    }
}
