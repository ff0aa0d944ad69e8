//! What a node had seen of an event when it decided: the commits up to a number. An event and a wait for it that are
//! decided side by side, each before the other's commit, would miss each other; the later commit is compared with what
//! was committed since the first look that its batch may have been decided on, and refused if there is a match.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use abide_core::id::WorkspaceId;

/// Batches of a node that may be under way at the same time.
const COMMITTERS: usize = 2;

pub(super) type EventKey = (WorkspaceId, Arc<str>);

/// The first look at each event, in each interval between the ends of two commits of the node.
#[derive(Clone, Debug, Default)]
pub(crate) struct SnapshotLog {
    present: BTreeMap<EventKey, u64>,
    /// The last one first.
    past: VecDeque<BTreeMap<EventKey, u64>>,
    /// The node's own commits in those intervals: it knows of them without looking.
    own: VecDeque<Option<u64>>,
}

impl SnapshotLog {
    pub(super) fn note(&mut self, event: EventKey, commits: u64) {
        self.present.entry(event).or_insert(commits);
    }

    /// What could be seen at the first look that a batch may have been decided on; `None` if it was decided on none.
    pub(super) fn first(&self, event: &EventKey) -> Option<u64> {
        self.past.iter().rev().chain([&self.present]).find_map(|interval| interval.get(event)).copied()
    }

    pub(super) fn is_own(&self, commit: u64) -> bool {
        self.own.contains(&Some(commit))
    }

    /// A commit of the node is over: it has this number, or was refused.
    pub(super) fn rotate(&mut self, commit: Option<u64>) {
        self.past.push_front(std::mem::take(&mut self.present));
        self.own.push_front(commit);
        self.past.truncate(COMMITTERS);
        self.own.truncate(COMMITTERS + 1);
    }
}
