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

use abide_core::door::digest;
use abide_core::id::WorkspaceId;

/// Looks noted one by one in a span between two commits. Those beyond are noted as one.
const NOTED: usize = 10_000;

/// An event id of a workspace, as it is locked and noted. Two may share a number; then one waits for the other in
/// vain, which does no harm.
pub(super) fn event_key(workspace: WorkspaceId, event_id: &str) -> i64 {
    digest(&("event", workspace, event_id)).cast_signed()
}

/// The transactions that a look could see, as PostgreSQL writes it.
pub(super) type Snapshot = String;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Saw(Snapshot),
    /// What it saw cannot be compared with what is there now.
    Lost,
}

#[derive(Debug, Default)]
pub(super) struct Looks(Mutex<Spans>);

#[derive(Debug, Default)]
struct Spans {
    /// Since the last commit was over.
    present: Span,
    /// Those before, between the ends of two commits each; the last one first.
    past: VecDeque<Span>,
    /// What was committed here in the meantime. The engine knows of it without looking.
    own: VecDeque<Option<String>>,
    /// Writers beside the first.
    others: usize,
    /// How often looks were lost.
    losses: u64,
}

#[derive(Debug, Default)]
struct Span {
    /// The first look at each event id.
    by_event: HashMap<i64, Look>,
    /// The first look of those that are not among them.
    of_others: Option<Look>,
}

impl Span {
    fn note(&mut self, event: i64, look: &Look) {
        if self.by_event.len() < NOTED || self.by_event.contains_key(&event) {
            self.by_event.entry(event).or_insert_with(|| look.clone());
        } else {
            self.of_others.get_or_insert_with(|| look.clone());
        }
    }

    fn first(&self, event: i64) -> Option<&Look> {
        self.by_event.get(&event).or(self.of_others.as_ref())
    }

    fn lose(&mut self) {
        self.by_event.values_mut().chain(&mut self.of_others).for_each(|look| *look = Look::Lost);
    }
}

impl Looks {
    /// Before a look; it is noted with what this gives.
    pub(super) fn losses(&self) -> u64 {
        self.spans().losses
    }

    pub(super) fn note(&self, events: impl IntoIterator<Item = i64>, snapshot: Snapshot, losses: u64) {
        let mut spans = self.spans();
        let look = if spans.losses == losses { Look::Saw(snapshot) } else { Look::Lost };
        events.into_iter().for_each(|event| spans.present.note(event, &look));
    }

    /// The writer connects: the server may have crashed since the looks so far.
    pub(super) fn lose(&self) {
        let mut spans = self.spans();
        spans.losses += 1;
        let Spans { present, past, .. } = &mut *spans;
        past.iter_mut().chain([present]).for_each(Span::lose);
    }

    /// There is one more who commits at the same time.
    pub(super) fn add_writer(&self) {
        self.spans().others += 1;
    }

    /// The first look that the present batch may have been decided on; `None` if it was decided on none.
    pub(super) fn first(&self, event: i64) -> Option<Look> {
        let spans = self.spans();
        let earliest_first = spans.past.iter().rev().chain([&spans.present]);
        earliest_first.filter_map(|span| span.first(event)).next().cloned()
    }

    /// Transactions that are not news although no look could see them.
    pub(super) fn own(&self) -> Vec<String> {
        self.spans().own.iter().flatten().cloned().collect()
    }

    /// A commit is over: it wrote this transaction, or none.
    pub(super) fn turn(&self, written: Option<String>) {
        let mut spans = self.spans();
        let ended = std::mem::take(&mut spans.present);
        spans.past.push_front(ended);
        spans.own.push_front(written);
        let writers = spans.others + 1;
        spans.past.truncate(writers);
        spans.own.truncate(writers + 1);
    }

    fn spans(&self) -> MutexGuard<'_, Spans> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saw(snapshot: &str) -> Option<Look> {
        Some(Look::Saw(snapshot.to_owned()))
    }

    fn note(looks: &Looks, event: i64, snapshot: &str) {
        looks.note([event], snapshot.to_owned(), looks.losses());
    }

    #[test]
    fn the_first_look_since_the_commit_before_the_last_one_counts() {
        let looks = Looks::default();
        assert_eq!(looks.first(1), None);
        note(&looks, 1, "a");
        note(&looks, 1, "b");
        assert_eq!(looks.first(1), saw("a"));
        looks.turn(Some("7".to_owned()));
        note(&looks, 1, "c");
        assert_eq!(looks.first(1), saw("a"));
        assert_eq!(looks.first(2), None);
        looks.turn(None);
        assert_eq!(looks.first(1), saw("c"));
        assert_eq!(looks.own(), ["7"]);
        looks.turn(None);
        assert_eq!(looks.first(1), None);
        assert!(looks.own().is_empty());
    }

    #[test]
    fn with_another_writer_the_looks_of_one_more_span_count() {
        let looks = Looks::default();
        looks.add_writer();
        note(&looks, 1, "a");
        looks.turn(Some("7".to_owned()));
        note(&looks, 1, "b");
        looks.turn(Some("8".to_owned()));
        assert_eq!(looks.first(1), saw("a"));
        assert_eq!(looks.own(), ["8", "7"]);
        looks.turn(None);
        assert_eq!(looks.first(1), saw("b"));
        looks.turn(None);
        assert_eq!(looks.first(1), None);
    }

    #[test]
    fn looks_beyond_the_limit_are_noted_as_one_and_none_is_lost() {
        let looks = Looks::default();
        for event in 0..NOTED as i64 {
            note(&looks, event, "early");
        }
        note(&looks, -1, "first");
        note(&looks, -2, "second");
        note(&looks, 1, "late");
        assert_eq!(looks.first(1), saw("early"));
        assert_eq!(looks.first(-1), saw("first"));
        assert_eq!(looks.first(-2), saw("first"), "earlier than it was, which is safe");
    }

    #[test]
    fn looks_of_before_the_writer_connected_are_lost() {
        let looks = Looks::default();
        note(&looks, 1, "a");
        looks.turn(None);
        note(&looks, 2, "b");
        let begun = looks.losses();
        looks.lose();
        looks.note([3], "c".to_owned(), begun);
        note(&looks, 4, "d");
        assert_eq!([1, 2, 3].map(|event| looks.first(event)), [(); 3].map(|()| Some(Look::Lost)));
        assert_eq!(looks.first(4), saw("d"));
    }
}
