//! The shares of workspaces: how many turns each has in a row where several wait for the same thing.

use std::sync::{Arc, PoisonError, RwLock};

use abide_core::id::WorkspaceId;

/// Workspaces whose share is not one, by their ids.
pub(crate) use abide_store::tasks::Shares as OwnShares;

/// The largest share that a workspace may have.
pub const LARGEST_SHARE: u32 = 100;

/// The share of each workspace. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares(Arc<RwLock<OwnShares>>);

impl Shares {
    pub(crate) fn set(&self, own: OwnShares) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = own;
    }

    /// How many turns a workspace has in a row; at least one.
    pub(crate) fn of(&self, workspace: WorkspaceId) -> u32 {
        let own = self.0.read().unwrap_or_else(PoisonError::into_inner);
        own.get(&workspace).map_or(1, |share| (*share).clamp(1, LARGEST_SHARE))
    }

    /// The workspaces whose share is not one.
    pub(crate) fn own(&self) -> OwnShares {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
