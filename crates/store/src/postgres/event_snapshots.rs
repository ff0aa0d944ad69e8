//! Events and waits that begin at the same time, in different processes.
//!
//! A wait is decided after a look at the events there were, an event after a look at those who wait for it. If both are
//! decided and committed side by side, each look may come before the other's commit, and the two would miss each other
//! for ever. So a commit with either of them
//!
//! - locks the event id, and so comes before or after every other commit with the other of them, and
//! - looks again, at what was committed since the look that its batch was decided on. If there is a match, the batch
//!   is refused as a conflict; decided again, it will see it.
//!
//! This is where looks are noted: which transactions they could see. An engine decides one batch while others are being
//! committed, by one writer each, and all earlier ones it must see in the store. So between the first look that a batch
//! is decided on and its own commit, no more commits come to an end than there are writers, and the looks of that many
//! spans between commits are kept, and of the present one.
//!
//! A server that crashes gives the numbers of transactions that it had not written down to others. So a look says nothing
//! after a crash. Every crash ends all connections: looks of before the writer connected are lost, and a batch that was
//! decided on one is refused.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use abide_core::id::WorkspaceId;
use abide_core::idempotency::digest;

/// Looks noted one by one in a span between two commits. Those beyond are noted as one.
const NOTED: usize = 10_000;

/// An event id of a workspace, as it is locked and noted. Two may share a number; then one waits for the other in
/// vain, which does no harm.
pub(super) fn event_key(workspace: WorkspaceId, event_id: &str) -> i64 {
    digest(&("event", workspace, event_id)).cast_signed()
}

/// The transactions that a look could see, as PostgreSQL writes it.
pub(super) type TransactionSnapshot = String;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EventSnapshot {
    Valid(TransactionSnapshot),
    /// What it saw cannot be compared with what is there now.
    Invalid,
}

#[derive(Debug, Default)]
pub(super) struct SnapshotLog(Mutex<CommitIntervals>);

#[derive(Debug, Default)]
struct CommitIntervals {
    /// Since the last commit was over.
    present: CommitInterval,
    /// Those before, between the ends of two commits each; the last one first.
    past: VecDeque<CommitInterval>,
    /// What was committed here in the meantime. The engine knows of it without looking.
    own: VecDeque<Option<String>>,
    /// Writers beside the first.
    others: usize,
    /// How often looks were lost.
    invalidations: u64,
}

#[derive(Debug, Default)]
struct CommitInterval {
    /// The first look at each event id.
    by_event: HashMap<i64, EventSnapshot>,
    /// The first look of those that are not among them.
    of_others: Option<EventSnapshot>,
}

impl CommitInterval {
    fn note(&mut self, event: i64, look: &EventSnapshot) {
        if self.by_event.len() < NOTED || self.by_event.contains_key(&event) {
            self.by_event.entry(event).or_insert_with(|| look.clone());
        } else {
            self.of_others.get_or_insert_with(|| look.clone());
        }
    }

    fn first(&self, event: i64) -> Option<&EventSnapshot> {
        self.by_event.get(&event).or(self.of_others.as_ref())
    }

    fn invalidate(&mut self) {
        self.by_event.values_mut().chain(&mut self.of_others).for_each(|look| *look = EventSnapshot::Invalid);
    }
}

impl SnapshotLog {
    /// Before a look; it is noted with what this gives.
    pub(super) fn invalidations(&self) -> u64 {
        self.intervals().invalidations
    }

    pub(super) fn note(
        &self,
        events: impl IntoIterator<Item = i64>,
        snapshot: TransactionSnapshot,
        invalidations: u64,
    ) {
        let mut intervals = self.intervals();
        let look = if intervals.invalidations == invalidations {
            EventSnapshot::Valid(snapshot)
        } else {
            EventSnapshot::Invalid
        };
        events.into_iter().for_each(|event| intervals.present.note(event, &look));
    }

    /// The writer connects: the server may have crashed since the looks so far.
    pub(super) fn invalidate(&self) {
        let mut intervals = self.intervals();
        intervals.invalidations += 1;
        let CommitIntervals { present, past, .. } = &mut *intervals;
        past.iter_mut().chain([present]).for_each(CommitInterval::invalidate);
    }

    /// There is one more who commits at the same time.
    pub(super) fn add_writer(&self) {
        self.intervals().others += 1;
    }

    /// The first look that the present batch may have been decided on; `None` if it was decided on none.
    pub(super) fn first(&self, event: i64) -> Option<EventSnapshot> {
        let intervals = self.intervals();
        let earliest_first = intervals.past.iter().rev().chain([&intervals.present]);
        earliest_first.filter_map(|interval| interval.first(event)).next().cloned()
    }

    /// Transactions that are not news although no look could see them.
    pub(super) fn own(&self) -> Vec<String> {
        self.intervals().own.iter().flatten().cloned().collect()
    }

    /// A commit is over: it wrote this transaction, or none.
    pub(super) fn rotate(&self, written: Option<String>) {
        let mut intervals = self.intervals();
        let ended = std::mem::take(&mut intervals.present);
        intervals.past.push_front(ended);
        intervals.own.push_front(written);
        let writers = intervals.others + 1;
        intervals.past.truncate(writers);
        intervals.own.truncate(writers + 1);
    }

    fn intervals(&self) -> MutexGuard<'_, CommitIntervals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saw(snapshot: &str) -> Option<EventSnapshot> {
        Some(EventSnapshot::Valid(snapshot.to_owned()))
    }

    fn note(snapshots: &SnapshotLog, event: i64, snapshot: &str) {
        snapshots.note([event], snapshot.to_owned(), snapshots.invalidations());
    }

    #[test]
    fn the_first_look_since_the_commit_before_the_last_one_counts() {
        let snapshots = SnapshotLog::default();
        assert_eq!(snapshots.first(1), None);
        note(&snapshots, 1, "a");
        note(&snapshots, 1, "b");
        assert_eq!(snapshots.first(1), saw("a"));
        snapshots.rotate(Some("7".to_owned()));
        note(&snapshots, 1, "c");
        assert_eq!(snapshots.first(1), saw("a"));
        assert_eq!(snapshots.first(2), None);
        snapshots.rotate(None);
        assert_eq!(snapshots.first(1), saw("c"));
        assert_eq!(snapshots.own(), ["7"]);
        snapshots.rotate(None);
        assert_eq!(snapshots.first(1), None);
        assert!(snapshots.own().is_empty());
    }

    #[test]
    fn with_another_writer_the_looks_of_one_more_span_count() {
        let snapshots = SnapshotLog::default();
        snapshots.add_writer();
        note(&snapshots, 1, "a");
        snapshots.rotate(Some("7".to_owned()));
        note(&snapshots, 1, "b");
        snapshots.rotate(Some("8".to_owned()));
        assert_eq!(snapshots.first(1), saw("a"));
        assert_eq!(snapshots.own(), ["8", "7"]);
        snapshots.rotate(None);
        assert_eq!(snapshots.first(1), saw("b"));
        snapshots.rotate(None);
        assert_eq!(snapshots.first(1), None);
    }

    #[test]
    fn looks_beyond_the_limit_are_noted_as_one_and_none_is_lost() {
        let snapshots = SnapshotLog::default();
        for event in 0..NOTED as i64 {
            note(&snapshots, event, "early");
        }
        note(&snapshots, -1, "first");
        note(&snapshots, -2, "second");
        note(&snapshots, 1, "late");
        assert_eq!(snapshots.first(1), saw("early"));
        assert_eq!(snapshots.first(-1), saw("first"));
        assert_eq!(snapshots.first(-2), saw("first"), "earlier than it was, which is safe");
    }

    #[test]
    fn looks_of_before_the_writer_connected_are_lost() {
        let snapshots = SnapshotLog::default();
        note(&snapshots, 1, "a");
        snapshots.rotate(None);
        note(&snapshots, 2, "b");
        let begun = snapshots.invalidations();
        snapshots.invalidate();
        snapshots.note([3], "c".to_owned(), begun);
        note(&snapshots, 4, "d");
        assert_eq!(
            [1, 2, 3].map(|event| snapshots.first(event)),
            [(); 3].map(|()| Some(EventSnapshot::Invalid))
        );
        assert_eq!(snapshots.first(4), saw("d"));
    }
}
