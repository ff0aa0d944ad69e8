//! Cancels a run, in whatever state it is unless it has ended (R17).

use crate::command::Reply;
use crate::flow;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::turn::Turn;

pub(super) fn decide(turn: &mut Turn<'_>, reason: Option<String>) -> Result<Reply, Refusal> {
    turn.refuse_ended()?;
    let length = reason.as_ref().map_or(0, |reason| reason.chars().count());
    within("the reason's length", length, limits::DESCRIPTION_CHARS)?;
    flow::cancel_run(turn, reason)?;
    Ok(Reply::Done)
}
