//! How values stand in columns.

use std::collections::BTreeSet;

use abide_core::id::{DefinitionId, DeliveryId, KeyId, OccurrenceId, RunId, WebhookId, WorkspaceId};
use abide_core::notice::Topic;
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use jiff::Timestamp;
use rusqlite::{Row, RowIndex};
use serde::de::DeserializeOwned;

pub(super) use crate::code::{
    WAIT_STATUSES, delivery_status, instant, kind, run_status, scopes, topic, topics, wait_status,
};
use crate::{DeliveryStatus, Error, Scope, code};

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

pub(super) fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Reads what the functions above wrote.
pub(super) trait Column {
    fn id<I: RowIndex>(&self, index: I) -> Result<u128, Error>;
    fn optional_run<I: RowIndex>(&self, index: I) -> Result<Option<RunId>, Error>;
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

    fn optional_run<I: RowIndex>(&self, index: I) -> Result<Option<RunId>, Error> {
        let bytes: Option<Id> = self.get(index)?;
        Ok(bytes.map(|bytes| RunId(u128::from_be_bytes(bytes))))
    }

    fn instant<I: RowIndex>(&self, index: I) -> Result<Timestamp, Error> {
        self.get(index).map(code::read_instant).map_err(Error::from)
    }

    fn optional_instant<I: RowIndex>(&self, index: I) -> Result<Option<Timestamp>, Error> {
        let nanoseconds: Option<i64> = self.get(index)?;
        Ok(nanoseconds.map(code::read_instant))
    }

    fn number<I: RowIndex, N: TryFrom<i64>>(&self, index: I) -> Result<N, Error> {
        let number: i64 = self.get(index)?;
        N::try_from(number).map_err(|_| Error::Corrupt(format!("{number} is out of range")))
    }

    fn workspace<I: RowIndex>(&self, index: I) -> Result<WorkspaceId, Error> {
        self.number(index).map(WorkspaceId)
    }

    fn scopes<I: RowIndex>(&self, index: I) -> Result<BTreeSet<Scope>, Error> {
        Ok(code::read_scopes(self.get(index)?))
    }

    fn run_status<I: RowIndex>(&self, index: I) -> Result<RunStatus, Error> {
        code::read(self.get(index)?, &RunStatus::ALL, run_status)
    }

    fn wait_status<I: RowIndex>(&self, index: I) -> Result<WaitStatus, Error> {
        code::read(self.get(index)?, &WAIT_STATUSES, wait_status)
    }

    fn kind<I: RowIndex>(&self, index: I) -> Result<Kind, Error> {
        code::read(self.get(index)?, &Kind::ALL, kind)
    }

    fn topic<I: RowIndex>(&self, index: I) -> Result<Topic, Error> {
        code::read(self.get(index)?, &Topic::ALL, topic)
    }

    fn topics<I: RowIndex>(&self, index: I) -> Result<BTreeSet<Topic>, Error> {
        Ok(code::read_topics(self.get(index)?))
    }

    fn delivery_status<I: RowIndex>(&self, index: I) -> Result<DeliveryStatus, Error> {
        code::read(self.get(index)?, &DeliveryStatus::ALL, delivery_status)
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
