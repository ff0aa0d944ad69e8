//! Retention: what is old is found in a range of one index, and removed a little at a time.

use abide_core::history::DefinitionRef;
use abide_core::id::{RunId, WorkspaceId};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, Rows, params};

use crate::code::{DELIVERY_PENDING, OPEN_RUNS};
use crate::retention::NOT_ENDED;
use crate::roles::{Retention, WriteRetention};
use crate::row::RowReader;
use crate::sqlite::column;
use crate::sqlite::query::collect;
use crate::sqlite::tally::Tally;
use crate::sqlite::{Handle, Sqlite};
use crate::{Awaits, Error, EventPlace, KeyPlace, OfRun, OldEvent, OldKey};

impl<Role: Send> Retention for Handle<Role> {
    fn awaits(&mut self, workspace: WorkspaceId) -> Result<Vec<Awaits>, Error> {
        let mut statement = self.connection.prepare_cached(
        "SELECT name, version, awaits FROM definitions INDEXED BY definitions_by_workspace WHERE workspace = ?",
    )?;
        collect(statement.query([workspace.0])?, |row| Awaits::read(row))
    }

    fn oldest_open(
        &mut self,
        workspace: WorkspaceId,
        definition: Option<&DefinitionRef>,
    ) -> Result<Option<RunId>, Error> {
        let mut oldest: Option<RunId> = None;
        for status in OPEN_RUNS.map(column::run_status) {
            let read = |row: &Row<'_>| row.get::<_, column::Id>(0);
            let found = match definition {
            Some(DefinitionRef { name, version }) => self.connection
                .prepare_cached(
                    "SELECT id FROM runs INDEXED BY runs_by_definition
                     WHERE workspace = ? AND definition = ? AND version = ? AND status = ? ORDER BY id LIMIT 1",
                )?
                .query_row(params![workspace.0, name, version, status], read)
                .optional()?,
            None => self.connection
                .prepare_cached(
                    "SELECT id FROM runs INDEXED BY runs_by_status
                     WHERE workspace = ? AND status = ? ORDER BY id LIMIT 1",
                )?
                .query_row(params![workspace.0, status], read)
                .optional()?,
        };
            let found = found.map(|id| RunId(u128::from_be_bytes(id)));
            oldest = oldest.into_iter().chain(found).min();
        }
        Ok(oldest)
    }

    fn old_events(
        &mut self,
        (workspace, event_id): (WorkspaceId, Option<&str>),
        before: Timestamp,
        after: Option<EventPlace>,
        limit: usize,
    ) -> Result<Vec<OldEvent>, Error> {
        const SELECT: &str = "SELECT event_id, received_at, id, run,
            (SELECT ended_at IS NULL FROM runs WHERE runs.id = events.run) FROM events";
        const RANGE: &str = "received_at < ? AND (received_at, id) > (?, ?) ORDER BY received_at, id LIMIT ?";
        let (before, limit) = (column::instant(before), column::limit(limit));
        let (at, id) = after.map_or((i64::MIN, [0; 16]), |(at, id)| (column::instant(at), column::event(id)));
        let read = |row: &Row<'_>| OldEvent::read(row, workspace);
        match event_id {
            Some(event_id) => {
                let sql = format!(
                    "{SELECT} INDEXED BY events_by_event_id WHERE workspace = ? AND event_id = ? AND {RANGE}"
                );
                let mut statement = self.connection.prepare_cached(&sql)?;
                collect(statement.query(params![workspace.0, event_id, before, at, id, limit])?, read)
            }
            None => {
                let sql = format!("{SELECT} INDEXED BY events_by_time WHERE workspace = ? AND {RANGE}");
                let mut statement = self.connection.prepare_cached(&sql)?;
                collect(statement.query(params![workspace.0, before, at, id, limit])?, read)
            }
        }
    }

    fn old_keys(
        &mut self,
        before: Timestamp,
        after: Option<&KeyPlace>,
        limit: usize,
    ) -> Result<Vec<OldKey>, Error> {
        let (at, key) = after.map_or((i64::MIN, ""), |(at, key)| (column::instant(*at), key.as_str()));
        // A run that was forgotten leaves no row, one that is open no end.
        let mut statement = self.connection.prepare_cached(&format!(
        "SELECT key, written_at, (SELECT coalesce(ended_at, {NOT_ENDED}) FROM runs WHERE runs.id = idempotency_records.run)
         FROM idempotency_records INDEXED BY idempotency_records_by_time
         WHERE written_at < ? AND (written_at, key) > (?, ?) ORDER BY written_at, key LIMIT ?",
    ))?;
        let rows = statement.query(params![column::instant(before), at, key, column::limit(limit)])?;
        collect(rows, |row| OldKey::read(row))
    }

    fn ended_runs(
        &mut self,
        before: Timestamp,
        (at, run): (Timestamp, RunId),
        limit: usize,
    ) -> Result<Vec<(Timestamp, RunId)>, Error> {
        let mut statement = self.connection.prepare_cached(
            "SELECT ended_at, id FROM runs INDEXED BY runs_by_end
         WHERE ended_at < ? AND (ended_at, id) > (?, ?) ORDER BY ended_at, id LIMIT ?",
        )?;
        let (at, run) = (column::instant(at), column::run(run));
        let rows = statement.query(params![column::instant(before), at, run, column::limit(limit)])?;
        collect(rows, |row| Ok((row.instant(0)?, RunId(row.id(1)?))))
    }

    fn owners(&mut self, runs: &[RunId], what: OfRun) -> Result<Vec<RunId>, Error> {
        let sql = match what {
            OfRun::Events => "SELECT 1 FROM events INDEXED BY events_by_run WHERE run = ? LIMIT 1",
            OfRun::Keys => {
                "SELECT 1 FROM idempotency_records INDEXED BY idempotency_records_by_run WHERE run = ? LIMIT 1"
            }
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut owners = Vec::new();
        for run in runs {
            let owns = statement.query_row([column::run(*run)], |_| Ok(())).optional()?;
            owners.extend(owns.map(|()| *run));
        }
        Ok(owners)
    }
}

impl WriteRetention for Sqlite {
    fn forget_events(&mut self, events: &[OldEvent]) -> Result<usize, Error> {
        self.change(|transaction| {
    let mut removed = 0;
    let mut tally = Tally::default();
    for OldEvent { workspace, event_id, received_at, id, sent_to: _ } in events {
        let sql = format!(
            "DELETE FROM events WHERE workspace = ? AND event_id = ? AND received_at = ? AND id = ? {EVENT}"
        );
        let mut statement = transaction.prepare_cached(&sql)?;
        let (received_at, id) = (column::instant(*received_at), column::event(*id));
        removed += less(&mut tally, statement.query(params![workspace.0, event_id, received_at, id])?)?;
    }
    tally.write(transaction)?;
    Ok(removed)
})
    }

    fn forget_of(&mut self, runs: &[RunId], what: OfRun, limit: usize) -> Result<usize, Error> {
        self.change(|transaction| {
    let sql = match what {
        OfRun::Events => {
            "DELETE FROM events WHERE number IN (SELECT number FROM events INDEXED BY events_by_run
                 WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = ?1 AND ended_at IS NULL) LIMIT ?2)
             RETURNING workspace, length(CAST(data AS BLOB))"
        }
        OfRun::Keys => {
            "DELETE FROM idempotency_records WHERE key IN (SELECT key FROM idempotency_records INDEXED BY idempotency_records_by_run
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
})
    }

    fn forget_runs(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        self.change(|transaction| {
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
                    "DELETE FROM events WHERE run = ? RETURNING length(CAST(data AS BLOB))",
                ] {
                    let mut statement = transaction.prepare_cached(removal)?;
                    for bytes in collect(statement.query([id])?, |row| Ok(row.get::<_, i64>(0)?))? {
                        tally.add_bytes(*workspace, -bytes);
                    }
                }
                for removal in [
                    "DELETE FROM waitpoints WHERE run = ?",
                    "DELETE FROM link_generations WHERE run = ?",
                    "DELETE FROM snapshots WHERE run = ?",
                    "DELETE FROM descendants WHERE root = ?",
                    "UPDATE idempotency_records SET run = NULL,
                 written_at = max(written_at, (SELECT ended_at FROM runs WHERE runs.id = idempotency_records.run))
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
        })
    }

    fn forget_keys(&mut self, keys: &[String]) -> Result<usize, Error> {
        self.change(|transaction| {
            let mut removed = 0;
            for key in keys {
                // The run may have been retried since somebody looked.
                let mut statement = transaction.prepare_cached(
                    "DELETE FROM idempotency_records WHERE key = ?
               AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = idempotency_records.run AND ended_at IS NULL)",
                )?;
                removed += statement.execute([key])?;
            }
            Ok(removed)
        })
    }

    fn forget_deliveries(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        self.change(|transaction| {
    let mut statement = transaction.prepare_cached(&format!(
        "DELETE FROM deliveries WHERE id IN
             (SELECT id FROM deliveries WHERE status <> {DELIVERY_PENDING} AND created_at < ? ORDER BY created_at LIMIT ?)",
    ))?;
    Ok(statement.execute(params![column::instant(before), column::limit(limit)])?)
})
    }
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
