//! What nodes on one store need of it, beside reading and committing: who is there and what time it is, which tasks are
//! for anybody to take, and word of what the others did. Nothing here decides anything: whatever two nodes take up at
//! the same time, the commit of one of them is refused.

use std::sync::Arc;

use abide_core::id::{At, RunId, WorkspaceId};
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use jiff::Timestamp;

use crate::Error;

/// A process that works on a store, from its opening to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u128);

/// For one thread of a node.
pub trait Share: Send {
    /// Says that a node is there.
    fn beat(&mut self, node: NodeId) -> Result<Beat, Error>;

    /// Says that a node is not there any more.
    fn leave(&mut self, node: NodeId) -> Result<(), Error>;

    /// Takes up to `limit` tasks of each kind that are wanted and free now, until the given instant. Others do not find
    /// them until then. They are taken from each workflow in turn, so that one with many leaves room for the others.
    fn take_tasks(
        &mut self,
        wanted: &[WantedTasks],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FoundTask>, Error>;

    /// Takes up to `limit` tasks that have begun and whose time is over, whatever they are, until the given instant. Those
    /// whose time is over and that have not begun are free from here on.
    fn take_late_tasks(&mut self, now: Timestamp, until: Timestamp, limit: usize)
    -> Result<LateTasks, Error>;

    /// Keeps tasks that are worked on here for longer.
    fn keep_tasks(&mut self, tasks: &[FoundTask], until: Timestamp) -> Result<(), Error>;

    /// Lets go of tasks that were worked on here. One that has begun is late from here on, any other is free.
    fn let_go_of_tasks(&mut self, tasks: &[FoundTask], now: Timestamp) -> Result<(), Error>;

    /// How many tasks are in somebody's hands and how many are not, each up to `most`.
    fn count_tasks(&mut self, most: usize) -> Result<TaskCounts, Error>;

    /// How many records there are of each of these runs, where there are any.
    fn versions(&mut self, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error>;

    /// Calls this with what other nodes commit, soon after they did, from another thread, until the store is dropped.
    /// Word may be lost: whoever depends on it looks for himself now and then.
    fn hear(&mut self, hear: Box<dyn Fn(Vec<News>) + Send + Sync>) -> Result<(), Error>;
}

/// What a node hears when it says that it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Beat {
    /// By the store's clock, which is everybody's.
    pub now: Timestamp,
    /// Those seen lately, in one order for all.
    pub nodes: Vec<NodeId>,
}

/// A task that is out: somebody has it, or is to have it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTask {
    pub run: RunId,
    pub at: At,
    pub delivery: u32,
    pub workspace: WorkspaceId,
    pub queue: Arc<str>,
    /// Of which workflow it is.
    pub definition: Arc<str>,
    /// Somebody has it.
    pub is_taken: bool,
    /// The history says who; then it is taken.
    pub has_begun: bool,
    /// From here on it is anybody's: to be taken, or to be taken away from whoever has it.
    pub free_at: Timestamp,
    /// How long it is kept from each sign of life on.
    pub lease: Millis,
    /// Whatever is heard of it, it is not kept beyond this.
    pub deadline: Option<Timestamp>,
}

/// How a commit changes which tasks are out.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskWrite {
    Put(StoredTask),
    /// Up to this delivery; a later one stays.
    Remove {
        run: RunId,
        at: At,
        delivery: u32,
    },
    /// A sign of life.
    Renew {
        run: RunId,
        at: At,
        delivery: u32,
        now: Timestamp,
    },
}

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
    pub at: At,
    pub delivery: u32,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskCounts {
    pub taken: usize,
    pub free: usize,
}

/// What another node did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    RunChanged {
        run: RunId,
        workspace: WorkspaceId,
        status: RunStatus,
        version: u64,
    },
    TaskReady {
        workspace: WorkspaceId,
        queue: Arc<str>,
    },
    /// Word may have been lost until here.
    Missed,
}
