//! Retention: what is old enough is removed, a little at a time.

use abide_core::id::{RunId, WorkspaceId};
use jiff::Timestamp;
use rusqlite::{Transaction, params};

use crate::sqlite::column::{self, Column};
use crate::sqlite::find::collect;
use crate::sqlite::tally::Tally;
use crate::{Error, OfRun, OldEvent};

pub(super) fn events(transaction: &Transaction<'_>, events: &[OldEvent]) -> Result<usize, Error> {
    let mut removed = 0;
    for OldEvent { workspace, event_id, received_at, id, sent_to: _ } in events {
        let mut statement = transaction.prepare_cached(
            "DELETE FROM occurrences WHERE workspace = ? AND event_id = ? AND received_at = ? AND id = ?",
        )?;
        let (received_at, id) = (column::instant(*received_at), column::occurrence(*id));
        removed += statement.execute(params![workspace.0, event_id, received_at, id])?;
    }
    Ok(removed)
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
                 WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = ?1 AND ended_at IS NULL) LIMIT ?2)"
        }
        OfRun::Keys => {
            "DELETE FROM remembered WHERE key IN (SELECT key FROM remembered INDEXED BY remembered_by_run
                 WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = ?1 AND ended_at IS NULL) LIMIT ?2)"
        }
    };
    let mut removed = 0;
    for run in runs {
        let room = column::limit(limit - removed);
        removed += transaction.prepare_cached(sql)?.execute(params![column::run(*run), room])?;
    }
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
            "DELETE FROM history WHERE run = ?",
            "DELETE FROM waitpoints WHERE run = ?",
            "DELETE FROM link_generations WHERE run = ?",
            "DELETE FROM descendants WHERE root = ?",
            "DELETE FROM occurrences WHERE run = ?",
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
