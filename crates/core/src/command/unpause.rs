//! Lifts a pause: what was kept begins or goes on.

use crate::command::Reply;
use crate::history::Change;
use crate::refusal::Refusal;
use crate::turn::Turn;

pub(super) fn decide(turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
    turn.refuse_ended()?;
    if !turn.run.pausing {
        return Ok(Reply::Unchanged);
    }
    let held = turn.run.held.clone();
    turn.emit(Change::WorkflowUnpaused)?;
    turn.agenda.extend(held);
    Ok(Reply::Done)
}
