//! The histories of runs.

use abide_core::history::Record;
use abide_core::id::RunId;
use abide_core::run::Snapshot;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::postgres::Handle;
use crate::postgres::column::{self, Id};
use crate::roles::Histories;
use crate::row::RowReader;
use crate::{Error, RunUpdate, StoredRun, Update, chunk, snapshots};

impl<Role: Send> Histories for Handle<Role> {
    /// Row and history in one statement, for what is committed between two would be in one of them.
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        let sql = "SELECT history.seq, history.chunk, runs.seq, runs.sum
        FROM (SELECT $1::uuid AS id) AS asked
            LEFT JOIN runs ON runs.id = asked.id LEFT JOIN history ON history.run = asked.id
        ORDER BY history.based_on";
        let loaded = self.connection.ask(async |session| session.rows(sql, &[&column::run(run)]).await);
        loaded.and_then(|rows| put_together(run, &rows)).map_err(|error| error.of(run))
    }

    fn updates(&mut self, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Update)>, Error> {
        let (runs, versions): (Vec<Id>, Vec<i64>) =
            known.iter().map(|(run, version)| (column::run(*run), column::count(*version))).unzip();
        let values: [&(dyn ToSql + Sync); 3] = [&runs, &versions, &Snapshot::FORMAT];
        let rows = self.connection.ask(async |session| session.rows(UPDATES, &values).await)?;
        let mut updates = Vec::new();
        for rows in rows.chunk_by(|a, b| a.run(RUN).ok() == b.run(RUN).ok()) {
            let Some(first) = rows.first() else { continue };
            let run = first.run(RUN)?;
            match update(run, first, rows).map_err(|error| error.of(run)) {
                Ok(update) => updates.push((run, Ok(update))),
                // What follows from the history may be what is damaged.
                Err(error) if error.is_damage() => {
                    tracing::warn!(%run, %error, "the whole history is read instead");
                    match self.load(run) {
                        Ok(whole) => updates.extend(whole.map(|whole| (run, Ok(RunUpdate::Whole(whole))))),
                        Err(error) if error.is_damage() => updates.push((run, Err(error))),
                        Err(error) => return Err(error),
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(updates)
    }

    fn snapshot(&mut self, run: RunId) -> Result<Option<Snapshot>, Error> {
        let sql = "SELECT seq, data FROM snapshots WHERE run = $1 AND format = $2";
        let values: [&(dyn ToSql + Sync); 2] = [&column::run(run), &Snapshot::FORMAT];
        let found = self.connection.ask(async |session| session.first(sql, &values).await);
        let read = |row: Row| snapshots::decode(run, row.number(0)?, row.bytes(1)?);
        found.and_then(|found| found.map(read).transpose()).map_err(|error| error.of(run))
    }

    fn records_after(
        &mut self,
        run: RunId,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Record>, Error> {
        // Record `after` may lie within a chunk. Every chunk has a record at least.
        let sql = "SELECT based_on, chunk FROM (
            SELECT based_on, chunk, sum(octet_length(chunk)) OVER (ORDER BY based_on) - octet_length(chunk) AS before
            FROM (SELECT based_on, chunk FROM history
                WHERE run = $1 AND based_on >= (SELECT first.based_on FROM history AS first
                    WHERE first.run = $1 AND first.based_on <= $2 ORDER BY first.based_on DESC LIMIT 1)
                ORDER BY based_on LIMIT $3) AS page
        ) AS measured WHERE before < $4 ORDER BY based_on";
        let (id, most, room) =
            (column::run(run), column::limit(limit.saturating_add(1)), column::limit(bytes));
        let mut history: Vec<Record> = Vec::new();
        // What is stored takes another number of bytes than what is counted: what was asked for may lie further on.
        while history.len() < limit && chunk::within(&history, bytes) == history.len() {
            let last = history.last().map_or(after, |record| record.seq);
            let from = column::count(last);
            let rows =
                self.connection.ask(async |session| session.rows(sql, &[&id, &from, &most, &room]).await);
            let rows = rows.map_err(|error| error.of(run))?;
            let mut part: Vec<Record> = Vec::new();
            for row in rows {
                let damaged = |damage: chunk::Damage| Error::Damaged { owner: run, what: damage.to_string() };
                chunk::decode(run, row.number(0)?, row.try_get(1)?, &mut part).map_err(damaged)?;
            }
            part.retain(|record| record.seq > last);
            if part.is_empty() {
                break;
            }
            history.append(&mut part);
        }
        history.truncate(limit.min(chunk::within(&history, bytes)));
        Ok(history)
    }

    fn versions(&mut self, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error> {
        let sql = "SELECT runs.id, runs.seq FROM unnest($1::uuid[]) AS asked (run) JOIN runs ON runs.id = asked.run";
        let runs: Vec<Id> = runs.iter().map(|run| column::run(*run)).collect();
        let rows = self.connection.ask(async |session| session.rows(sql, &[&runs]).await)?;
        rows.iter().map(|row| Ok((RunId(row.id(0)?), row.number(1)?))).collect()
    }
}

/// What brings runs up to date: from their snapshot where nothing is known of them, and otherwise from the version that is
/// known, unless theirs is an earlier one. The snapshot itself is only in the first row of its run.
const UPDATES: &str =
    "SELECT history.seq, history.chunk, runs.seq, runs.sum, known.run, known.version, begin.seq,
        snapshot.sum, CASE WHEN coalesce(history.based_on, begin.seq) = begin.seq THEN snapshot.data END
    FROM unnest($1::uuid[], $2::bigint[]) AS known (run, version)
        CROSS JOIN LATERAL (SELECT runs.seq, runs.sum FROM runs WHERE runs.id = known.run OFFSET 0) AS runs
        LEFT JOIN LATERAL (SELECT * FROM snapshots
            WHERE snapshots.run = known.run AND known.version = 0 AND snapshots.format = $3
              AND snapshots.seq <= runs.seq OFFSET 0) AS snapshot ON true
        CROSS JOIN LATERAL (SELECT coalesce(snapshot.seq,
            CASE WHEN known.version <= runs.seq THEN known.version ELSE 0 END) AS seq) AS begin
        LEFT JOIN LATERAL (SELECT * FROM history
            WHERE history.run = known.run AND history.based_on >= begin.seq OFFSET 0) AS history ON true
    WHERE runs.seq <> known.version
    ORDER BY known.run, history.based_on";

/// The column of [`UPDATES`] that says of which run a row is.
const RUN: usize = 4;

fn update(run: RunId, first: &Row, rows: &[Row]) -> Result<RunUpdate, Error> {
    let (known, begin): (u64, u64) = (first.number(5)?, first.number(6)?);
    if begin == 0 {
        let whole = put_together(run, rows)?;
        let missing = || Error::Damaged { owner: run, what: "it has no history".to_owned() };
        return whole.map(RunUpdate::Whole).ok_or_else(missing);
    }
    let sum = if known == 0 { first.optional_number(7)? } else { None };
    let records = gather(chunk::History::after(run, begin, sum), rows)?;
    let row_version =
        row_version(first, 2)?.ok_or_else(|| Error::Corrupt("a run without a row".to_owned()))?;
    let records = records.finish_part(row_version)?;
    if known > 0 {
        return Ok(RunUpdate::Records(records));
    }
    let snapshot = Box::new(snapshots::decode(run, begin, first.bytes(8)?)?);
    Ok(RunUpdate::Snapshot { snapshot, records })
}

fn gather(mut history: chunk::History, rows: &[Row]) -> Result<chunk::History, Error> {
    for row in rows {
        if let Some(seq) = row.optional_number(0)? {
            history.push(seq, row.bytes(1)?)?;
        }
    }
    Ok(history)
}

fn put_together(run: RunId, rows: &[Row]) -> Result<Option<StoredRun>, Error> {
    let row_version = rows.first().map(|row| row_version(row, 2)).transpose()?.flatten();
    gather(chunk::History::new(run), rows)?.finish(row_version)
}

/// What the row of a run says of its history, in columns that begin here.
fn row_version(row: &Row, first: usize) -> Result<Option<chunk::RowVersion>, Error> {
    let Some(seq) = row.optional_number(first)? else { return Ok(None) };
    Ok(Some(chunk::RowVersion { seq, sum: row.optional_number(first + 1)? }))
}
