//! The task board of a cluster, and who is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_store::cluster::{Heartbeat, NodeId};
use abide_store::tasks::{FoundTask, LateTasks, StoredTask, TaskCounts, WantedTasks};
use jiff::{SignedDuration, Timestamp};

use super::State;

/// A node that was not heard of for so long does not count.
const SEEN: SignedDuration = SignedDuration::from_millis(1_200);

/// Where a task is among others: since when it is free, and which it is.
type Place = (Timestamp, RunId, StepAddress);

impl State {
    pub(super) fn heartbeat(&mut self, node: NodeId) -> Heartbeat {
        let now = self.now;
        self.nodes.insert(node, now);
        let lately = self.nodes.iter().filter(|(_, seen)| **seen > now - SEEN);
        Heartbeat { now, nodes: lately.map(|(node, _)| *node).collect() }
    }

    /// From each workflow in turn, its oldest task first.
    pub(super) fn take_tasks(
        &mut self,
        wanted: &[WantedTasks],
        now: Timestamp,
        until: Timestamp,
    ) -> Vec<FoundTask> {
        let mut taken = Vec::new();
        for WantedTasks { workspace, queue, limit } in wanted {
            let mut flows: BTreeMap<(WorkspaceId, Arc<str>), Vec<Place>> = BTreeMap::new();
            let free = self.tasks.values().filter(|task| {
                let is_there = workspace.is_none_or(|workspace| workspace == task.workspace);
                !task.is_taken && task.free_at <= now && task.queue == *queue && is_there
            });
            for task in free {
                let flow = flows.entry((task.workspace, Arc::clone(&task.definition))).or_default();
                flow.push((task.free_at, task.run, task.at));
            }
            let mut turns: Vec<(usize, Timestamp, RunId, StepAddress)> = Vec::new();
            for flow in flows.values_mut() {
                flow.sort();
                turns.extend(
                    flow.iter().enumerate().map(|(turn, (free_at, run, at))| (turn, *free_at, *run, *at)),
                );
            }
            turns.sort();
            for (_, _, run, at) in turns.into_iter().take(*limit) {
                if let Some(task) = self.tasks.get_mut(&(run, at)) {
                    (task.is_taken, task.free_at) = (true, until);
                    taken.push(found(task));
                }
            }
        }
        taken
    }

    pub(super) fn late_tasks(&mut self, now: Timestamp, until: Timestamp, limit: usize) -> LateTasks {
        let mut late: Vec<(Timestamp, RunId, StepAddress)> = self
            .tasks
            .values()
            .filter(|task| task.is_taken && task.free_at <= now)
            .map(|task| (task.free_at, task.run, task.at))
            .collect();
        late.sort();
        let mut came_to = LateTasks::default();
        for (_, run, at) in late {
            let Some(task) = self.tasks.get_mut(&(run, at)) else { continue };
            if !task.has_begun {
                task.is_taken = false;
                came_to.freed += 1;
            } else if came_to.taken.len() < limit {
                task.free_at = until;
                came_to.taken.push(found(task));
            }
        }
        came_to
    }

    pub(super) fn renew_tasks(&mut self, tasks: &[FoundTask], until: Timestamp) {
        self.hold_tasks(tasks, until, |_| true);
    }

    pub(super) fn release_tasks(&mut self, tasks: &[FoundTask], now: Timestamp) {
        self.hold_tasks(tasks, now, |task| task.has_begun);
    }

    fn hold_tasks(&mut self, tasks: &[FoundTask], until: Timestamp, is_taken: fn(&StoredTask) -> bool) {
        for FoundTask { run, at, lease_epoch, .. } in tasks {
            if let Some(task) =
                self.tasks.get_mut(&(*run, *at)).filter(|task| task.lease_epoch == *lease_epoch)
            {
                task.is_taken = is_taken(task);
                task.free_at = task.deadline.map_or(until, |deadline| until.min(deadline));
            }
        }
    }

    pub(super) fn count_tasks(&self, most: usize) -> TaskCounts {
        let taken = self.tasks.values().filter(|task| task.is_taken).count();
        TaskCounts { taken: taken.min(most), free: (self.tasks.len() - taken).min(most) }
    }
}

fn found(task: &StoredTask) -> FoundTask {
    FoundTask {
        run: task.run,
        at: task.at,
        lease_epoch: task.lease_epoch,
        workspace: task.workspace,
        queue: Arc::clone(&task.queue),
    }
}
