//! Retention: what is old enough is forgotten, a little at a time, so that commits stay quick. Runs that have not
//! ended are never forgotten, however long they sleep.

use std::time::Duration;

use abide_core::time::Millis;
use abide_store::Store;
use jiff::Timestamp;

use crate::error::Error;

/// Rows of each kind that one sweep removes at most.
const SWEEP: usize = 200;
/// How soon to look again when there was more, and when there was not.
pub(crate) const SOON: Duration = Duration::from_millis(50);
pub(crate) const LATER: Duration = Duration::from_secs(60);

const DAY: Millis = Millis(24 * 60 * 60 * 1_000);

/// How long things are kept after nobody needs them. `None`: for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Runs, with their history, after they ended.
    pub runs: Option<Millis>,
    /// Events, after they were received. No wait can look back further.
    pub events: Option<Millis>,
    /// Answers under idempotency keys, after they were given.
    pub keys: Option<Millis>,
    /// What webhooks were told, after that; what they are still to be told is kept.
    pub deliveries: Option<Millis>,
}

impl Default for Retention {
    fn default() -> Retention {
        let days = |count: u64| Some(Millis(count * DAY.0));
        Retention { runs: None, events: days(30), keys: days(30), deliveries: days(30) }
    }
}

/// What to forget now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    pub(crate) retention: Retention,
    pub(crate) now: Timestamp,
}

/// What a sweep came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forgotten {
    pub(crate) there_is_more: bool,
}

impl Sweep {
    pub(crate) fn perform(self, store: &mut dyn Store) -> Result<Forgotten, Error> {
        let before = |kept: Option<Millis>| kept.map(|kept| kept.before(self.now));
        let mut most = 0;
        if let Some(before) = before(self.retention.runs) {
            most = most.max(store.forget_runs(before, SWEEP)?);
        }
        if let Some(before) = before(self.retention.events) {
            most = most.max(store.forget_events(before, SWEEP)?);
        }
        if let Some(before) = before(self.retention.keys) {
            most = most.max(store.forget_keys(before, SWEEP)?);
        }
        if let Some(before) = before(self.retention.deliveries) {
            most = most.max(store.forget_deliveries(before, SWEEP)?);
        }
        Ok(Forgotten { there_is_more: most == SWEEP })
    }
}
