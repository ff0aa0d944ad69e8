//! Pins: which build may have a task.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::run::TaskState;

/// The pin of a task whose step says `pinToBuild`. There is none before a worker that names its build has taken the
/// task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pin {
    /// Only workers of this build get the task.
    To(Arc<str>),
    /// An operator has lifted the pin: workers of any build get the task, and none pins it again.
    Lifted,
}

impl TaskState {
    /// The only build that may have the task; `None`: any.
    pub fn pinned_to(&self) -> Option<&Arc<str>> {
        match &self.pin {
            Some(Pin::To(build)) => Some(build),
            Some(Pin::Lifted) | None => None,
        }
    }

    /// Whether a worker of this build may not have the task. A worker that names none counts as another build.
    pub(crate) fn is_pinned_away_from(&self, build: Option<&str>) -> bool {
        self.pinned_to().is_some_and(|pinned| Some(&**pinned) != build)
    }
}
