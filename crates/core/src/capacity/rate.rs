//! Rates, by the generic cell rate algorithm: one instant says all there is to know, so that nothing is counted, no window
//! begins anew after a restart, and the next one is allowed at an exact instant. Within any time of `per`, at most
//! `count + burst - 1` are allowed.

use jiff::{SignedDuration, Timestamp};

use crate::definition::Rate;

/// The time between two that are spaced evenly.
fn interval(rate: Rate) -> SignedDuration {
    let nanos = u128::from(rate.per.0) * 1_000_000;
    // Rounded up: a little too slow is no fault.
    let nanos = nanos.div_ceil(u128::from(rate.count.max(1)));
    SignedDuration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// How much earlier than evenly spaced one may come.
fn tolerance(rate: Rate) -> SignedDuration {
    interval(rate).saturating_mul(i32::try_from(rate.burst.saturating_sub(1)).unwrap_or(i32::MAX))
}

/// From when on one more is allowed; `None`: at any time.
pub(super) fn allowed_from(rate: Rate, arrival: Option<Timestamp>) -> Option<Timestamp> {
    arrival.map(|arrival| arrival.saturating_sub(tolerance(rate)).unwrap_or(Timestamp::MIN))
}

/// The theoretical arrival time of the next one, after one more has come.
pub(super) fn next_arrival(rate: Rate, arrival: Option<Timestamp>, now: Timestamp) -> Timestamp {
    let arrival = arrival.unwrap_or(now).max(now);
    arrival.saturating_add(interval(rate)).unwrap_or(Timestamp::MAX)
}
