//! Workers that have asked for tasks, and when a build was last seen.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::id::WorkspaceId;
use abide_core::time::Millis;
use jiff::Timestamp;

use super::board::WorkerKey;
use crate::request::{Poll, Worker, Workers};

/// A worker that has not asked for this long, and has no task, is not shown any more.
const WORKER_SEEN: Millis = Millis(15 * 60 * 1_000);
/// Workers that are remembered at most, and how long all their names and those of their handlers may be.
const WORKERS: usize = 10_000;
const WORKERS_BYTES: usize = 16 * 1024 * 1024;
/// Builds of which it is remembered when they were last seen.
const BUILDS: usize = 1_000;

#[derive(Default)]
pub(crate) struct WorkersSeen {
    workers: BTreeMap<WorkerKey, Worker>,
    bytes: usize,
    /// When a worker of a build was last seen, also if it has another one since.
    builds: BTreeMap<(WorkspaceId, Arc<str>), Timestamp>,
}

impl WorkersSeen {
    pub(crate) fn saw(&mut self, poll: &Poll, now: Timestamp) {
        self.saw_build(poll, now);
        let key = (poll.workspace, Arc::clone(&poll.worker));
        let (workspace, name) = key.clone();
        let (build, handlers) = (Arc::clone(&poll.build), poll.handlers.clone());
        let worker = Worker { workspace, name, build, handlers, seen_at: now, tasks: 0 };
        let bytes = bytes_of(&worker);
        self.bytes -= self.workers.remove(&key).as_ref().map_or(0, bytes_of);
        if !self.fits(bytes) {
            let oldest = WORKER_SEEN.before(now);
            self.workers.retain(|_, worker| worker.seen_at > oldest);
            self.bytes = self.workers.values().map(bytes_of).sum();
        }
        if self.fits(bytes) {
            self.bytes += bytes;
            self.workers.insert(key, worker);
        }
    }

    fn fits(&self, bytes: usize) -> bool {
        self.workers.len() < WORKERS && self.bytes.saturating_add(bytes) <= WORKERS_BYTES
    }

    fn saw_build(&mut self, poll: &Poll, now: Timestamp) {
        let key = (poll.workspace, Arc::clone(&poll.build));
        if self.builds.len() >= BUILDS && !self.builds.contains_key(&key) {
            let oldest = self.builds.iter().min_by_key(|(_, seen)| **seen).map(|(key, _)| key.clone());
            oldest.map(|oldest| self.builds.remove(&oldest));
        }
        self.builds.insert(key, now);
    }

    /// A worker gave a sign of life.
    pub(crate) fn heard_of(&mut self, worker: &WorkerKey, now: Timestamp) {
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.seen_at = now;
        }
    }

    /// The workers seen lately, or at work, by name. `holders` are the workers that have tasks, one for each task.
    pub(crate) fn all(&self, holders: &[WorkerKey], here: Vec<Arc<str>>, now: Timestamp) -> Workers {
        let mut handlers = BTreeMap::new();
        for worker in self.workers.values() {
            let (workspace, seen_at) = (worker.workspace, worker.seen_at);
            for handler in &worker.handlers {
                let seen = handlers.entry((workspace, Arc::clone(handler))).or_insert(seen_at);
                *seen = seen_at.max(*seen);
            }
        }
        let mut tasks: BTreeMap<&WorkerKey, usize> = BTreeMap::new();
        for holder in holders {
            *tasks.entry(holder).or_default() += 1;
        }
        let oldest = WORKER_SEEN.before(now);
        let workers = self.workers.iter().map(|(key, worker)| {
            let tasks = tasks.get(key).copied().unwrap_or_default();
            Worker { tasks, ..worker.clone() }
        });
        let seen = workers.filter(|worker| worker.seen_at > oldest || worker.tasks > 0).collect();
        Workers { seen, here, handlers, builds: self.builds.clone() }
    }
}

/// What a worker takes that is remembered.
fn bytes_of(worker: &Worker) -> usize {
    let handlers = worker.handlers.iter().map(|name| name.len() + size_of::<Arc<str>>());
    size_of::<Worker>() + 2 * worker.name.len() + worker.build.len() + handlers.sum::<usize>()
}
