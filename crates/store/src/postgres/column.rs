//! How values stand in columns.
//!
//! A text of PostgreSQL has no NUL in it, and ours may: names are written with `\0` for it and `\\` for a backslash.
//! JSON needs nothing of the kind, for it has its own way to write a NUL.

use std::borrow::Cow;
use std::error::Error as StdError;

use abide_core::id::{DefinitionId, DeliveryId, EventUid, KeyId, RunId, WebhookId, WorkspaceId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

pub(super) use crate::code::{instant, scopes};
use crate::row::RowReader;
use crate::{Error, code};

/// An id as a uuid. Both sort by their bytes, big end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(pub(super) u128);

impl ToSql for Id {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.extend_from_slice(&self.0.to_be_bytes());
        Ok(IsNull::No)
    }

    accepts!(UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Id {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Id, Box<dyn StdError + Sync + Send>> {
        Ok(Id(u128::from_be_bytes(raw.try_into()?)))
    }

    accepts!(UUID);
}

pub(super) fn run(id: RunId) -> Id {
    Id(id.0)
}

pub(super) fn definition(id: DefinitionId) -> Id {
    Id(id.0)
}

pub(super) fn key(id: KeyId) -> Id {
    Id(id.0)
}

pub(super) fn event(id: EventUid) -> Id {
    Id(id.0)
}

pub(super) fn webhook(id: WebhookId) -> Id {
    Id(id.0)
}

pub(super) fn delivery(id: DeliveryId) -> Id {
    Id(id.0)
}

pub(super) fn workspace(id: WorkspaceId) -> i64 {
    id.0.into()
}

pub(super) fn run_status(status: RunStatus) -> i16 {
    small(code::run_status(status))
}

pub(super) fn wait_status(status: WaitStatus) -> i16 {
    small(code::wait_status(status))
}

pub(super) fn kind(kind: Kind) -> i16 {
    small(code::kind(kind))
}

fn small(code: i64) -> i16 {
    code.try_into().expect("codes are small")
}

pub(super) fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn name(name: &str) -> Cow<'_, str> {
    if !name.contains(['\0', '\\']) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.replace('\\', "\\\\").replace('\0', "\\0"))
}

pub(super) fn read_name(stored: String) -> String {
    if !stored.contains('\\') {
        return stored;
    }
    let mut name = String::with_capacity(stored.len());
    let mut stored = stored.chars();
    while let Some(char) = stored.next() {
        match char {
            '\\' => name.push(if stored.next() == Some('0') { '\0' } else { '\\' }),
            _ => name.push(char),
        }
    }
    name
}

impl RowReader for Row {
    fn id(&self, index: usize) -> Result<u128, Error> {
        let Id(id) = self.try_get(index)?;
        Ok(id)
    }

    fn optional_id(&self, index: usize) -> Result<Option<u128>, Error> {
        let id: Option<Id> = self.try_get(index)?;
        Ok(id.map(|Id(id)| id))
    }

    fn integer(&self, index: usize) -> Result<i64, Error> {
        Ok(self.try_get(index)?)
    }

    fn optional_integer(&self, index: usize) -> Result<Option<i64>, Error> {
        Ok(self.try_get(index)?)
    }

    fn code(&self, index: usize) -> Result<i64, Error> {
        let stored: i16 = self.try_get(index)?;
        Ok(stored.into())
    }

    fn name(&self, index: usize) -> Result<String, Error> {
        Ok(read_name(self.try_get(index)?))
    }

    fn optional_name(&self, index: usize) -> Result<Option<String>, Error> {
        let stored: Option<String> = self.try_get(index)?;
        Ok(stored.map(read_name))
    }

    fn optional_text(&self, index: usize) -> Result<Option<&str>, Error> {
        Ok(self.try_get(index)?)
    }

    fn bytes(&self, index: usize) -> Result<&[u8], Error> {
        Ok(self.try_get(index)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_whatever_is_in_it() {
        for given in ["", "plain", "\0", "\\", "\\0", "a\\\0b\\\\0", "0", "\\\\", "ü🦀\0"] {
            let stored = name(given).into_owned();
            assert!(!stored.contains('\0'), "{given:?}");
            assert_eq!(read_name(stored), given);
        }
    }
}
