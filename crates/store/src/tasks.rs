//! The tasks that are out, for anybody to take. A task is put and removed by the commit that decides so
//! ([`Batch::tasks`](crate::Batch)); what is done here is not synced, and says only who has a task for how long.
//!
//! Nothing here decides anything: whatever two nodes take at the same time, the commit of one of them is refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::id::{RunId, StepAddress, WorkspaceId};
use jiff::Timestamp;

use crate::Error;

pub use abide_core::board::{TaskRow as StoredTask, TaskWrite};

/// The task board of a store that several nodes work on. For one thread of a node.
pub trait Tasks: Send {
    /// Takes up to `limit` tasks of each kind that are wanted and free now, until the given instant. Others do not find
    /// them until then. They are taken from each workspace in turn, as many in a row as its share says, and in each from every
    /// workflow in turn, so that one with many leaves room for the others.
    fn take_by_shares(
        &mut self,
        wanted: &[WantedTasks],
        shares: &Shares,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FoundTask>, Error>;

    /// Takes tasks where all workspaces have the same share.
    fn take(
        &mut self,
        wanted: &[WantedTasks],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FoundTask>, Error> {
        self.take_by_shares(wanted, &Shares::new(), now, until)
    }

    /// Takes up to `limit` tasks that have begun and whose lease is over, whatever they are, until the given instant.
    /// Those whose lease is over and that have not begun are free from here on.
    fn late(&mut self, now: Timestamp, until: Timestamp, limit: usize) -> Result<LateTasks, Error>;

    /// Prolongs the leases of tasks that are worked on here.
    fn renew(&mut self, tasks: &[FoundTask], until: Timestamp) -> Result<(), Error>;

    /// Ends the leases of tasks that were worked on here. One that has begun is late from here on, any other is free.
    fn release(&mut self, tasks: &[FoundTask], now: Timestamp) -> Result<(), Error>;

    /// How many tasks are leased and how many are free, each counted up to `most`.
    fn count(&mut self, most: usize) -> Result<TaskCounts, Error>;
}

/// How many turns workspaces have in a row; those that are not named have one.
pub type Shares = BTreeMap<WorkspaceId, u32>;

/// Tasks that somebody can do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WantedTasks {
    /// `None`: of any.
    pub workspace: Option<WorkspaceId>,
    pub queue: Arc<str>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTask {
    pub run: RunId,
    pub at: StepAddress,
    pub lease_epoch: u32,
    pub workspace: WorkspaceId,
    pub queue: Arc<str>,
}

/// What became of tasks whose time was over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LateTasks {
    pub taken: Vec<FoundTask>,
    /// How many nobody has any more.
    pub freed: usize,
}

/// How many tasks of one queue there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQueue {
    pub workspace: WorkspaceId,
    pub queue: Arc<str>,
    /// Tasks that anybody may take.
    pub ready: usize,
    /// Tasks that somebody has.
    pub leased: usize,
    /// Since when the oldest of those that are ready could be taken.
    pub oldest_ready: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskCounts {
    pub taken: usize,
    pub free: usize,
}
