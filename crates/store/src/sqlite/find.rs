//! What the engine looks for: a run, a definition, what is due, who waits for an event and which events there were.

use std::sync::Arc;

use abide_core::command::Occurrence;
use abide_core::door::Remembered;
use abide_core::history::DefinitionRef;
use abide_core::id::{OccurrenceId, RunId, WaitpointId};
use abide_core::run::Timer;
use abide_core::waitpoint::Kind;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};

use crate::sqlite::column::{self, Column};
use crate::{Error, StoredDefinition, StoredRun, StoredTimer, Waiter, chunk};

/// Collects what a query found.
pub(super) fn collect<T>(
    mut rows: rusqlite::Rows<'_>,
    mut read: impl FnMut(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

pub(super) fn load(connection: &Connection, run: RunId) -> Result<Option<StoredRun>, Error> {
    let damaged = |what: &str| Error::Corrupt(format!("{run}: {what}"));
    let mut statement =
        connection.prepare_cached("SELECT seq, chunk FROM history WHERE run = ? ORDER BY seq")?;
    let mut rows = statement.query([column::run(run)])?;
    let mut history = Vec::new();
    while let Some(row) = rows.next()? {
        let encoded = row.get_ref(1)?.as_blob().map_err(|error| damaged(&error.to_string()))?;
        chunk::decode(run, encoded, &mut history).map_err(|error| damaged(&error.to_string()))?;
        if history.last().map(|record| record.seq) != Some(row.number(0)?) {
            return Err(damaged("a chunk has more or fewer records than it should"));
        }
    }
    if history.is_empty() {
        return Ok(None);
    }
    let definition = connection
        .prepare_cached("SELECT definition, version FROM runs WHERE id = ?")?
        .query_row([column::run(run)], |row| Ok(DefinitionRef { name: row.get(0)?, version: row.get(1)? }))
        .optional()?
        .ok_or_else(|| damaged("it has a history and no row"))?;
    Ok(Some(StoredRun { definition, history }))
}

pub(super) fn definition(
    connection: &Connection,
    name: &str,
    version: Option<&str>,
) -> Result<Option<StoredDefinition>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT name, version, document, created_at FROM definitions WHERE number =
             (SELECT max(number) FROM definitions WHERE name = ?1 AND (?2 IS NULL OR version = ?2))",
    )?;
    let found = collect(statement.query(params![name, version])?, |row| {
        Ok(StoredDefinition {
            name: row.get(0)?,
            version: row.get(1)?,
            document: row.get(2)?,
            created_at: row.instant(3)?,
        })
    })?;
    Ok(found.into_iter().next())
}

pub(super) fn remembered(connection: &Connection, key: &str) -> Result<Option<Remembered>, Error> {
    let mut statement = connection.prepare_cached("SELECT digest, reply FROM remembered WHERE key = ?")?;
    let found = collect(statement.query([key])?, |row| {
        let digest: i64 = row.get(0)?;
        Ok(Remembered { key: key.to_owned(), digest: digest.cast_unsigned(), reply: row.json(1)? })
    })?;
    Ok(found.into_iter().next())
}

/// Two ordered lists, of waits and of runs, merged.
pub(super) fn timers(
    connection: &Connection,
    after: Option<&StoredTimer>,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<StoredTimer>, Error> {
    let mut due = due_waits(connection, after, until, limit)?;
    due.append(&mut due_runs(connection, after, until, limit)?);
    // Two sorted lists one after the other: the sort finds them and only merges.
    due.sort();
    due.truncate(limit);
    Ok(due)
}

fn due_waits(
    connection: &Connection,
    after: Option<&StoredTimer>,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<StoredTimer>, Error> {
    let (at, run, number) = after.map_or((i64::MIN, [0; 16], -1), |after| {
        let number = match after.timer {
            Timer::Waitpoint(number) => i64::from(number),
            Timer::Attempt { .. } | Timer::Run => i64::MAX,
        };
        (column::instant(after.at), column::run(after.run), number)
    });
    let mut statement = connection.prepare_cached(
        "SELECT resume_at, run, number FROM waitpoints
         WHERE status = 0 AND resume_at <= ?4 AND (resume_at, run, number) > (?1, ?2, ?3)
         ORDER BY resume_at, run, number LIMIT ?5",
    )?;
    let rows = statement.query(params![at, run, number, column::instant(until), column::limit(limit)])?;
    collect(rows, |row| {
        let (at, run) = (row.instant(0)?, RunId(row.id(1)?));
        Ok(StoredTimer { at, run, timer: Timer::Waitpoint(row.number(2)?) })
    })
}

fn due_runs(
    connection: &Connection,
    after: Option<&StoredTimer>,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<StoredTimer>, Error> {
    let (at, run, seen) = after.map_or((i64::MIN, [0; 16], false), |after| {
        (column::instant(after.at), column::run(after.run), after.timer == Timer::Run)
    });
    let mut statement = connection.prepare_cached(
        "SELECT deadline_at, id FROM runs
         WHERE deadline_at <= ?4 AND (deadline_at, id) >= (?1, ?2) AND NOT (?3 AND id = ?2 AND deadline_at = ?1)
         ORDER BY deadline_at, id LIMIT ?5",
    )?;
    let rows = statement.query(params![at, run, seen, column::instant(until), column::limit(limit)])?;
    collect(rows, |row| Ok(StoredTimer { at: row.instant(0)?, run: RunId(row.id(1)?), timer: Timer::Run }))
}

/// Oldest first means by when the wait began, which the cursor does not say: it is looked up. A wait that was
/// forgotten meanwhile leads back to the start.
pub(super) fn waiters(
    connection: &Connection,
    event_id: &str,
    after: Option<WaitpointId>,
    limit: usize,
) -> Result<Vec<Waiter>, Error> {
    let begun: Option<i64> = match after {
        None => None,
        Some(WaitpointId { run, number }) => connection
            .prepare_cached("SELECT created_at FROM waitpoints WHERE run = ? AND number = ?")?
            .query_row(params![column::run(run), number], |row| row.get(0))
            .optional()?,
    };
    let (begun, run, number) = match (begun, after) {
        (Some(begun), Some(after)) => (begun, column::run(after.run), i64::from(after.number)),
        (None | Some(_), _) => (i64::MIN, [0; 16], -1),
    };
    let mut statement = connection.prepare_cached(
        "SELECT run, number, resume_at, filter FROM waitpoints
         WHERE status = 0 AND listens = :event AND kind = :kind
           AND (created_at, run, number) > (:begun, :run, :number)
         ORDER BY created_at, run, number LIMIT :limit",
    )?;
    let rows = statement.query(named_params! {
        ":event": event_id, ":kind": column::kind(Kind::Event),
        ":begun": begun, ":run": run, ":number": number, ":limit": column::limit(limit),
    })?;
    collect(rows, |row| {
        Ok(Waiter {
            waitpoint: RunId(row.id(0)?).waitpoint(row.number(1)?),
            filter: row.json(3)?,
            resume_at: row.optional_instant(2)?,
        })
    })
}

pub(super) fn occurrences(
    connection: &Connection,
    event_id: &str,
    since: Timestamp,
    after: Option<(Timestamp, OccurrenceId)>,
    limit: usize,
) -> Result<Vec<Occurrence>, Error> {
    let (received_at, id) = match after {
        Some((at, id)) if at >= since => (column::instant(at), column::occurrence(id).to_vec()),
        // No id is smaller than an empty one.
        Some(_) | None => (column::instant(since), Vec::new()),
    };
    let event: Arc<str> = event_id.into();
    let mut statement = connection.prepare_cached(
        "SELECT id, received_at, data FROM occurrences
         WHERE event_id = ?1 AND (received_at, id) > (?2, ?3) ORDER BY received_at, id LIMIT ?4",
    )?;
    let rows = statement.query(params![event_id, received_at, id, column::limit(limit)])?;
    collect(rows, |row| {
        Ok(Occurrence {
            id: OccurrenceId(row.id(0)?),
            event_id: Arc::clone(&event),
            data: row.json(2)?,
            received_at: row.instant(1)?,
        })
    })
}
