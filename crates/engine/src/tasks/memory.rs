//! The board in memory, of a process that has its store to itself. It begins empty: the tasks of runs under way are put on it
//! from their histories. A task that this process took is its own until it ends.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use abide_core::board::IN_PROCESS;
use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_core::time::Millis;
use abide_store::Error;
use abide_store::tasks::{
    FoundTask, LateTasks, Shares, StoredTask, TaskCounts, TaskQueue, TaskWrite, WantedTasks,
};
use jiff::Timestamp;

use super::board::{TaskBoard, WorkerKey};
use super::fair_queue::FairQueue;
use crate::by_run::ByRun;

/// Longer than anything lasts.
const FOR_GOOD: Millis = Millis(u64::MAX);

#[derive(Default)]
pub(crate) struct MemoryBoard {
    rows: ByRun<(RunId, StepAddress), Row>,
    free: BTreeMap<(Arc<str>, WorkspaceId), FairQueue>,
    /// When the leases of tasks that are taken are over.
    leases: BTreeSet<(Timestamp, RunId, StepAddress)>,
    /// How many tasks of each queue are taken.
    taken: BTreeMap<(Arc<str>, WorkspaceId), usize>,
    last_ticket: u64,
}

struct Row {
    task: StoredTask,
    /// The task's place in the order of free tasks.
    ticket: u64,
    worker: Option<WorkerKey>,
}

impl MemoryBoard {
    fn remove(&mut self, key: (RunId, StepAddress)) -> Option<Row> {
        let row = self.rows.remove(&key)?;
        let queue = (Arc::clone(&row.task.queue), row.task.workspace);
        if row.task.is_taken {
            self.leases.remove(&(row.task.free_at, key.0, key.1));
            if let Some(taken) = self.taken.get_mut(&queue) {
                *taken -= 1;
                if *taken == 0 {
                    self.taken.remove(&queue);
                }
            }
        } else {
            if let Some(free) = self.free.get_mut(&queue) {
                free.remove(&row.task.definition, row.ticket);
                if free.is_empty() {
                    self.free.remove(&queue);
                }
            }
        }
        Some(row)
    }

    fn insert(&mut self, task: StoredTask, worker: Option<WorkerKey>) {
        let key = (task.run, task.at);
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        let queue = (Arc::clone(&task.queue), task.workspace);
        if task.is_taken {
            self.leases.insert((task.free_at, key.0, key.1));
            *self.taken.entry(queue).or_default() += 1;
        } else {
            self.free.entry(queue).or_default().push(&task.definition, ticket, key);
        }
        self.rows.insert(key, Row { task, ticket, worker });
    }

    /// Changes a row, if it is of this lease epoch.
    fn change(&mut self, key: (RunId, StepAddress), lease_epoch: u32, change: impl FnOnce(&mut StoredTask)) {
        let is_it = |row: &Row| row.task.lease_epoch == lease_epoch;
        if self.rows.get(&key).is_some_and(is_it)
            && let Some(Row { mut task, worker, .. }) = self.remove(key)
        {
            change(&mut task);
            self.insert(task, worker);
        }
    }

    fn take_from(
        &mut self,
        queue: &(Arc<str>, WorkspaceId),
        limit: usize,
        until: Timestamp,
        taken: &mut Vec<FoundTask>,
    ) {
        let enough = taken.len() + limit;
        while taken.len() < enough
            && let Some(key) = self.free.get_mut(queue).and_then(FairQueue::pop)
        {
            if let Some(row) = self.rows.get_mut(&key) {
                row.task.is_taken = true;
                row.task.free_at = within(&row.task, until);
                self.leases.insert((row.task.free_at, key.0, key.1));
                *self.taken.entry(queue.clone()).or_default() += 1;
                taken.push(found(&row.task));
            }
        }
        if self.free.get(queue).is_some_and(FairQueue::is_empty) {
            self.free.remove(queue);
        }
    }
}

impl TaskBoard for MemoryBoard {
    fn is_in_commit(&self) -> bool {
        false
    }

    fn put(&mut self, writes: Vec<TaskWrite>, holder: &dyn Fn(RunId, StepAddress) -> Option<WorkerKey>) {
        for write in writes {
            match write {
                TaskWrite::Put(task) => {
                    self.remove((task.run, task.at));
                    let worker = holder(task.run, task.at);
                    self.insert(task, worker);
                }
                TaskWrite::Remove { run, at, lease_epoch } => {
                    if self.rows.get(&(run, at)).is_some_and(|row| row.task.lease_epoch <= lease_epoch) {
                        self.remove((run, at));
                    }
                }
                TaskWrite::Renew { run, at, lease_epoch, now } => {
                    self.change((run, at), lease_epoch, |task| {
                        if task.has_begun {
                            task.free_at = within(task, task.lease.after(now));
                        }
                    });
                }
            }
        }
    }

    fn restore(&mut self, task: StoredTask, worker: Option<WorkerKey>) {
        if !self.rows.contains_key(&(task.run, task.at)) {
            self.insert(task, worker.filter(|(_, name)| **name != *IN_PROCESS));
        }
    }

    fn take(
        &mut self,
        wanted: &[WantedTasks],
        shares: &Shares,
        _: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<FoundTask>, Error> {
        let mut taken = Vec::new();
        for WantedTasks { workspace, queue, limit } in wanted {
            match workspace {
                Some(workspace) => {
                    self.take_from(&(Arc::clone(queue), *workspace), *limit, until, &mut taken);
                }
                None => {
                    let enough = taken.len() + limit;
                    let first = (Arc::clone(queue), WorkspaceId::default());
                    let own = |(key, _): &(&(Arc<str>, WorkspaceId), _)| key.0 == *queue;
                    let queues = self.free.range(first..).take_while(own);
                    let mut queues: VecDeque<_> = queues.map(|(key, _)| key.clone()).collect();
                    while let Some(queue) = queues.pop_front().filter(|_| taken.len() < enough) {
                        let share = shares.get(&queue.1).map_or(1, |share| (*share).max(1) as usize);
                        self.take_from(&queue, share.min(enough - taken.len()), until, &mut taken);
                        if self.free.contains_key(&queue) {
                            queues.push_back(queue);
                        }
                    }
                }
            }
        }
        Ok(taken)
    }

    fn late(&mut self, now: Timestamp, until: Timestamp, limit: usize) -> Result<LateTasks, Error> {
        let mut late = LateTasks::default();
        while late.taken.len() < limit
            && let Some((_, run, at)) = self.leases.first().copied().filter(|(over, _, _)| *over <= now)
        {
            let Some(Row { mut task, worker, .. }) = self.remove((run, at)) else {
                self.leases.pop_first();
                continue;
            };
            if task.has_begun {
                task.free_at = until;
                late.taken.push(found(&task));
            } else {
                task.is_taken = false;
                late.freed += 1;
            }
            self.insert(task, worker);
        }
        Ok(late)
    }

    fn renew(&mut self, tasks: &[FoundTask], until: Timestamp) -> Result<(), Error> {
        for task in tasks {
            self.change((task.run, task.at), task.lease_epoch, |task| {
                task.is_taken = true;
                task.free_at = within(task, until);
            });
        }
        Ok(())
    }

    fn release(&mut self, tasks: &[FoundTask], now: Timestamp) -> Result<(), Error> {
        for task in tasks {
            self.change((task.run, task.at), task.lease_epoch, |task| {
                task.is_taken = task.has_begun;
                task.free_at = within(task, now);
            });
        }
        Ok(())
    }

    fn count(&mut self, most: usize) -> Result<TaskCounts, Error> {
        let taken = self.leases.len();
        Ok(TaskCounts { taken: taken.min(most), free: (self.rows.len() - taken).min(most) })
    }

    fn queues(&self) -> Vec<TaskQueue> {
        let names: BTreeSet<&(Arc<str>, WorkspaceId)> = self.free.keys().chain(self.taken.keys()).collect();
        let of = |name: &(Arc<str>, WorkspaceId)| {
            let free = self.free.get(name);
            let since = |key: (RunId, StepAddress)| self.rows.get(&key).map(|row| row.task.free_at);
            TaskQueue {
                workspace: name.1,
                queue: Arc::clone(&name.0),
                ready: free.map_or(0, FairQueue::len),
                leased: self.taken.get(name).copied().unwrap_or_default(),
                oldest_ready: free.into_iter().flat_map(FairQueue::firsts).filter_map(since).min(),
            }
        };
        names.into_iter().map(of).collect()
    }

    fn hold(&self) -> Millis {
        FOR_GOOD
    }

    fn next_late(&self) -> Option<Timestamp> {
        self.leases.first().map(|(over, _, _)| *over)
    }

    fn begins_empty(&self) -> bool {
        true
    }

    fn holder(&self, run: RunId, at: StepAddress) -> Option<&WorkerKey> {
        self.rows.get(&(run, at))?.worker.as_ref()
    }

    fn holders(&self) -> Vec<WorkerKey> {
        let mut holders: Vec<WorkerKey> = self.rows.values().filter_map(|row| row.worker.clone()).collect();
        holders.sort();
        holders
    }
}

/// A lease never lasts longer than the task may take.
fn within(task: &StoredTask, until: Timestamp) -> Timestamp {
    task.deadline.map_or(until, |deadline| until.min(deadline))
}

fn found(task: &StoredTask) -> FoundTask {
    let StoredTask { run, at, lease_epoch, workspace, ref queue, .. } = *task;
    FoundTask { run, at, lease_epoch, workspace, queue: Arc::clone(queue) }
}
