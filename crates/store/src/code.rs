//! Numbers for what is not a number, in every database. They are in databases out there: none is ever given another
//! meaning.

use std::collections::BTreeSet;

#[cfg(feature = "postgres")]
use abide_core::id::StepAddress;
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use abide_core::webhook_message::Topic;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::{DeliveryStatus, Error, Scope};

/// An open wait.
pub(crate) const WAIT_PENDING: i64 = wait_status(WaitStatus::Pending);
/// A wait for a signal.
pub(crate) const WAIT_SIGNAL: i64 = kind(Kind::Signal);
/// A wait for an event.
pub(crate) const WAIT_EVENT: i64 = kind(Kind::Event);
/// A wait for other code.
pub(crate) const WAIT_CODE: i64 = kind(Kind::Code);
/// A wait for room under limits.
pub(crate) const WAIT_CAPACITY: i64 = kind(Kind::Capacity);
/// A delivery that is still to be made.
pub(crate) const DELIVERY_PENDING: i64 = delivery_status(DeliveryStatus::Pending);

/// In nanoseconds. What lies outside of the years 1677 to 2262 is stored as the beginning or the end of time: it
/// keeps its place in the order, and nobody will see the difference.
pub(crate) fn instant(instant: Timestamp) -> i64 {
    let nanoseconds = instant.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

/// The day of UTC.
pub(crate) fn day_of(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

/// Days since 1970.
pub(crate) fn day(day: Date) -> i32 {
    (day - Date::constant(1970, 1, 1)).get_days()
}

pub(crate) fn read_day(number: i32) -> Result<Date, Error> {
    let day = || Date::constant(1970, 1, 1).checked_add(Span::new().try_days(number).ok()?).ok();
    day().ok_or_else(|| Error::Corrupt(format!("{number} is no day")))
}

pub(crate) fn run_status(status: RunStatus) -> i64 {
    match status {
        RunStatus::Pending => 0,
        RunStatus::Running => 1,
        RunStatus::Waiting => 2,
        RunStatus::Paused => 3,
        RunStatus::Completed => 4,
        RunStatus::Failed => 5,
        RunStatus::Cancelled => 6,
    }
}

/// Runs that have not ended.
pub(crate) const OPEN_RUNS: [RunStatus; 4] =
    [RunStatus::Pending, RunStatus::Running, RunStatus::Waiting, RunStatus::Paused];

pub(crate) const WAIT_STATUSES: [WaitStatus; 4] =
    [WaitStatus::Pending, WaitStatus::Completed, WaitStatus::TimedOut, WaitStatus::Cancelled];

pub(crate) const fn wait_status(status: WaitStatus) -> i64 {
    match status {
        WaitStatus::Pending => 0,
        WaitStatus::Completed => 1,
        WaitStatus::TimedOut => 2,
        WaitStatus::Cancelled => 3,
    }
}

pub(crate) const fn kind(kind: Kind) -> i64 {
    match kind {
        Kind::Delay => 0,
        Kind::Webhook => 1,
        Kind::Signal => 2,
        Kind::Event => 3,
        Kind::Approval => 4,
        Kind::Child => 5,
        Kind::Pause => 6,
        Kind::Retry => 7,
        Kind::Schedule => 8,
        Kind::Code => 9,
        Kind::Capacity => 10,
    }
}

fn scope(scope: Scope) -> i64 {
    match scope {
        Scope::Read => 1,
        Scope::Run => 2,
        Scope::Worker => 4,
        Scope::Approve => 8,
        Scope::Admin => 16,
        Scope::Deploy => 32,
    }
}

pub(crate) fn scopes(scopes: &BTreeSet<Scope>) -> i64 {
    scopes.iter().copied().map(scope).sum()
}

pub(crate) fn read_scopes(bits: i64) -> BTreeSet<Scope> {
    Scope::ALL.into_iter().filter(|one| bits & scope(*one) != 0).collect()
}

pub(crate) fn read_instant(nanoseconds: i64) -> Timestamp {
    match nanoseconds {
        i64::MIN => Timestamp::MIN,
        i64::MAX => Timestamp::MAX,
        _ => Timestamp::from_nanosecond(nanoseconds.into()).expect("64 bits of nanoseconds are an instant"),
    }
}

/// The one of all that has this number.
pub(crate) fn read<T: Copy>(stored: i64, all: &[T], code: fn(T) -> i64) -> Result<T, Error> {
    let meant = all.iter().copied().find(|value| stored == code(*value));
    meant.ok_or_else(|| Error::Corrupt(format!("{stored} has no meaning here")))
}

/// A bit each, so that a column holds a set of them.
pub(crate) fn topic(topic: Topic) -> i64 {
    match topic {
        Topic::WorkflowCompleted => 1,
        Topic::WorkflowFailed => 2,
        Topic::WorkflowCancelled => 4,
        Topic::ApprovalRequested => 8,
        Topic::ApprovalDecided => 16,
        Topic::WaitOverdue => 32,
    }
}

pub(crate) fn topics(topics: &BTreeSet<Topic>) -> i64 {
    topics.iter().copied().map(topic).sum()
}

pub(crate) fn read_topics(bits: i64) -> BTreeSet<Topic> {
    Topic::ALL.into_iter().filter(|one| bits & topic(*one) != 0).collect()
}

pub(crate) const fn delivery_status(status: DeliveryStatus) -> i64 {
    match status {
        DeliveryStatus::Pending => 0,
        DeliveryStatus::Delivered => 1,
        DeliveryStatus::Failed => 2,
    }
}

/// A place in a run as a number: the step, and after it the item, counted from 1; 0 is the step itself.
#[cfg(feature = "postgres")]
pub(crate) fn place(at: StepAddress) -> i64 {
    i64::from(at.step) << ITEM_BITS | at.item.map_or(0, |item| i64::from(item) + 1)
}

#[cfg(feature = "postgres")]
pub(crate) fn read_place(place: i64) -> Result<StepAddress, Error> {
    let unknown = || Error::Corrupt(format!("{place} is no place in a run"));
    let step = u16::try_from(place >> ITEM_BITS).map_err(|_| unknown())?;
    match place & ((1 << ITEM_BITS) - 1) {
        0 => Ok(StepAddress::step(step)),
        item => Ok(StepAddress::item(step, u32::try_from(item - 1).map_err(|_| unknown())?)),
    }
}

#[cfg(feature = "postgres")]
const ITEM_BITS: u32 = 33;

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        for at in [
            StepAddress::step(0),
            StepAddress::step(u16::MAX),
            StepAddress::item(3, 0),
            StepAddress::item(u16::MAX, u32::MAX),
        ] {
            assert_eq!(read_place(place(at)).unwrap(), at);
        }
        assert!(read_place(-1).is_err() && read_place(i64::MAX).is_err());
    }
}
