//! Pins: which code may have a task.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::run::TaskState;

/// What is settled about the code of a task whose step says `pinToBuild`. Nothing is before a worker that names its build
/// has taken it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pin {
    /// Only workers of this build have it.
    To(Arc<str>),
    /// An operator has lifted it: any build may have it, and none that does is pinned to.
    Lifted,
}

impl TaskState {
    /// The only build that may have it.
    pub fn pinned_to(&self) -> Option<&Arc<str>> {
        match &self.pin {
            Some(Pin::To(build)) => Some(build),
            Some(Pin::Lifted) | None => None,
        }
    }

    /// Whether workers of another build may not have it; a worker that names none is another.
    pub(crate) fn is_pinned_away_from(&self, build: Option<&str>) -> bool {
        self.pinned_to().is_some_and(|pinned| Some(&**pinned) != build)
    }
}
