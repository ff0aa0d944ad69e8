//! Events in a round: handed to those who wait for them, and offered to waits that begin after them.

use std::collections::HashSet;
use std::sync::Arc;

use abide_core::command::{Command, DeliverEvent, Occurrence, Reply};
use abide_core::definition::document::Delivery;
use abide_core::door::{Remembered, digest, replay};
use abide_core::id::{OccurrenceId, RunId, WaitpointId, WorkspaceId};
use abide_core::waitpoint::{Actor, EventFilter, ListensFor};
use abide_store::EventName;

use super::{FIRST_PAGE, PAGE, Round};
use crate::error::Error;
use crate::request::{Notified, Notify};

/// A wait for an event that began in this round.
struct Begun {
    run: RunId,
    number: u32,
    workspace: WorkspaceId,
    filter: EventFilter,
}

impl Round<'_> {
    /// Offers the waits that began the events that were there before them, oldest first. The store is asked once for
    /// all of them.
    pub(crate) fn look_back(&mut self) {
        while !self.decided.look_backs.is_empty() {
            let begun: Vec<Begun> = std::mem::take(&mut self.decided.look_backs)
                .into_iter()
                .filter_map(|(run, number)| self.begun(run, number))
                .collect();
            let names = begun.iter().map(|Begun { workspace, filter, .. }| {
                let name = EventName { workspace: *workspace, event_id: &filter.event_id };
                (name, filter.since)
            });
            match self.store.occurrences_of(&names.collect::<Vec<_>>(), PAGE) {
                Ok(found) => begun.into_iter().zip(found).for_each(|(begun, found)| self.offer(begun, found)),
                Err(error) => tracing::error!(%error, "events could not be looked up"),
            }
            self.follow_up();
        }
    }

    fn begun(&self, run: RunId, number: u32) -> Option<Begun> {
        let touched = self.decided.touched.get(&run)?;
        match touched.run.waitpoint(number).filter(|wait| wait.is_pending())?.listens_for.clone() {
            ListensFor::Event(filter) => {
                Some(Begun { run, number, workspace: touched.run.workspace, filter })
            }
            ListensFor::Time
            | ListensFor::Signal { .. }
            | ListensFor::Call { .. }
            | ListensFor::Approval(_)
            | ListensFor::Child { .. } => None,
        }
    }

    /// Offers a wait these, and if there may be more, those too.
    fn offer(&mut self, begun: Begun, mut stored: Vec<Occurrence>) {
        let Begun { run: id, number, workspace, filter } = begun;
        loop {
            let last = stored.len() < PAGE;
            let after = stored.last().map(|occurrence| (occurrence.received_at, occurrence.id));
            let run = &self.decided.touched[&id].run;
            let takes = |occurrence: &&Occurrence| run.takes(number, occurrence);
            let found = stored.iter().find(takes).map(|occurrence| (None, occurrence));
            let found = found.or_else(|| {
                let before = self.before.rounds().map(|(round, before)| (Some(round), before));
                let mut fresh = before.chain([(None, &*self.decided)]).filter(|_| last);
                fresh.find_map(|(round, fresh)| Some((round, fresh.occurrences.iter().find(takes)?)))
            });
            let found = found.map(|(round, occurrence)| (round, occurrence.clone()));
            match found {
                Some((round, occurrence)) => {
                    round.into_iter().for_each(|round| self.decided.put_on_top_of(round));
                    let command = Command::DeliverEvent(DeliverEvent { number, occurrence });
                    self.follow_ups.push_back((id, command));
                    return;
                }
                None if last => return,
                None => {}
            }
            let more = self.store.occurrences(workspace, &filter.event_id, filter.since, after, PAGE);
            stored = match more {
                Ok(stored) => stored,
                Err(error) => return tracing::error!(%error, "events could not be looked up"),
            };
        }
    }

    /// Stores an event and hands it to everyone who waits for it.
    pub(crate) fn notify(&mut self, notify: &Notify) -> Result<Notified, Error> {
        // What was there before comes before it.
        self.look_back();
        let own = std::mem::replace(&mut self.traceparent, notify.traceparent);
        let notified = self.notify_waiters(notify);
        self.traceparent = own;
        notified
    }

    fn notify_waiters(&mut self, notify: &Notify) -> Result<Notified, Error> {
        let key = notify.key.as_ref().map(|key| format!("{}/event/{key}", notify.workspace));
        let asked = digest(&(&notify.event_id, &notify.data, notify.only, notify.delivery));
        if let Some(key) = &key
            && let Some(reply) = replay(key, asked, self.recall_key(key)?.as_ref())?
        {
            return Ok(notified_before(reply));
        }
        let id = OccurrenceId::new(self.now, self.random.draw_u128());
        let (event_id, data) = (Arc::clone(&notify.event_id), notify.data.clone());
        let (workspace, received_at) = (notify.workspace, self.memory.receive_at(self.latest));
        let occurrence = Occurrence { id, workspace, event_id, data, received_at };
        occurrence.check()?;
        let mut waiters = self.waiters(&occurrence, notify)?;
        if notify.dry_run {
            waiters.retain(|waiter| self.takes(*waiter, &occurrence));
            waiters.truncate(if notify.delivery == Delivery::One { 1 } else { usize::MAX });
            return Ok(Notified { id: None, waiters });
        }
        self.decided.occurrences.push(occurrence.clone());
        let mut woken = Vec::new();
        for waitpoint in waiters {
            let command = DeliverEvent { number: waitpoint.number, occurrence: occurrence.clone() };
            let delivered =
                self.decide(waitpoint.run, Command::DeliverEvent(command), Actor::new("event"), None);
            if delivered.is_ok() {
                woken.push(waitpoint);
                if notify.delivery == Delivery::One {
                    break;
                }
            }
        }
        if let Some(key) = key {
            let reply = Reply::Notified { occurrence: id, waiters: woken.clone() };
            self.decided
                .remembered
                .insert(key.clone(), Remembered { key, digest: asked, reply, at: self.now });
        }
        Ok(Notified { id: Some(id), waiters: woken })
    }

    /// Who would take this event, the longest waiting first.
    fn waiters(&mut self, occurrence: &Occurrence, notify: &Notify) -> Result<Vec<WaitpointId>, Error> {
        let wanted = |run: RunId| notify.only.is_none_or(|only| only == run);
        let mut found = Vec::new();
        let event = (notify.workspace, Arc::clone(&occurrence.event_id));
        let mut looked_up = self.waiting.get(&event).cloned();
        let mut after = None;
        loop {
            let (waiters, most) = match looked_up.take() {
                Some(waiters) => (waiters, FIRST_PAGE),
                None => (self.store.waiters(notify.workspace, &occurrence.event_id, after, PAGE)?, PAGE),
            };
            after = waiters.last().map(|waiter| (waiter.created_at, waiter.waitpoint));
            let last = waiters.len() < most;
            let takes = waiters.into_iter().filter(|waiter| {
                wanted(waiter.waitpoint.run)
                    && occurrence.received_at >= waiter.filter.since
                    && waiter.filter.accepts(&occurrence.data)
            });
            found.extend(takes.map(|waiter| waiter.waitpoint));
            if last {
                break;
            }
        }
        // Waits that began in this round, or in one that is being committed, may not be in the store yet.
        let known: HashSet<WaitpointId> = found.iter().copied().collect();
        let fresh = self.before.rounds().map(|(_, before)| before).chain([&*self.decided]);
        let fresh = fresh.filter_map(|decided| decided.listening.get(&event)).flatten();
        let mut fresh: Vec<WaitpointId> =
            fresh.copied().filter(|wait| !known.contains(wait) && wanted(wait.run)).collect();
        fresh.retain(|wait| self.takes(*wait, occurrence));
        found.extend(fresh);
        self.memory.refresh(self.store, found.iter().map(|wait| wait.run))?;
        Ok(found)
    }

    /// Whether a wait takes this event, by what is known of its run now.
    fn takes(&mut self, waitpoint: WaitpointId, occurrence: &Occurrence) -> bool {
        let Ok(run) = self.run(waitpoint.run) else { return false };
        let is_pending = run.waitpoint(waitpoint.number).is_some_and(|wait| wait.is_pending());
        is_pending && run.takes(waitpoint.number, occurrence)
    }
}

fn notified_before(reply: Reply) -> Notified {
    match reply {
        Reply::Notified { occurrence, waiters } => Notified { id: Some(occurrence), waiters },
        Reply::Done
        | Reply::Started(_)
        | Reply::Unchanged
        | Reply::Signalled { .. }
        | Reply::Waitpoint(_)
        | Reply::Leased { .. }
        | Reply::Voted { .. } => Notified { id: None, waiters: Vec::new() },
    }
}
