//! One more start for a run that collects them.

use serde::Serialize;

use crate::command::Reply;
use crate::flow;
use crate::history::Change;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::status::WaitStatus;
use crate::turn::Turn;

/// What is asked of a run that collects starts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Debounce {
    /// Takes one more start.
    Collect {
        /// The number of the waitpoint.
        number: u32,
        /// The input of the start, which the caller has checked against the `inputSchema`.
        input: Json,
    },
    /// Begins: its time has come, or it has all that it may have.
    Begin {
        /// The number of the waitpoint.
        number: u32,
    },
}

impl Debounce {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let id = turn.run.id;
        match self {
            Debounce::Collect { number, input } => {
                within("the input's size in bytes", input.bytes(), limits::PAYLOAD_BYTES)?;
                let wait = turn.open_to_others(number)?;
                let (kind, waitpoint) = (wait.kind, turn.run.waitpoint_id(number));
                let Some(collecting) = wait.listens_for.starts() else {
                    return Err(Refusal::WrongKind { waitpoint, kind, verb: "given another start" });
                };
                let resume_at = collecting.begins_at(turn.now);
                turn.emit(Change::StartCollected { number, input, resume_at })?;
                let wait = turn.pending(number)?;
                let is_full = wait.listens_for.starts().is_some_and(|collecting| collecting.is_full());
                if is_full || wait.is_due(turn.now) {
                    begin(turn, number)?;
                }
            }
            Debounce::Begin { number } => begin(turn, number)?,
        }
        Ok(Reply::Collected(id))
    }
}

/// Begins the run: by the clock if its time has come, else by whose start it has no room beside.
fn begin(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    let end = |turn: &mut Turn<'_>| flow::resolve(turn, number, WaitStatus::Completed, None);
    if turn.pending(number)?.is_due(turn.now) { turn.by_the_clock(end) } else { end(turn) }
}
