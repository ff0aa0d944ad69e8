//! A worker reports a failure; the retry policy decides what becomes of it.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::flow;
use crate::history::{Failure, FailureDetail, redacted};
use crate::id::StepAddress;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::time::Millis;
use crate::turn::Turn;

/// A worker reports that a task has failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskFailed {
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch of the report; an older one is refused.
    pub lease_epoch: u32,
    /// What the worker says went wrong.
    pub message: String,
    /// The worker's own code for the failure; `None`: `TASK_FAILED`.
    pub code: Option<Arc<str>>,
    /// Whether another attempt may help.
    pub retryable: bool,
    /// The time until the next attempt, instead of the policy's back-off.
    pub retry_after: Option<Millis>,
    /// Where in the handler the failure came from, as far as the worker could tell.
    pub detail: Option<Box<FailureDetail>>,
    /// The mismatch between the code and its journal, where that is why the task failed.
    pub mismatch: Option<Mismatch>,
}

/// A mismatch between a journal and the code that was re-executed against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// What the journal holds, in words.
    pub recorded: String,
    /// What the code asked for instead, in words.
    pub found: String,
}

impl TaskFailed {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskFailed { at, lease_epoch, message, code, retryable, retry_after, detail, mismatch } = self;
        turn.fence(at, lease_epoch)?;
        if let Some(mismatch) = mismatch.and_then(|found| flow::code_to_wait_for(turn.run, at, found)) {
            return flow::wait_for_code(turn, at, mismatch).map(Reply::Waitpoint);
        }
        within("the message's size in bytes", message.len(), limits::PAYLOAD_BYTES)?;
        let code = code.unwrap_or_else(|| "TASK_FAILED".into());
        within("the code's length", code.chars().count(), limits::NAME_CHARS)?;
        let attempt = turn.run.step(at).map_or(1, |step| step.attempt);
        let detail = detail.map(|detail| Box::new(detail.recorded(attempt)));
        let failure = Failure { code, message: redacted(&message), step: None, detail };
        flow::fail_attempt(turn, at, failure, retryable, retry_after)?;
        Ok(Reply::Done)
    }
}
