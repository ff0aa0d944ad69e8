//! Idempotency: what was answered under which key.

use abide_core::idempotency::IdempotencyRecord;

use crate::Error;
use crate::row::RowReader;

/// Finds the answer that was given before.
pub trait Idempotency: Send {
    /// The record of an idempotency key, if it was used.
    fn idempotency_record(&mut self, key: &str) -> Result<Option<IdempotencyRecord>, Error>;
}

/// Of `digest, reply, written_at, run`.
pub(crate) fn read_remembered(key: &str, row: &impl RowReader) -> Result<IdempotencyRecord, Error> {
    Ok(IdempotencyRecord {
        key: key.to_owned(),
        digest: row.integer(0)?.cast_unsigned(),
        reply: row.json(1)?,
        run: row.optional_run(3)?,
        at: row.instant(2)?,
    })
}
