//! Limits: how much room there is for each key, who has it, and who waits for it.

use abide_core::capacity::{CapacityRequest, Limit, LimitSettings, Rank};
use abide_core::id::{LimitId, RunId, WaitpointId, WorkspaceId};
use jiff::Timestamp;

use crate::row::RowReader;
use crate::{Error, Page};

/// Finds limits, and who stands in their lines.
pub trait Limits: Send {
    /// One key of a limit; `None`: nobody has room under it or waits for it.
    fn limit(&mut self, id: LimitId) -> Result<Option<Limit>, Error>;

    /// The keys of limits that somebody has room under or waits for, by name and key; of one name, or of all.
    fn limits(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<LimitPlace>,
    ) -> Result<Vec<Limit>, Error>;

    /// The keys of limits that somebody waits for, those for which most wait first; of one name, or of all.
    fn limits_by_pressure(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<PressurePlace>,
    ) -> Result<Vec<Limit>, Error>;

    /// How many have room and wait under each limit, whatever the key: of those for which most wait, at most `limit`.
    fn limit_figures(&mut self, limit: usize) -> Result<Vec<LimitFigures>, Error>;

    /// What is set for a limit; `None`: nothing.
    fn limit_settings(&mut self, id: LimitId) -> Result<Option<LimitSettings>, Error>;

    /// What is set for the limits of a workspace, by name; of one name, or of all.
    fn all_limit_settings(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        limit: usize,
    ) -> Result<Vec<LimitSettings>, Error>;

    /// Those that wait for room under one key of a limit, in the order of [`InLine`], beginning after `after`, at most `limit`.
    fn line(&mut self, id: LimitId, after: Option<&InLine>, limit: usize) -> Result<Vec<InLine>, Error>;
}

/// Where a list of limits goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitPlace {
    pub name: String,
    pub key: String,
    pub id: LimitId,
}

impl LimitPlace {
    /// The place of a limit in the list.
    pub fn of(limit: &Limit) -> LimitPlace {
        LimitPlace { name: limit.name.to_string(), key: limit.key.to_string(), id: limit.id }
    }
}

/// Where a list of limits by pressure goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PressurePlace {
    pub waiting: u64,
    pub id: LimitId,
}

impl PressurePlace {
    /// The place of a limit in the list.
    pub fn of(limit: &Limit) -> PressurePlace {
        PressurePlace { waiting: limit.waiting, id: limit.id }
    }
}

/// How many have room and wait under a limit, whatever the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitFigures {
    pub workspace: WorkspaceId,
    pub name: String,
    pub keys: u64,
    pub used: u64,
    pub waiting: u64,
    /// Since when somebody has waited under one of the keys at any time.
    pub waiting_since: Option<Timestamp>,
}

impl LimitFigures {
    /// Of `workspace, name, keys, used, waiting, waiting_since`.
    pub(crate) fn read(row: &impl RowReader) -> Result<LimitFigures, Error> {
        Ok(LimitFigures {
            workspace: WorkspaceId(row.number(0)?),
            name: row.name(1)?,
            keys: row.number(2)?,
            used: row.number(3)?,
            waiting: row.number(4)?,
            waiting_since: row.optional_instant(5)?,
        })
    }
}

/// What is set for a limit, after all decisions of the batch.
#[derive(Debug)]
pub struct SettingsWrite<'a> {
    /// The version that the first decision was made on; 0: nothing was set.
    pub based_on: u64,
    pub settings: &'a LimitSettings,
    /// Whether nothing is set any more.
    pub removed: bool,
}

/// A wait for room, in line. Ordered as lines are kept: group by group, and in each as its waits come to their turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InLine {
    /// Which others the wait takes turns with: those that ask for the same key of another limit; `None`: for none.
    pub group: Option<LimitId>,
    pub rank: Rank,
    pub waitpoint: WaitpointId,
}

/// A key of a limit that was decided on, after all decisions of the batch.
#[derive(Debug)]
pub struct LimitWrite<'a> {
    /// The version that the first decision was made on; 0: there was none.
    pub based_on: u64,
    pub limit: &'a Limit,
    /// Whether nothing is left to be remembered.
    pub removed: bool,
}

/// What a wait for room is found by: the limit whose line it stands in, and its rank.
pub(crate) fn place(request: &CapacityRequest) -> Option<String> {
    let group = request.group_in(usize::from(request.line));
    Some(place_of(request.awaited()?.limit, group, request.rank))
}

fn place_of(id: LimitId, group: Option<LimitId>, rank: Rank) -> String {
    match group {
        // Groups come after those without one, whose places begin with a digit.
        Some(group) => format!("{id} {GROUP}{group} {rank}"),
        None => format!("{id} {rank}"),
    }
}

/// What the group of a place begins with.
const GROUP: char = '~';

/// The places of a line: after the first of these, and before the second.
pub(crate) fn range(id: LimitId, after: Option<&InLine>) -> (String, WaitpointId, String) {
    let from = after.map_or_else(|| format!("{id} "), |after| place_of(id, after.group, after.rank));
    let nobody = RunId(0).waitpoint(0);
    (from, after.map_or(nobody, |after| after.waitpoint), format!("{id}!"))
}

impl InLine {
    /// A place before all of a group.
    pub fn before_group(group: Option<LimitId>) -> InLine {
        InLine { group, rank: Rank(0), waitpoint: RunId(0).waitpoint(0) }
    }

    /// A place after all of a group, and before those of the next.
    pub fn after_group(group: Option<LimitId>) -> InLine {
        InLine { group, rank: Rank(i64::MAX), waitpoint: RunId(u128::MAX).waitpoint(u32::MAX) }
    }

    /// Of `run, number, filter`.
    pub(crate) fn read(row: &impl RowReader) -> Result<InLine, Error> {
        let waitpoint = row.run(0)?.waitpoint(row.number(1)?);
        let place = row.text(2)?;
        let read = || {
            let (_, rest) = place.split_once(' ')?;
            let (group, rank) = match rest.strip_prefix(GROUP) {
                Some(rest) => rest.split_once(' ').map(|(group, rank)| (Some(group), rank))?,
                None => (None, rest),
            };
            Some((group.map(str::parse).transpose().ok()?, rank.parse().ok()?))
        };
        let (group, rank) =
            read().ok_or_else(|| Error::Corrupt(format!("`{place}` is no place in a line")))?;
        Ok(InLine { group, rank, waitpoint })
    }
}
