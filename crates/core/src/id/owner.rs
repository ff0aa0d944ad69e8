//! What waits, timers and holds belong to: a run, or a schedule.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{BadId, RunId, ScheduleId, VERSION, WaitpointId};

/// A run or a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A run.
    Run(RunId),
    /// A schedule.
    Schedule(ScheduleId),
}

impl Owner {
    /// Whose an id is under which waits or timers are stored. Ids of waits have one form for both, so this is the one
    /// place where the two are told apart by the version that a UUID says.
    pub fn of(id: RunId) -> Owner {
        if id.0 & VERSION == 8 << 76 { Owner::Schedule(ScheduleId(id.0)) } else { Owner::Run(id) }
    }

    /// The id under which its waits and timers are stored.
    pub fn id(self) -> RunId {
        match self {
            Owner::Run(run) => run,
            Owner::Schedule(schedule) => RunId(schedule.0),
        }
    }

    /// The run, if it is one.
    pub fn run(self) -> Option<RunId> {
        match self {
            Owner::Run(run) => Some(run),
            Owner::Schedule(_) => None,
        }
    }

    /// The schedule, if it is one.
    pub fn schedule(self) -> Option<ScheduleId> {
        match self {
            Owner::Run(_) => None,
            Owner::Schedule(schedule) => Some(schedule),
        }
    }

    /// The id of the waitpoint of this number.
    pub fn waitpoint(self, number: u32) -> WaitpointId {
        WaitpointId { run: self.id(), number }
    }
}

impl Ord for Owner {
    fn cmp(&self, other: &Owner) -> Ordering {
        self.id().cmp(&other.id())
    }
}

impl PartialOrd for Owner {
    fn partial_cmp(&self, other: &Owner) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Run(run) => run.fmt(f),
            Owner::Schedule(schedule) => schedule.fmt(f),
        }
    }
}

impl FromStr for Owner {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Owner, BadId> {
        let schedule = text.parse().map(Owner::Schedule);
        schedule.or_else(|_| text.parse().map(Owner::Run))
    }
}
