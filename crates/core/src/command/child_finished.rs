//! A child run has ended, was started where that is all that is waited for, or could not be started.

use serde::{Deserialize, Serialize};

use crate::command::Reply;
use crate::flow;
use crate::history::Failure;
use crate::id::RunId;
use crate::json::Json;
use crate::refusal::Refusal;
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::Kind;

/// A child run has ended, was started, or could not be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChildFinished {
    /// The number of the parent's waitpoint.
    pub number: u32,
    /// How the child ended.
    pub outcome: ChildOutcome,
}

/// What became of a child run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChildOutcome {
    /// The child was started, which is all that its parent waits for.
    #[serde(rename_all = "camelCase")]
    Started {
        /// The id of the child run.
        run_id: RunId,
    },
    /// The child is COMPLETED.
    Completed {
        /// The output of the child run; becomes that of the parent's step.
        output: Json,
    },
    /// The child is FAILED, or could not be started.
    Failed {
        /// Why the child failed.
        error: Failure,
    },
    /// The child is CANCELLED.
    Cancelled,
}

impl ChildFinished {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let ChildFinished { number, outcome } = self;
        let waitpoint = turn.open_to_others(number)?;
        if waitpoint.kind != Kind::Child {
            let (waitpoint, kind) = (turn.run.waitpoint_id(number), waitpoint.kind);
            return Err(Refusal::WrongKind { waitpoint, kind, verb: "ended by a child run" });
        }
        let payload = serde_json::to_value(outcome).expect("an outcome is JSON");
        flow::resolve(turn, number, WaitStatus::Completed, Some(payload.into()))?;
        Ok(Reply::Done)
    }
}
