//! A worker creates a waitpoint with a resume URL, to wait for later. Idempotent on run, step and name.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::command::task_suspended::WaitFor;
use crate::flow::new_waitpoint;
use crate::history::Change;
use crate::id::At;
use crate::refusal::Refusal;
use crate::time::Millis;
use crate::turn::Turn;
use crate::waitpoint::Kind;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateWaitpoint {
    pub at: At,
    pub delivery: u32,
    pub name: Arc<str>,
    pub allow_get: bool,
    pub timeout: Option<Millis>,
}

impl CreateWaitpoint {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let CreateWaitpoint { at, delivery, name, allow_get, timeout } = self;
        turn.fence(at, delivery)?;
        turn.check_wait_name(&name)?;
        if let Some(number) = turn.named_wait(at, &name)? {
            turn.check_same_wait(number, Kind::Webhook, None)?;
            return Ok(Reply::Waitpoint(turn.run.waitpoint_id(number)));
        }
        turn.check_room_for_waits(1)?;
        let wait = WaitFor::Call { allow_get, timeout }.check(turn, at)?;
        let opens = new_waitpoint(turn, Some(at), name, wait);
        let id = turn.run.waitpoint_id(opens.number);
        turn.emit(Change::WaitCreated { opens })?;
        Ok(Reply::Waitpoint(id))
    }
}
