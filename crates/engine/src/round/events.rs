//! Events in a round: handed to those who wait for them, and offered to waits that begin after them. Comparing a large
//! event with many waits is work for more than one round: what a round has no room for goes on in later ones.

use std::collections::HashSet;
use std::sync::Arc;

use abide_core::command::{Command, DeliverEvent, Event, Reply, TaskNotified};
use abide_core::definition::document::FanOut;
use abide_core::fan_out;
use abide_core::follow_up::FollowUp;
use abide_core::id::{EventUid, RunId, WaitpointId, WorkspaceId};
use abide_core::idempotency::{IdempotencyRecord, digest, replay};
use abide_core::waitpoint::{Actor, EventFilter};
use abide_store::{EventName, StoredFollowUp, Waiter};
use jiff::Timestamp;

use super::{Decider, FIRST_PAGE, PAGE};
use crate::backlog::EventKey;
use crate::error::Error;
use crate::request::EventSent;
use crate::send_event::{SendEvent, Sender};

/// Waits that look back are looked up together, so many at once, each with so many events: an event may be a megabyte.
const LOOKING_BACK: usize = 32;
const FIRST_EVENTS: usize = 8;
/// How many further events of one wait are looked up at once.
const MORE_EVENTS: usize = 32;

/// A wait for an event that is open.
struct Begun {
    run: RunId,
    number: u32,
    workspace: WorkspaceId,
    filter: EventFilter,
}

/// The events up to here were offered.
type Offered = Option<(Timestamp, EventUid)>;

/// Whom an event was given to, so far.
#[derive(Default)]
struct Given {
    waiters: Vec<WaitpointId>,
    /// The last one it was compared with.
    after: Option<(Timestamp, WaitpointId)>,
}

impl Decider<'_> {
    /// Offers the waits that began the events that were there before them, oldest first. The store is asked once for
    /// many of them.
    pub(crate) fn look_back(&mut self) {
        while !self.batch.look_backs.is_empty() {
            let mut begun: Vec<Begun> = std::mem::take(&mut self.batch.look_backs)
                .into_iter()
                .filter_map(|(run, number)| self.begun(run, number))
                .collect();
            while !begun.is_empty() {
                let some: Vec<Begun> = begun.drain(..begun.len().min(LOOKING_BACK)).collect();
                let names = some.iter().map(|Begun { workspace, filter, .. }| {
                    let name = EventName { workspace: *workspace, event_id: &filter.event_id };
                    (name, filter.since)
                });
                match self.store.events_of(&names.collect::<Vec<_>>(), FIRST_EVENTS) {
                    Ok(found) => {
                        for (begun, found) in some.into_iter().zip(found) {
                            let (workspace, waitpoint) = (begun.workspace, begun.run.waitpoint(begun.number));
                            if let Some(after) = self.offer(&begun, found, FIRST_EVENTS, None) {
                                self.leave(workspace, FollowUp::LookBack { waitpoint, after });
                            }
                        }
                    }
                    Err(error) => {
                        tracing::error!(%error, "events could not be looked up; they are later");
                        for begun in some {
                            let waitpoint = begun.run.waitpoint(begun.number);
                            self.leave(begun.workspace, FollowUp::LookBack { waitpoint, after: None });
                        }
                    }
                }
            }
            self.follow_up();
        }
    }

    fn begun(&self, run: RunId, number: u32) -> Option<Begun> {
        let delta = self.batch.deltas.get(&run)?;
        let wait = delta.run.waitpoint(number).filter(|wait| wait.is_pending())?;
        let filter = wait.listens_for.event()?.clone();
        Some(Begun { run, number, workspace: delta.run.workspace, filter })
    }

    /// Offers a wait these, and if there may be more, those too. Says how far it came if the round has no room for all.
    fn offer(
        &mut self,
        begun: &Begun,
        mut stored: Vec<Event>,
        mut limit: usize,
        mut after: Offered,
    ) -> Option<Offered> {
        let Begun { run: id, number, workspace, filter } = begun;
        loop {
            let is_last = stored.len() < limit;
            for event in stored {
                if self.batch.spent.is_matched_out() {
                    return Some(after);
                }
                after = Some((event.received_at, event.id));
                if self.would_take(*id, *number, &event) {
                    self.give(*id, *number, event);
                    return None;
                }
            }
            if is_last {
                self.offer_fresh(begun);
                return None;
            }
            if self.batch.spent.is_matched_out() {
                return Some(after);
            }
            limit = MORE_EVENTS;
            stored = match self.store.events_since(*workspace, &filter.event_id, filter.since, after, limit) {
                Ok(stored) => stored,
                Err(error) => {
                    tracing::error!(%error, "events could not be looked up");
                    return Some(after);
                }
            };
        }
    }

    /// Offers a wait the events that are not in the store yet.
    fn offer_fresh(&mut self, begun: &Begun) {
        let Begun { run: id, number, workspace, filter } = begun;
        let before = self.in_flight.rounds().map(|(round, before)| (Some(round), before));
        let fresh = before.chain([(None, &*self.batch)]);
        let fresh = fresh.flat_map(|(round, decided)| decided.events.iter().map(move |it| (round, it)));
        let named = fresh.filter(|(_, it)| it.workspace == *workspace && it.event_id == filter.event_id);
        let named: Vec<_> = named.map(|(round, event)| (round, event.clone())).collect();
        for (round, event) in named {
            if self.would_take(*id, *number, &event) {
                round.into_iter().for_each(|round| self.batch.depend_on(round));
                return self.give(*id, *number, event);
            }
        }
    }

    /// Whether a wait of a run that is in this round takes an event.
    fn would_take(&mut self, run: RunId, number: u32, event: &Event) -> bool {
        let Some(delta) = self.batch.deltas.get(&run) else { return false };
        let (takes, cost) = delta.run.takes_at(number, event);
        self.batch.spent.matched(cost);
        takes
    }

    fn give(&mut self, run: RunId, number: u32, event: Event) {
        self.batch.spent.offered();
        let command = Command::DeliverEvent(DeliverEvent { number, event });
        // The run is in this round, and need not be read.
        drop(self.decide_quietly(run, command));
    }

    /// Stores an event and hands it to everyone who waits for it; to those for whom there is no room in this round, later.
    pub(crate) fn send_event(&mut self, send: &SendEvent) -> Result<EventSent, Error> {
        // What was there before comes before it.
        self.look_back();
        let own = std::mem::replace(&mut self.traceparent, send.traceparent);
        let sent = self.store_and_deliver(send);
        self.traceparent = own;
        sent
    }

    fn store_and_deliver(&mut self, send: &SendEvent) -> Result<EventSent, Error> {
        let key = send.key.as_ref().map(|key| format!("{}/event/{key}", send.workspace));
        let asked = digest(&(&send.event_id, &send.data, send.only, send.fan_out));
        if let Some(key) = &key
            && let Some(reply) = replay(key, asked, self.idempotency_record(key)?.as_ref())?
        {
            return Ok(sent_before(reply));
        }
        let id = self.memory.fresh_event(self.now, self.random.draw_u128());
        let (event_id, data) = (Arc::clone(&send.event_id), send.data.clone());
        let (workspace, received_at) = (send.workspace, self.memory.receive_at(self.latest));
        let event = Event { id, workspace, event_id, data, received_at, run: send.only };
        event.check()?;
        let (one, only) = (send.fan_out == FanOut::One, send.only);
        // What is for one alone starts nothing.
        let starts_runs = !one && only.is_none();
        let mut given = Given::default();
        if send.dry_run {
            let is_all = self.give_at_once(&event, (one, only), true, &mut given)?;
            let (starts, more) =
                if starts_runs { self.start_runs(&event, None, true) } else { (Vec::new(), false) };
            return Ok(EventSent { id: None, waiters: given.waiters, starts, delivering: !is_all || more });
        }
        if let Some(sender) = &send.sender {
            self.check_sender(sender, &event)?;
        }
        self.batch.events.push(event.clone());
        let event_key = (workspace, Arc::clone(&event.event_id));
        // Events of one id reach those who wait in the order they came.
        let is_all = !self.is_delivering(&event_key)
            && self.give_at_once(&event, (one, only), false, &mut given).unwrap_or_else(|error| {
                // It is part of the round already: those who wait for it are offered it later.
                tracing::error!(%error, "who waits for an event could not be looked up");
                false
            });
        if !is_all {
            let event_id = Arc::clone(&event.event_id);
            let rest = FollowUp::Deliver { event_id, event: id, received_at, one, only, after: None };
            self.leave(workspace, rest);
        }
        let (starts, more) = if starts_runs {
            let from = send.from.or(send.sender.as_ref().map(|sender| sender.run));
            self.start_runs(&event, from, false)
        } else {
            (Vec::new(), false)
        };
        if let Some(key) = key {
            let (waiters, starts) = (given.waiters.clone(), starts.clone());
            let reply = Reply::EventSent { event: id, waiters, starts };
            self.batch.idempotency.insert(
                key.clone(),
                IdempotencyRecord { key, digest: asked, reply, run: send.only, at: self.now },
            );
        }
        Ok(EventSent { id: Some(id), waiters: given.waiters, starts, delivering: !is_all || more })
    }

    /// The record of it is a part of the commit: on a shared store, too, the lease is that of the moment the event is sent.
    fn check_sender(&mut self, sender: &Sender, event: &Event) -> Result<(), Error> {
        let Sender { run, at, lease_epoch, by } = sender;
        self.check_workspace(*run, Some(event.workspace))?;
        let (at, lease_epoch, event_id) = (*at, *lease_epoch, Arc::clone(&event.event_id));
        let notified = TaskNotified { at, lease_epoch, event: event.id, event_id };
        self.decide(*run, Command::TaskNotified(notified), by.clone(), None).map(drop)
    }

    pub(crate) fn is_delivering(&self, event_key: &EventKey) -> bool {
        self.backlog.is_delivering(event_key)
            || self.batch.is_delivering(event_key)
            || self.in_flight.rounds().any(|(_, before)| before.is_delivering(event_key))
    }

    /// Gives an event to those who wait for it, the longest waiting first. Says whether all of them were offered it.
    fn give_at_once(
        &mut self,
        event: &Event,
        (one, only): (bool, Option<RunId>),
        is_dry: bool,
        given: &mut Given,
    ) -> Result<bool, Error> {
        let event_key = (event.workspace, Arc::clone(&event.event_id));
        let looked_up = self.waiting.get(&event_key).cloned().filter(|_| only.is_none());
        let (waiters, most) = match looked_up {
            Some(waiters) => (waiters, FIRST_PAGE),
            None => (self.waiters_of(&event_key, only, None, PAGE)?, PAGE),
        };
        let is_all = waiters.len() < most;
        let known: HashSet<WaitpointId> = waiters.iter().map(|waiter| waiter.waitpoint).collect();
        if !self.give_to(waiters, event, one, is_dry, given)? {
            return Ok(false);
        }
        if (one && !given.waiters.is_empty()) || !is_all || only.is_some() {
            return Ok(is_all);
        }
        // Waits that began in this round, or in one that is being committed, may not be in the store yet.
        let fresh = self.in_flight.rounds().map(|(_, before)| before).chain([&*self.batch]);
        let fresh = fresh.filter_map(|decided| decided.listening.get(&event_key)).flatten();
        let fresh: Vec<WaitpointId> = fresh.copied().filter(|wait| !known.contains(wait)).collect();
        let fresh = fresh.into_iter().filter_map(|wait| self.waiter(wait, &event_key)).collect();
        self.give_to(fan_out::line_up(fresh), event, one, is_dry, given)
    }

    /// The waits for an event, oldest first, after the one that was offered it last.
    fn waiters_of(
        &mut self,
        event_key: &EventKey,
        only: Option<RunId>,
        after: Option<(Timestamp, WaitpointId)>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error> {
        let (workspace, event_id) = event_key;
        let Some(only) = only else { return Ok(self.store.waiters(*workspace, event_id, after, limit)?) };
        let run = match self.run(only) {
            Ok(run) => run,
            Err(error) if error.passes() => return Err(error),
            Err(_) => return Ok(Vec::new()),
        };
        let after = after.map_or(0, |(_, wait)| wait.number);
        let waiters = Waiter::of_run(run, event_id, after).filter(|waiter| waiter.workspace == *workspace);
        Ok(waiters.take(limit).collect())
    }

    /// A wait for this event, by what is known of its run now.
    fn waiter(&mut self, waitpoint: WaitpointId, (workspace, event_id): &EventKey) -> Option<Waiter> {
        let run = self.run(waitpoint.run).ok().filter(|run| run.workspace == *workspace)?;
        Waiter::of(run, waitpoint.number, event_id)
    }

    /// Gives an event to these, as far as they take it. Says whether all of them were offered it.
    fn give_to(
        &mut self,
        waiters: Vec<Waiter>,
        event: &Event,
        one: bool,
        is_dry: bool,
        given: &mut Given,
    ) -> Result<bool, Error> {
        let event_key = (event.workspace, Arc::clone(&event.event_id));
        let before = given.waiters.len();
        let mut rest = &waiters[..];
        loop {
            let fan_out::Offered { takers, up_to, compared, is_all } =
                fan_out::offer(event, rest, one, &mut self.batch.spent);
            given.after = up_to.or(given.after);
            self.memory.refresh(self.store, takers.iter().map(|wait| wait.run))?;
            fan_out::give(&takers, one, &mut given.waiters, |waitpoint| {
                if is_dry {
                    return Ok(self.waiter(waitpoint, &event_key).is_some()
                        && self.run(waitpoint.run).is_ok_and(|run| run.takes(waitpoint.number, event)));
                }
                let command = DeliverEvent { number: waitpoint.number, event: event.clone() };
                match self.decide(waitpoint.run, Command::DeliverEvent(command), Actor::new("event"), None) {
                    Err(error) if error.passes() => Err(error),
                    decided => Ok(decided.is_ok()),
                }
            })?;
            rest = &rest[compared..];
            let is_done = one && given.waiters.len() > before;
            if is_done || !is_all {
                return Ok(is_done);
            }
            if rest.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Goes on with what an earlier round had no room for. Gives what is left of it. Fails only while nothing of it can be read.
    pub(super) fn go_on_offering(&mut self, stored: &StoredFollowUp) -> Result<Option<FollowUp>, Error> {
        match &stored.what {
            FollowUp::Deliver { event_id, event, received_at, one, only, after } => {
                let event_key = (stored.workspace, Arc::clone(event_id));
                let found = self.stored_event(stored.workspace, event_id, (*received_at, *event))?;
                let Some(found) = found else { return Ok(None) };
                let after = self.give_on(&event_key, &found, (*one, *only), *after);
                Ok(after.map(|after| FollowUp::Deliver {
                    event_id: Arc::clone(event_id),
                    event: *event,
                    received_at: *received_at,
                    one: *one,
                    only: *only,
                    after,
                }))
            }
            FollowUp::LookBack { waitpoint, after } => {
                match self.run(waitpoint.run) {
                    Err(error) if error.passes() => return Err(error),
                    Ok(_) | Err(_) => {}
                }
                let Some(begun) = self.begun(waitpoint.run, waitpoint.number) else { return Ok(None) };
                let (event_id, since) = (&begun.filter.event_id, begun.filter.since);
                let found = self.store.events_since(begun.workspace, event_id, since, *after, MORE_EVENTS)?;
                let after = self.offer(&begun, found, MORE_EVENTS, *after);
                Ok(after.map(|after| FollowUp::LookBack { waitpoint: *waitpoint, after }))
            }
            FollowUp::StartChild(_)
            | FollowUp::Cancel { .. }
            | FollowUp::TellParent { .. }
            | FollowUp::TellSchedule { .. }
            | FollowUp::Grant { .. }
            | FollowUp::ApplySettings { .. }
            | FollowUp::StartRuns { .. }
            | FollowUp::StartScheduled { .. } => Ok(None),
        }
    }

    /// An event that is in the store.
    pub(super) fn stored_event(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        (received_at, event): (Timestamp, EventUid),
    ) -> Result<Option<Event>, Error> {
        // Very many events may have been received in one instant: this one is the first after the id before its own.
        let before = (received_at, EventUid(event.0.saturating_sub(1)));
        let found = self.store.events_since(workspace, event_id, received_at, Some(before), 1)?;
        Ok(found.into_iter().find(|found| found.id == event))
    }

    /// Goes on delivering an event to those who wait for it. Gives how far it came, if there may be more.
    fn give_on(
        &mut self,
        event_key: &EventKey,
        event: &Event,
        (one, only): (bool, Option<RunId>),
        after: Option<(Timestamp, WaitpointId)>,
    ) -> Option<Option<(Timestamp, WaitpointId)>> {
        let mut given = Given { waiters: Vec::new(), after };
        loop {
            let waiters = match self.waiters_of(event_key, only, given.after, PAGE) {
                Ok(waiters) => waiters,
                Err(error) => {
                    tracing::error!(%error, "who waits for an event could not be looked up");
                    return Some(given.after);
                }
            };
            let is_last = waiters.len() < PAGE;
            match self.give_to(waiters, event, one, false, &mut given) {
                Ok(true) if is_last => return None,
                Ok(_) if one && !given.waiters.is_empty() => return None,
                Ok(true) if !self.batch.spent.is_offered_out() => {}
                Ok(_) => return Some(given.after),
                Err(error) => {
                    tracing::error!(%error, "those who wait for an event could not be loaded");
                    return Some(after);
                }
            }
        }
    }
}

fn sent_before(reply: Reply) -> EventSent {
    match reply {
        Reply::EventSent { event, waiters, starts } => {
            EventSent { id: Some(event), waiters, starts, delivering: false }
        }
        Reply::Done
        | Reply::Started(_)
        | Reply::Collected(_)
        | Reply::Unchanged
        | Reply::Signalled { .. }
        | Reply::Waitpoint(_)
        | Reply::Repeated(_)
        | Reply::Leased { .. }
        | Reply::Voted { .. } => {
            EventSent { id: None, waiters: Vec::new(), starts: Vec::new(), delivering: false }
        }
    }
}
