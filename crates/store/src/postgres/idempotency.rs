//! What was answered under which key.

use abide_core::idempotency::IdempotencyRecord;

use crate::Error;
use crate::idempotency::read_remembered;
use crate::postgres::Handle;
use crate::postgres::column::{self};
use crate::roles::Idempotency;

impl<Role: Send> Idempotency for Handle<Role> {
    fn idempotency_record(&mut self, key: &str) -> Result<Option<IdempotencyRecord>, Error> {
        let sql = "SELECT digest, reply, written_at, run FROM idempotency_records WHERE key = $1";
        let found = self.connection.ask(async |session| session.first(sql, &[&column::name(key)]).await)?;
        found.map(|row| read_remembered(key, &row)).transpose()
    }
}
