//! Runs and schedules that are held until somebody releases them.

use abide_core::id::WorkspaceId;
use abide_store::{Held, Owner, Page};

use super::Engine;
use crate::error::Error;
use crate::request::Control;

/// Runs and schedules that are held: nothing is decided about them. Made by [`Engine::holds`].
#[derive(Clone, Copy, Debug)]
pub struct HoldsHandle<'e>(pub(super) &'e Engine);

impl HoldsHandle<'_> {
    /// Holds a run or a schedule: nothing is decided about it until it is [released](HoldsHandle::release). When it
    /// returns, that is on disk. Says whether it was not held before.
    pub async fn hold(self, owner: Owner, by: &str, reason: &str) -> Result<bool, Error> {
        let (by, reason) = (by.to_owned(), reason.to_owned());
        let held = Box::new(Held { owner, workspace: None, at: self.0.now(), by, reason });
        self.0.ask(|answer| Control::Hold { held, answer }).await
    }

    /// Releases a run or a schedule, which goes on from where it is. Says whether it was held. One that is damaged
    /// stays held.
    pub async fn release(self, owner: Owner) -> Result<bool, Error> {
        self.0.ask(|answer| Control::Unhold { owner, answer }).await
    }

    /// Why a run or a schedule is held; `None` if it is not.
    pub fn get(self, owner: Owner) -> Option<Held> {
        self.0.holds.get(owner)
    }

    /// How many runs and schedules are held.
    pub fn count(self) -> usize {
        self.0.holds.count()
    }

    /// All runs and schedules that are held, in the order of their ids.
    pub async fn list(self, page: Page<Owner>) -> Result<Vec<Held>, Error> {
        self.0.readers.read(None, move |store| store.all_held(&page)).await
    }

    /// The workspace of a run or a schedule, as its row says; `None` if there is none.
    pub async fn workspace_of(self, owner: Owner) -> Result<Option<WorkspaceId>, Error> {
        let found = self.0.readers.read(None, move |store| match owner {
            Owner::Schedule(schedule) => Ok(store.schedule(schedule)?.map(|schedule| schedule.workspace)),
            Owner::Run(run) => store.workspace_of(run),
            Owner::Limit(limit) => Ok(store.limit(limit)?.map(|limit| limit.workspace)),
        });
        found.await
    }
}
