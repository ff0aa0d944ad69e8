//! A worker's lease ended without a report. The same attempt is handed out again; only a task that keeps losing
//! its workers has its attempt counted as failed.

use serde::Serialize;

use crate::command::Reply;
use crate::effect::AfterCommit;
use crate::flow;
use crate::history::{Change, Failure};
use crate::id::StepAddress;
use crate::limits;
use crate::refusal::Refusal;
use crate::turn::Turn;

/// The lease of a task has ended without a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeaseLost {
    pub at: StepAddress,
    pub lease_epoch: u32,
    pub loss: LeaseLoss,
}

/// How a lease was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseLoss {
    /// The worker did not report in time.
    Expired,
    /// The worker gave it back, or the server that held it was restarted: nothing the task did.
    Released,
}

impl LeaseLost {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let LeaseLost { at, lease_epoch, loss } = self;
        let lost = turn.fence(at, lease_epoch)?.lost_leases;
        let counted = match loss {
            LeaseLoss::Expired => true,
            LeaseLoss::Released => false,
        };
        if counted && lost >= limits::LOST_LEASES {
            let message = format!("its workers were lost {} times", lost + 1);
            flow::fail_attempt(turn, at, Failure::new("WORKER_LOST", message), true, None)?;
        } else {
            turn.emit(Change::TaskRedelivered { at, counted })?;
            turn.after_commit(AfterCommit::Dispatch { at, lease_epoch: lease_epoch + 1 });
        }
        Ok(Reply::Done)
    }
}
