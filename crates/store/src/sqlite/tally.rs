//! How many runs there are of each status, and what histories and events take. What a transaction changes is summed up
//! here and written once at its end.

use std::collections::BTreeMap;

use abide_core::id::WorkspaceId;
use rusqlite::{Connection, Transaction, params};

use crate::Error;
use crate::row::RowReader;
use crate::sqlite::query::collect;

#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By workspace and status.
    runs: BTreeMap<(u32, i64), i64>,
    /// By workspace.
    bytes: BTreeMap<u32, i64>,
}

impl Tally {
    pub(super) fn add(&mut self, workspace: WorkspaceId, status: i64, count: i64) {
        *self.runs.entry((workspace.0, status)).or_default() += count;
    }

    /// So much more is stored, or less.
    pub(super) fn add_bytes(&mut self, workspace: WorkspaceId, bytes: i64) {
        *self.bytes.entry(workspace.0).or_default() += bytes;
    }

    pub(super) fn write(self, transaction: &Transaction<'_>) -> Result<(), Error> {
        for ((workspace, status), count) in self.runs.into_iter().filter(|(_, count)| *count != 0) {
            transaction
                .prepare_cached(
                    "INSERT INTO run_counts (workspace, status, count) VALUES (?, ?, ?)
                     ON CONFLICT (workspace, status) DO UPDATE SET count = count + excluded.count",
                )?
                .execute(params![workspace, status, count])?;
        }
        for (workspace, bytes) in self.bytes.into_iter().filter(|(_, bytes)| *bytes != 0) {
            transaction
                .prepare_cached(
                    "INSERT INTO stored_bytes (workspace, bytes) VALUES (?, ?)
                     ON CONFLICT (workspace) DO UPDATE SET bytes = bytes + excluded.bytes",
                )?
                .execute(params![workspace, bytes])?;
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
