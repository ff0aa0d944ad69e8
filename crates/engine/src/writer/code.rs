//! Tasks that wait for other code (R20): a worker that polls with a build that has not been tried takes them, straight from
//! their wait, so that no other worker comes in between.

use std::sync::Arc;

use abide_core::command::{CodeArrived, Command, Reply};
use abide_core::id::WaitpointId;
use abide_core::waitpoint::Actor;
use abide_store::CodeWait;

use super::work::lease;
use crate::dispatcher::{Dispatcher, ReadyTask};
use crate::request::{Leased, Poll};
use crate::round::Round;

/// Waits that are looked at in one read.
const PAGE: usize = 256;

/// Gives a poller what waits for its code, as far as it has room.
pub(super) fn claim(
    round: &mut Round<'_>,
    dispatcher: &mut Dispatcher,
    poll: &Poll,
    leased: &mut Vec<Leased>,
) {
    for handler in &poll.handlers {
        if leased.len() < poll.most && dispatcher.may_want_code(poll, handler) {
            claim_of(round, dispatcher, poll, handler, leased);
        }
    }
}

fn claim_of(
    round: &mut Round<'_>,
    dispatcher: &mut Dispatcher,
    poll: &Poll,
    handler: &Arc<str>,
    leased: &mut Vec<Leased>,
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
            leased.extend(take(round, dispatcher, poll, wait.waitpoint));
        }
        if is_last {
            return dispatcher.want_no_code(poll, handler);
        }
        last = page.into_iter().next_back();
    }
}

fn take(
    round: &mut Round<'_>,
    dispatcher: &mut Dispatcher,
    poll: &Poll,
    waitpoint: WaitpointId,
) -> Option<Leased> {
    let WaitpointId { run, number } = waitpoint;
    let (worker, build) = (Arc::clone(&poll.worker), Arc::clone(&poll.build));
    let arrived = Command::CodeArrived(CodeArrived { number, worker, build });
    // Refused when somebody else has ended the wait.
    let Ok(Reply::Leased { .. }) = round.decide(run, arrived, Actor::new("worker"), None) else {
        return None;
    };
    let found = round.run(run).ok()?;
    let at = found.waitpoint(number)?.at?;
    let delivery = found.step(at)?.task.as_ref()?.delivery;
    lease(round, dispatcher, poll, ReadyTask { run, at, delivery })
}
