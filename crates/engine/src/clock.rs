//! The clock, as something that can be given: the machine's, or one that a test sets.

use std::sync::{Arc, Mutex, PoisonError};

use abide_core::time::Millis;
use jiff::Timestamp;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Whether time passes by itself. If not, the engine does not wait for it.
    fn runs(&self) -> bool;
}

/// The machine's wall clock, in whole milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }

    fn runs(&self) -> bool {
        true
    }
}

/// A clock that stands still until it is set. Clones share the time.
#[derive(Clone, Debug)]
pub struct SettableClock(Arc<Mutex<Timestamp>>);

impl SettableClock {
    pub fn new(now: Timestamp) -> SettableClock {
        SettableClock(Arc::new(Mutex::new(now)))
    }

    pub fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

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
