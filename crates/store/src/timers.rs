//! Timers: what must go off, and when.

use abide_core::id::RunId;
use abide_core::run::Timer;
use jiff::Timestamp;

use crate::Error;

/// Finds what is due.
pub trait Timers: Send {
    /// Timers of all workspaces due up to and including `until`, in due order, beginning after `after`, at most
    /// `limit`.
    fn timers(
        &mut self,
        after: Option<&StoredTimer>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<StoredTimer>, Error>;
}

/// The timer of a limit: it has no waits, and one timer at most.
pub const LIMIT_TIMER: Timer = Timer::Waitpoint(0);

/// A timer that must go off. Ordered by its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredTimer {
    pub at: Timestamp,
    pub run: RunId,
    /// [`Timer::Waitpoint`] or [`Timer::Run`]; the time of an attempt is known only while its run is in memory.
    pub timer: Timer,
}
