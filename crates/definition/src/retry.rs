//! When a failed step is tried again.

use serde::{Deserialize, Serialize};

use crate::document;
use crate::time::Millis;

/// A step's retry policy with all defaults filled in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// All tries together.
    pub max_attempts: u32,
    pub backoff: Millis,
    pub multiplier: f64,
    pub max_backoff: Millis,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy { max_attempts: 3, backoff: Millis(1000), multiplier: 2.0, max_backoff: Millis(300_000) }
    }
}

impl RetryPolicy {
    /// One attempt and no other.
    pub const ONCE: RetryPolicy =
        RetryPolicy { max_attempts: 1, backoff: Millis(1000), multiplier: 2.0, max_backoff: Millis(300_000) };

    /// What the step says, else what the workflow says, else the default: field by field.
    pub fn new(step: Option<&document::Retry>, workflow: Option<&document::Retry>) -> RetryPolicy {
        fn pick<T: Copy>(
            step: Option<&document::Retry>,
            workflow: Option<&document::Retry>,
            field: impl Fn(&document::Retry) -> Option<T>,
        ) -> Option<T> {
            step.and_then(&field).or_else(|| workflow.and_then(&field))
        }
        let default = RetryPolicy::default();
        RetryPolicy {
            max_attempts: pick(step, workflow, |r| r.max_attempts).unwrap_or(default.max_attempts),
            backoff: pick(step, workflow, |r| r.backoff_ms).map_or(default.backoff, Millis),
            multiplier: pick(step, workflow, |r| r.backoff_multiplier).unwrap_or(default.multiplier),
            max_backoff: pick(step, workflow, |r| r.max_backoff_ms).map_or(default.max_backoff, Millis),
        }
    }

    /// How long to wait after the given attempt (counted from 1) failed: full jitter, drawn evenly between zero
    /// and the longest back-off of that attempt.
    pub fn backoff_after(&self, attempt: u32, random: u64) -> Millis {
        let longest = self.longest_backoff_after(attempt).as_u64();
        Millis(random % (longest + 1))
    }

    /// The longest back-off after the given attempt, counted from 1.
    pub fn longest_backoff_after(&self, attempt: u32) -> Millis {
        let grown = self.backoff.as_u64() as f64 * self.multiplier.powi(attempt.saturating_sub(1) as i32);
        // Saturates: an overgrown float becomes the largest integer.
        Millis((grown as u64).min(self.max_backoff.as_u64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_back_off_grows_and_stays_below_its_ceiling() {
        let policy = RetryPolicy::default();
        let longest: Vec<u64> =
            [1, 2, 3, 9, 10, 4_000].map(|attempt| policy.longest_backoff_after(attempt).as_u64()).to_vec();
        assert_eq!(longest, [1_000, 2_000, 4_000, 256_000, 300_000, 300_000]);
    }

    #[test]
    fn jitter_covers_the_whole_range_and_never_leaves_it() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.backoff_after(1, 0), Millis(0));
        assert_eq!(policy.backoff_after(1, 1_000), Millis(1_000));
        assert!((0..10_000).all(|random| policy.backoff_after(1, random) <= Millis(1_000)));
    }

    #[test]
    fn a_step_overrides_its_workflow_field_by_field() {
        let workflow = document::Retry { max_attempts: Some(5), backoff_ms: Some(200), ..Default::default() };
        let step = document::Retry { max_attempts: Some(1), ..Default::default() };
        let policy = RetryPolicy::new(Some(&step), Some(&workflow));
        assert_eq!((policy.max_attempts, policy.backoff), (1, Millis(200)));
    }
}
