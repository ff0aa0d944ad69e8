//! How waits end: once, never early, and with the signals and events that are theirs.

use std::sync::Arc;

use abide_core::command::Event;
use abide_core::history::Record;
use abide_core::id::EventUid;
use abide_core::run::Run;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::{Kind, ListensFor};
use jiff::Timestamp;

use super::shape::precedes;
use super::{Ledger, Watched, WatchedWait};
use crate::world::Check;

impl Watched {
    pub(super) fn resolves(
        &mut self,
        run: &Run,
        record: &Record,
        number: u32,
        status: WaitStatus,
        signal: Option<u64>,
        store: &impl Ledger,
    ) -> Check {
        let id = run.waitpoint_id(number);
        let mailed = signal.and_then(|signal| self.received_at(signal));
        let wait = self.wait(run, number)?;
        if std::mem::replace(&mut wait.resolved, true) {
            return Err(format!("R2: {id} was resolved twice"));
        }
        let due = wait.resume_at.is_some_and(|at| record.at >= at);
        let by_clock = *record.by.0 == *"timer";
        match status {
            WaitStatus::Pending => return Err(format!("{id} was resolved to PENDING")),
            WaitStatus::Completed if wait.kind.ends_by_time() && by_clock && !due => {
                return Err(format!("R3: {id} ended early"));
            }
            WaitStatus::TimedOut if by_clock && !due => return Err(format!("R3: {id} timed out early")),
            WaitStatus::Completed
                if !wait.kind.ends_by_time()
                    && due
                    && wait.kind != Kind::Event
                    && mailed.is_none_or(|mailed| wait.resume_at.is_some_and(|at| mailed >= at)) =>
            {
                return Err(format!("R4: {id} was completed after its deadline"));
            }
            WaitStatus::Completed | WaitStatus::TimedOut | WaitStatus::Cancelled => {}
        }
        let (deadline, kind) = (wait.resume_at, wait.kind);
        if status == WaitStatus::TimedOut && kind == Kind::Approval && !by_clock {
            self.may_decide(run, record, number)?;
        }
        if status == WaitStatus::TimedOut && by_clock {
            self.missed_event(run, number, deadline, store)?;
        }
        self.resolves_one_of_several(run, record, number, mailed, store)?;
        match signal {
            Some(signal) => self.takes_signal(run, number, signal),
            None => Ok(()),
        }
    }

    /// R5a: in the order they came, each once.
    fn takes_signal(&mut self, run: &Run, number: u32, signal: u64) -> Check {
        let Some(ListensFor::Signal { signal_type }) = run.waitpoint(number).map(|wait| &wait.listens_for)
        else {
            return Err(format!("{}: a signal was given to a wait for something else", run.id));
        };
        let taken = self.taken.entry(Arc::clone(signal_type)).or_default();
        let next = self.received.get(signal_type).and_then(|received| received.get(taken.len()));
        let next = next.map(|(id, _)| *id);
        if next != Some(signal) {
            return Err(format!("R5a: {}: signal {signal} was taken, {next:?} was next", run.id));
        }
        taken.push(signal);
        Ok(())
    }

    fn received_at(&self, signal: u64) -> Option<Timestamp> {
        let mut all = self.received.values().flatten();
        all.find(|(id, _)| *id == signal).map(|(_, at)| *at)
    }

    /// R5b: an event is for every wait that stands beside those that took it, and for none that comes after one of them:
    /// a later step of the same way, or a wait of the same place that was not open yet.
    pub(super) fn came_before(&self, run: &Run, number: u32, event: EventUid) -> bool {
        let Some(WatchedWait { at: Some(at), opened, .. }) = self.waits.get(&number) else { return false };
        self.events_taken.get(&event).into_iter().flatten().any(|(taker, taken)| {
            (taker == at && taken < opened) || (taker.step != at.step && precedes(run, taker.step, at.step))
        })
    }

    /// Whether a wait is for this event, by the law as it is written here.
    pub(super) fn is_for(&self, run: &Run, number: u32, event: &Event) -> bool {
        let Some(ListensFor::Event(filter)) = run.waitpoint(number).map(|wait| &wait.listens_for) else {
            return false;
        };
        event.workspace == run.workspace
            && event.event_id == filter.event_id
            && event.received_at >= filter.since
            && run
                .started_on
                .as_ref()
                .is_none_or(|on| (event.received_at, event.id) > (on.received_at, on.event))
            && filter.accepts(&event.data)
            && !self.came_before(run, number, event.id)
    }

    /// R5b: a wait may time out only if nothing that it waits for was received in time.
    pub(super) fn missed_event(
        &self,
        run: &Run,
        number: u32,
        deadline: Option<Timestamp>,
        store: &impl Ledger,
    ) -> Check {
        let in_time = |received: Timestamp| deadline.is_none_or(|deadline| received < deadline);
        let mut events = store.events().filter(|event| in_time(event.received_at));
        match events.find(|event| self.is_for(run, number, event)) {
            Some(missed) => {
                Err(format!("R5b: {} timed out and missed {}", run.waitpoint_id(number), missed.id))
            }
            None => Ok(()),
        }
    }
}
