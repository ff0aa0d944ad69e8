//! Tasks that are performed in this process, by handlers and by calls of the engine's own.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use abide_core::id::{RunId, StepAddress};

use super::TaskKey;

/// What the payloads of tasks that are performed here may take together; with more, the next is rendered later.
const IN_PROCESS_BYTES: usize = 64 * 1024 * 1024;
/// Tasks that there was no room for and that come again at once.
const COME_AT_ONCE: usize = 1_000;

#[derive(Default)]
pub(crate) struct Running {
    tasks: BTreeMap<(RunId, StepAddress), Performed>,
    bytes: usize,
    without_room: VecDeque<TaskKey>,
}

struct Performed {
    lease_epoch: u32,
    /// The monotonic time at which the task began to be performed.
    since: Duration,
    bytes: usize,
}

impl Running {
    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(crate) fn has(&self, task: TaskKey) -> bool {
        self.tasks.get(&(task.run, task.at)).is_some_and(|running| running.lease_epoch == task.lease_epoch)
    }

    /// Whether another task can be rendered now. Otherwise it comes again when there is room.
    pub(crate) fn has_room_for(&mut self, task: TaskKey) -> bool {
        let has_room = self.bytes < IN_PROCESS_BYTES;
        if !has_room {
            self.without_room.push_back(task);
        }
        has_room
    }

    /// Notes that a task is performed from here on. Returns its earlier lease epoch, if that was being performed.
    pub(crate) fn insert(&mut self, task: TaskKey, since: Duration, bytes: usize) -> Option<TaskKey> {
        self.bytes += bytes;
        let performed = Performed { lease_epoch: task.lease_epoch, since, bytes };
        let before = self.tasks.insert((task.run, task.at), performed)?;
        self.bytes -= before.bytes;
        Some(TaskKey { lease_epoch: before.lease_epoch, ..task })
    }

    /// Since when the task was performed here until now; nothing if it was not.
    pub(crate) fn remove(&mut self, task: TaskKey) -> Option<Duration> {
        let ended = self.has(task).then(|| self.tasks.remove(&(task.run, task.at))).flatten()?;
        self.bytes -= ended.bytes;
        Some(ended.since)
    }

    /// The tasks that there was no room for, and is now.
    pub(crate) fn with_room(&mut self) -> impl Iterator<Item = TaskKey> {
        let come = if self.bytes < IN_PROCESS_BYTES { self.without_room.len().min(COME_AT_ONCE) } else { 0 };
        self.without_room.drain(..come)
    }

    /// The tasks that have been performed for this long.
    pub(crate) fn lasting(&self, length: Duration, now: Duration) -> impl Iterator<Item = TaskKey> {
        let lasting =
            self.tasks.iter().filter(move |(_, running)| now.saturating_sub(running.since) >= length);
        lasting.map(|((run, at), running)| TaskKey { run: *run, at: *at, lease_epoch: running.lease_epoch })
    }

    pub(crate) fn waiting_for_room(&self) -> impl Iterator<Item = TaskKey> {
        self.without_room.iter().copied()
    }
}
