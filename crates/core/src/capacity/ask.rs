//! What a run asks of limits, rendered once: a wait for room says all that is needed to give it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::definition::{Holds, Rate, WhenFull};
use crate::id::LimitId;
use crate::limits;

/// How much room a limit gives, for each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// How many may have room at the same time; `None`: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// How many may begin in a time; `None`: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

/// What is asked of one limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ask {
    /// The key of the limit.
    pub limit: LimitId,
    /// The workflow whose runs share the limit; `None`: all of the workspace that name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Arc<str>>,
    /// The name of the limit.
    pub name: Arc<str>,
    /// The key; empty where the limit has none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub key: Arc<str>,
    /// How much room the definition says there is.
    pub policy: Policy,
    /// Whether room is to be held.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slot: bool,
    /// Whether the rate is to be used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub token: bool,
    /// How long room is held.
    pub holds: Holds,
    /// What becomes of the run if there is no room.
    pub when_full: WhenFull,
}

impl Ask {
    /// The name of the limit, with its key.
    pub fn described(&self) -> String {
        if self.key.is_empty() { self.name.to_string() } else { format!("{} {}", self.name, self.key) }
    }

    /// The room that is held once the ask is granted.
    pub(crate) fn room(&self) -> Option<Room> {
        self.slot.then_some(Room { limit: self.limit, holds: self.holds })
    }
}

/// What a wait for room waits for: room under all of these limits at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapacityRequest {
    /// What is asked of each limit.
    pub asks: Vec<Ask>,
    /// The limit whose line the wait stands in, by its place among the asks.
    #[serde(default)]
    pub line: u16,
    /// The place in line: the least comes first.
    pub rank: Rank,
    /// The priority, 0 to 9.
    #[serde(default)]
    pub priority: u8,
    /// The durable call of a handler that asks; `None`: the run, or an attempt of one of its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Arc<str>>,
}

impl CapacityRequest {
    /// The limit whose line the wait stands in.
    pub fn awaited(&self) -> Option<&Ask> {
        self.asks.get(usize::from(self.line))
    }

    /// The room that is held once all of it is granted.
    pub(crate) fn rooms(&self) -> Vec<Room> {
        self.asks.iter().filter_map(Ask::room).collect()
    }
}

/// A place in line: by the instant of arrival, with a head start for priority. A level counts as much as a minute of waiting:
/// who has waited nine minutes longer comes first whatever the priorities are, so that nothing starves (R23), and the
/// order of a line never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rank(pub i64);

impl Rank {
    /// The place of one that comes now.
    pub fn of(arrival: Timestamp, priority: u8) -> Rank {
        let head_start =
            i64::from(priority.min(limits::PRIORITY)).saturating_mul(limits::HEAD_START.0.cast_signed());
        Rank(arrival.as_millisecond().saturating_sub(head_start).max(0))
    }
}

/// A rank as text has so many digits that texts sort as the ranks do.
impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:019}", self.0)
    }
}

impl FromStr for Rank {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Rank, Self::Err> {
        text.parse().map(Rank)
    }
}

/// Room that a run holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Room {
    /// The key of the limit.
    pub limit: LimitId,
    /// How long it is held.
    pub holds: Holds,
}
