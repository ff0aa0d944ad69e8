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
//! This is where looks are noted: which transactions they could see. A batch is decided on what was read since the
//! commit before the last one was over: an engine decides one batch while another is being committed, and all
//! earlier ones it must see in the store. So the looks of two spans between commits are kept.

use std::collections::HashMap;
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

#[derive(Debug, Default)]
pub(super) struct Looks(Mutex<Spans>);

#[derive(Debug, Default)]
struct Spans {
    /// Since the last commit was over.
    present: Span,
    /// From the end of the commit before to the end of the last one.
    last: Span,
    /// What was committed here in the meantime. The engine knows of it without looking.
    own: [Option<String>; 2],
}

#[derive(Debug, Default)]
struct Span {
    /// The first look at each event id.
    by_event: HashMap<i64, Snapshot>,
    /// The first look of those that are not among them.
    of_others: Option<Snapshot>,
}

impl Span {
    fn note(&mut self, event: i64, snapshot: Snapshot) {
        if self.by_event.len() < NOTED || self.by_event.contains_key(&event) {
            self.by_event.entry(event).or_insert(snapshot);
        } else {
            self.of_others.get_or_insert(snapshot);
        }
    }

    fn first(&self, event: i64) -> Option<&Snapshot> {
        self.by_event.get(&event).or(self.of_others.as_ref())
    }
}

impl Looks {
    pub(super) fn note(&self, event: i64, snapshot: Snapshot) {
        self.spans().present.note(event, snapshot);
    }

    /// The first look that the present batch may have been decided on; `None` if it was decided on none.
    pub(super) fn first(&self, event: i64) -> Option<Snapshot> {
        let spans = self.spans();
        spans.last.first(event).or_else(|| spans.present.first(event)).cloned()
    }

    /// Transactions that are not news although no look could see them.
    pub(super) fn own(&self) -> Vec<String> {
        self.spans().own.iter().flatten().cloned().collect()
    }

    /// A commit is over: it wrote this transaction, or none.
    pub(super) fn turn(&self, written: Option<String>) {
        let mut spans = self.spans();
        spans.last = std::mem::take(&mut spans.present);
        let [_, last] = std::mem::take(&mut spans.own);
        spans.own = [last, written];
    }

    fn spans(&self) -> MutexGuard<'_, Spans> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_look_since_the_commit_before_the_last_one_counts() {
        let looks = Looks::default();
        assert_eq!(looks.first(1), None);
        looks.note(1, "a".to_owned());
        looks.note(1, "b".to_owned());
        assert_eq!(looks.first(1).as_deref(), Some("a"));
        looks.turn(Some("7".to_owned()));
        looks.note(1, "c".to_owned());
        assert_eq!(looks.first(1).as_deref(), Some("a"));
        assert_eq!(looks.first(2), None);
        looks.turn(None);
        assert_eq!(looks.first(1).as_deref(), Some("c"));
        assert_eq!(looks.own(), ["7"]);
        looks.turn(None);
        assert_eq!(looks.first(1), None);
        assert!(looks.own().is_empty());
    }

    #[test]
    fn looks_beyond_the_limit_are_noted_as_one_and_none_is_lost() {
        let looks = Looks::default();
        for event in 0..NOTED as i64 {
            looks.note(event, "early".to_owned());
        }
        looks.note(-1, "first".to_owned());
        looks.note(-2, "second".to_owned());
        looks.note(1, "late".to_owned());
        assert_eq!(looks.first(1).as_deref(), Some("early"));
        assert_eq!(looks.first(-1).as_deref(), Some("first"));
        assert_eq!(looks.first(-2).as_deref(), Some("first"), "earlier than it was, which is safe");
    }
}
