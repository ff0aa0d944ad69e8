//! Idempotency: what was answered under which key.

use abide_core::door::Remembered;

use crate::Error;
use crate::row::RowReader;

/// Finds the answer that was given before.
pub trait Idempotency: Send {
    /// What was remembered under an idempotency key.
    fn remembered(&mut self, key: &str) -> Result<Option<Remembered>, Error>;
}

/// Of `digest, reply, written_at, run`.
pub(crate) fn read_remembered(key: &str, row: &impl RowReader) -> Result<Remembered, Error> {
    Ok(Remembered {
        key: key.to_owned(),
        digest: row.integer(0)?.cast_unsigned(),
        reply: row.json(1)?,
        run: row.optional_run(3)?,
        at: row.instant(2)?,
    })
}
