//! What is to be done, and how many runs began with one.

use abide_core::id::RunId;
use rusqlite::{OptionalExtension, Transaction, params};

use crate::roles::FollowUps;
use crate::row::RowReader;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::{collect, first};
use crate::{Error, FollowUpWrite, StoredFollowUp};

impl<Role: Send> FollowUps for Handle<Role> {
    fn follow_ups(&mut self, not_of: &[u128], limit: usize) -> Result<Vec<StoredFollowUp>, Error> {
        let mut found = Vec::new();
        let mut after: i64 = -1;
        loop {
            let mut next = self
                .connection
                .prepare_cached("SELECT min(workspace) FROM follow_ups WHERE workspace > ?")?;
            let workspace: Option<i64> = next.query_row([after], |row| row.get(0)).optional()?.flatten();
            let Some(workspace) = workspace else { return Ok(found) };
            let mut statement = self.connection.prepare_cached(
            "SELECT workspace, id, owner, version, document FROM follow_ups WHERE workspace = ? ORDER BY id LIMIT ?",
        )?;
            let rows = collect(statement.query(params![workspace, column::limit(limit)])?, |row| {
                StoredFollowUp::read(row)
            })?;
            found.extend(rows.into_iter().filter(|row| !not_of.contains(&row.owner)));
            after = workspace;
        }
    }

    fn descendants(&mut self, root: RunId) -> Result<u64, Error> {
        let mut statement = self.connection.prepare_cached("SELECT count FROM descendants WHERE root = ?")?;
        Ok(first(statement.query([column::run(root)])?, |row| row.number(0))?.unwrap_or(0))
    }
}

pub(super) fn write(transaction: &Transaction<'_>, write: &FollowUpWrite<'_>) -> Result<(), Error> {
    let StoredFollowUp { id, workspace, owner, version, what } = write.follow_up();
    let (key, owner, version) = (id.to_be_bytes(), owner.to_be_bytes(), i64::from(*version));
    let document = || serde_json::to_string(what).expect("a follow-up is JSON");
    let changed = match write {
        FollowUpWrite::Put(_) => transaction
            .prepare_cached(
                "INSERT INTO follow_ups (workspace, id, owner, version, document) VALUES (?, ?, ?, ?, ?)",
            )?
            .execute(params![workspace.0, key, owner, version, document()])?,
        FollowUpWrite::Change(_) => transaction
            .prepare_cached(
                "UPDATE follow_ups SET owner = ?3, version = ?4, document = ?5
                 WHERE workspace = ?1 AND id = ?2 AND version = ?4 - 1",
            )?
            .execute(params![workspace.0, key, owner, version, document()])?,
        FollowUpWrite::Remove(_) => transaction
            .prepare_cached("DELETE FROM follow_ups WHERE workspace = ? AND id = ? AND version = ?")?
            .execute(params![workspace.0, key, version])?,
    };
    if changed == 1 { Ok(()) } else { Err(Error::Conflict(RunId(*id))) }
}

pub(super) fn add_descendants(transaction: &Transaction<'_>, root: RunId, more: u64) -> Result<(), Error> {
    transaction
        .prepare_cached(
            "INSERT INTO descendants (root, count) VALUES (?1, ?2)
             ON CONFLICT DO UPDATE SET count = count + ?2",
        )?
        .execute(params![column::run(root), column::count(more)])?;
    Ok(())
}
