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
    pub number: u32,
    pub outcome: ChildOutcome,
}

/// What became of a child run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChildOutcome {
    /// The child was started, which is all that its parent waits for.
    #[serde(rename_all = "camelCase")]
    Started {
        run_id: RunId,
    },
    Completed {
        output: Json,
    },
    Failed {
        error: Failure,
    },
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
