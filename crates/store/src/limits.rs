//! Limits: how much room there is for each key, who has it, and who waits for it.

use abide_core::capacity::{CapacityRequest, Limit, Rank};
use abide_core::id::{LimitId, WaitpointId, WorkspaceId};

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

    /// Those that wait for room under one key of a limit, the next one first, beginning after `after`, at most `limit`.
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

/// A wait for room, in line. Ordered as the line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InLine {
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
    Some(format!("{} {}", request.awaited()?.limit, request.rank))
}

/// The places of a line: after the first of these, and before the second.
pub(crate) fn range(id: LimitId, after: Option<&InLine>) -> (String, WaitpointId, String) {
    let from = after.map_or_else(|| format!("{id} "), |after| format!("{id} {}", after.rank));
    let nobody = abide_core::id::RunId(0).waitpoint(0);
    (from, after.map_or(nobody, |after| after.waitpoint), format!("{id}!"))
}

impl InLine {
    /// Of `run, number, filter`.
    pub(crate) fn read(row: &impl RowReader) -> Result<InLine, Error> {
        let waitpoint = row.run(0)?.waitpoint(row.number(1)?);
        let place = row.text(2)?;
        let rank = place.split_once(' ').and_then(|(_, rank)| rank.parse().ok());
        let rank = rank.ok_or_else(|| Error::Corrupt(format!("`{place}` is no place in a line")))?;
        Ok(InLine { rank, waitpoint })
    }
}
