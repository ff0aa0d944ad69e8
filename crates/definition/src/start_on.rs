//! What an event starts, by the `startOn` of a workflow.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::expression::{EvaluationError, Expression, Scope, Template};
use crate::json::Json;
use crate::limits::START_KEY_CHARS;

/// An event that starts runs, compiled.
#[derive(Debug)]
pub struct StartOn {
    /// The event's id.
    pub event_id: Arc<str>,
    /// What must be true of the event; `None`: nothing.
    pub matching: Option<Expression>,
    /// The input of the run; `None`: the event's data.
    pub input: Option<Template>,
    /// What gives the idempotency key of the start; `None`: each event starts a run.
    pub key: Option<Template>,
}

/// A start that an event asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedStart {
    /// The input of the run.
    pub input: Json,
    /// The idempotency key of the start; `None`: each event starts a run.
    pub key: Option<String>,
}

impl StartOn {
    /// Whether an event with this data starts a run, and the cost of finding out, in bytes that were looked at. What cannot
    /// be evaluated does not match.
    pub fn accepts_at(&self, data: &Value) -> (bool, usize) {
        match &self.matching {
            None => (true, 0),
            Some(matching) => {
                let (matched, cost) = matching.is_true_at(&EventData(data));
                (matched.unwrap_or(false), cost)
            }
        }
    }

    /// The start that an event with this data asks for.
    pub fn start(&self, data: &Json) -> Result<WantedStart, EvaluationError> {
        let scope = EventData(data);
        let input = self.input.as_ref().map(|input| input.render(&scope)).transpose()?;
        let key = self.key.as_ref().map(|key| key.render(&scope)).transpose()?;
        let key = key.map(|key| key_of(&key)).transpose()?;
        Ok(WantedStart { input: input.unwrap_or_else(|| data.clone()), key })
    }
}

fn key_of(value: &Value) -> Result<String, EvaluationError> {
    let key = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    };
    if (1..=START_KEY_CHARS).contains(&key.chars().count()) {
        return Ok(key);
    }
    let message =
        format!("the idempotency key must be text of 1 to {START_KEY_CHARS} characters, or a number");
    Err(EvaluationError { message, path: None })
}

/// The names of an expression of a `startOn`: `event`, and no others.
pub(crate) struct EventData<'a>(pub(crate) &'a Value);

impl Scope for EventData<'_> {
    fn resolve<'a>(&'a self, path: &[&str]) -> Option<(Cow<'a, Value>, usize)> {
        matches!(path, ["event", ..]).then(|| (Cow::Borrowed(self.0), 1))
    }
}
