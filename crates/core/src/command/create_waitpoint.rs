//! A worker creates a waitpoint, to wait for later: one with a resume URL, one that the clock ends, or an approval.
//! Idempotent on run, step and name.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::command::task_suspended::check_asked;
use crate::command::wait_for::WaitFor;
use crate::effect::AfterCommit;
use crate::flow::new_waitpoint;
use crate::history::Change;
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::turn::Turn;
use crate::waitpoint::{Kind, Waitpoint};

/// A worker wants a waitpoint before it waits for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateWaitpoint {
    /// The address of the step whose handler asks.
    pub at: StepAddress,
    /// The lease epoch of the handler's task; an older one is refused.
    pub lease_epoch: u32,
    /// The name of the waitpoint: unique in the step's visit, and an entry of the journal.
    pub name: Arc<str>,
    /// What the waitpoint waits for.
    pub wait: WaitFor,
    /// What the code asked for, in its SDK's words, as in a [`WaitSpec`](super::WaitSpec).
    pub asked: Option<Arc<str>>,
    /// The reply to the caller that started or resumed the run, and still listens: `{status, headers, body}`. It
    /// leaves at once, so that the handler can wait after it.
    pub response: Option<Json>,
}

impl CreateWaitpoint {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let CreateWaitpoint { at, lease_epoch, name, wait, asked, response } = self;
        turn.fence(at, lease_epoch)?;
        turn.check_wait_name(&name)?;
        if let Some(number) = turn.named_wait(at, &name)? {
            turn.check_same_wait(number, wait.kind(), asked.as_deref())?;
            return Ok(Reply::Waitpoint(turn.run.waitpoint_id(number)));
        }
        turn.check_room_for_waits(1)?;
        within(
            "the response's size in bytes",
            response.as_ref().map_or(0, Json::bytes),
            limits::PAYLOAD_BYTES,
        )?;
        let mut wait = wait.check(turn, at)?;
        wait.response = response.clone();
        check_asked(asked.as_deref())?;
        let opens = Waitpoint { asked, ..new_waitpoint(turn, Some(at), name, wait) };
        let (number, kind) = (opens.number, opens.kind);
        let id = turn.run.waitpoint_id(number);
        turn.emit(Change::WaitCreated { opens })?;
        if kind == Kind::Approval {
            // Who may decide may do so before the handler waits.
            turn.emit(Change::ApprovalRequested { number })?;
        }
        if let Some(response) = response {
            turn.after_commit(AfterCommit::Respond { response });
        }
        Ok(Reply::Waitpoint(id))
    }
}
