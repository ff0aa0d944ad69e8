//! What nothing is decided about until somebody lets it go: runs and schedules that are damaged, that took the process down
//! with them, or that somebody wants to stand still.

use std::fmt;
use std::str::FromStr;

use abide_core::id::{BadId, RunId, ScheduleId, WorkspaceId};
use jiff::Timestamp;

/// A run or a schedule, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(pub RunId);

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ScheduleId::of(self.0) {
            Some(schedule) => schedule.fmt(f),
            None => self.0.fmt(f),
        }
    }
}

impl FromStr for Owner {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Owner, BadId> {
        let schedule = text.parse::<ScheduleId>().map(|schedule| Owner(schedule.owner()));
        schedule.or_else(|_| text.parse::<RunId>().map(Owner))
    }
}

/// That it is held, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub owner: Owner,
    /// Where it belongs, if that could be read.
    pub workspace: Option<WorkspaceId>,
    pub at: Timestamp,
    /// The engine, or who asked for it.
    pub by: String,
    pub reason: String,
}

/// What was decided when a process ended, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub owner: Owner,
    pub deaths: u32,
}

/// Of a batch that cannot be committed: what of it cannot, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    pub owner: Owner,
    pub why: String,
}
