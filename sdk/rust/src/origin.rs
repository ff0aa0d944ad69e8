//! Where a failure came from, for whoever reads the run: the error's type, its causes, the place in the code, and the
//! durable call that it failed in.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::error::Error;
use std::panic::Location;

use serde::{Deserialize, Serialize};

use crate::failure::TaskError;
use crate::wire::{FailureCause, FailureDetail};

/// The server keeps no more of a stack than this.
const STACK_BYTES: usize = 16_000;
/// Nor more causes.
const CAUSES: usize = 8;

/// Where a failure came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// The type of the error that it was made of.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The `ctx.run`, or the wait, that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The line that made it and, with `RUST_BACKTRACE`, how the program came there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// What the error was caused by, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
}

impl Origin {
    /// The line that calls.
    #[track_caller]
    pub(crate) fn here() -> Origin {
        let mut stack = format!("at {}", Location::caller());
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            stack = format!("{stack}\n{backtrace}");
            stack.truncate(stack.floor_char_boundary(STACK_BYTES));
        }
        Origin { stack: Some(stack), ..Origin::default() }
    }

    /// Of an error, at the line that calls.
    #[track_caller]
    pub(crate) fn of<E: Error>(error: &E) -> Origin {
        let first = error.source();
        let causes = std::iter::successors(first, |cause| (*cause).source()).take(CAUSES);
        let causes = causes.map(ToString::to_string).collect();
        Origin { kind: Some(std::any::type_name::<E>().to_owned()), causes, ..Origin::here() }
    }
}

impl From<Origin> for FailureDetail {
    fn from(origin: Origin) -> FailureDetail {
        let Origin { kind, call, stack, causes } = origin;
        let cause = |message: String| FailureCause { kind: None, message };
        let causes = (!causes.is_empty()).then(|| causes.into_iter().map(cause).collect());
        FailureDetail { attempt: None, call, causes, kind, stack }
    }
}

/// A failure as it is told on the worker's own console.
pub(crate) fn told(error: &TaskError) -> String {
    let origin = error.origin.as_deref().cloned().unwrap_or_default();
    let kind = origin.kind.map(|kind| format!("{kind}: ")).unwrap_or_default();
    let causes = origin.causes.iter().map(|cause| format!("\n  caused by {cause}")).collect::<String>();
    let stack = origin.stack.map(|stack| format!("\n  {stack}")).unwrap_or_default();
    format!("{kind}{}{causes}{stack}", error.message)
}
