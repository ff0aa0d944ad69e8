//! Starts that come shortly after each other, by the `debounce` of a workflow.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::expression::{EvaluationError, Scope, Template};
use crate::limits::LIMIT_KEY_CHARS;
use crate::time::Millis;

/// How the starts of a workflow become one run, compiled.
#[derive(Debug)]
pub struct Debounce {
    /// What tells starts apart that do not belong together; `None`: all do.
    pub key: Option<Template>,
    /// The run begins when no start has come for so long.
    pub quiet: Millis,
    /// The run begins so long after the first start at the latest.
    pub at_most: Millis,
    /// Whether the run gets the inputs of all starts.
    pub collect: bool,
    /// The run begins at once when it has so many inputs; `None`: as many as there may be.
    pub size: Option<u32>,
}

impl Debounce {
    /// The key of a start with this input.
    pub fn key(&self, input: &Value) -> Result<Arc<str>, EvaluationError> {
        let Some(key) = &self.key else { return Ok("".into()) };
        let key = match &*key.render(&Input(input))? {
            Value::String(text) => text.clone(),
            value @ (Value::Number(_) | Value::Bool(_)) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
        };
        if (1..=LIMIT_KEY_CHARS).contains(&key.chars().count()) {
            return Ok(key.into());
        }
        let message =
            format!("the key of `debounce` must be text of 1 to {LIMIT_KEY_CHARS} characters, or a number");
        Err(EvaluationError { message, path: None })
    }
}

/// The names of an expression over a start: `input`, and no others.
struct Input<'a>(&'a Value);

impl Scope for Input<'_> {
    fn resolve<'a>(&'a self, path: &[&str]) -> Option<(Cow<'a, Value>, usize)> {
        matches!(path, ["input", ..]).then(|| (Cow::Borrowed(self.0), 1))
    }
}
