//! How values stand in columns.

use abide_core::id::{DefinitionId, DeliveryId, EventUid, KeyId, RunId, WebhookId};
use rusqlite::Row;

use crate::Error;
pub(super) use crate::code::{
    delivery_status, instant, kind, run_status, scopes, topic, topics, wait_status,
};
use crate::row::RowReader;

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

pub(super) fn event(id: EventUid) -> Id {
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

impl RowReader for Row<'_> {
    fn id(&self, index: usize) -> Result<u128, Error> {
        let bytes: Id = self.get(index)?;
        Ok(u128::from_be_bytes(bytes))
    }

    fn optional_id(&self, index: usize) -> Result<Option<u128>, Error> {
        let bytes: Option<Id> = self.get(index)?;
        Ok(bytes.map(u128::from_be_bytes))
    }

    fn integer(&self, index: usize) -> Result<i64, Error> {
        Ok(self.get(index)?)
    }

    fn optional_integer(&self, index: usize) -> Result<Option<i64>, Error> {
        Ok(self.get(index)?)
    }

    fn code(&self, index: usize) -> Result<i64, Error> {
        Ok(self.get(index)?)
    }

    fn name(&self, index: usize) -> Result<String, Error> {
        Ok(self.get(index)?)
    }

    fn optional_name(&self, index: usize) -> Result<Option<String>, Error> {
        Ok(self.get(index)?)
    }

    fn optional_text(&self, index: usize) -> Result<Option<&str>, Error> {
        self.get_ref(index)?.as_str_or_null().map_err(|error| Error::Corrupt(error.to_string()))
    }

    fn bytes(&self, index: usize) -> Result<&[u8], Error> {
        self.get_ref(index)?.as_blob().map_err(|error| Error::Corrupt(error.to_string()))
    }
}
