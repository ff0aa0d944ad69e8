//! Follow-ups: what decisions ask of other runs, kept until it is done.

use abide_core::follow_up::FollowUp;
use abide_core::id::WorkspaceId;

/// A follow-up that is to be done. In the order of their ids, in each workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFollowUp {
    pub id: u128,
    pub workspace: WorkspaceId,
    /// The process that looks after it, where there are several.
    pub owner: u128,
    /// How often it has changed: part of it may be done.
    pub version: u32,
    pub what: FollowUp,
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
