//! A worker reports a result.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::command::Reply;
use crate::definition::Executor;
use crate::flow::{self, Completion};
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::turn::Turn;

/// A worker reports the result of a task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCompleted {
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch of the report; an older one is refused.
    pub lease_epoch: u32,
    /// What the handler returned.
    pub output: Json,
    /// Keys that are merged into `state`, or stored under the step's `saveAs`.
    pub state_updates: Option<BTreeMap<String, Json>>,
}

impl TaskCompleted {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let TaskCompleted { at, lease_epoch, output, state_updates } = self;
        turn.fence(at, lease_epoch)?;
        within("the output's size in bytes", output.bytes(), limits::PAYLOAD_BYTES)?;
        let updates = state_updates.iter().flatten().map(|(key, value)| key.len() + value.bytes()).sum();
        within("the size of stateUpdates in bytes", updates, limits::PAYLOAD_BYTES)?;
        match flow::result_state(turn.run, at, Some(&output), state_updates) {
            Ok(state) => flow::complete(turn, at, Completion { state, ..Completion::of(output) })?,
            // A worker can mend its report; a model's answer cannot be asked to.
            Err(failure) if is_handler(turn, at) => {
                return Err(Refusal::Malformed { pointer: "/stateUpdates", message: failure.message });
            }
            Err(failure) => flow::fail_step(turn, at, failure)?,
        }
        Ok(Reply::Done)
    }
}

fn is_handler(turn: &Turn<'_>, at: StepAddress) -> bool {
    let work = turn.run.defined(at).action.work();
    work.is_some_and(|work| work.executor == Executor::Handler)
}
