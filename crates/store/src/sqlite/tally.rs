//! How many runs there are of each status. What a transaction changes is summed up here and written once at its end.

use std::collections::BTreeMap;

use abide_core::id::WorkspaceId;
use rusqlite::{Connection, Transaction, params};

use crate::Error;
use crate::sqlite::column::Column;
use crate::sqlite::find::collect;

/// By workspace and status.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<(u32, i64), i64>);

impl Tally {
    pub(super) fn add(&mut self, workspace: WorkspaceId, status: i64, count: i64) {
        *self.0.entry((workspace.0, status)).or_default() += count;
    }

    pub(super) fn write(self, transaction: &Transaction<'_>) -> Result<(), Error> {
        for ((workspace, status), count) in self.0.into_iter().filter(|(_, count)| *count != 0) {
            transaction
                .prepare_cached(
                    "INSERT INTO run_counts (workspace, status, count) VALUES (?, ?, ?)
                     ON CONFLICT (workspace, status) DO UPDATE SET count = count + excluded.count",
                )?
                .execute(params![workspace, status, count])?;
        }
        Ok(())
    }
}

/// Statuses and how many runs have them, as far as there ever were some.
pub(super) fn of(connection: &Connection, workspace: WorkspaceId) -> Result<Vec<(i64, u64)>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT status, count FROM run_counts WHERE workspace = ?")?;
    collect(statement.query([workspace.0])?, |row| Ok((row.get(0)?, row.number(1)?)))
}
