//! How much a round may come to. What a decision asks of other runs is decided in the same round as long as there is room;
//! the rest is written down with it, and goes on in later rounds.

use std::time::Duration;

use abide_core::fan_out::Room;
use abide_core::history::Record;

/// What follows from one request, timer or task in its own round.
pub(crate) const FOLLOW_UPS_AT_ONCE: usize = 64;
/// What follows from all of them.
const ROUND_FOLLOW_UPS: usize = 1_024;
/// Records of a round, and what their payloads take: with more, nothing is followed up in it.
const ROUND_RECORDS: usize = 20_000;
const ROUND_BYTES: usize = 16 * 1024 * 1024;
/// Follow-ups of earlier rounds that a round takes up: at least so many, however large it is, and at most, with all that
/// follows from them at once.
const BACKLOG_AT_LEAST: usize = 1;
const BACKLOG_AT_MOST: usize = 256;
/// How many follow-ups a round takes before it is known how quick the store is.
const BACKLOG_AT_FIRST: usize = 64;
/// Where a commit takes longer, fewer are taken up with the next ones: whoever comes meanwhile waits for it.
const LONG_COMMIT: Duration = Duration::from_millis(15);
/// How many more follow-ups the next round takes after a commit that was quick.
const BACKLOG_MORE: usize = 8;
/// What matching events with waits may look at in a round. One more may be begun when it is not used up.
pub(crate) const MATCH_BYTES: usize = 16 * 1024 * 1024;
/// What comparing an event with a wait costs at least, also where the event is for another run.
const COMPARED_BYTES: usize = 256;
/// Waits that are offered events in a round.
pub(crate) const ROUND_WAITERS: usize = 256;

/// How many follow-ups of earlier rounds a round takes up: as many as the store writes down quickly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace(usize);

impl Default for Pace {
    fn default() -> Pace {
        Pace(BACKLOG_AT_FIRST)
    }
}

impl Pace {
    /// After a commit that took so long.
    pub(crate) fn after(self, took: Duration) -> Pace {
        let next = if took > LONG_COMMIT { self.0 / 2 } else { self.0 + BACKLOG_MORE };
        Pace(next.clamp(BACKLOG_AT_LEAST, BACKLOG_AT_MOST))
    }
}

/// What a round has come to.
#[derive(Default)]
pub(crate) struct Spent {
    follow_ups: usize,
    backlog: usize,
    records: usize,
    bytes: usize,
    matched_bytes: usize,
    waiters: usize,
}

impl Spent {
    pub(super) fn record(&mut self, records: &[Record]) {
        self.records += records.len();
        self.bytes += records.iter().map(|record| record.change.payload_bytes()).sum::<usize>();
    }

    fn is_large(&self) -> bool {
        self.records >= ROUND_RECORDS || self.bytes >= ROUND_BYTES
    }

    /// Takes room for one more follow-up, if there is any.
    pub(super) fn take_follow_up(&mut self) -> bool {
        let has_room = self.follow_ups < ROUND_FOLLOW_UPS && !self.is_large();
        self.follow_ups += usize::from(has_room);
        has_room
    }

    pub(crate) fn has_room_for_backlog(&self, pace: Pace) -> bool {
        let is_large = self.is_large() || self.is_matched_out();
        self.backlog < BACKLOG_AT_LEAST || (!is_large && self.backlog + self.follow_ups < pace.0)
    }

    pub(crate) fn take_backlog(&mut self) {
        self.backlog += 1;
    }

    /// An event was compared with a wait.
    pub(super) fn matched(&mut self, bytes: usize) {
        self.matched_bytes += bytes.max(COMPARED_BYTES);
    }

    /// A wait was given an event.
    pub(super) fn offered(&mut self) {
        self.waiters += 1;
    }

    /// Whether no more events are compared with waits in this round.
    pub(crate) fn is_matched_out(&self) -> bool {
        self.matched_bytes >= MATCH_BYTES
    }

    /// Whether no more waits are given events in this round.
    pub(crate) fn is_offered_out(&self) -> bool {
        self.is_matched_out() || self.waiters >= ROUND_WAITERS || self.is_large()
    }
}

impl Room for Spent {
    fn is_out(&self) -> bool {
        self.is_offered_out()
    }

    fn compared(&mut self, bytes: usize) {
        self.matched(bytes);
    }

    fn given(&mut self) {
        self.offered();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_commits_take_up_less_of_the_backlog_and_quick_ones_more_again() {
        let [slow, quick] = [20, 1].map(Duration::from_millis);
        let slowed = (0..20).fold(Pace::default(), |pace, _| pace.after(slow));
        assert_eq!(slowed, Pace(BACKLOG_AT_LEAST));
        let spent = Spent { backlog: BACKLOG_AT_LEAST, ..Spent::default() };
        assert!(!spent.has_room_for_backlog(slowed));
        assert!(spent.has_room_for_backlog(slowed.after(quick)));
        let again = (0..100).fold(slowed, |pace, _| pace.after(quick));
        assert_eq!(again, Pace(BACKLOG_AT_MOST));
    }

    #[test]
    fn what_follows_at_once_counts_as_what_is_taken_up() {
        let pace = Pace(BACKLOG_AT_FIRST);
        let spent = Spent { backlog: 2, follow_ups: BACKLOG_AT_FIRST - 3, ..Spent::default() };
        assert!(spent.has_room_for_backlog(pace));
        let spent = Spent { follow_ups: BACKLOG_AT_FIRST, ..spent };
        assert!(!spent.has_room_for_backlog(pace));
        // However much others ask for, the backlog gets on.
        assert!(Spent { backlog: 0, ..spent }.has_room_for_backlog(pace));
    }
}
