//! The board in a store that several nodes share: rows that a round's commit writes, and leases that end by themselves when
//! a node is gone.

use abide_core::id::{RunId, StepAddress};
use abide_core::time::Millis;
use abide_store::Error;
use abide_store::tasks::{
    FoundTask, LateTasks, Shares, StoredTask, TaskCounts, TaskQueue, TaskWrite, Tasks, WantedTasks,
};
use jiff::Timestamp;

use super::board::{TaskBoard, WorkerKey};

/// How long a task is a node's: from when it takes it, or from each time it renews the lease.
pub(crate) const HOLD: Millis = Millis(10_000);

/// The rows of a store.
pub(crate) struct StoredBoard(pub(crate) Box<dyn Tasks>);

impl TaskBoard for StoredBoard {
    fn is_in_commit(&self) -> bool {
        true
    }

    fn put(&mut self, _: Vec<TaskWrite>, _: &dyn Fn(RunId, StepAddress) -> Option<WorkerKey>) {}

    fn restore(&mut self, _: StoredTask, _: Option<WorkerKey>) {}

    fn take(
        &mut self,
        wanted: &[WantedTasks],
        shares: &Shares,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FoundTask>, Error> {
        self.0.take_by_shares(wanted, shares, now, until)
    }

    fn late(&mut self, now: Timestamp, until: Timestamp, limit: usize) -> Result<LateTasks, Error> {
        self.0.late(now, until, limit)
    }

    fn renew(&mut self, tasks: &[FoundTask], until: Timestamp) -> Result<(), Error> {
        self.0.renew(tasks, until)
    }

    fn release(&mut self, tasks: &[FoundTask], now: Timestamp) -> Result<(), Error> {
        self.0.release(tasks, now)
    }

    fn count(&mut self, most: usize) -> Result<TaskCounts, Error> {
        self.0.count(most)
    }

    fn queues(&self) -> Vec<TaskQueue> {
        Vec::new()
    }

    fn hold(&self) -> Millis {
        HOLD
    }

    fn next_late(&self) -> Option<Timestamp> {
        None
    }

    fn begins_empty(&self) -> bool {
        false
    }

    fn holder(&self, _: RunId, _: StepAddress) -> Option<&WorkerKey> {
        None
    }

    fn holders(&self) -> Vec<WorkerKey> {
        Vec::new()
    }
}
