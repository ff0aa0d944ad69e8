//! Lifts a pause: work that was held back begins or goes on.

use crate::command::Reply;
use crate::flow;
use crate::history::Change;
use crate::refusal::Refusal;
use crate::turn::Turn;

pub(super) fn decide(turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
    turn.refuse_ended()?;
    if !turn.run.pausing {
        return Ok(Reply::Unchanged);
    }
    if flow::timed_out_in_pause(turn.run) {
        flow::fail_after_pause(turn)?;
        return Ok(Reply::Done);
    }
    let held = turn.run.held.clone();
    turn.emit(Change::WorkflowUnpaused)?;
    turn.agenda.extend(held);
    Ok(Reply::Done)
}
