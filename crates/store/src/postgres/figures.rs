//! What a server says of itself, for whoever measures it. Differences of two looks are what work has cost.

use crate::Error;
use crate::postgres::connection::PgConnection;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Written to the server's log so far, for all its databases.
    pub wal_bytes: u64,
    /// Transactions that wrote something, those that were rolled back too, of all its databases.
    pub transactions: u64,
    /// What this database takes on disk.
    pub database_bytes: u64,
    /// The process that answers, on the server's machine.
    pub process: u32,
}

/// All of it is as of now; the views of statistics are behind by seconds.
pub(super) fn figures(connection: &mut PgConnection) -> Result<Figures, Error> {
    let sql = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_database_size(current_database()),
        pg_backend_pid()::bigint";
    let row = connection.ask(async |session| session.one(sql, &[]).await)?;
    let number = |index| Ok::<_, Error>(row.try_get::<_, i64>(index)?.cast_unsigned());
    let process = u32::try_from(number(3)?).map_err(|error| Error::Corrupt(error.to_string()))?;
    Ok(Figures { wal_bytes: number(0)?, transactions: number(1)?, database_bytes: number(2)?, process })
}
