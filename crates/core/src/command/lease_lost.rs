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
    /// The address of the task's step.
    pub at: StepAddress,
    /// The lease epoch that has ended.
    pub lease_epoch: u32,
    /// Whether the worker was lost, or gave the task up.
    pub loss: LeaseLoss,
}

/// How a lease was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseLoss {
    /// The worker did not report in time.
    Expired,
    /// The worker released the lease, or the server that had the task was restarted: the task did no harm.
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
