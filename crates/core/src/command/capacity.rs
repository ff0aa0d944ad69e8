//! What becomes of a wait for room: it gets it, stands in another line, or its run is not to be.

use serde::Serialize;

use crate::command::Reply;
use crate::flow;
use crate::history::Change;
use crate::refusal::Refusal;
use crate::turn::Turn;
use crate::waitpoint::Kind;

/// What was decided about a wait for room, by the limits that it asks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Capacity {
    /// The wait has room under all of its limits.
    Grant {
        /// The number of the waitpoint.
        number: u32,
    },
    /// The wait stands in the line of another of its limits.
    Queue {
        /// The number of the waitpoint.
        number: u32,
        /// The limit, by its place among those that room is asked of.
        line: u16,
        /// Whether the wait keeps the room under the limit in whose line it stood.
        keeps: bool,
    },
    /// The limit skips what finds no room: the run is cancelled, and nobody is told of it.
    Skip {
        /// The number of the waitpoint.
        number: u32,
    },
}

impl Capacity {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let (Capacity::Grant { number } | Capacity::Queue { number, .. } | Capacity::Skip { number }) = self;
        let wait = match self {
            Capacity::Grant { .. } => turn.open_to_others(number)?,
            Capacity::Queue { .. } | Capacity::Skip { .. } => turn.pending(number)?,
        };
        if wait.kind != Kind::Capacity {
            let (waitpoint, kind) = (turn.run.waitpoint_id(number), wait.kind);
            return Err(Refusal::WrongKind { waitpoint, kind, verb: "given room" });
        }
        match self {
            Capacity::Grant { number } => flow::grant(turn, number)?,
            Capacity::Queue { number, line, keeps } => {
                turn.emit(Change::CapacityQueued { number, line, keeps })?;
            }
            Capacity::Skip { number } => {
                let request = turn.run.waitpoint(number).and_then(|wait| wait.listens_for.capacity());
                let limit = request.and_then(|request| request.awaited()).map(|ask| ask.described());
                let reason = format!("skipped: there is no room under `{}`", limit.unwrap_or_default());
                flow::skip_run(turn, reason)?;
            }
        }
        Ok(Reply::Waitpoint(turn.run.waitpoint_id(number)))
    }
}
