//! Followers of runs as they change: of one run (its version, after each commit), or of all of them (a feed).

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_core::id::{RunId, WorkspaceId};
use abide_core::run::Run;
use abide_core::status::RunStatus;
use tokio::sync::{broadcast, watch};

use crate::by_run::ByRun;

/// How many changes a slow reader of the feed may be behind; after that it misses some, and is told.
const FEED: usize = 4_096;

/// A run has changed, and the change is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The run that has changed.
    pub run: RunId,
    /// The workspace of the run.
    pub workspace: WorkspaceId,
    /// The status of the run after the change.
    pub status: RunStatus,
    /// The version of the run after the change: the number of its last record.
    pub version: u64,
    /// The number of the last record before the change; equal to `version` if another node made the change.
    pub after: u64,
}

impl Changed {
    /// The change of a run to which so many records were added.
    pub(crate) fn of(run: &Run, added: usize) -> Changed {
        let (workspace, status, version) = (run.workspace, run.status, run.seq);
        Changed { run: run.id, workspace, status, version, after: version.saturating_sub(added as u64) }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Followers {
    by_run: Arc<Mutex<ByRun<RunId, watch::Sender<u64>>>>,
    feed: broadcast::Sender<Changed>,
}

impl Default for Followers {
    fn default() -> Followers {
        Followers { by_run: Arc::default(), feed: broadcast::channel(FEED).0 }
    }
}

impl Followers {
    fn by_run(&self) -> MutexGuard<'_, ByRun<RunId, watch::Sender<u64>>> {
        self.by_run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn follow(&self, run: RunId) -> Follower {
        let versions = self.by_run().entry(run).or_insert_with(|| watch::channel(0).0).subscribe();
        Follower { run, versions, followers: self.clone() }
    }

    pub(crate) fn feed(&self) -> broadcast::Receiver<Changed> {
        self.feed.subscribe()
    }

    pub(crate) fn tell_of(&self, changed: Changed) {
        self.tell_version(changed.run, changed.version);
        if self.feed.receiver_count() > 0 {
            // Whoever listened may have gone.
            let _ = self.feed.send(changed);
        }
    }

    /// Tells those who follow a run its version, unless they know it.
    pub(crate) fn tell_version(&self, run: RunId, version: u64) {
        if let Some(versions) = self.by_run().get(&run) {
            versions.send_if_modified(|known| {
                let is_news = version > *known;
                *known = version.max(*known);
                is_news
            });
        }
    }

    pub(crate) fn followed(&self) -> Vec<RunId> {
        self.by_run().keys().copied().collect()
    }
}

/// The version of one run, as it grows; 0 until it changes for the first time.
#[derive(Debug)]
pub struct Follower {
    run: RunId,
    versions: watch::Receiver<u64>,
    followers: Followers,
}

impl Deref for Follower {
    type Target = watch::Receiver<u64>;

    fn deref(&self) -> &watch::Receiver<u64> {
        &self.versions
    }
}

impl DerefMut for Follower {
    fn deref_mut(&mut self) -> &mut watch::Receiver<u64> {
        &mut self.versions
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut by_run = self.followers.by_run();
        if by_run.get(&self.run).is_some_and(|versions| versions.receiver_count() <= 1) {
            by_run.remove(&self.run);
        }
    }
}
