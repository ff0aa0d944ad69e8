//! Pauses a run at its next step boundary (R18). What runs runs to its end; timers go on; nothing new begins.

use crate::command::Reply;
use crate::history::Change;
use crate::refusal::Refusal;
use crate::turn::Turn;

pub(super) fn decide(turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
    turn.refuse_ended()?;
    if turn.run.pausing {
        return Ok(Reply::Unchanged);
    }
    turn.emit(Change::WorkflowPauseRequested)?;
    Ok(Reply::Done)
}
