//! The clock, as something that can be given: the machine's, one that a test sets, or that of a store that several
//! nodes share.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use abide_core::time::Millis;
use jiff::Timestamp;

/// The wall clock that an engine goes by: timers, leases and deadlines are compared with it.
pub trait Clock: Send + Sync + 'static {
    /// The present instant, in whole milliseconds. It may go back.
    fn now(&self) -> Timestamp;

    /// An instant that is not before now by the clock of any node of this store.
    fn latest(&self) -> Timestamp {
        self.now()
    }

    /// Whether time passes by itself. If not, the engine does not wait for it.
    fn runs(&self) -> bool;
}

/// The machine's wall clock, in whole milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        whole_ms(Timestamp::now())
    }

    fn runs(&self) -> bool {
        true
    }
}

/// A clock that stands still until it is set. Clones share the time.
#[derive(Clone, Debug)]
pub struct SettableClock(Arc<Mutex<Timestamp>>);

impl SettableClock {
    /// A clock that stands at this instant.
    pub fn new(now: Timestamp) -> SettableClock {
        SettableClock(Arc::new(Mutex::new(now)))
    }

    /// Sets the clock to an instant, which may be earlier.
    pub fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Moves the clock forward by this much.
    pub fn advance(&self, length: Millis) {
        self.set(length.after(self.now()));
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> bool {
        false
    }
}

/// The clock of a store that several nodes share: what it said last, and the time since then by a monotonic clock. It
/// is never ahead of the store's own, so that nothing is early; the machine's wall clock has no part in it.
#[derive(Debug)]
pub(crate) struct StoreClock(Mutex<Reading>);

#[derive(Clone, Copy, Debug)]
struct Reading {
    said: Timestamp,
    heard: Instant,
    /// How long the store's answer may have been under way.
    under_way: Duration,
}

/// How far two clocks drift apart between two readings, at most.
const DRIFT: Duration = Duration::from_millis(1);

impl StoreClock {
    pub(crate) fn new(said: Timestamp, asked: Instant) -> StoreClock {
        StoreClock(Mutex::new(Reading { said, heard: Instant::now(), under_way: asked.elapsed() }))
    }

    /// Takes what the store's clock said at some moment since it was asked.
    pub(crate) fn set(&self, said: Timestamp, asked: Instant) {
        let (heard, under_way) = (Instant::now(), asked.elapsed());
        let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What was known before is kept where it is closer, and cannot be ahead.
        let known = reading.said + reading.heard.elapsed();
        let said = known.clamp(said, said + under_way);
        *reading = Reading { said, heard, under_way };
    }

    fn reading(&self) -> Reading {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for StoreClock {
    fn now(&self) -> Timestamp {
        let Reading { said, heard, .. } = self.reading();
        whole_ms(said + heard.elapsed())
    }

    fn latest(&self) -> Timestamp {
        let Reading { said, heard, under_way } = self.reading();
        whole_ms(said + heard.elapsed() + under_way + DRIFT)
    }

    fn runs(&self) -> bool {
        true
    }
}

fn whole_ms(instant: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(instant.as_millisecond()).unwrap_or(instant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_store_is_never_ahead_of_it_and_its_latest_never_behind() {
        let said: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
        let second = Duration::from_secs(1);
        let clock = StoreClock::new(said, Instant::now() - second);
        assert!(clock.now() >= said && clock.now() < said + second);
        assert!(clock.latest() >= said + second);
        // An answer that was under way for long does not set back what is known better.
        let known = clock.now();
        clock.set(said, Instant::now() - second);
        assert!(clock.now() >= known);
        // If the store's clock is set back, time goes on from there.
        clock.set(said - 60 * second, Instant::now());
        assert!(clock.now() < said - 59 * second);
    }
}
