//! Lines: who waits for room under a limit, in which order, as the store says and as was decided since. Where those in a line ask
//! for keys of another limit, too, the keys take turns: one of each, and then the next of each (R23).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use abide_core::capacity::CapacityRequest;
use abide_core::id::{LimitId, RunId, WaitpointId};
use abide_store::InLine;

use super::{Decider, RunDelta};
use crate::error::Error;

/// The waits in a line are looked up in pages of this size.
const PAGE: usize = 32;
/// Where groups take turns, the waits of one group are looked up in pages of this size: mostly the first is wanted.
const GROUP_PAGE: usize = 4;
/// How many pages of a line, or of a group, are looked at for one that may have room. Who is passed over is held, or was let in
/// already.
const PAGES: usize = 32;
/// How many groups are looked at for one that may have room.
const GROUPS: usize = 1_024;

/// The waits for room that began in a round, by the limit whose line they stand in.
pub(crate) type Lines = BTreeMap<LimitId, BTreeSet<InLine>>;

/// How far a line was looked through in a round.
#[derive(Default)]
pub(super) struct Looked {
    /// How far each group that takes turns was looked through; under `None` also lines without groups.
    passed: BTreeMap<Option<LimitId>, Passed>,
    ahead: Option<Ahead>,
}

/// How far one group of a line was looked through.
#[derive(Clone, Copy)]
struct Passed {
    /// The last that was let in, went to another line, or cannot be let in now.
    last: InLine,
    /// Nobody up to here stands in the line any more.
    left: Option<InLine>,
    /// Whether that is as far as was looked.
    all_left: bool,
}

/// A page of a line that was read from the store, and is not used up.
struct Ahead {
    after: Option<InLine>,
    places: Vec<InLine>,
    /// How many rounds had been committed then: with each, the store says something else.
    read_at: u64,
}

/// What is known of a wait that the store has in a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlaceStatus {
    /// The wait stands in the line, and may be let in.
    Stands,
    /// The wait is no longer in this line.
    Left,
    /// The wait cannot be let in now: its run is held or cannot be read, or its time is over (R4).
    PassedOver,
}

impl Looked {
    /// What a round on top of this one need not look through again.
    pub(super) fn carried_over(&self) -> Looked {
        let left = |(group, passed): (&Option<LimitId>, &Passed)| {
            let last = passed.left?;
            Some((*group, Passed { last, left: Some(last), all_left: true }))
        };
        let is_short = self.passed.len() <= GROUPS;
        let passed = self.passed.iter().filter(|_| is_short).filter_map(left).collect();
        Looked { passed, ahead: None }
    }

    /// Somebody joined the line: who comes with a head start may come before those that were looked at.
    pub(super) fn joined(&mut self, place: InLine) {
        if self.passed.get(&place.group).is_some_and(|passed| passed.last >= place) {
            self.passed.remove(&place.group);
        }
    }

    /// A group was looked through up to this place, and who stood there has left the line or not.
    fn pass(&mut self, group: Option<LimitId>, place: InLine, has_left: bool) {
        let first = Passed { last: place, left: None, all_left: true };
        let passed = self.passed.entry(group).or_insert(first);
        passed.last = place;
        passed.all_left &= has_left;
        if passed.all_left {
            passed.left = Some(place);
        }
    }

    fn last(&self, group: Option<LimitId>) -> Option<InLine> {
        self.passed.get(&group).map(|passed| passed.last)
    }
}

impl Decider<'_> {
    /// The next in line that may be let in.
    pub(super) fn next_in_line(&mut self, id: LimitId) -> Result<Option<InLine>, Error> {
        let Some(delta) = self.batch.limits.get(&id) else { return Ok(None) };
        let Some(turn) = delta.turn() else { return self.next_after(id, None, None) };
        let mut last = Some(turn).filter(|turn| *turn != LimitId::NO_GROUP);
        let mut seen = BTreeSet::new();
        while seen.len() < GROUPS {
            let Some(group) = self.group_after(id, last)?.filter(|group| seen.insert(*group)) else { break };
            if let Some(next) = self.next_after(id, Some(InLine::before_group(group)), Some(group))? {
                return Ok(Some(next));
            }
            last = group;
        }
        Ok(None)
    }

    /// Notes that the first of a line, or of its group, has left it.
    pub(super) fn has_left(&mut self, id: LimitId, place: InLine) {
        if let Some(delta) = self.batch.limits.get_mut(&id) {
            delta.looked.pass(place.group, place, true);
        }
    }

    /// The group whose turn it is after another; the first group comes after the last.
    fn group_after(&mut self, id: LimitId, last: Option<LimitId>) -> Result<Option<Option<LimitId>>, Error> {
        let after = InLine::after_group(last);
        Ok(match self.first_after(id, Some(after))? {
            Some(place) => Some(place.group),
            None => self.first_after(id, None)?.map(|place| place.group),
        })
    }

    fn first_after(&mut self, id: LimitId, after: Option<InLine>) -> Result<Option<InLine>, Error> {
        Ok(self.in_line(id, after, 1)?.0.first().copied())
    }

    /// The first in line, or of one group of it, that may be let in.
    fn next_after(
        &mut self,
        id: LimitId,
        first: Option<InLine>,
        group: Option<Option<LimitId>>,
    ) -> Result<Option<InLine>, Error> {
        let size = if group.is_some() { GROUP_PAGE } else { PAGE };
        for _ in 0..PAGES {
            let passed = self.batch.limits.get(&id).and_then(|delta| delta.looked.last(group.flatten()));
            let (page, is_last) = self.in_line(id, passed.or(first), size)?;
            let is_of_group = |place: &InLine| group.is_none_or(|group| place.group == group);
            let known = page.len();
            let page: Vec<InLine> = page.into_iter().take_while(is_of_group).collect();
            let is_last = is_last || page.len() < known;
            for place in page {
                let standing = self.standing(id, place.waitpoint)?;
                if standing == PlaceStatus::Stands {
                    return Ok(Some(place));
                }
                if let Some(delta) = self.batch.limits.get_mut(&id) {
                    delta.looked.pass(group.flatten(), place, standing == PlaceStatus::Left);
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
        size: usize,
    ) -> Result<(Vec<InLine>, bool), Error> {
        let (mut page, is_last_stored) = self.stored_line(id, after, size)?;
        let (end, mut is_last) = (page.last().copied(), is_last_stored);
        let decided = self.in_flight.rounds().map(|(_, before)| &before.lines).chain([&self.batch.lines]);
        for line in decided.filter_map(|lines| lines.get(&id)) {
            let from = after.map_or(Bound::Unbounded, Bound::Excluded);
            let known = page.len();
            page.extend(line.range((from, Bound::Unbounded)).take(size));
            is_last &= page.len() - known < size;
        }
        page.sort_unstable();
        page.dedup();
        if !is_last_stored {
            // Others of the store come before what was decided since.
            page.retain(|place| Some(*place) <= end);
        }
        is_last &= page.len() <= size;
        page.truncate(size);
        Ok((page, is_last))
    }

    /// A page of those in line after a place, as the store says, and whether it is the last. A large one is kept for as long as
    /// it is true, and what is left of it is a page.
    fn stored_line(
        &mut self,
        id: LimitId,
        after: Option<InLine>,
        size: usize,
    ) -> Result<(Vec<InLine>, bool), Error> {
        let read_at = self.in_flight.committed();
        let ahead = self.batch.limits.get(&id).and_then(|delta| delta.looked.ahead.as_ref());
        if let Some(ahead) = ahead.filter(|ahead| ahead.read_at == read_at && ahead.after <= after) {
            let rest = ahead.places.partition_point(|place| after.is_some_and(|after| *place <= after));
            let (rest, is_whole) = (&ahead.places[rest..], ahead.places.len() < PAGE);
            if is_whole || !rest.is_empty() {
                let page: Vec<InLine> = rest.iter().take(size).copied().collect();
                return Ok((page, is_whole && rest.len() <= size));
            }
        }
        let places = self.store.line(id, after.as_ref(), size)?;
        let is_last = places.len() < size;
        if size == PAGE
            && let Some(delta) = self.batch.limits.get_mut(&id)
        {
            delta.looked.ahead = Some(Ahead { after, places: places.clone(), read_at });
        }
        Ok((places, is_last))
    }

    fn standing(&mut self, id: LimitId, waitpoint: WaitpointId) -> Result<PlaceStatus, Error> {
        match self.known_standing(id, waitpoint)? {
            PlaceStatus::Stands => Ok(PlaceStatus::Stands),
            PlaceStatus::Left | PlaceStatus::PassedOver if self.read_again(waitpoint.run)? => {
                self.known_standing(id, waitpoint)
            }
            known @ (PlaceStatus::Left | PlaceStatus::PassedOver) => Ok(known),
        }
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

    fn known_standing(&mut self, id: LimitId, waitpoint: WaitpointId) -> Result<PlaceStatus, Error> {
        let now = self.now;
        let run = match self.run(waitpoint.run) {
            Ok(run) => run,
            Err(error) if error.passes() => return Err(error),
            Err(_) => return Ok(PlaceStatus::PassedOver),
        };
        let wait = run.waitpoint(waitpoint.number).filter(|wait| wait.is_pending());
        let awaited = wait.and_then(|wait| Some((wait, wait.listens_for.capacity()?)));
        let awaited = awaited
            .filter(|(_, request)| CapacityRequest::awaited(request).is_some_and(|ask| ask.limit == id));
        Ok(match awaited {
            None => PlaceStatus::Left,
            Some((wait, _)) if wait.is_due(now) => PlaceStatus::PassedOver,
            Some(_) => PlaceStatus::Stands,
        })
    }
}
