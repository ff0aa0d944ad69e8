//! What is still to happen, and when: messages on their way, wake-ups, and the next thing that chance does.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_engine::machine::{Done, Input, RoundBatch, RoundNumber};
use abide_store::cluster::NodeId;
use jiff::Timestamp;

use super::store::snapshots::SnapshotLog;

/// One of the nodes, by its place in the world. A node that is restarted has another life, and another id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) node: usize,
    pub(super) number: u32,
}

pub(super) enum Event {
    /// A machine asked to be called. Only the last such wish of a life counts.
    Wake { life: Life, wish: u64 },
    /// Something that is asked arrives at a node.
    Arrive { life: Life, input: Box<Input> },
    /// A node hears what came of something that it wanted to be done.
    Done { life: Life, done: Box<Done> },
    /// A commit arrives at the store.
    Commit(Box<Commit>),
    /// A node says that it is there.
    Heartbeat(Life),
    /// A node that was frozen goes on.
    Thaw(Life),
    /// A node that is dead begins again.
    Restart(usize),
    /// Chance does something.
    Act,
}

/// A commit on its way to the store.
pub(super) struct Commit {
    pub(super) life: Life,
    /// Whose connection it is; the process may be gone.
    pub(super) by: NodeId,
    pub(super) round: RoundNumber,
    pub(super) batch: Arc<RoundBatch>,
    pub(super) sent: Timestamp,
    /// What its node had seen of events when it was sent.
    pub(super) seen: SnapshotLog,
    pub(super) fate: Fate,
}

/// What becomes of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The commit is written, unless another came first, and the node gets the outcome.
    Written,
    /// The store refuses it, and the node hears so.
    Refused,
    /// The commit is written, unless another came first, and the node is told that the outcome is unknown.
    Unknown,
}

#[derive(Default)]
pub(super) struct Agenda {
    events: BTreeMap<(Timestamp, u64), Event>,
    last: u64,
}

impl Agenda {
    pub(super) fn add(&mut self, at: Timestamp, event: Event) {
        self.last += 1;
        self.events.insert((at, self.last), event);
    }

    pub(super) fn next(&mut self, until: Timestamp) -> Option<(Timestamp, Event)> {
        let first = self.events.first_entry().filter(|first| first.key().0 <= until)?;
        let ((at, _), event) = first.remove_entry();
        Some((at, event))
    }

    /// The commits of one life, taken out: they land at once or never.
    pub(super) fn take_commits(&mut self, life: Life) -> Vec<Commit> {
        let is_its = |event: &Event| matches!(event, Event::Commit(commit) if commit.life == life);
        let places: Vec<(Timestamp, u64)> =
            self.events.iter().filter(|(_, event)| is_its(event)).map(|(place, _)| *place).collect();
        let taken = places.iter().filter_map(|place| self.events.remove(place));
        taken
            .filter_map(|event| if let Event::Commit(commit) = event { Some(*commit) } else { None })
            .collect()
    }
}
