//! What was answered under which key.

use abide_core::door::Remembered;

use crate::Error;
use crate::idempotency::read_remembered;
use crate::roles::Idempotency;
use crate::sqlite::Handle;
use crate::sqlite::query::first;

impl<Role: Send> Idempotency for Handle<Role> {
    fn remembered(&mut self, key: &str) -> Result<Option<Remembered>, Error> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT digest, reply, written_at, run FROM remembered WHERE key = ?")?;
        first(statement.query([key])?, |row| read_remembered(key, row))
    }
}
