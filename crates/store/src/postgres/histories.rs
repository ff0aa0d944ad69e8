//! The histories of runs.

use abide_core::history::Record;
use abide_core::id::RunId;
use tokio_postgres::Row;

use crate::postgres::Handle;
use crate::postgres::column::{self, Id};
use crate::roles::Histories;
use crate::row::RowReader;
use crate::{Error, Loaded, StoredRun, chunk};

impl<Role: Send> Histories for Handle<Role> {
    /// Row and history in one statement, for what is committed between two would be in one of them.
    fn load(&mut self, run: RunId) -> Result<Option<StoredRun>, Error> {
        let sql = "SELECT history.seq, history.chunk, runs.seq, runs.sum
        FROM (SELECT $1::uuid AS id) AS asked
            LEFT JOIN runs ON runs.id = asked.id LEFT JOIN history ON history.run = asked.id
        ORDER BY history.based_on";
        let loaded = self.link.ask(async |session| session.rows(sql, &[&column::run(run)]).await);
        loaded.and_then(|rows| put_together(run, &rows)).map_err(|error| error.of(run))
    }

    fn load_changed(&mut self, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Loaded)>, Error> {
        let sql = "SELECT history.seq, history.chunk, runs.seq, runs.sum, known.run
        FROM unnest($1::uuid[], $2::bigint[]) AS known (run, version)
            CROSS JOIN LATERAL (SELECT runs.seq, runs.sum FROM runs WHERE runs.id = known.run OFFSET 0) AS runs
            LEFT JOIN LATERAL (SELECT * FROM history WHERE history.run = known.run OFFSET 0) AS history ON true
        WHERE runs.seq <> known.version
        ORDER BY known.run, history.based_on";
        let (runs, versions): (Vec<Id>, Vec<i64>) =
            known.iter().map(|(run, version)| (column::run(*run), column::count(*version))).unzip();
        let mut rows = self.link.ask(async |session| session.rows(sql, &[&runs, &versions]).await)?;
        let mut loaded = Vec::new();
        while let Some(row) = rows.first() {
            let run = RunId(row.id(4)?);
            let is_of_it = |row: &Row| row.id(4).is_ok_and(|id| id == run.0);
            let end = rows.iter().position(|row| !is_of_it(row)).unwrap_or(rows.len());
            let rest = rows.split_off(end);
            let stored = put_together(run, &rows).map_err(|error| error.of(run));
            loaded.extend(stored.transpose().map(|stored| (run, stored)));
            rows = rest;
        }
        Ok(loaded)
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
            let rows = self.link.ask(async |session| session.rows(sql, &[&id, &from, &most, &room]).await);
            let rows = rows.map_err(|error| error.of(run))?;
            let mut part: Vec<Record> = Vec::new();
            for row in rows {
                let damaged = |damage: chunk::Damage| Error::Damaged { owner: run, what: damage.to_string() };
                chunk::decode_after(run, row.number(0)?, row.try_get(1)?, &mut part).map_err(damaged)?;
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
        let rows = self.link.ask(async |session| session.rows(sql, &[&runs]).await)?;
        rows.iter().map(|row| Ok((RunId(row.id(0)?), row.number(1)?))).collect()
    }
}

fn put_together(run: RunId, rows: &[Row]) -> Result<Option<StoredRun>, Error> {
    let mut history = chunk::History::new(run);
    for row in rows {
        if row.try_get::<_, Option<i64>>(0)?.is_some() {
            history.push(row.number(0)?, row.try_get(1)?)?;
        }
    }
    history.finish(rows.first().map(|row| told(row, 2)).transpose()?.flatten())
}

/// What the row of a run says of its history, in columns that begin here.
fn told(row: &Row, first: usize) -> Result<Option<chunk::Told>, Error> {
    let (seq, sum): (Option<i64>, Option<i64>) = (row.try_get(first)?, row.try_get(first + 1)?);
    if seq.is_none() {
        return Ok(None);
    }
    let sum = sum.is_some().then(|| row.number(first + 1)).transpose()?;
    Ok(Some(chunk::Told { seq: row.number(first)?, sum }))
}
