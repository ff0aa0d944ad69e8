//! What was answered under which key.

use abide_core::idempotency::IdempotencyRecord;

use crate::Error;
use crate::idempotency::read_remembered;
use crate::roles::Idempotency;
use crate::sqlite::Handle;
use crate::sqlite::query::first;

impl<Role: Send> Idempotency for Handle<Role> {
    fn idempotency_record(&mut self, key: &str) -> Result<Option<IdempotencyRecord>, Error> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT digest, reply, written_at, run FROM idempotency_records WHERE key = ?")?;
        first(statement.query([key])?, |row| read_remembered(key, row))
    }
}
