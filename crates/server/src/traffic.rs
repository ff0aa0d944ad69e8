//! What the server itself counts: requests by the class of their answer, how long they took, what is open.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;

/// Upper bounds of the buckets of request times, in milliseconds.
pub(crate) const TIME_MS: [u64; 12] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 30_000];

#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) in_flight: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) turned_away: AtomicU64,
    /// Strangers that gave way to others.
    pub(crate) turned_out: AtomicU64,
    by_class: [AtomicU64; 5],
    /// One more than there are bounds, for what took longer.
    times: [AtomicU64; TIME_MS.len() + 1],
    time_us: AtomicU64,
}

impl Traffic {
    /// Counts a request as in flight until the guard is dropped, even if its caller hangs up.
    pub(crate) fn begin(&self) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(self)
    }

    pub(crate) fn answered(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        self.by_class[class].fetch_add(1, Ordering::Relaxed);
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let bucket = TIME_MS.iter().position(|bound| ms <= *bound).unwrap_or(TIME_MS.len());
        self.times[bucket].fetch_add(1, Ordering::Relaxed);
        self.time_us.fetch_add(u64::try_from(took.as_micros()).unwrap_or(0), Ordering::Relaxed);
    }

    /// `("2xx", count)` and so on.
    pub(crate) fn by_class(&self) -> [(&'static str, u64); 5] {
        let names = ["1xx", "2xx", "3xx", "4xx", "5xx"];
        std::array::from_fn(|class| (names[class], self.by_class[class].load(Ordering::Relaxed)))
    }

    /// How many requests fell into each bucket, and how long all of them took together, in microseconds.
    pub(crate) fn times(&self) -> ([u64; TIME_MS.len() + 1], u64) {
        let counts = std::array::from_fn(|bucket| self.times[bucket].load(Ordering::Relaxed));
        (counts, self.time_us.load(Ordering::Relaxed))
    }
}

pub(crate) struct InFlight<'t>(&'t Traffic);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
