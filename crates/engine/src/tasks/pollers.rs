//! Those who wait for tasks. A poller is listed under each name that it asks for, and is nowhere any more once it was
//! woken; one that has gone is forgotten at the latest when there are twice as many as there were.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use abide_core::id::WorkspaceId;

use super::handed::Handed;
use crate::request::{Answer, Poll};

/// Tasks of one name in one workspace: of a handler, and of those that are pinned a build.
pub(crate) type Queue = (WorkspaceId, Arc<str>);

/// The number of pollers below which those that have gone are not looked for.
const FEW: usize = 64;

#[derive(Default)]
pub(crate) struct Pollers {
    parked: BTreeMap<u64, (Poll, Answer<Handed>)>,
    /// Who waits longest comes first.
    parked_for: HashMap<Queue, BTreeSet<u64>>,
    last: u64,
    /// The pollers that may find something now.
    woken: BTreeMap<u64, (Poll, Answer<Handed>)>,
    /// How many more tasks those may take, at most: a poller that asks for more than one handler counts for each.
    room: HashMap<Queue, usize>,
    /// How many there are before those that have gone are looked for.
    many: usize,
}

impl Pollers {
    pub(crate) fn are_there(&self) -> bool {
        !self.parked.is_empty() || !self.woken.is_empty()
    }

    pub(crate) fn are_woken(&self) -> bool {
        !self.woken.is_empty()
    }

    pub(crate) fn wait_for(&self, queue: &Queue) -> bool {
        self.parked_for.contains_key(queue)
    }

    /// What those ask for who wait and have not gone.
    pub(crate) fn polls(&self) -> impl Iterator<Item = &Poll> {
        self.parked.values().filter(|(_, answer)| !answer.is_closed()).map(|(poll, _)| poll)
    }

    /// What those ask for who wait for tasks of this name, up to a number.
    pub(crate) fn polls_for(&self, queue: &Queue, most: usize) -> impl Iterator<Item = &Poll> {
        let parked = self.parked_for.get(queue).into_iter().flatten();
        let parked = parked.filter_map(|id| self.parked.get(id));
        parked.filter(|(_, answer)| !answer.is_closed()).map(|(poll, _)| poll).take(most)
    }

    pub(crate) fn park(&mut self, poll: Poll, answer: Answer<Handed>) {
        if self.parked.len() >= self.many.max(FEW) {
            self.forget_gone();
        }
        self.last += 1;
        for queue in poll.queues() {
            self.parked_for.entry(queue).or_default().insert(self.last);
        }
        self.parked.insert(self.last, (poll, answer));
    }

    pub(crate) fn forget_gone(&mut self) {
        let gone = self.parked.iter().filter(|(_, (_, answer))| answer.is_closed());
        for id in gone.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.unpark(id);
        }
        self.many = 2 * self.parked.len();
    }

    fn unpark(&mut self, id: u64) -> Option<(Poll, Answer<Handed>)> {
        let (poll, answer) = self.parked.remove(&id)?;
        for queue in poll.queues() {
            if let Some(pollers) = self.parked_for.get_mut(&queue) {
                pollers.remove(&id);
                if pollers.is_empty() {
                    self.parked_for.remove(&queue);
                }
            }
        }
        Some((poll, answer))
    }

    /// Sees to it that a poller comes for one more task: one that is awake and has room, or the one that has waited
    /// longest. `false` if nobody waits.
    pub(crate) fn call(&mut self, queue: &Queue) -> bool {
        let has_room = self.room.get(queue).is_some_and(|room| *room > 0);
        if !has_room && !self.wake(queue) {
            return false;
        }
        if let Some(room) = self.room.get_mut(queue) {
            *room = room.saturating_sub(1);
        }
        true
    }

    pub(crate) fn wake(&mut self, queue: &Queue) -> bool {
        while let Some(id) = self.parked_for.get(queue).and_then(BTreeSet::first).copied() {
            if self.wake_parked(id) {
                return true;
            }
        }
        false
    }

    /// Wakes the one that has waited longest of those that may take something.
    pub(crate) fn wake_one(&mut self, queue: &Queue, may: impl Fn(&Poll) -> bool) -> bool {
        let parked = self.parked_for.get(queue).into_iter().flatten().copied();
        let may_take = |id: &u64| self.parked.get(id).is_some_and(|(poll, _)| may(poll));
        let able: Vec<u64> = parked.filter(may_take).collect();
        able.into_iter().any(|id| self.wake_parked(id))
    }

    /// Wakes one poller of each build and handler.
    pub(crate) fn wake_one_of_each_build(&mut self) {
        let mut seen = BTreeSet::new();
        let is_first = |(_, (poll, _)): &(&u64, &(Poll, Answer<Handed>))| {
            let place = |handler: &Arc<str>| (poll.workspace, Arc::clone(&poll.build), Arc::clone(handler));
            poll.handlers.iter().filter(|handler| seen.insert(place(handler))).count() > 0
        };
        let first: Vec<u64> = self.parked.iter().filter(is_first).map(|(id, _)| *id).collect();
        for id in first {
            self.wake_parked(id);
        }
    }

    /// `false` if it has gone.
    fn wake_parked(&mut self, id: u64) -> bool {
        let Some((poll, answer)) = self.unpark(id).filter(|(_, answer)| !answer.is_closed()) else {
            return false;
        };
        for queue in poll.queues() {
            let room = self.room.entry(queue).or_default();
            *room = room.saturating_add(poll.most);
        }
        self.woken.insert(id, (poll, answer));
        true
    }

    /// Takes out a poller that was woken, which may have gone.
    pub(crate) fn next_woken(&mut self) -> Option<(Poll, Answer<Handed>)> {
        let (_, woken) = self.woken.pop_first()?;
        if self.woken.is_empty() {
            self.room.clear();
        }
        Some(woken)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;

    fn poll(handlers: &[&str]) -> Poll {
        let poll = Poll::new("w", handlers.iter().copied(), Duration::from_secs(1));
        poll.waits(true)
    }

    fn queue(name: &str) -> Queue {
        (WorkspaceId::DEFAULT, name.into())
    }

    #[test]
    fn polls_for_fresh_names_leave_nothing_behind_when_they_have_gone() {
        let mut pollers = Pollers::default();
        for index in 0..1_000 {
            let (answer, _gone) = oneshot::channel();
            pollers.park(poll(&[&format!("a{index}"), &format!("b{index}")]), answer);
        }
        assert!(pollers.parked.len() <= FEW && pollers.parked_for.len() <= 2 * FEW);
        pollers.forget_gone();
        assert!(!pollers.are_there() && pollers.parked_for.is_empty());
    }

    #[test]
    fn one_that_is_woken_for_one_name_waits_for_no_other() {
        let mut pollers = Pollers::default();
        let (answer, _there) = oneshot::channel();
        pollers.park(poll(&["a", "b"]), answer);
        assert!(pollers.wait_for(&queue("b")) && pollers.call(&queue("a")));
        assert!(!pollers.wait_for(&queue("b")) && pollers.are_woken());
        assert!(pollers.next_woken().is_some() && !pollers.are_there() && pollers.room.is_empty());
    }

    #[test]
    fn who_waits_longest_is_woken_first_and_who_has_gone_is_passed_over() {
        let mut pollers = Pollers::default();
        let (gone, _) = oneshot::channel();
        pollers.park(poll(&["a"]), gone);
        let mut there = Vec::new();
        for worker in ["first", "second"] {
            let (answer, waits) = oneshot::channel();
            pollers.park(Poll { worker: worker.into(), ..poll(&["a"]) }, answer);
            there.push(waits);
        }
        assert!(pollers.call(&queue("a")));
        assert_eq!(&*pollers.next_woken().unwrap().0.worker, "first");
    }
}
