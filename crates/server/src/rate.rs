//! How many requests a caller may send. A bucket for each key or address fills at a steady rate and holds one second's
//! worth; an empty one says when to come back.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Callers remembered. When there are more, those with full buckets are forgotten: they have nothing to remember.
const CALLERS: usize = 10_000;

pub(crate) struct Rates<K> {
    per_second: f64,
    buckets: Mutex<HashMap<K, Bucket>>,
}

struct Bucket {
    tokens: f64,
    filled_at: Instant,
}

impl<K: Eq + Hash> Rates<K> {
    /// With 0 there is no limit.
    pub(crate) fn new(per_second: u32) -> Rates<K> {
        Rates { per_second: f64::from(per_second), buckets: Mutex::default() }
    }

    /// One that was taken does not count.
    pub(crate) fn release(&self, caller: K) {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(&caller) {
            bucket.tokens = (bucket.tokens + 1.0).min(self.per_second);
        }
    }

    /// Takes one, or says how long there will be none.
    pub(crate) fn take(&self, caller: K, now: Instant) -> Result<(), Duration> {
        if self.per_second == 0.0 {
            return Ok(());
        }
        self.take_at(caller, self.per_second, now)
    }

    /// Takes one request of a caller that has a rate of its own; with a rate of 0 every request is refused.
    pub(crate) fn take_of(&self, caller: K, per_second: u32, now: Instant) -> Result<(), Duration> {
        if per_second == 0 {
            return Err(Duration::from_secs(1));
        }
        self.take_at(caller, f64::from(per_second), now)
    }

    fn take_at(&self, caller: K, per_second: f64, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= CALLERS && !buckets.contains_key(&caller) {
            let second = Duration::from_secs(1);
            buckets.retain(|_, bucket| now.duration_since(bucket.filled_at) < second);
        }
        let full = Bucket { tokens: per_second, filled_at: now };
        let bucket = buckets.entry(caller).or_insert(full);
        let gained = now.duration_since(bucket.filled_at).as_secs_f64() * per_second;
        bucket.tokens = (bucket.tokens + gained).min(per_second);
        bucket.filled_at = now;
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - bucket.tokens) / per_second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_second_holds_as_many_as_the_rate_and_no_more() {
        let (rates, start) = (Rates::new(3), Instant::now());
        let sent = |at: u64, times: usize| {
            let now = start + Duration::from_millis(at);
            (0..times).filter(|_| rates.take("ann", now).is_ok()).count()
        };
        assert_eq!(sent(0, 5), 3);
        assert_eq!(sent(334, 5), 1);
        assert_eq!(sent(5_000, 5), 3);
        assert!(rates.take("bob", start).is_ok());
        assert!(rates.take("ann", start + Duration::from_secs(5)).unwrap_err() <= Duration::from_secs(1));
    }
}
