//! How values stand in columns. The numbers here are in files out there: they are never given another meaning.

use std::collections::BTreeSet;

use abide_core::id::{DefinitionId, DeliveryId, KeyId, OccurrenceId, RunId, WebhookId, WorkspaceId};
use abide_core::notice::Topic;
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Row, RowIndex};
use serde::de::DeserializeOwned;

use crate::{DeliveryStatus, Error, Scope};

pub(super) type Id = [u8; 16];

pub(super) fn run(id: RunId) -> Id {
    id.0.to_be_bytes()
}

pub(super) fn definition(id: DefinitionId) -> Id {
    id.0.to_be_bytes()
}

pub(super) fn key(id: KeyId) -> Id {
    id.0.to_be_bytes()
}

pub(super) fn occurrence(id: OccurrenceId) -> Id {
    id.0.to_be_bytes()
}

pub(super) fn webhook(id: WebhookId) -> Id {
    id.0.to_be_bytes()
}

pub(super) fn delivery(id: DeliveryId) -> Id {
    id.0.to_be_bytes()
}

/// In nanoseconds. What lies outside of the years 1677 to 2262 is stored as the beginning or the end of time: it
/// keeps its place in the order, and nobody will see the difference.
pub(super) fn instant(instant: Timestamp) -> i64 {
    let nanoseconds = instant.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}

pub(super) fn run_status(status: RunStatus) -> i64 {
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

pub(super) const WAIT_STATUSES: [WaitStatus; 4] =
    [WaitStatus::Pending, WaitStatus::Completed, WaitStatus::TimedOut, WaitStatus::Cancelled];

pub(super) fn wait_status(status: WaitStatus) -> i64 {
    match status {
        WaitStatus::Pending => 0,
        WaitStatus::Completed => 1,
        WaitStatus::TimedOut => 2,
        WaitStatus::Cancelled => 3,
    }
}

pub(super) fn kind(kind: Kind) -> i64 {
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
    }
}

fn scope(scope: Scope) -> i64 {
    match scope {
        Scope::Read => 1,
        Scope::Run => 2,
        Scope::Worker => 4,
        Scope::Approve => 8,
        Scope::Admin => 16,
    }
}

pub(super) fn scopes(scopes: &BTreeSet<Scope>) -> i64 {
    scopes.iter().copied().map(scope).sum()
}

/// A bit each, so that a column holds a set of them.
pub(super) fn topic(topic: Topic) -> i64 {
    match topic {
        Topic::WorkflowCompleted => 1,
        Topic::WorkflowFailed => 2,
        Topic::WorkflowCancelled => 4,
        Topic::ApprovalRequested => 8,
        Topic::ApprovalDecided => 16,
        Topic::WaitOverdue => 32,
    }
}

pub(super) fn topics(topics: &BTreeSet<Topic>) -> i64 {
    topics.iter().copied().map(topic).sum()
}

pub(super) fn delivery_status(status: DeliveryStatus) -> i64 {
    match status {
        DeliveryStatus::Pending => 0,
        DeliveryStatus::Delivered => 1,
        DeliveryStatus::Failed => 2,
    }
}

pub(super) fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Reads what the functions above wrote.
pub(super) trait Column {
    fn id<I: RowIndex>(&self, index: I) -> Result<u128, Error>;
    fn instant<I: RowIndex>(&self, index: I) -> Result<Timestamp, Error>;
    fn optional_instant<I: RowIndex>(&self, index: I) -> Result<Option<Timestamp>, Error>;
    fn number<I: RowIndex, N: TryFrom<i64>>(&self, index: I) -> Result<N, Error>;
    fn workspace<I: RowIndex>(&self, index: I) -> Result<WorkspaceId, Error>;
    fn scopes<I: RowIndex>(&self, index: I) -> Result<BTreeSet<Scope>, Error>;
    fn run_status<I: RowIndex>(&self, index: I) -> Result<RunStatus, Error>;
    fn wait_status<I: RowIndex>(&self, index: I) -> Result<WaitStatus, Error>;
    fn kind<I: RowIndex>(&self, index: I) -> Result<Kind, Error>;
    fn topic<I: RowIndex>(&self, index: I) -> Result<Topic, Error>;
    fn topics<I: RowIndex>(&self, index: I) -> Result<BTreeSet<Topic>, Error>;
    fn delivery_status<I: RowIndex>(&self, index: I) -> Result<DeliveryStatus, Error>;
    fn json<I: RowIndex, T: DeserializeOwned>(&self, index: I) -> Result<T, Error>;
}

impl Column for Row<'_> {
    fn id<I: RowIndex>(&self, index: I) -> Result<u128, Error> {
        let bytes: Id = self.get(index)?;
        Ok(u128::from_be_bytes(bytes))
    }

    fn instant<I: RowIndex>(&self, index: I) -> Result<Timestamp, Error> {
        self.get(index).map(read_instant).map_err(Error::from)
    }

    fn optional_instant<I: RowIndex>(&self, index: I) -> Result<Option<Timestamp>, Error> {
        let nanoseconds: Option<i64> = self.get(index)?;
        Ok(nanoseconds.map(read_instant))
    }

    fn number<I: RowIndex, N: TryFrom<i64>>(&self, index: I) -> Result<N, Error> {
        let number: i64 = self.get(index)?;
        N::try_from(number).map_err(|_| Error::Corrupt(format!("{number} is out of range")))
    }

    fn workspace<I: RowIndex>(&self, index: I) -> Result<WorkspaceId, Error> {
        self.number(index).map(WorkspaceId)
    }

    fn scopes<I: RowIndex>(&self, index: I) -> Result<BTreeSet<Scope>, Error> {
        let bits: i64 = self.get(index)?;
        Ok(Scope::ALL.into_iter().filter(|one| bits & scope(*one) != 0).collect())
    }

    fn run_status<I: RowIndex>(&self, index: I) -> Result<RunStatus, Error> {
        coded(self.get_ref(index)?, &RunStatus::ALL, run_status)
    }

    fn wait_status<I: RowIndex>(&self, index: I) -> Result<WaitStatus, Error> {
        coded(self.get_ref(index)?, &WAIT_STATUSES, wait_status)
    }

    fn kind<I: RowIndex>(&self, index: I) -> Result<Kind, Error> {
        coded(self.get_ref(index)?, &Kind::ALL, kind)
    }

    fn topic<I: RowIndex>(&self, index: I) -> Result<Topic, Error> {
        coded(self.get_ref(index)?, &Topic::ALL, topic)
    }

    fn topics<I: RowIndex>(&self, index: I) -> Result<BTreeSet<Topic>, Error> {
        let bits: i64 = self.get(index)?;
        Ok(Topic::ALL.into_iter().filter(|one| bits & topic(*one) != 0).collect())
    }

    fn delivery_status<I: RowIndex>(&self, index: I) -> Result<DeliveryStatus, Error> {
        coded(self.get_ref(index)?, &DeliveryStatus::ALL, delivery_status)
    }

    fn json<I: RowIndex, T: DeserializeOwned>(&self, index: I) -> Result<T, Error> {
        let text = self.get_ref(index)?.as_str().map_err(|error| Error::Corrupt(error.to_string()))?;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        // Whoever wrote it had its depth under control.
        deserializer.disable_recursion_limit();
        let value = T::deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
        value.map_err(|error| Error::Corrupt(error.to_string()))
    }
}

fn read_instant(nanoseconds: i64) -> Timestamp {
    match nanoseconds {
        i64::MIN => Timestamp::MIN,
        i64::MAX => Timestamp::MAX,
        _ => Timestamp::from_nanosecond(nanoseconds.into()).expect("64 bits of nanoseconds are an instant"),
    }
}

fn coded<T: Copy>(stored: ValueRef<'_>, all: &[T], code: fn(T) -> i64) -> Result<T, Error> {
    all.iter()
        .copied()
        .find(|value| stored == ValueRef::Integer(code(*value)))
        .ok_or_else(|| Error::Corrupt(format!("{stored:?} has no meaning here")))
}
