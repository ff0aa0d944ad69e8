//! The alarm clock. Only the near future is in memory: every timer up to a mark. The rest stays in the store's
//! index, however many there are. Timers are absolute instants, compared with the wall clock each time.

use std::collections::BTreeSet;

use abide_core::id::RunId;
use abide_core::run::Timer;
use abide_core::time::Millis;
use abide_store::{Read, StoredTimer};
use jiff::Timestamp;

/// How far ahead timers are loaded into memory.
const HORIZON: Millis = Millis(60_000);
/// How far ahead a node that is one of several loads timers. What is set for later is loaded by the node of its
/// shard, and what is set for before that is kept by the node that sets it; the less of it there is, the fewer timers
/// two nodes fire.
const SHARED_HORIZON: Millis = Millis(4_000);
/// How many timers are loaded at a time.
const PAGE: usize = 20_000;
/// How far the clocks of two nodes may differ.
const BESIDE: Millis = Millis(1_000);
/// How many timers that are late are loaded at a time.
const LATE_PAGE: usize = 2_000;

/// The shard of a node: the runs whose timers it looks after, those whose id divided by `of` leaves `rest`.
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
    /// On a shared store: timers set here for before this instant are kept here, for no other node may have loaded
    /// them in time. What is set for later, the node of its shard loads when it is near.
    kept_until: Option<Timestamp>,
    /// Whether other nodes look after timers of the same store.
    is_shared: bool,
}

impl Default for Alarm {
    fn default() -> Alarm {
        Alarm { horizon: HORIZON, near: BTreeSet::new(), loaded: None, kept_until: None, is_shared: false }
    }
}

impl Alarm {
    /// The alarm of a node that is one of several on its store.
    pub(crate) fn shared() -> Alarm {
        Alarm { horizon: SHARED_HORIZON, is_shared: true, ..Alarm::default() }
    }

    /// Loads the timers of this node's shard that are due soon.
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

    /// Loads timers that should have fired before an instant in the past: the node that set them, or was to look
    /// after them, may be gone.
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

    /// Forgets how far timers were loaded, because this node has another shard.
    pub(crate) fn forget_loaded(&mut self) {
        self.near.retain(|timer| matches!(timer.timer, Timer::Attempt { .. }));
        self.loaded = None;
    }

    /// Keeps timers that are set here for the next while, since other nodes load theirs at their own pace. On a store
    /// of one's own, nothing is kept beyond what was loaded.
    pub(crate) fn keep_near(&mut self, now: Timestamp) {
        self.kept_until = self.is_shared.then_some(Millis(self.horizon.0 + BESIDE.0).after(now));
    }

    /// Sets a timer; one that is far away stays in the store alone.
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

    /// The instant of the next of all timers, however far away.
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

    /// Puts back timers that could not be handled.
    pub(crate) fn put_back(&mut self, timers: impl IntoIterator<Item = StoredTimer>) {
        self.near.extend(timers);
    }
}

/// A timer that sorts after every timer of that instant.
fn end_of(at: Timestamp) -> StoredTimer {
    StoredTimer { at, run: RunId(u128::MAX), timer: Timer::Run }
}
