//! The cluster: nodes on one store. Each of them is a whole engine, and the store is all they have in common. This
//! module holds what a node knows of the others, and how often it looks for what they did. A node that is alone looks
//! after everything, and never has to look.
//!
//! ```text
//!   heartbeat (a thread) ── I am here ──▶ store ── who is there, what time it is ──▶ clock, shard of the timers
//!   writer ── tasks that are free, tasks that are late, timers nobody fired ──▶ store
//!   notifications of other nodes ──▶ writer: pollers, watchers and followers look at once, not only at the next look
//! ```
//!
//! Which node looks after what is only a hint. Whatever two nodes do at the same time, one commit is refused as a
//! conflict, and decided again on what the other one wrote.

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

/// How often a node reads from the store what a notification may have failed to tell it.
pub(crate) const LOOK: Duration = Duration::from_millis(500);
/// How often a node renews the leases of what its handlers are at.
pub(crate) const RENEW: Duration = Duration::from_secs(3);
/// How long a handler must have been at a task before its lease is renewed: most are done before.
pub(crate) const RENEW_AFTER: Duration = Duration::from_millis(1_500);
/// How late a timer of a node's shard must be before the node looks for it in the store: the node that set it may be
/// gone.
pub(crate) const LATE: Millis = Millis(300);
/// How late a timer must be before any node fires it.
pub(crate) const VERY_LATE: Millis = Millis(3_000);
/// How many timers one round fires at most, so that a million overdue ones do not keep a request waiting.
const ROUND_TIMERS: usize = 256;
/// How many timers one round fires at most where a commit goes to a server: there larger rounds are cheaper.
const SHARED_ROUND_TIMERS: usize = 512;

/// The other nodes of a store, as far as an engine knows them.
pub(crate) struct Cluster {
    shard: Shard,
    others: Option<Others>,
}

struct Others {
    node: NodeId,
    /// The nodes that are alive, this one included.
    nodes: Vec<NodeId>,
    next_look: Duration,
    next_renewal: Duration,
    /// Runs that a caller here waits for and that changed on another node.
    moved: BTreeSet<RunId>,
    /// The versions last seen of runs that a caller here waits for.
    seen: BTreeMap<RunId, u64>,
}

impl Cluster {
    /// The cluster of an engine that has the store to itself.
    pub(crate) fn alone() -> Cluster {
        Cluster { shard: Shard::ALL, others: None }
    }

    /// The cluster of a node that is one of several.
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

    /// The memory for runs, which compares them with the store where other nodes may change them.
    pub(crate) fn memory(&self) -> Memory {
        if self.is_alone() { Memory::default() } else { Memory::shared() }
    }

    /// The alarm for timers of the near future that this node looks after.
    pub(crate) fn alarm(&self) -> Alarm {
        if self.is_alone() { Alarm::default() } else { Alarm::shared() }
    }

    /// How many timers one round fires at most.
    pub(crate) fn round_timers(&self) -> usize {
        if self.is_alone() { ROUND_TIMERS } else { SHARED_ROUND_TIMERS }
    }

    /// What is kept of a request until it is committed, where a conflict is possible and it would be decided again.
    pub(crate) fn retry(&self, request: &Decide) -> Option<Retry> {
        self.others.as_ref().map(|_| Retry::of(request))
    }

    /// Whether a commit failed because another node committed first: decided again, it will do.
    pub(crate) fn is_conflict(&self, error: &Error) -> bool {
        !self.is_alone() && error.is_conflict()
    }

    /// The shard of the runs whose timers this node looks after.
    pub(crate) fn shard(&self) -> Shard {
        self.shard
    }

    /// The number under which this node leaves follow-ups for later rounds.
    pub(crate) fn owner(&self) -> u128 {
        self.others.as_ref().map_or(0, |others| others.node.0)
    }

    /// The numbers of the other nodes that are alive.
    pub(crate) fn other_owners(&self) -> Vec<u128> {
        let Some(others) = &self.others else { return Vec::new() };
        others.nodes.iter().filter(|node| **node != others.node).map(|node| node.0).collect()
    }

    /// Divides the runs among the nodes that are alive; says whether this node has another shard from now on.
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

    /// Has the node look at the store in its next pass.
    pub(crate) fn look_now(&mut self) {
        self.others.iter_mut().for_each(|others| others.next_look = Duration::ZERO);
    }

    pub(crate) fn is_time_to_look(&self, now: Duration) -> bool {
        self.others.as_ref().is_some_and(|others| others.next_look <= now)
    }

    /// Notes that the node looks at the store now.
    pub(crate) fn looked(&mut self, now: Duration) {
        self.others.iter_mut().for_each(|others| others.next_look = now + LOOK);
    }

    /// Whether the leases of tasks that are worked on here are to be renewed now.
    pub(crate) fn take_renewal(&mut self, now: Duration) -> bool {
        let Some(others) = self.others.as_mut().filter(|others| others.next_renewal <= now) else {
            return false;
        };
        others.next_renewal = now + RENEW;
        true
    }

    /// How long it is until the node looks at the store; `None` if it never does.
    pub(crate) fn until_look(&self, now: Duration) -> Option<Duration> {
        let others = self.others.as_ref()?;
        let is_now = !others.moved.is_empty();
        Some(if is_now { Duration::ZERO } else { others.next_look.saturating_sub(now) })
    }

    /// Notes that a run that a caller here waits for has changed on another node.
    pub(crate) fn has_moved(&mut self, run: RunId) {
        self.others.iter_mut().for_each(|others| others.moved.extend([run]));
    }

    pub(crate) fn take_moved(&mut self) -> BTreeSet<RunId> {
        self.others.as_mut().map(|others| std::mem::take(&mut others.moved)).unwrap_or_default()
    }

    /// Notes the versions of runs that a caller here waits for or follows; returns those that changed.
    pub(crate) fn saw(&mut self, versions: &[(RunId, u64)]) -> Vec<RunId> {
        let Some(others) = &mut self.others else { return Vec::new() };
        let before = std::mem::replace(&mut others.seen, versions.iter().copied().collect());
        let is_new = |(run, version): &&(RunId, u64)| before.get(run) != Some(version);
        versions.iter().filter(is_new).map(|(run, _)| *run).collect()
    }
}
