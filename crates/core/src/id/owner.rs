//! The owner of waits, timers and holds: a run, a schedule, or a limit.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{BadId, LimitId, RunId, ScheduleId, VERSION, WaitpointId};

/// The owner of a wait, a timer or a hold: a run or a schedule; of a timer, also one key of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A run owns it.
    Run(RunId),
    /// A schedule owns it.
    Schedule(ScheduleId),
    /// One key of a limit owns it.
    Limit(LimitId),
}

impl Owner {
    /// The owner with this id, under which waits or timers are stored. Ids of waits have one form for both, so this
    /// is the one place where they are told apart, by the version of the UUID.
    pub fn of(id: RunId) -> Owner {
        match (id.0 & VERSION) >> 76 {
            5 => Owner::Limit(LimitId(id.0)),
            8 => Owner::Schedule(ScheduleId(id.0)),
            _ => Owner::Run(id),
        }
    }

    /// The id under which the owner's waits and timers are stored.
    pub fn id(self) -> RunId {
        match self {
            Owner::Run(run) => run,
            Owner::Schedule(schedule) => RunId(schedule.0),
            Owner::Limit(limit) => RunId(limit.0),
        }
    }

    /// The run, if the owner is one.
    pub fn run(self) -> Option<RunId> {
        match self {
            Owner::Run(run) => Some(run),
            Owner::Schedule(_) | Owner::Limit(_) => None,
        }
    }

    /// The schedule, if the owner is one.
    pub fn schedule(self) -> Option<ScheduleId> {
        match self {
            Owner::Run(_) | Owner::Limit(_) => None,
            Owner::Schedule(schedule) => Some(schedule),
        }
    }

    /// The id of the owner's waitpoint of this number.
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
            Owner::Limit(limit) => limit.fmt(f),
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
