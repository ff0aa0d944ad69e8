//! Lines: who waits for room under a limit, in which order, as the store says and as was decided since.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use abide_core::capacity::CapacityRequest;
use abide_core::id::{LimitId, RunId, WaitpointId};
use abide_store::InLine;

use super::{Decider, RunDelta};
use crate::error::Error;

/// The waits in a line are looked up in pages of this size.
const PAGE: usize = 32;
/// How many pages of a line are looked at for one that may have room. Who is passed over is held, or was let in already.
const PAGES: usize = 32;

/// The waits for room that began in a round, by the limit whose line they stand in.
pub(crate) type Lines = BTreeMap<LimitId, BTreeSet<InLine>>;

impl Decider<'_> {
    /// The next in line that may be let in.
    pub(super) fn next_in_line(&mut self, id: LimitId) -> Result<Option<WaitpointId>, Error> {
        for _ in 0..PAGES {
            let passed = self.batch.limits.get(&id).and_then(|delta| delta.passed);
            let (page, is_last) = self.in_line(id, passed)?;
            for place in page {
                let stands = self.stands_in_line(id, place.waitpoint)?;
                if let Some(delta) = self.batch.limits.get_mut(&id) {
                    delta.passed = Some(place);
                }
                if stands {
                    return Ok(Some(place.waitpoint));
                }
            }
            if is_last {
                break;
            }
        }
        Ok(None)
    }

    /// A page of those in line after a place, of the store and of what is not committed; and whether it is the last.
    pub(super) fn in_line(
        &mut self,
        id: LimitId,
        after: Option<InLine>,
    ) -> Result<(Vec<InLine>, bool), Error> {
        let mut page = self.store.line(id, after.as_ref(), PAGE)?;
        let mut is_last = page.len() < PAGE;
        let decided = self.in_flight.rounds().map(|(_, before)| &before.lines).chain([&self.batch.lines]);
        for line in decided.filter_map(|lines| lines.get(&id)) {
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            let known = page.len();
            page.extend(line.range((from, Bound::Unbounded)).take(PAGE));
            is_last &= page.len() - known < PAGE;
        }
        page.sort_unstable();
        page.dedup();
        is_last &= page.len() <= PAGE;
        page.truncate(PAGE);
        Ok((page, is_last))
    }

    /// Whether a wait still stands in this line. One whose run is held or cannot be read is passed over, and one whose time
    /// is over, even if its timer has not fired yet (R4).
    fn stands_in_line(&mut self, id: LimitId, waitpoint: WaitpointId) -> Result<bool, Error> {
        Ok(self.is_known_in_line(id, waitpoint)?
            || (self.read_again(waitpoint.run)? && self.is_known_in_line(id, waitpoint)?))
    }

    /// Reads a run again that nothing was decided about here. The store has just said where it waits: who knows otherwise may
    /// have read it before another node had it wait there.
    fn read_again(&mut self, id: RunId) -> Result<bool, Error> {
        let is_decided = self.batch.changed(id).is_some() || self.in_flight.changes(id);
        if is_decided || !self.memory.is_shared() {
            return Ok(false);
        }
        let Some(RunDelta { run, actions, .. }) = self.batch.take_out(id) else { return Ok(false) };
        self.memory.distrust(run);
        match self.delta(id) {
            Ok(delta) => delta.actions.extend(actions),
            Err(error) if error.passes() => return Err(error),
            Err(_) => return Ok(false),
        }
        Ok(true)
    }

    fn is_known_in_line(&mut self, id: LimitId, waitpoint: WaitpointId) -> Result<bool, Error> {
        let now = self.now;
        let run = match self.run(waitpoint.run) {
            Ok(run) => run,
            Err(error) if error.passes() => return Err(error),
            Err(_) => return Ok(false),
        };
        let wait = run.waitpoint(waitpoint.number).filter(|wait| wait.is_pending() && !wait.is_due(now));
        let awaited = wait.and_then(|wait| wait.listens_for.capacity()).and_then(CapacityRequest::awaited);
        Ok(awaited.is_some_and(|ask| ask.limit == id))
    }
}
