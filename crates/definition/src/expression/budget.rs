//! How much one evaluation may do. The source of an expression is short, but the data it reads are not, and a
//! short source can read them hundreds of times.

use std::borrow::Cow;

use serde_json::Value;

use super::EvaluationError;

/// What one evaluation, or the rendering of one template, may produce: results and all that leads to them.
pub const EVALUATION_BYTES: usize = 8 * 1024 * 1024;
/// What it may look through in comparisons and searches.
pub const EVALUATION_READ_BYTES: usize = 64 * 1024 * 1024;

/// What a value costs besides its text.
const VALUE_BYTES: usize = 8;

pub(super) struct Budget {
    produced: usize,
    read: usize,
}

impl Budget {
    pub(super) fn new() -> Budget {
        Budget { produced: 0, read: 0 }
    }

    pub(super) fn spent(&self) -> usize {
        self.produced.saturating_add(self.read)
    }

    pub(super) fn produce(&mut self, bytes: usize) -> Result<(), EvaluationError> {
        self.produced = self.produced.saturating_add(bytes);
        if self.produced > EVALUATION_BYTES {
            return Err(EvaluationError::new(format!(
                "the evaluation produces more than the limit of {EVALUATION_BYTES} bytes"
            )));
        }
        Ok(())
    }

    pub(super) fn read(&mut self, bytes: usize) -> Result<(), EvaluationError> {
        self.read = self.read.saturating_add(bytes).saturating_add(VALUE_BYTES);
        if self.read > EVALUATION_READ_BYTES {
            return Err(EvaluationError::new(format!(
                "the evaluation compares more than the limit of {EVALUATION_READ_BYTES} bytes"
            )));
        }
        Ok(())
    }

    /// A value of one's own; a borrowed one is copied, at its price.
    pub(super) fn own(&mut self, value: Cow<'_, Value>) -> Result<Value, EvaluationError> {
        match value {
            Cow::Owned(value) => Ok(value),
            Cow::Borrowed(value) => {
                self.produce(weight(value))?;
                Ok(value.clone())
            }
        }
    }
}

/// About the size of a value written as JSON.
pub(super) fn weight(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(weight).sum(),
            Value::Object(fields) => fields.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        }
}
