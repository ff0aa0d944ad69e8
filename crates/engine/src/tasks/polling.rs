//! Tasks for those who poll: those that are at hand are claimed in the same pass, and those that wait for other code by
//! whoever has it.

use std::sync::Arc;

use abide_core::id::StepAddress;
use abide_core::queue::queue_of;
use abide_core::run::Run;
use abide_core::waitpoint::Waitpoint;

use super::{Handed, TaskKey, Tasks};
use crate::machine::Now;
use crate::request::{Answer, Leased, Poll};

impl Tasks {
    pub(crate) fn has_pollers(&self) -> bool {
        self.pollers.are_there()
    }

    /// Offers a task that is not committed yet to a poller that waits for it. It must be claimed in the same round.
    pub(crate) fn offer(&mut self, run: &Run, ready: TaskKey) {
        let Some(work) = run.defined(ready.at).action.work() else { return };
        if self.works_at(run, ready.at) {
            return;
        }
        let queue = (run.workspace, queue_of(run, ready.at, work));
        if self.pollers.call(&queue) {
            self.at_hand.entry(queue).or_default().push_back(ready);
        }
    }

    /// The next task for a poller, if one is at hand.
    pub(crate) fn take(&mut self, poll: &Poll) -> Option<TaskKey> {
        poll.queues().find_map(|queue| {
            let tasks = self.at_hand.get_mut(&queue)?;
            let task = tasks.pop_front();
            if tasks.is_empty() {
                self.at_hand.remove(&queue);
            }
            task
        })
    }

    /// Tasks for a poller, which come back if it has gone.
    pub(crate) fn handed(&self, tasks: Vec<Leased>) -> Handed {
        Handed::new(tasks, self.back.clone())
    }

    pub(crate) fn park(&mut self, poll: Poll, answer: Answer<Handed>) {
        self.pollers.park(poll, answer);
    }

    /// Forgets pollers that have gone.
    pub(crate) fn tidy(&mut self) {
        self.pollers.forget_gone();
    }

    /// A poller that may find something now, if it still asks.
    pub(crate) fn next_woken(&mut self) -> Option<(Poll, Answer<Handed>)> {
        loop {
            let (poll, answer) = self.pollers.next_woken()?;
            if !answer.is_closed() {
                return Some((poll, answer));
            }
            self.wake_another(&poll);
        }
    }

    /// What a poller has left, or could not take because it has gone, is for the next in line.
    pub(crate) fn wake_another(&mut self, poll: &Poll) {
        for queue in poll.queues() {
            if self.at_hand.contains_key(&queue) {
                self.pollers.wake(&queue);
            }
        }
    }

    /// A task waits for other code: whoever waits for work and has it may come.
    pub(crate) fn want_code(&mut self, run: &Run, at: StepAddress) {
        let open = run.open_waitpoints().filter(|wait| wait.at == Some(at));
        let Some(mismatch) = open.filter_map(Waitpoint::code_mismatch).last() else { return };
        let queue = (run.workspace, Arc::clone(&mismatch.handler));
        self.code_waits.look_again(&queue);
        self.pollers.wake_one(&queue, |poll| !mismatch.excludes(&poll.build));
    }

    /// Lets one poller of each build look whether something waits for its code that others have written.
    pub(crate) fn look_for_code(&mut self) {
        self.pollers.wake_one_of_each_build();
    }

    /// Whether tasks of this handler may wait for the code that the poller has.
    pub(crate) fn may_want_code(&self, poll: &Poll, handler: &Arc<str>, now: Now) -> bool {
        self.code_waits.may_be_there(&(poll.workspace, Arc::clone(handler)), &poll.build, now.elapsed)
    }

    pub(crate) fn want_no_code(&mut self, poll: &Poll, handler: &Arc<str>, now: Now) {
        let queue = (poll.workspace, Arc::clone(handler));
        self.code_waits.found_none(queue, Arc::clone(&poll.build), now.elapsed);
    }
}
