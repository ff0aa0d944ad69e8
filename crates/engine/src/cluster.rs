//! Nodes on one store. Each of them is a whole engine; the store is all they have in common. This is what an engine keeps
//! of the others, and how often it looks for itself. An engine that is alone looks after everything, and never looks.
//!
//! ```text
//!   heartbeat (a thread) ── I am here ──▶ store ── who is there, what time it is ──▶ clock, shard of the timers
//!   writer ── tasks that are free, tasks that are late, timers nobody fired ──▶ store
//!   notifications of other nodes ──▶ writer: pollers, watchers and followers look at once, not only at the next look
//! ```
//!
//! Who looks after what is only a hint. Whatever two nodes take up at the same time, one commit is refused as a conflict, and
//! decided again on what the other one wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use abide_core::id::RunId;
use abide_core::time::Millis;
use abide_store::cluster::NodeId;

use crate::alarm::{Alarm, Shard};
use crate::error::Error;
use crate::memory::Memory;
use crate::reply::Retry;
use crate::request::Decide;

/// How often a node looks for itself at what no notification may have told it of.
pub(crate) const LOOK: Duration = Duration::from_millis(500);
/// How often a node renews the leases of what its handlers are at.
pub(crate) const RENEW: Duration = Duration::from_secs(3);
/// Only of those that a handler has been at for so long: most are done before.
pub(crate) const RENEW_AFTER: Duration = Duration::from_millis(1_500);
/// A timer that is a node's own is looked for in the store when it is late by this much: somebody else set it, and is gone.
pub(crate) const LATE: Millis = Millis(300);
/// A timer that is late by this much is anybody's.
pub(crate) const VERY_LATE: Millis = Millis(3_000);
/// Timers in one round at most, so that a million overdue ones do not keep a request waiting.
const ROUND_TIMERS: usize = 256;
/// Where a commit goes to a server, more are cheaper.
const SHARED_ROUND_TIMERS: usize = 512;

/// The others, as far as an engine knows them.
pub(crate) struct Cluster {
    shard: Shard,
    others: Option<Others>,
}

struct Others {
    node: NodeId,
    /// All nodes that are there.
    nodes: Vec<NodeId>,
    next_look: Duration,
    next_renewal: Duration,
    /// Runs that somebody here waits for and that have moved on elsewhere.
    moved: BTreeSet<RunId>,
    /// The versions last seen of runs that somebody here waits for.
    seen: BTreeMap<RunId, u64>,
}

impl Cluster {
    /// One that has the store to itself.
    pub(crate) fn alone() -> Cluster {
        Cluster { shard: Shard::ALL, others: None }
    }

    /// One of several.
    pub(crate) fn of(node: NodeId) -> Cluster {
        let others = Others {
            node,
            nodes: vec![node],
            next_look: Duration::ZERO,
            next_renewal: Duration::ZERO,
            moved: BTreeSet::new(),
            seen: BTreeMap::new(),
        };
        Cluster { shard: Shard::ALL, others: Some(others) }
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.others.is_none()
    }

    /// Runs in memory, compared with the store where others may change them.
    pub(crate) fn memory(&self) -> Memory {
        if self.is_alone() { Memory::default() } else { Memory::shared() }
    }

    /// Timers in memory, of the near future that this engine looks after.
    pub(crate) fn alarm(&self) -> Alarm {
        if self.is_alone() { Alarm::default() } else { Alarm::shared() }
    }

    /// Timers in one round at most.
    pub(crate) fn round_timers(&self) -> usize {
        if self.is_alone() { ROUND_TIMERS } else { SHARED_ROUND_TIMERS }
    }

    /// What is kept of a request until it is committed: others may be first, and then it is decided again.
    pub(crate) fn retry(&self, request: &Decide) -> Option<Retry> {
        self.others.as_ref().map(|_| Retry::of(request))
    }

    /// Whether a commit failed because others were first. Decided again, on what they wrote, it will do.
    pub(crate) fn is_conflict(&self, error: &Error) -> bool {
        !self.is_alone() && error.is_conflict()
    }

    /// The runs whose timers this engine looks after.
    pub(crate) fn shard(&self) -> Shard {
        self.shard
    }

    /// Under which number this engine leaves follow-ups for later rounds.
    pub(crate) fn owner(&self) -> u128 {
        self.others.as_ref().map_or(0, |others| others.node.0)
    }

    /// The numbers of the other nodes that are there.
    pub(crate) fn other_owners(&self) -> Vec<u128> {
        let Some(others) = &self.others else { return Vec::new() };
        others.nodes.iter().filter(|node| **node != others.node).map(|node| node.0).collect()
    }

    /// Says whether other runs are to be looked after here from now on.
    pub(crate) fn divide(&mut self, nodes: &[NodeId]) -> bool {
        let Some(others) = &mut self.others else { return false };
        others.nodes = nodes.to_vec();
        let shard = match nodes.iter().position(|node| *node == others.node) {
            Some(rest) => Shard { rest, of: nodes.len() },
            // We were not heard of for a while: until then, we look at everything.
            None => Shard::ALL,
        };
        std::mem::replace(&mut self.shard, shard) != shard
    }

    /// What no notification may have told of is looked at in the next pass.
    pub(crate) fn look_now(&mut self) {
        self.others.iter_mut().for_each(|others| others.next_look = Duration::ZERO);
    }

    pub(crate) fn is_time_to_look(&self, now: Duration) -> bool {
        self.others.as_ref().is_some_and(|others| others.next_look <= now)
    }

    /// Notes that the node looks now; the next look is a while away.
    pub(crate) fn looked(&mut self, now: Duration) {
        self.others.iter_mut().for_each(|others| others.next_look = now + LOOK);
    }

    /// Whether the leases of what is worked on here are to be renewed now.
    pub(crate) fn take_renewal(&mut self, now: Duration) -> bool {
        let Some(others) = self.others.as_mut().filter(|others| others.next_renewal <= now) else {
            return false;
        };
        others.next_renewal = now + RENEW;
        true
    }

    /// How long it is until something is looked for; `None` if nothing ever is.
    pub(crate) fn until_look(&self, now: Duration) -> Option<Duration> {
        let others = self.others.as_ref()?;
        let is_now = !others.moved.is_empty();
        Some(if is_now { Duration::ZERO } else { others.next_look.saturating_sub(now) })
    }

    /// A run that somebody here waits for has moved on elsewhere.
    pub(crate) fn has_moved(&mut self, run: RunId) {
        self.others.iter_mut().for_each(|others| others.moved.extend([run]));
    }

    pub(crate) fn take_moved(&mut self) -> BTreeSet<RunId> {
        self.others.as_mut().map(|others| std::mem::take(&mut others.moved)).unwrap_or_default()
    }

    /// Remembers which versions runs have that somebody here waits for or follows. Gives those that were not known.
    pub(crate) fn saw(&mut self, versions: &[(RunId, u64)]) -> Vec<RunId> {
        let Some(others) = &mut self.others else { return Vec::new() };
        let before = std::mem::replace(&mut others.seen, versions.iter().copied().collect());
        let is_new = |(run, version): &&(RunId, u64)| before.get(run) != Some(version);
        versions.iter().filter(is_new).map(|(run, _)| *run).collect()
    }
}
