//! A histogram of durations with a few fixed bounds: small enough to have one for each workflow and handler. Where a quantile
//! is wanted and there is one for all, there is [`Histogram`](crate::Histogram).

use abide_core::time::Millis;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Bounds of what a worker does, in milliseconds.
const WORK_MS: [u64; 12] =
    [5, 25, 100, 250, SECOND, 2_500, 5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];
/// Bounds of what may wait in between, in milliseconds.
const WAIT_MS: [u64; 12] = [
    100,
    SECOND,
    5 * SECOND,
    30 * SECOND,
    MINUTE,
    10 * MINUTE,
    HOUR,
    6 * HOUR,
    DAY,
    3 * DAY,
    7 * DAY,
    30 * DAY,
];

/// How many durations there were up to each of some bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    bounds_ms: &'static [u64],
    counts: Box<[u64]>,
    sum_ms: u64,
}

impl Timing {
    /// An empty histogram for what workers do: milliseconds to an hour.
    pub fn of_work() -> Timing {
        Timing::within(&WORK_MS)
    }

    /// An empty histogram for runs, steps and waits: a tenth of a second to a month.
    pub fn of_waits() -> Timing {
        Timing::within(&WAIT_MS)
    }

    fn within(bounds_ms: &'static [u64]) -> Timing {
        Timing { bounds_ms, counts: vec![0; bounds_ms.len() + 1].into(), sum_ms: 0 }
    }

    /// Adds a duration.
    pub fn add(&mut self, Millis(ms): Millis) {
        self.counts[self.bounds_ms.partition_point(|bound| *bound < ms)] += 1;
        self.sum_ms = self.sum_ms.saturating_add(ms);
    }

    /// The upper bounds of the buckets, in milliseconds; one more is without a bound.
    pub fn bounds_ms(&self) -> &'static [u64] {
        self.bounds_ms
    }

    /// How many durations there are up to each bound and above the one before, and after them how many are above all.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many durations were added.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All durations together, in milliseconds.
    pub fn sum_ms(&self) -> u64 {
        self.sum_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_up_to_its_bound_and_a_longer_one_above() {
        let mut timing = Timing::of_work();
        for ms in [0, 5, 6, 2 * HOUR] {
            timing.add(Millis(ms));
        }
        let counts = timing.counts();
        assert_eq!((counts[0], counts[1], counts[WORK_MS.len()]), (2, 1, 1));
        assert_eq!((timing.count(), timing.sum_ms()), (4, 11 + 2 * HOUR));
    }

    #[test]
    fn bounds_grow() {
        assert!(WORK_MS.is_sorted() && WAIT_MS.is_sorted());
    }
}
