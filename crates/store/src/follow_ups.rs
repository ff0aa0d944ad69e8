//! Follow-ups: what decisions ask of other runs, kept until it is done.

use abide_core::follow_up::FollowUp;
use abide_core::id::{RunId, WorkspaceId};

use crate::Error;
use crate::row::RowReader;

/// Reads what is left to be done.
pub trait FollowUps: Send {
    /// What is to be done, up to `limit` in each workspace, oldest first. With owners: only what none of these looks after.
    fn follow_ups(&mut self, not_of: &[u128], limit: usize) -> Result<Vec<StoredFollowUp>, Error>;

    /// How many runs began with this one: its children, their children, and so on.
    fn descendants(&mut self, root: RunId) -> Result<u64, Error>;
}

/// A follow-up that is to be done. In the order of their ids, in each workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFollowUp {
    pub id: u128,
    pub workspace: WorkspaceId,
    /// The process that looks after it, where there are several.
    pub owner: u128,
    /// How often the follow-up has changed: part of it may be done.
    pub version: u32,
    pub what: FollowUp,
}

impl StoredFollowUp {
    /// Of `workspace, id, owner, version, document`.
    pub(crate) fn read(row: &impl RowReader) -> Result<StoredFollowUp, Error> {
        Ok(StoredFollowUp {
            workspace: row.workspace(0)?,
            id: row.id(1)?,
            owner: row.id(2)?,
            version: row.number(3)?,
            what: row.json(4)?,
        })
    }
}

/// How a commit changes what is to be done. Where somebody else was first, nothing of the batch is written.
#[derive(Clone, Copy, Debug)]
pub enum FollowUpWrite<'a> {
    Put(&'a StoredFollowUp),
    /// A part of it is done; it is the version after the one that is there.
    Change(&'a StoredFollowUp),
    /// All of it is done, as it was in this version.
    Remove(&'a StoredFollowUp),
}

impl<'a> FollowUpWrite<'a> {
    pub(crate) fn follow_up(&self) -> &'a StoredFollowUp {
        match self {
            FollowUpWrite::Put(follow_up)
            | FollowUpWrite::Change(follow_up)
            | FollowUpWrite::Remove(follow_up) => follow_up,
        }
    }
}
