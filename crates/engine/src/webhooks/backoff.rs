//! The back-off of deliveries that were not received.

use abide_core::time::Millis;
use jiff::Timestamp;

const fn seconds(seconds: u64) -> Millis {
    Millis(seconds * 1_000)
}

/// The back-off after the first attempt, the second, and so on: quick where it may have been a hiccup, about four
/// days in all.
const PAUSES: [Millis; 12] = [
    seconds(5),
    seconds(15),
    seconds(60),
    seconds(5 * 60),
    seconds(15 * 60),
    seconds(3_600),
    seconds(3 * 3_600),
    seconds(6 * 3_600),
    seconds(12 * 3_600),
    seconds(24 * 3_600),
    seconds(24 * 3_600),
    seconds(24 * 3_600),
];

/// How often a delivery is attempted.
pub const TRIES: u32 = PAUSES.len() as u32 + 1;

/// When the next attempt is due after so many; `None` if that was the last. A fifth earlier or later, so that
/// deliveries that failed together do not come back together.
pub(super) fn next_attempt(attempts: u32, now: Timestamp, random: u64) -> Option<Timestamp> {
    let pause = PAUSES.get(usize::try_from(attempts).ok()?.checked_sub(1)?)?.0;
    Some(Millis(pause - pause / 5 + random % (pause / 5 * 2 + 1)).after(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pauses_grow_and_jitter_stays_within_a_fifth() {
        let now = Timestamp::UNIX_EPOCH;
        let after = |attempts, random| next_attempt(attempts, now, random).map(|at| at.as_millisecond());
        assert_eq!(after(1, 0), Some(4_000));
        assert_eq!(after(1, 2_000), Some(6_000));
        assert!((0..10_000).all(|random| after(2, random).is_some_and(|at| (12_000..=18_000).contains(&at))));
        let pauses: Vec<_> = (1..TRIES).map(|attempts| after(attempts, 0).expect("one more")).collect();
        assert!(pauses.is_sorted());
    }

    #[test]
    fn after_the_last_attempt_there_is_no_other() {
        assert!(next_attempt(TRIES - 1, Timestamp::UNIX_EPOCH, 7).is_some());
        assert_eq!(next_attempt(TRIES, Timestamp::UNIX_EPOCH, 7), None);
        assert_eq!(next_attempt(0, Timestamp::UNIX_EPOCH, 7), None);
    }
}
