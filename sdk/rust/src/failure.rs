//! What a handler fails with, and what is given to it instead of a result.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::length::Length;
use crate::origin::Origin;
use crate::wire::CodeMismatch;

/// What handlers and durable calls give.
pub type Result<T, E = TaskError> = std::result::Result<T, E>;

/// A failure of a task that says what should follow. Every error can be one, by `?`: then another attempt may help.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskError {
    /// What happened, for whoever reads the run.
    pub message: String,
    /// A code of your own; `TASK_FAILED` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Whether another attempt may help.
    pub retryable: bool,
    /// Try again after this time, instead of the step's back-off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Length>,
    /// Where it came from: the error's type and causes, the line, the durable call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
    /// What was recorded and what the code came to, where it does not fit.
    #[serde(skip)]
    pub(crate) mismatch: Option<Box<CodeMismatch>>,
}

impl TaskError {
    /// A failure that may be tried again.
    #[track_caller]
    pub fn new(message: impl Into<String>) -> TaskError {
        TaskError { origin: Some(Box::new(Origin::here())), retryable: true, ..TaskError::own(message) }
    }

    /// A failure that this crate found, not the handler: no line of the handler made it, and no attempt would help.
    pub(crate) fn own(message: impl Into<String>) -> TaskError {
        TaskError {
            message: message.into(),
            code: None,
            retryable: false,
            retry_after: None,
            origin: None,
            mismatch: None,
        }
    }

    /// Another attempt would not help.
    #[track_caller]
    pub fn not_retryable(message: impl Into<String>) -> TaskError {
        TaskError { retryable: false, ..TaskError::new(message) }
    }

    /// Try again after this time.
    #[track_caller]
    pub fn retry_after(message: impl Into<String>, after: impl Into<Length>) -> TaskError {
        TaskError { retry_after: Some(after.into()), ..TaskError::new(message) }
    }

    /// With a code of your own.
    pub fn code(self, code: impl Into<String>) -> TaskError {
        TaskError { code: Some(code.into()), ..self }
    }

    /// The code does not fit what an earlier execution of the task recorded.
    pub(crate) fn code_changed(recorded: impl Into<String>, found: impl Into<String>) -> TaskError {
        let mismatch = CodeMismatch::new(recorded, found);
        let CodeMismatch { recorded, found } = &mismatch;
        let message = format!("the journal holds {recorded}, and the code comes to {found}");
        TaskError { mismatch: Some(Box::new(mismatch)), ..TaskError::own(message).code("CODE_CHANGED") }
    }

    /// A wait was given up for something that no journal knows of.
    pub(crate) fn swallowed(message: String) -> TaskError {
        TaskError::own(message).code("SUSPENSION_SWALLOWED")
    }

    /// The durable calls of a handler were used in a way that cannot be replayed.
    pub(crate) fn misused(message: String) -> TaskError {
        TaskError::own(message).code("DURABLE_CALL_MISUSED")
    }

    /// A durable call did not come to what the handler asked for, and never will.
    pub(crate) fn of_call(call: &str, message: String) -> TaskError {
        let origin = Origin { call: Some(call.to_owned()), ..Origin::default() };
        TaskError { origin: Some(Box::new(origin)), ..TaskError::own(message) }
    }

    /// Somebody cancelled what the handler waited for.
    pub(crate) fn wait_cancelled(wait: &str) -> TaskError {
        TaskError::of_call(wait, format!("the wait `{wait}` was cancelled")).code("WAIT_CANCELLED")
    }

    pub(crate) fn not_json(what: &str, error: &serde_json::Error) -> TaskError {
        TaskError::own(format!("what `{what}` gives is not JSON: {error}")).code("NOT_JSON")
    }

    /// What came, or was recorded, is not of the type that the code asks for.
    pub(crate) fn unexpected(what: &str, error: &serde_json::Error) -> TaskError {
        TaskError::own(format!("{what} is not what the code takes: {error}")).code("UNEXPECTED_DATA")
    }

    /// The task is not this worker's any more; nothing that is done for it counts.
    pub(crate) fn taken_back(code: &str) -> TaskError {
        TaskError::own(format!("the task was taken back: {code}")).code(code)
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

// For this, `TaskError` is itself no `std::error::Error`.
impl<E: std::error::Error> From<E> for TaskError {
    #[track_caller]
    fn from(error: E) -> TaskError {
        TaskError { origin: Some(Box::new(Origin::of(&error))), ..TaskError::new(error.to_string()) }
    }
}
