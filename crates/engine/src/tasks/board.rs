//! The board: which tasks are out, who has them until when, and which anybody may take. One interface, two boards: in
//! [memory](super::memory), where one process has the store to itself, and [in the store](super::stored), where several
//! nodes share it. Nobody else asks which of the two it is.
//!
//! ```text
//!   round ── TaskWrites, of what was decided ──▶ put (with the commit, or right after it)
//!   pollers and handlers here ── take ──▶ tasks that are free       late ──▶ tasks whose lease is over
//! ```
//!
//! A board decides nothing. Whoever takes a task asks the core whether it is still wanted.

use std::sync::Arc;

use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_core::time::Millis;
use abide_store::Error;
use abide_store::tasks::{
    FoundTask, LateTasks, Shares, StoredTask, TaskCounts, TaskQueue, TaskWrite, WantedTasks,
};
use jiff::Timestamp;

/// A worker, by its workspace and its name.
pub(crate) type WorkerKey = (WorkspaceId, Arc<str>);

/// A lease that was given in a round.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    pub(crate) length: Millis,
    pub(crate) worker: WorkerKey,
}

/// Where tasks are while they are out.
pub(crate) trait TaskBoard: Send {
    /// Whether a round's writes are a part of its commit. Otherwise the board hears of them when it is committed.
    fn is_in_commit(&self) -> bool;

    /// A round with these writes is committed. `holder` says who got a task in it.
    fn put(&mut self, writes: Vec<TaskWrite>, holder: &dyn Fn(RunId, StepAddress) -> Option<WorkerKey>);

    /// Puts a task on a board that begins empty, as the history of its run has it, unless it is there.
    fn restore(&mut self, task: StoredTask, worker: Option<WorkerKey>);

    /// Takes up to `limit` tasks of each kind that are wanted and free now, until the given instant. They are taken from each
    /// workspace in turn, as many in a row as its share says, and in each from every workflow in turn.
    fn take(
        &mut self,
        wanted: &[WantedTasks],
        shares: &Shares,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FoundTask>, Error>;

    /// Takes up to `limit` tasks that have begun and whose lease is over, until the given instant. Those whose lease is over
    /// and that have not begun are free from here on.
    fn late(&mut self, now: Timestamp, until: Timestamp, limit: usize) -> Result<LateTasks, Error>;

    /// Prolongs the leases of tasks that are worked on here.
    fn renew(&mut self, tasks: &[FoundTask], until: Timestamp) -> Result<(), Error>;

    /// Ends the leases of tasks that were taken here. One that has begun is late from here on, any other is free.
    fn release(&mut self, tasks: &[FoundTask], now: Timestamp) -> Result<(), Error>;

    /// How many tasks are leased and how many are free, each counted up to `most`.
    fn count(&mut self, most: usize) -> Result<TaskCounts, Error>;

    /// How many tasks are ready and leased, by queue, where the board knows it without asking the store.
    fn queues(&self) -> Vec<TaskQueue>;

    /// How long a process has a task that it took, unless it renews the lease.
    fn hold(&self) -> Millis;

    /// When the next lease is over, where the board knows it. Otherwise it is looked for now and then.
    fn next_late(&self) -> Option<Timestamp>;

    /// Whether the board begins empty, so that the tasks of runs under way are put on it when an engine opens.
    fn begins_empty(&self) -> bool;

    /// The worker that has a task, where the board knows it.
    fn holder(&self, run: RunId, at: StepAddress) -> Option<&WorkerKey>;

    /// The workers that have tasks, one for each task, where the board knows them.
    fn holders(&self) -> Vec<WorkerKey>;
}
