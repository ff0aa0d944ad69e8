//! Tasks that wait for other code (R20): a worker that polls with a build that has not been tried takes them, straight from
//! their wait, so that no other worker comes in between.

use std::sync::Arc;

use abide_core::command::{CodeArrived, Command, Reply};
use abide_core::id::WaitpointId;
use abide_core::waitpoint::Actor;
use abide_store::CodeWait;

use super::Now;
use super::claim::lease;
use crate::request::{Leased, Poll};
use crate::round::Decider;
use crate::tasks::{TaskKey, Tasks};

/// Waits that are looked at in one read.
const PAGE: usize = 256;

/// Gives a poller what waits for its code, as far as it has room.
pub(super) fn claim(
    round: &mut Decider<'_>,
    tasks: &mut Tasks,
    poll: &Poll,
    leased: &mut Vec<Leased>,
    now: Now,
) {
    for handler in &poll.handlers {
        if leased.len() < poll.most && tasks.may_want_code(poll, handler, now) {
            claim_of(round, tasks, poll, handler, leased, now);
        }
    }
}

fn claim_of(
    round: &mut Decider<'_>,
    tasks: &mut Tasks,
    poll: &Poll,
    handler: &Arc<str>,
    leased: &mut Vec<Leased>,
    now: Now,
) {
    let mut last: Option<CodeWait> = None;
    loop {
        let page = round.store.code_waits(poll.workspace, handler, &poll.build, last.as_ref(), PAGE);
        let page = page.unwrap_or_else(|error| {
            tracing::error!(%error, "what waits for other code could not be looked up");
            Vec::new()
        });
        let is_last = page.len() < PAGE;
        for wait in page.iter().filter(|wait| !wait.builds.contains(&poll.build)) {
            if leased.len() >= poll.most {
                return;
            }
            leased.extend(take(round, poll, wait.waitpoint));
        }
        if is_last {
            return tasks.want_no_code(poll, handler, now);
        }
        last = page.into_iter().next_back();
    }
}

fn take(round: &mut Decider<'_>, poll: &Poll, waitpoint: WaitpointId) -> Option<Leased> {
    let WaitpointId { run, number } = waitpoint;
    let (worker, build) = (Arc::clone(&poll.worker), Arc::clone(&poll.build));
    let arrived = Command::CodeArrived(CodeArrived { number, worker, build });
    // Refused when somebody else has ended the wait.
    let Ok(Reply::Leased { .. }) = round.decide(run, arrived, Actor::new("worker"), None) else {
        return None;
    };
    let found = round.run(run).ok()?;
    let at = found.waitpoint(number)?.at?;
    let lease_epoch = found.step(at)?.task.as_ref()?.lease_epoch;
    lease(round, poll, TaskKey { run, at, lease_epoch })
}
