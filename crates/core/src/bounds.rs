//! Bounds that the operator of an engine sets. They are values that enter every decision, like the clock; the fixed
//! limits are in [`limits`].

use jiff::Timestamp;

use crate::limits;
use crate::run::Run;
use crate::time::Millis;

/// The bounds that the operator has set, as they enter every decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The longest that a wait may take, and the furthest that a deadline may lie ahead.
    pub max_wait: Millis,
    /// How long an event is kept that no open run may come to; `None`: for ever.
    pub keep_events: Option<Millis>,
    /// How long an event is kept at most, whoever may still come to it; `None`: as long as an open run may.
    pub keep_events_at_most: Option<Millis>,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { max_wait: limits::WAIT, keep_events: None, keep_events_at_most: None }
    }
}

impl Bounds {
    /// The instant before which events may have been forgotten that a wait of this run, which begins now, would look
    /// back to; `None` if the wait sees all that it asks for.
    ///
    /// From the moment a run is started, retried or moved to a version that waits for more, retention leaves alone
    /// what the run may come to. Events that were older than `keep_events` at that moment may have been gone already.
    pub fn forgotten_before(&self, run: &Run, since: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let opened_at = run.retried_at.max(run.awaits_since).unwrap_or(run.created_at);
        let unclaimed = self.keep_events.map(|kept| kept.before(opened_at));
        let too_old = self.keep_events_at_most.map(|kept| kept.before(now));
        unclaimed.max(too_old).filter(|horizon| since < *horizon)
    }
}
