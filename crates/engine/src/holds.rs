//! Holds: runs and schedules that nothing is decided about until they are released. The store keeps them; here is
//! what this process knows of them, for the writer to ask and for handles to show.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abide_core::id::{RunId, WorkspaceId};
use abide_store::{Held, Owner, Page, Read};

use crate::error::Error;

/// How many holds are read at a time.
const PAGE: usize = 1_000;

/// The actor that holds what nobody asked to be held.
pub(crate) const ENGINE: &str = "engine";

/// The holds that this process knows. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holds {
    held: Arc<Mutex<BTreeMap<Owner, Held>>>,
    /// The number of holds. Most often there are none, and nobody waits for a lock to find out.
    count: Arc<AtomicUsize>,
}

impl Holds {
    /// Reads all holds from the store.
    pub(crate) fn load(&self, store: &mut dyn Read) -> Result<(), abide_store::Error> {
        let (mut all, mut after) = (BTreeMap::new(), None);
        loop {
            let page = store.all_held(&Page { after, limit: PAGE })?;
            after = page.last().map(|held| held.owner);
            let is_last = page.len() < PAGE;
            all.extend(page.into_iter().map(|held| (held.owner, held)));
            if is_last {
                break;
            }
        }
        let mut held = self.lock();
        *held = all;
        self.count.store(held.len(), Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn check(&self, id: RunId) -> Result<(), Error> {
        match self.get(Owner::of(id)) {
            Some(held) => Err(Error::Held { owner: Owner::of(id), reason: held.reason }),
            None => Ok(()),
        }
    }

    pub(crate) fn get(&self, owner: Owner) -> Option<Held> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.lock().get(&owner).cloned()
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Adds a hold; says whether it was not there before.
    pub(crate) fn add(&self, held: Held) -> bool {
        let mut all = self.lock();
        let is_new = !all.contains_key(&held.owner);
        all.entry(held.owner).or_insert(held);
        self.count.store(all.len(), Ordering::Relaxed);
        is_new
    }

    pub(crate) fn remove(&self, owner: Owner) -> Option<Held> {
        let mut all = self.lock();
        let held = all.remove(&owner);
        self.count.store(all.len(), Ordering::Relaxed);
        held
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Owner, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The workspace of a run or a schedule, as far as its row can be read.
pub(crate) fn workspace_of(store: &mut dyn Read, owner: Owner) -> Option<WorkspaceId> {
    match owner {
        Owner::Schedule(schedule) => store.schedule(schedule).ok().flatten().map(|found| found.workspace),
        Owner::Run(run) => store.workspace_of(run).ok().flatten(),
        Owner::Limit(limit) => store.limit(limit).ok().flatten().map(|found| found.workspace),
    }
}
