//! Retention: what is old enough and what no open run may come to any more is forgotten, a little at a time, so that
//! commits stay quick.
//!
//! What is to be forgotten is found beside the writer, on a reader; the writer only removes it. Everything is looked at
//! once, in the order of its age. What an open run may still come to is passed over, and found again by what would
//! release it: the end of that run, or that no open run can wait for such an event any more. So a sweep costs what there
//! is to forget, and not what is kept.

mod events;
mod keys;
mod sweeper;

use std::time::Duration;

use abide_core::bounds::Bounds;
use abide_core::time::Millis;
use jiff::Timestamp;

pub(crate) use sweeper::Sweeper;

/// Rows of each kind that one sweep removes at most.
const SWEEP: usize = 200;
/// Rows of each kind that one sweep looks at, at most.
const LOOK: usize = 1_000;
/// How soon to look again when there was more, and when there was not.
const SOON: Duration = Duration::from_millis(50);
const LATER: Duration = Duration::from_secs(60);
/// How often everything that was passed over is looked at again, whatever happened meanwhile.
const ANEW: Duration = Duration::from_secs(24 * 60 * 60);

/// How long what is not needed any more is kept. `None`: for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How long runs are kept, with their history, after they ended.
    pub runs: Option<Millis>,
    /// How long events are kept after they were received; longer if an open run may still come to them.
    pub events: Option<Millis>,
    /// How long events are kept after they were received even if an open run may still come to them. A wait that
    /// would have looked back further says so.
    pub events_at_most: Option<Millis>,
    /// How long idempotency records are kept after they were made, and after the run that they are about has ended.
    pub keys: Option<Millis>,
    /// How long deliveries of webhooks are kept after they ended; pending ones are kept.
    pub deliveries: Option<Millis>,
}

impl Default for Retention {
    fn default() -> Retention {
        let month = Some(Millis::from_days(30));
        Retention { runs: None, events: month, events_at_most: None, keys: month, deliveries: month }
    }
}

impl Retention {
    /// How long an event is kept that no open run may come to.
    fn unclaimed_events(&self) -> Option<Millis> {
        self.events.into_iter().chain(self.events_at_most).min()
    }

    /// The part of the retention that enters decisions.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            keep_events: self.unclaimed_events(),
            keep_events_at_most: self.events_at_most,
            ..Bounds::default()
        }
    }
}

fn line(kept: Option<Millis>, now: Timestamp) -> Option<Timestamp> {
    kept.map(|kept| kept.before(now))
}
