//! Limits of an engine that its owner may set. Those that are the same everywhere are in the core.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use abide_core::id::WorkspaceId;

/// How many runs may be open or descend from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many runs may descend from one: its children, their children, and so on. A child too many fails as
    /// `CHILD_NOT_STARTED`.
    pub descendants: u64,
    /// How many runs of one workspace may be open; `None`: any number. A start too many is refused as
    /// [`Error::TooManyOpenRuns`](crate::Error::TooManyOpenRuns).
    pub open_runs: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { descendants: 100_000, open_runs: None }
    }
}

/// The limit of open runs of each workspace. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenRuns(Arc<RwLock<Figures>>);

#[derive(Debug, Default)]
struct Figures {
    any: Option<u64>,
    own: HashMap<WorkspaceId, u64>,
}

impl OpenRuns {
    pub(crate) fn new(any: Option<u64>) -> OpenRuns {
        let runs = OpenRuns::default();
        runs.set(any, HashMap::new());
        runs
    }

    pub(crate) fn set(&self, any: Option<u64>, own: HashMap<WorkspaceId, u64>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Figures { any, own };
    }

    pub(crate) fn of(&self, workspace: WorkspaceId) -> Option<u64> {
        let figures = self.0.read().unwrap_or_else(PoisonError::into_inner);
        figures.own.get(&workspace).copied().or(figures.any)
    }
}
