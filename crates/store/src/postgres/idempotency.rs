//! What was answered under which key.

use abide_core::door::Remembered;

use crate::Error;
use crate::idempotency::read_remembered;
use crate::postgres::Handle;
use crate::postgres::column::{self};
use crate::roles::Idempotency;

impl<Role: Send> Idempotency for Handle<Role> {
    fn remembered(&mut self, key: &str) -> Result<Option<Remembered>, Error> {
        let sql = "SELECT digest, reply, written_at, run FROM remembered WHERE key = $1";
        let found = self.link.ask(async |session| session.first(sql, &[&column::name(key)]).await)?;
        found.map(|row| read_remembered(key, &row)).transpose()
    }
}
