//! A worker asks for tasks whose code has not been tried on a journal that other code does not fit (R20). The wait for
//! other code ends, and the worker has the task: nobody whose code does not fit comes in between.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use crate::command::{Reply, TaskStarted};
use crate::flow;
use crate::refusal::Refusal;
use crate::status::WaitStatus;
use crate::turn::Turn;

/// A worker asks for tasks whose code has not been tried on the journal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeArrived {
    /// The number of the `CODE` waitpoint.
    pub number: u32,
    /// The name of the worker, which gets the task.
    pub worker: Arc<str>,
    /// The build of the worker's code; empty if the worker names none.
    pub build: Arc<str>,
}

impl CodeArrived {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let CodeArrived { number, worker, build } = self;
        let waitpoint = turn.open_to_others(number)?;
        let (Some(at), Some(mismatch)) = (waitpoint.at, waitpoint.code_mismatch()) else {
            let (waitpoint, kind) = (turn.run.waitpoint_id(number), waitpoint.kind);
            return Err(Refusal::WrongKind { waitpoint, kind, verb: "ended by a worker that comes" });
        };
        let task = turn.run.step(at).and_then(|step| step.task.as_deref());
        let is_pinned_away = task.is_some_and(|task| task.is_pinned_away_from(Some(&build)));
        if is_pinned_away || mismatch.excludes(&build) || turn.run.holds_work() || turn.run.failure.is_some()
        {
            return Ok(Reply::Unchanged);
        }
        let payload = Some(json!({ "build": &*build }).into());
        flow::resolve(turn, number, WaitStatus::Completed, payload)?;
        turn.withdraw_dispatch(at);
        let lease_epoch =
            turn.run.step(at).and_then(|step| step.task.as_ref()).map_or(0, |task| task.lease_epoch);
        let build = Some(build).filter(|build| !build.is_empty());
        TaskStarted { at, lease_epoch, worker, build, from: None }.decide(turn)
    }
}
