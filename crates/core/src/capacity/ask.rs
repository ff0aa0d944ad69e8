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
    /// Whether the wait has this room already, and keeps it while it stands in the line of another limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
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
    /// How often the wait has gone from one line to another.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub moves: u16,
    /// The first key that the run or its step has, asked for or held: in the lines of other limits keys take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<LimitId>,
}

fn is_zero(number: &u16) -> bool {
    *number == 0
}

/// Where a wait goes whose turn has come in one line while another limit is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextLine {
    /// The limit whose line the wait stands in next, by its place among the asks.
    pub line: u16,
    /// Whether the wait keeps the room under the limit whose turn it was.
    pub keeps: bool,
}

impl CapacityRequest {
    /// The limit whose line the wait stands in.
    pub fn awaited(&self) -> Option<&Ask> {
        self.asks.get(usize::from(self.line))
    }

    /// Where the wait goes now that its turn has come and the ask `blocked` finds no room.
    ///
    /// It holds nothing and stands in the line of the limit that is full, by its first arrival. Where all of its limits are
    /// nearly always full, it could go from line to line without end: after
    /// [`MOVES_BETWEEN_LINES`](limits::MOVES_BETWEEN_LINES) it takes one limit after the other and keeps what it has. All
    /// that keep room take limits in one order, so that no two wait for each other. A rate comes last and is not kept: one
    /// that is used is used when the run begins.
    pub fn next_line(&self, blocked: usize) -> NextLine {
        let to = |line: usize| u16::try_from(line).unwrap_or(u16::MAX);
        let moves_on = NextLine { line: to(blocked), keeps: false };
        if self.moves < limits::MOVES_BETWEEN_LINES {
            return moves_on;
        }
        let mut wanted: Vec<(bool, LimitId, usize)> =
            self.wanted().map(|(line, ask)| (ask.token, ask.limit, line)).collect();
        wanted.sort_unstable();
        match &*wanted {
            [(false, _, first), (_, _, second), ..] if *first == usize::from(self.line) => {
                NextLine { line: to(*second), keeps: true }
            }
            [(false, _, first), ..] => NextLine { line: to(*first), keeps: false },
            [(true, ..), ..] | [] => moves_on,
        }
    }

    /// The group that takes its turn in the line of the ask at this place: all that have the same key of another limit, too.
    /// `None`: those that have none.
    pub fn group_in(&self, line: usize) -> Option<LimitId> {
        let is_other = |limit: &LimitId| self.asks.get(line).is_none_or(|ask| ask.limit != *limit);
        let keyed = self.asks.iter().filter(|ask| !ask.key.is_empty()).map(|ask| ask.limit);
        self.group.into_iter().chain(keyed).find(is_other)
    }

    /// What is asked and not kept already, by its place among the asks.
    pub fn wanted(&self) -> impl Iterator<Item = (usize, &Ask)> {
        self.asks.iter().enumerate().filter(|(_, ask)| !ask.kept)
    }

    /// The limits under which the wait has room already.
    pub fn kept(&self) -> impl Iterator<Item = LimitId> {
        self.asks.iter().filter(|ask| ask.kept).map(|ask| ask.limit)
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
