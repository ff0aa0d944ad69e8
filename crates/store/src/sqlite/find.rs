//! What the engine looks for: a run, a definition, what is due, who waits for an event and which events there were.

use abide_core::command::Occurrence;
use abide_core::door::Remembered;
use abide_core::history::Record;
use abide_core::id::{DefinitionId, OccurrenceId, RunId, WaitpointId, WorkspaceId};
use abide_core::run::Timer;
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use crate::code_wait::CodeRange;
use crate::sqlite::column::{self, Column};
use crate::{CodeWait, Error, StoredDefinition, StoredRun, StoredTimer, Waiter, chunk};

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

/// The first of what a query found. All of it is read, because a statement that writes is only done at its end.
pub(super) fn first<T>(
    rows: rusqlite::Rows<'_>,
    read: impl FnMut(&Row<'_>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    Ok(collect(rows, read)?.into_iter().next())
}

pub(super) fn load(connection: &Connection, run: RunId) -> Result<Option<StoredRun>, Error> {
    load_compared(connection, run).map_err(|error| error.of(run))
}

fn load_compared(connection: &Connection, run: RunId) -> Result<Option<StoredRun>, Error> {
    // What is committed between the two would be in one of them.
    let looking = connection.unchecked_transaction()?;
    let told = told(&looking, run)?;
    let mut statement =
        looking.prepare_cached("SELECT seq, chunk FROM history WHERE run = ? ORDER BY seq")?;
    let mut rows = statement.query([column::run(run)])?;
    let mut history = chunk::History::new(run);
    while let Some(row) = rows.next()? {
        let encoded = row.get_ref(1)?.as_blob();
        let encoded = encoded.map_err(|error| Error::Corrupt(error.to_string()))?;
        history.push(row.number(0)?, encoded)?;
    }
    history.finish(told)
}

/// What the row of a run says of its history.
fn told(connection: &Connection, run: RunId) -> Result<Option<chunk::Told>, Error> {
    let mut statement = connection.prepare_cached("SELECT seq, sum FROM runs WHERE id = ?")?;
    let rows = statement.query([column::run(run)])?;
    first(rows, |row| Ok(chunk::Told { seq: row.number(0)?, sum: row.get(1)? }))
}

pub(super) fn records_after(
    connection: &Connection,
    run: RunId,
    after: u64,
    limit: usize,
    bytes: usize,
) -> Result<Vec<Record>, Error> {
    let damaged = |what: &str| Error::Damaged { owner: run, what: what.to_owned() };
    let looking = connection.unchecked_transaction()?;
    let told = told(&looking, run).map_err(|error| error.of(run))?;
    // Record `after` may lie within a chunk: what comes before that chunk is where its numbers begin.
    let mut statement = looking.prepare_cached(
        "SELECT seq, chunk, (SELECT max(seq) FROM history WHERE run = ?1 AND seq <= ?2)
         FROM history WHERE run = ?1 AND seq > ?2 ORDER BY seq",
    )?;
    let after_stored = i64::try_from(after).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![column::run(run), after_stored])?;
    let mut history: Vec<Record> = Vec::new();
    let mut is_all = true;
    while let Some(row) = rows.next().map_err(|error| Error::from(error).of(run))? {
        let before = row.get::<_, Option<i64>>(2)?.map_or(0, i64::cast_unsigned);
        let encoded = row.get_ref(1)?.as_blob().map_err(|error| damaged(&error.to_string()))?;
        chunk::decode_after(run, before, encoded, &mut history)
            .map_err(|error| damaged(&error.to_string()))?;
        if history.last().map(|record| record.seq) != Some(row.number(0)?) {
            return Err(damaged("a chunk has more or fewer records than it should"));
        }
        let found = &history[history.partition_point(|record| record.seq <= after)..];
        if found.len() >= limit || chunk::within(found, bytes) < found.len() {
            is_all = false;
            break;
        }
    }
    let (last, told) = (history.last().map(|record| record.seq), told.map_or(0, |told| told.seq));
    if is_all && last.unwrap_or(after.min(told)) != told {
        return Err(damaged(&format!("its row says version {told}, and not all of its history is there")));
    }
    history.retain(|record| record.seq > after);
    history.truncate(chunk::within(&history, bytes));
    history.truncate(limit);
    Ok(history)
}

const DEFINITIONS: &str = "SELECT id, workspace, name, version, document, created_at FROM definitions";

fn read_definition(row: &Row<'_>) -> Result<StoredDefinition, Error> {
    Ok(StoredDefinition {
        id: DefinitionId(row.id(0)?),
        workspace: row.workspace(1)?,
        name: row.get(2)?,
        version: row.get(3)?,
        document: row.get(4)?,
        created_at: row.instant(5)?,
    })
}

pub(super) fn definition(
    connection: &Connection,
    workspace: WorkspaceId,
    name: &str,
    version: Option<&str>,
) -> Result<Option<StoredDefinition>, Error> {
    if let Some(version) = version {
        let sql = format!("{DEFINITIONS} WHERE workspace = ? AND name = ? AND version = ?");
        let mut statement = connection.prepare_cached(&sql)?;
        return first(statement.query(params![workspace.0, name, version])?, read_definition);
    }
    let sql = format!(
        "{DEFINITIONS} INDEXED BY definitions_by_name
         WHERE workspace = ? AND name = ? ORDER BY number DESC LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    first(statement.query(params![workspace.0, name])?, read_definition)
}

pub(super) fn definition_by_id(
    connection: &Connection,
    id: DefinitionId,
) -> Result<Option<StoredDefinition>, Error> {
    let mut statement = connection.prepare_cached(&format!("{DEFINITIONS} WHERE id = ?"))?;
    first(statement.query([column::definition(id)])?, read_definition)
}

pub(super) fn remembered(connection: &Connection, key: &str) -> Result<Option<Remembered>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT digest, reply, written_at, run FROM remembered WHERE key = ?")?;
    first(statement.query([key])?, |row| {
        let digest: i64 = row.get(0)?;
        let (key, digest) = (key.to_owned(), digest.cast_unsigned());
        Ok(Remembered { key, digest, reply: row.json(1)?, run: row.optional_run(3)?, at: row.instant(2)? })
    })
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

pub(super) fn waiters(
    connection: &Connection,
    workspace: WorkspaceId,
    event_id: &str,
    after: Option<(Timestamp, WaitpointId)>,
    limit: usize,
) -> Result<Vec<Waiter>, Error> {
    let (begun, run, number) = after.map_or((i64::MIN, [0; 16], -1), |(begun, after)| {
        (column::instant(begun), column::run(after.run), i64::from(after.number))
    });
    let mut statement = connection.prepare_cached(
        "SELECT run, number, created_at, resume_at, filter
         FROM waitpoints INDEXED BY waitpoints_by_event
         WHERE status = 0 AND kind = 3 AND workspace = ? AND listens = ?
           AND (created_at, run, number) > (?, ?, ?)
         ORDER BY created_at, run, number LIMIT ?",
    )?;
    let rows = statement.query(params![workspace.0, event_id, begun, run, number, column::limit(limit)])?;
    collect(rows, |row| {
        Ok(Waiter {
            waitpoint: RunId(row.id(0)?).waitpoint(row.number(1)?),
            workspace,
            created_at: row.instant(2)?,
            filter: row.json(4)?,
            resume_at: row.optional_instant(3)?,
        })
    })
}

pub(super) fn code_waits(
    connection: &Connection,
    workspace: WorkspaceId,
    ranges: &[CodeRange],
    limit: usize,
) -> Result<Vec<CodeWait>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT run, number, listens, filter FROM waitpoints INDEXED BY waitpoints_by_code
         WHERE status = 0 AND kind = 9 AND workspace = ? AND (listens, run, number) > (?, ?, ?) AND listens < ?
         ORDER BY listens, run, number LIMIT ?",
    )?;
    let mut found = Vec::new();
    for CodeRange { after: (listens, WaitpointId { run, number }), before } in ranges {
        let room = column::limit(limit.saturating_sub(found.len()));
        let rows = statement.query(params![workspace.0, listens, column::run(*run), number, before, room])?;
        found.append(&mut collect(rows, |row| {
            let waitpoint = RunId(row.id(0)?).waitpoint(row.number(1)?);
            Ok(CodeWait { waitpoint, listens: row.get(2)?, builds: row.json(3)? })
        })?);
    }
    Ok(found)
}

pub(super) fn occurrences(
    connection: &Connection,
    workspace: WorkspaceId,
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
    let sql = format!(
        "{OCCURRENCES} INDEXED BY occurrences_by_event
         WHERE workspace = ? AND event_id = ? AND (received_at, id) > (?, ?)
         ORDER BY received_at, id LIMIT ?"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query(params![workspace.0, event_id, received_at, id, column::limit(limit)])?;
    collect(rows, read_occurrence)
}

pub(super) const OCCURRENCES: &str =
    "SELECT id, workspace, event_id, received_at, data, run FROM occurrences";

pub(super) fn read_occurrence(row: &Row<'_>) -> Result<Occurrence, Error> {
    Ok(Occurrence {
        id: OccurrenceId(row.id(0)?),
        workspace: row.workspace(1)?,
        event_id: row.get(2)?,
        received_at: row.instant(3)?,
        data: row.json(4)?,
        run: row.optional_run(5)?,
    })
}
