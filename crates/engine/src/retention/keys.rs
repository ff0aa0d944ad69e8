//! Which idempotency keys may be forgotten: none of a run that is open, and none that is younger, or whose run ended
//! later, than keys are kept.

use abide_core::id::RunId;
use abide_store::{Error, KeyPlace, OfRun, Read, RunOfKey};
use jiff::Timestamp;

use super::{LOOK, SWEEP};

/// How far the looks at keys have come.
#[derive(Debug)]
pub(super) struct Keys {
    /// In the order of time.
    looked_at: Option<KeyPlace>,
    /// Runs that ended up to here have no keys left.
    ended: Option<(Timestamp, RunId)>,
}

/// What a look at keys came to.
#[derive(Debug, Default)]
pub(super) struct FoundKeys {
    pub(super) keys: Vec<String>,
    /// Ended runs that have keys.
    pub(super) of_runs: Vec<RunId>,
    pub(super) there_is_more: bool,
}

impl Keys {
    pub(super) fn new() -> Keys {
        Keys { looked_at: None, ended: None }
    }

    /// Looks at everything again, from the beginning.
    pub(super) fn begin_anew(&mut self) {
        self.looked_at = None;
    }

    pub(super) fn look(&mut self, store: &mut dyn Read, line: Timestamp) -> Result<FoundKeys, Error> {
        let mut found = FoundKeys::default();
        let begun = *self.ended.get_or_insert((line, RunId(0)));
        let old = store.old_keys(line, self.looked_at.as_ref(), LOOK)?;
        found.there_is_more = old.len() == LOOK;
        for key in old {
            if found.keys.len() == SWEEP {
                found.there_is_more = true;
                break;
            }
            let is_needed = match key.run {
                RunOfKey::None => false,
                RunOfKey::Open => true,
                RunOfKey::Ended(at) => at >= line,
            };
            self.looked_at = Some((key.written_at, key.key.clone()));
            if !is_needed {
                found.keys.push(key.key);
            }
        }
        let ended = store.ended_runs(line, begun, LOOK)?;
        found.there_is_more |= ended.len() == LOOK;
        let runs: Vec<RunId> = ended.iter().map(|(_, run)| *run).collect();
        found.of_runs = store.owners(&runs, OfRun::Keys)?;
        self.ended = ended.last().copied().or(self.ended);
        Ok(found)
    }
}
