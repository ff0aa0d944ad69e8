//! The alarm clock. Only the near future is in memory: every timer up to a mark. The rest stays in the store's
//! index, however many there are. Timers are absolute instants, compared with the wall clock each time.

use std::collections::BTreeSet;

use abide_core::id::RunId;
use abide_core::run::Timer;
use abide_core::time::Millis;
use abide_store::{Read, StoredTimer};
use jiff::Timestamp;

/// How far ahead timers are loaded, and how many at a time.
const HORIZON: Millis = Millis(60_000);
const PAGE: usize = 20_000;

#[derive(Debug, Default)]
pub(crate) struct Alarm {
    near: BTreeSet<StoredTimer>,
    /// Every timer of the store up to and including this one is in `near`.
    loaded: Option<StoredTimer>,
}

impl Alarm {
    /// Makes sure that what is due soon is in memory.
    pub(crate) fn load(&mut self, store: &mut dyn Read, now: Timestamp) -> Result<(), abide_store::Error> {
        let soon = Millis(HORIZON.0 / 2).after(now);
        while self.near.len() < PAGE && self.loaded.is_none_or(|mark| mark.at < soon) {
            let until = HORIZON.after(now);
            let page = store.timers(self.loaded.as_ref(), until, PAGE)?;
            self.loaded = Some(match page.last() {
                Some(last) if page.len() == PAGE => *last,
                Some(_) | None => end_of(until),
            });
            self.near.extend(page);
        }
        Ok(())
    }

    /// A timer was set; if it is far away, the store has it.
    pub(crate) fn set(&mut self, timer: StoredTimer) {
        let attempt = matches!(timer.timer, Timer::Attempt { .. });
        if attempt || self.loaded.is_some_and(|mark| timer <= mark) {
            self.near.insert(timer);
        }
    }

    pub(crate) fn clear(&mut self, timer: &StoredTimer) {
        self.near.remove(timer);
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.near.first().map(|timer| timer.at)
    }

    /// The next of all timers, however far away.
    pub(crate) fn next_of_all(&self, store: &mut dyn Read) -> Result<Option<Timestamp>, abide_store::Error> {
        let far = store.timers(self.loaded.as_ref(), Timestamp::MAX, 1)?;
        Ok(self.next().into_iter().chain(far.first().map(|timer| timer.at)).min())
    }

    /// Takes what is due, in due order, at most so many.
    pub(crate) fn take_due(&mut self, now: Timestamp, most: usize) -> Vec<StoredTimer> {
        let mut due = Vec::new();
        while due.len() < most && self.near.first().is_some_and(|timer| timer.at <= now) {
            due.extend(self.near.pop_first());
        }
        due
    }

    /// Puts back what could not be handled.
    pub(crate) fn put_back(&mut self, timers: impl IntoIterator<Item = StoredTimer>) {
        self.near.extend(timers);
    }
}

/// Ordered after every timer of that instant.
fn end_of(at: Timestamp) -> StoredTimer {
    StoredTimer { at, run: RunId(u128::MAX), timer: Timer::Run }
}
