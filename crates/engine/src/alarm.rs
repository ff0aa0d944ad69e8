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
/// The horizon of a node that is one of many. What is set for later is loaded by the node of its shard, and what is
/// set for before that is kept by whoever sets it; the less of it there is, the fewer timers two would fire.
const SHARED_HORIZON: Millis = Millis(4_000);
const PAGE: usize = 20_000;
/// How far apart the clocks of two processes may be.
const BESIDE: Millis = Millis(1_000);
/// Of what is late, so many are taken at a time.
const LATE_PAGE: usize = 2_000;

/// The part of all runs whose timers a process looks after: every one whose id leaves this rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) rest: usize,
    pub(crate) of: usize,
}

impl Shard {
    pub(crate) const ALL: Shard = Shard { rest: 0, of: 1 };

    pub(crate) fn has(self, run: RunId) -> bool {
        // The lower half of an id is random.
        let number = u64::try_from(run.0 & u128::from(u64::MAX)).expect("it was cut to fit");
        number % (self.of.max(1) as u64) == self.rest as u64
    }
}

#[derive(Debug)]
pub(crate) struct Alarm {
    horizon: Millis,
    near: BTreeSet<StoredTimer>,
    /// Every timer of the store up to and including this one is in `near`.
    loaded: Option<StoredTimer>,
    /// On a store that others look after, too: what is set here for before this is kept here, for nobody else may have
    /// heard of it in time. What is set for later, others load when it is near.
    kept_until: Option<Timestamp>,
    /// Others look after timers of the same store.
    is_shared: bool,
}

impl Default for Alarm {
    fn default() -> Alarm {
        Alarm { horizon: HORIZON, near: BTreeSet::new(), loaded: None, kept_until: None, is_shared: false }
    }
}

impl Alarm {
    /// Of a process that is one of many on its store.
    pub(crate) fn shared() -> Alarm {
        Alarm { horizon: SHARED_HORIZON, is_shared: true, ..Alarm::default() }
    }

    /// Makes sure that what is due soon is in memory, of the runs that are for this process to look after.
    pub(crate) fn load(
        &mut self,
        store: &mut dyn Read,
        now: Timestamp,
        shard: Shard,
    ) -> Result<(), abide_store::Error> {
        let soon = Millis(self.horizon.0 / 2).after(now);
        while self.near.len() < PAGE && self.loaded.is_none_or(|mark| mark.at < soon) {
            let until = self.horizon.after(now);
            let page = store.timers(self.loaded.as_ref(), until, PAGE)?;
            self.loaded = Some(match page.last() {
                Some(last) if page.len() == PAGE => *last,
                Some(_) | None => end_of(until),
            });
            self.near.extend(page.into_iter().filter(|timer| shard.has(timer.run)));
        }
        Ok(())
    }

    /// Looks for what should have been looked at before, until an instant that has passed. Whoever set it, or was to
    /// look after it, may be gone.
    pub(crate) fn load_late(
        &mut self,
        store: &mut dyn Read,
        until: Timestamp,
        shard: Shard,
    ) -> Result<(), abide_store::Error> {
        let late = store.timers(None, until, LATE_PAGE)?;
        self.near.extend(late.into_iter().filter(|timer| shard.has(timer.run)));
        Ok(())
    }

    /// Other runs are for this process to look after: what is near is loaded anew.
    pub(crate) fn forget_loaded(&mut self) {
        self.near.retain(|timer| matches!(timer.timer, Timer::Attempt { .. }));
        self.loaded = None;
    }

    /// Others load what is near to them at their own pace: what is near to them is near here. Where there are none, nothing
    /// is kept beyond what was loaded.
    pub(crate) fn keep_near(&mut self, now: Timestamp) {
        self.kept_until = self.is_shared.then_some(Millis(self.horizon.0 + BESIDE.0).after(now));
    }

    /// A timer was set; if it is far away, the store has it.
    pub(crate) fn set(&mut self, timer: StoredTimer) {
        let attempt = matches!(timer.timer, Timer::Attempt { .. });
        let near = self.loaded.is_some_and(|mark| timer <= mark);
        if attempt || near || self.kept_until.is_some_and(|until| timer.at <= until) {
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
