//! Retention: what is old enough is removed, a little at a time.

use abide_core::id::WorkspaceId;
use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::Error;
use crate::sqlite::admin;
use crate::sqlite::column::{self, Column};
use crate::sqlite::find::collect;
use crate::sqlite::tally::Tally;

pub(super) fn events(connection: &mut Connection, before: Timestamp, limit: usize) -> Result<usize, Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut removed = 0;
    for workspace in admin::workspaces(&transaction)? {
        let mut statement = transaction.prepare_cached(
            "DELETE FROM occurrences WHERE number IN
                 (SELECT number FROM occurrences WHERE workspace = ? AND received_at < ?
                  ORDER BY received_at LIMIT ?)",
        )?;
        let room = column::limit(limit - removed);
        removed += statement.execute(params![workspace.id.0, column::instant(before), room])?;
    }
    transaction.commit()?;
    Ok(removed)
}

pub(super) fn keys(connection: &mut Connection, before: Timestamp, limit: usize) -> Result<usize, Error> {
    let mut statement = connection.prepare_cached(
        "DELETE FROM remembered WHERE key IN
             (SELECT key FROM remembered WHERE written_at < ? ORDER BY written_at LIMIT ?)",
    )?;
    Ok(statement.execute(params![column::instant(before), column::limit(limit)])?)
}

pub(super) fn runs(connection: &mut Connection, before: Timestamp, limit: usize) -> Result<usize, Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let ended: Vec<(column::Id, WorkspaceId, i64)> = {
        let mut statement = transaction.prepare_cached(
            "SELECT id, workspace, status FROM runs WHERE ended_at < ?1 ORDER BY ended_at, id LIMIT ?2",
        )?;
        let rows = statement.query(params![column::instant(before), column::limit(limit)])?;
        collect(rows, |row| Ok((row.get(0)?, row.workspace(1)?, row.get(2)?)))?
    };
    let mut tally = Tally::default();
    for (id, workspace, status) in &ended {
        tally.add(*workspace, *status, -1);
        for removal in [
            "DELETE FROM history WHERE run = ?",
            "DELETE FROM waitpoints WHERE run = ?",
            "DELETE FROM link_generations WHERE run = ?",
            "DELETE FROM descendants WHERE root = ?",
            "DELETE FROM run_tags WHERE (workspace, tag, run) IN
                 (SELECT runs.workspace, value, runs.id FROM runs, json_each(runs.tags) WHERE runs.id = ?)",
            "DELETE FROM runs WHERE id = ?",
        ] {
            transaction.prepare_cached(removal)?.execute([id])?;
        }
    }
    tally.write(&transaction)?;
    transaction.commit()?;
    Ok(ended.len())
}

pub(super) fn deliveries(
    connection: &mut Connection,
    before: Timestamp,
    limit: usize,
) -> Result<usize, Error> {
    let mut statement = connection.prepare_cached(
        "DELETE FROM deliveries WHERE id IN
             (SELECT id FROM deliveries WHERE status <> 0 AND created_at < ? ORDER BY created_at LIMIT ?)",
    )?;
    Ok(statement.execute(params![column::instant(before), column::limit(limit)])?)
}
