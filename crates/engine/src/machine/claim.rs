//! Pollers get tasks: a task and its lease are one commit.

use std::sync::Arc;

use abide_core::command::{Command, Reply, TaskStarted};
use abide_core::refusal::Refusal;
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;

use super::requests::is_final;
use super::{Machine, Now, code};
use crate::error::Error;
use crate::notify_step;
use crate::owed::Owed;
use crate::reply::PendingReply;
use crate::request::{Answer, Leased, Poll};
use crate::round::Decider;
use crate::tasks::{Handed, LEASE, Lease, TaskKey, Tasks};

/// What the tasks of one poll may take; with more, the rest is for the next one.
const POLL_BYTES: usize = 8 * 1024 * 1024;

impl Machine {
    /// Gives the tasks of the open round to pollers that wait for them: they are put out and leased in one commit, and no
    /// board sees them free.
    pub(super) fn offer_before_commit(&mut self) {
        if self.stop.is_some() || !self.tasks.has_pollers() {
            return;
        }
        let now = self.now;
        let (mut round, tasks, pending) = self.round();
        round.batch.offer_tasks(|run, task| tasks.offer(run, task));
        claim_woken(&mut round, tasks, pending, now);
    }
}

/// Gives those who were woken what there is.
pub(super) fn claim_woken(round: &mut Decider<'_>, tasks: &mut Tasks, pending: &mut Owed, now: Now) {
    while let Some((poll, answer)) = tasks.next_woken() {
        claim(round, tasks, poll, answer, pending, now);
    }
}

/// Gives a poller what is at hand, or lets it wait.
pub(super) fn claim(
    round: &mut Decider<'_>,
    tasks: &mut Tasks,
    poll: Poll,
    answer: Answer<Handed>,
    pending: &mut Owed,
    now: Now,
) {
    let mut leased = Vec::new();
    let mut bytes = 0;
    while leased.len() < poll.most
        && bytes < POLL_BYTES
        && let Some(ready) = tasks.take(&poll)
    {
        round.renew_allowance();
        let TaskKey { run, at, lease_epoch } = ready;
        let (worker, build) = (Arc::clone(&poll.worker), build_of(&poll));
        let command = Command::TaskStarted(TaskStarted { at, lease_epoch, worker, build, from: None });
        match round.decide(run, command, Actor::new("worker"), None) {
            Ok(_) => match lease(round, &poll, ready) {
                Some(task) => {
                    bytes += task.task.bytes();
                    leased.push(task);
                }
                None => pending.withheld.push(ready),
            },
            // It is found again as soon as the store can be read.
            Err(error) if error.passes() => tasks.could_not_read(ready),
            decided if is_over(round, ready, &decided) => {
                round.batch.out_of_date.push(ready);
                pending.withheld.push(ready);
            }
            // Whoever has it keeps it; what stands still is free again when somebody lets it go on.
            Err(Error::Refused(Refusal::AlreadyTaken { .. }) | Error::Held { .. }) => {}
            // The run has moved on, or is pinned to another build, and this node has not heard of it yet.
            Err(_) => tasks.could_not_read(ready),
        }
    }
    code::claim(round, tasks, &poll, &mut leased, now);
    if leased.len() >= poll.most || bytes >= POLL_BYTES {
        tasks.wake_another(&poll);
    }
    if leased.is_empty() && poll.waits {
        tasks.park(poll, answer);
    } else {
        pending.reply(PendingReply::Poll(answer, tasks.handed(leased), poll), None);
    }
}

/// Which code a poller has, if it says so.
fn build_of(poll: &Poll) -> Option<Arc<str>> {
    Some(&poll.build).filter(|build| !build.is_empty()).cloned()
}

/// A task that a poller has taken in this round, with its lease.
pub(super) fn lease(round: &mut Decider<'_>, poll: &Poll, ready: TaskKey) -> Option<Leased> {
    let TaskKey { run, at, lease_epoch } = ready;
    let task = match round.run(run).ok()?.task(at)? {
        Ok(task) => task,
        Err(failure) => {
            let command = notify_step::not_rendered(at, lease_epoch, failure);
            drop(round.decide(run, command, Actor::new("engine"), None));
            return None;
        }
    };
    let asked = Millis::try_from(poll.lease).unwrap_or(LEASE);
    let length = task.heartbeat.unwrap_or(asked);
    let worker = (poll.workspace, Arc::clone(&poll.worker));
    round.batch.leases.insert((run, at), Lease { length, worker });
    Some(Leased { task, at, leased_until: length.after(round.now) })
}

/// Whether a task is over, so that its row can go. A refusal alone does not say so: the run may be known here as it was
/// before another node handed the task out.
pub(super) fn is_over(round: &mut Decider<'_>, task: TaskKey, decided: &Result<Reply, Error>) -> bool {
    let known = |run: &Run| {
        run.step(task.at).and_then(|step| step.task.as_deref()).map_or(0, |task| task.lease_epoch)
    };
    match round.run(task.run).map(known) {
        Ok(known) => is_stale(decided) && known >= task.lease_epoch,
        Err(error) => matches!(error, Error::UnknownRun(_)),
    }
}

/// Whether a task was refused as one that is over.
fn is_stale(decided: &Result<Reply, Error>) -> bool {
    decided.is_err() && (is_final(decided) || matches!(decided, Err(Error::UnknownRun(_))))
}
