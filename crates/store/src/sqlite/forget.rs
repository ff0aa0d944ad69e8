//! Retention: what is old enough is removed, a little at a time.

use abide_core::id::{RunId, WorkspaceId};
use jiff::Timestamp;
use rusqlite::{Rows, Transaction, params};

use crate::sqlite::column::{self, Column};
use crate::sqlite::find::collect;
use crate::sqlite::tally::Tally;
use crate::{Error, OfRun, OldEvent};

pub(super) fn events(transaction: &Transaction<'_>, events: &[OldEvent]) -> Result<usize, Error> {
    let mut removed = 0;
    let mut tally = Tally::default();
    for OldEvent { workspace, event_id, received_at, id, sent_to: _ } in events {
        let sql = format!(
            "DELETE FROM occurrences WHERE workspace = ? AND event_id = ? AND received_at = ? AND id = ? {EVENT}"
        );
        let mut statement = transaction.prepare_cached(&sql)?;
        let (received_at, id) = (column::instant(*received_at), column::occurrence(*id));
        removed += less(&mut tally, statement.query(params![workspace.0, event_id, received_at, id])?)?;
    }
    tally.write(transaction)?;
    Ok(removed)
}

/// Whose an event was, and what it took.
const EVENT: &str = "RETURNING workspace, length(CAST(data AS BLOB))";

/// Notes what was removed, and says how many there were.
fn less(tally: &mut Tally, rows: Rows<'_>) -> Result<usize, Error> {
    let removed: Vec<(WorkspaceId, i64)> = collect(rows, |row| Ok((row.workspace(0)?, row.get(1)?)))?;
    for (workspace, bytes) in &removed {
        tally.add_bytes(*workspace, -bytes);
    }
    Ok(removed.len())
}

pub(super) fn keys(transaction: &Transaction<'_>, keys: &[String]) -> Result<usize, Error> {
    let mut removed = 0;
    for key in keys {
        // The run may have been retried since somebody looked.
        let mut statement = transaction.prepare_cached(
            "DELETE FROM remembered WHERE key = ?
               AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = remembered.run AND ended_at IS NULL)",
        )?;
        removed += statement.execute([key])?;
    }
    Ok(removed)
}

pub(super) fn of(
    transaction: &Transaction<'_>,
    runs: &[RunId],
    what: OfRun,
    limit: usize,
) -> Result<usize, Error> {
    let sql = match what {
        OfRun::Events => {
            "DELETE FROM occurrences WHERE number IN (SELECT number FROM occurrences INDEXED BY occurrences_by_run
                 WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = ?1 AND ended_at IS NULL) LIMIT ?2)
             RETURNING workspace, length(CAST(data AS BLOB))"
        }
        OfRun::Keys => {
            "DELETE FROM remembered WHERE key IN (SELECT key FROM remembered INDEXED BY remembered_by_run
                 WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = ?1 AND ended_at IS NULL) LIMIT ?2)"
        }
    };
    let (mut removed, mut tally) = (0, Tally::default());
    for run in runs {
        let (run, room) = (column::run(*run), column::limit(limit - removed));
        let mut statement = transaction.prepare_cached(sql)?;
        removed += match what {
            OfRun::Events => less(&mut tally, statement.query(params![run, room])?)?,
            OfRun::Keys => statement.execute(params![run, room])?,
        };
    }
    tally.write(transaction)?;
    Ok(removed)
}

pub(super) fn runs(transaction: &Transaction<'_>, before: Timestamp, limit: usize) -> Result<usize, Error> {
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
            "DELETE FROM history WHERE run = ? RETURNING length(chunk)",
            "DELETE FROM occurrences WHERE run = ? RETURNING length(CAST(data AS BLOB))",
        ] {
            let mut statement = transaction.prepare_cached(removal)?;
            for bytes in collect(statement.query([id])?, |row| Ok(row.get::<_, i64>(0)?))? {
                tally.add_bytes(*workspace, -bytes);
            }
        }
        for removal in [
            "DELETE FROM waitpoints WHERE run = ?",
            "DELETE FROM link_generations WHERE run = ?",
            "DELETE FROM descendants WHERE root = ?",
            "UPDATE remembered SET run = NULL,
                 written_at = max(written_at, (SELECT ended_at FROM runs WHERE runs.id = remembered.run))
             WHERE run = ?",
            "DELETE FROM held WHERE id = ?",
            "DELETE FROM run_tags WHERE (workspace, tag, run) IN
                 (SELECT runs.workspace, value, runs.id FROM runs, json_each(runs.tags) WHERE runs.id = ?)",
            "DELETE FROM runs WHERE id = ?",
        ] {
            transaction.prepare_cached(removal)?.execute([id])?;
        }
    }
    tally.write(transaction)?;
    Ok(ended.len())
}

pub(super) fn deliveries(
    transaction: &Transaction<'_>,
    before: Timestamp,
    limit: usize,
) -> Result<usize, Error> {
    let mut statement = transaction.prepare_cached(
        "DELETE FROM deliveries WHERE id IN
             (SELECT id FROM deliveries WHERE status <> 0 AND created_at < ? ORDER BY created_at LIMIT ?)",
    )?;
    Ok(statement.execute(params![column::instant(before), column::limit(limit)])?)
}
