//! What the engine looks for: a run, a definition, what is due, who waits for an event and which events there were.

use abide_core::command::Occurrence;
use abide_core::door::Remembered;
use abide_core::history::Record;
use abide_core::id::{DefinitionId, OccurrenceId, RunId, WaitpointId, WorkspaceId};
use abide_core::run::Timer;
use jiff::Timestamp;
use tokio_postgres::Row;

use crate::code_wait::{CodeRange, CodeWait};
use crate::postgres::column::{self, Column, Id};
use crate::postgres::link::{Link, Step, values};
use crate::postgres::looks;
use crate::{Error, EventName, Loaded, StoredDefinition, StoredRun, StoredTimer, Waiter, chunk};

/// What the row of a run says of its history, in columns that begin here.
fn told(row: &Row, first: usize) -> Result<Option<chunk::Told>, Error> {
    let (seq, sum): (Option<i64>, Option<i64>) = (row.try_get(first)?, row.try_get(first + 1)?);
    if seq.is_none() {
        return Ok(None);
    }
    let sum = sum.is_some().then(|| row.number(first + 1)).transpose()?;
    Ok(Some(chunk::Told { seq: row.number(first)?, sum }))
}

/// Row and history in one statement, for what is committed between two would be in one of them.
pub(super) fn load(link: &mut Link, run: RunId) -> Result<Option<StoredRun>, Error> {
    let sql = "SELECT history.seq, history.chunk, runs.seq, runs.sum
        FROM (SELECT $1::uuid AS id) AS asked
            LEFT JOIN runs ON runs.id = asked.id LEFT JOIN history ON history.run = asked.id
        ORDER BY history.based_on";
    let loaded = link.ask(async |session| session.rows(sql, &[&column::run(run)]).await);
    loaded.and_then(|rows| put_together(run, &rows)).map_err(|error| error.of(run))
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

pub(super) fn records_after(
    link: &mut Link,
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
    let (id, most, room) = (column::run(run), column::limit(limit.saturating_add(1)), column::limit(bytes));
    let mut history: Vec<Record> = Vec::new();
    // What is stored takes another number of bytes than what is counted: what was asked for may lie further on.
    while history.len() < limit && chunk::within(&history, bytes) == history.len() {
        let last = history.last().map_or(after, |record| record.seq);
        let from = column::count(last);
        let rows = link.ask(async |session| session.rows(sql, &[&id, &from, &most, &room]).await);
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

pub(super) fn load_changed(link: &mut Link, known: &[(RunId, u64)]) -> Result<Vec<(RunId, Loaded)>, Error> {
    let sql = "SELECT history.seq, history.chunk, runs.seq, runs.sum, known.run
        FROM unnest($1::uuid[], $2::bigint[]) AS known (run, version)
            CROSS JOIN LATERAL (SELECT runs.seq, runs.sum FROM runs WHERE runs.id = known.run OFFSET 0) AS runs
            LEFT JOIN LATERAL (SELECT * FROM history WHERE history.run = known.run OFFSET 0) AS history ON true
        WHERE runs.seq <> known.version
        ORDER BY known.run, history.based_on";
    let (runs, versions): (Vec<Id>, Vec<i64>) =
        known.iter().map(|(run, version)| (column::run(*run), column::count(*version))).unzip();
    let mut rows = link.ask(async |session| session.rows(sql, &[&runs, &versions]).await)?;
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

const DEFINITIONS: &str = "SELECT id, workspace, name, version, document, created_at FROM definitions";

fn read_definition(row: &Row) -> Result<StoredDefinition, Error> {
    Ok(StoredDefinition {
        id: DefinitionId(row.id(0)?),
        workspace: row.workspace(1)?,
        name: row.name(2)?,
        version: row.name(3)?,
        document: row.try_get(4)?,
        created_at: row.instant(5)?,
    })
}

pub(super) fn versions(link: &mut Link, runs: &[RunId]) -> Result<Vec<(RunId, u64)>, Error> {
    let sql =
        "SELECT runs.id, runs.seq FROM unnest($1::uuid[]) AS asked (run) JOIN runs ON runs.id = asked.run";
    let runs: Vec<Id> = runs.iter().map(|run| column::run(*run)).collect();
    let rows = link.ask(async |session| session.rows(sql, &[&runs]).await)?;
    rows.iter().map(|row| Ok((RunId(row.id(0)?), row.number(1)?))).collect()
}

pub(super) fn definition(
    link: &mut Link,
    workspace: WorkspaceId,
    name: &str,
    version: Option<&str>,
) -> Result<Option<StoredDefinition>, Error> {
    let (workspace, name) = (column::workspace(workspace), column::name(name));
    let found = link.ask(async |session| match version.map(column::name) {
        Some(version) => {
            let sql = format!("{DEFINITIONS} WHERE workspace = $1 AND name = $2 AND version = $3");
            session.first(&sql, &[&workspace, &name, &version]).await
        }
        None => {
            let sql =
                format!("{DEFINITIONS} WHERE workspace = $1 AND name = $2 ORDER BY workspace, name, number DESC LIMIT 1");
            session.first(&sql, &[&workspace, &name]).await
        }
    })?;
    found.as_ref().map(read_definition).transpose()
}

pub(super) fn definition_by_id(link: &mut Link, id: DefinitionId) -> Result<Option<StoredDefinition>, Error> {
    let sql = format!("{DEFINITIONS} WHERE id = $1");
    let found = link.ask(async |session| session.first(&sql, &[&column::definition(id)]).await)?;
    found.as_ref().map(read_definition).transpose()
}

pub(super) fn remembered(link: &mut Link, key: &str) -> Result<Option<Remembered>, Error> {
    let sql = "SELECT digest, reply, written_at, run FROM remembered WHERE key = $1";
    let found = link.ask(async |session| session.first(sql, &[&column::name(key)]).await)?;
    let read = |row: Row| {
        let digest: i64 = row.try_get(0)?;
        let (key, digest) = (key.to_owned(), digest.cast_unsigned());
        Ok(Remembered { key, digest, reply: row.json(1)?, run: row.optional_run(3)?, at: row.instant(2)? })
    };
    found.map(read).transpose()
}

/// Two ordered lists, of waits and of runs, merged.
pub(super) fn timers(
    link: &mut Link,
    after: Option<&StoredTimer>,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<StoredTimer>, Error> {
    let (at, run, number, seen) = after.map_or((i64::MIN, Id(0), -1, false), |after| {
        let number = match after.timer {
            Timer::Waitpoint(number) => i64::from(number),
            Timer::Attempt { .. } | Timer::Run => i64::MAX,
        };
        (column::instant(after.at), column::run(after.run), number, after.timer == Timer::Run)
    });
    let sql = "(SELECT resume_at, run, number FROM waitpoints
            WHERE status = 0 AND resume_at <= $5 AND (resume_at, run, number) > ($1, $2, $3)
            ORDER BY resume_at, run, number LIMIT $6)
        UNION ALL
        (SELECT deadline_at, id, NULL::bigint FROM runs
            WHERE deadline_at <= $5 AND (deadline_at, id) >= ($1, $2) AND NOT ($4 AND id = $2 AND deadline_at = $1)
            ORDER BY deadline_at, id LIMIT $6)";
    let (until, most) = (column::instant(until), column::limit(limit));
    let rows =
        link.ask(async |session| session.rows(sql, &[&at, &run, &number, &seen, &until, &most]).await)?;
    let mut due = Vec::with_capacity(rows.len());
    for row in rows {
        let number: Option<i64> = row.try_get(2)?;
        let timer = match number {
            Some(_) => Timer::Waitpoint(row.number(2)?),
            None => Timer::Run,
        };
        due.push(StoredTimer { at: row.instant(0)?, run: RunId(row.id(1)?), timer });
    }
    // Two sorted lists one after the other: the sort finds them and only merges.
    due.sort();
    due.truncate(limit);
    Ok(due)
}

pub(super) fn waiters(
    link: &mut Link,
    workspace: WorkspaceId,
    event_id: &str,
    after: Option<(Timestamp, WaitpointId)>,
    limit: usize,
) -> Result<Vec<Waiter>, Error> {
    let (begun, run, number) = after.map_or((i64::MIN, Id(0), -1), |(begun, after)| {
        (column::instant(begun), column::run(after.run), i64::from(after.number))
    });
    let sql = "SELECT run, number, created_at, resume_at, filter FROM waitpoints
        WHERE status = 0 AND kind = 3 AND workspace = $1 AND listens = $2
          AND (created_at, run, number) > ($3, $4, $5)
        ORDER BY created_at, run, number LIMIT $6";
    let place = column::workspace(workspace);
    let values = values!(place, column::name(event_id), begun, run, number, column::limit(limit));
    let rows = look(link, &[EventName { workspace, event_id }], Step { sql: sql.into(), values })?;
    rows.iter().map(|row| read_waiter(row, workspace)).collect()
}

pub(super) fn code_waits(
    link: &mut Link,
    workspace: WorkspaceId,
    ranges: &[CodeRange],
    limit: usize,
) -> Result<Vec<CodeWait>, Error> {
    let sql = "SELECT run, number, listens, filter FROM waitpoints
        WHERE status = 0 AND kind = 9 AND workspace = $1 AND (listens, run, number) > ($2, $3, $4) AND listens < $5
        ORDER BY listens, run, number LIMIT $6";
    let place = column::workspace(workspace);
    let mut found = Vec::new();
    for CodeRange { after: (listens, WaitpointId { run, number }), before } in ranges {
        let room = column::limit(limit.saturating_sub(found.len()));
        let (listens, before) = (column::name(listens), column::name(before));
        let (run, number) = (column::run(*run), i64::from(*number));
        let rows = link.ask(async |session| {
            session.rows(sql, &[&place, &listens, &run, &number, &before, &room]).await
        })?;
        for row in &rows {
            let waitpoint = RunId(row.id(0)?).waitpoint(row.number(1)?);
            found.push(CodeWait { waitpoint, listens: row.name(2)?, builds: row.json(3)? });
        }
    }
    Ok(found)
}

fn read_waiter(row: &Row, workspace: WorkspaceId) -> Result<Waiter, Error> {
    Ok(Waiter {
        waitpoint: RunId(row.id(0)?).waitpoint(row.number(1)?),
        workspace,
        created_at: row.instant(2)?,
        filter: row.json(4)?,
        resume_at: row.optional_instant(3)?,
    })
}

pub(super) fn waiters_of(
    link: &mut Link,
    events: &[EventName<'_>],
    limit: usize,
) -> Result<Vec<Vec<Waiter>>, Error> {
    let sql = "SELECT waiter.run, waiter.number, waiter.created_at, waiter.resume_at, waiter.filter, place
        FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked (workspace, event_id, place)
            CROSS JOIN LATERAL (SELECT run, number, created_at, resume_at, filter FROM waitpoints
                WHERE status = 0 AND kind = 3 AND waitpoints.workspace = asked.workspace
                  AND listens = asked.event_id
                ORDER BY created_at, run, number LIMIT $3) AS waiter";
    let values = values!(places(events.iter()), names(events.iter()), column::limit(limit));
    let rows = look(link, events, Step { sql: sql.into(), values })?;
    let mut waiters = vec![Vec::new(); events.len()];
    for row in &rows {
        let place = ordinal(row, 5)?;
        if let Some((event, waiters)) = events.get(place).zip(waiters.get_mut(place)) {
            waiters.push(read_waiter(row, event.workspace)?);
        }
    }
    Ok(waiters)
}

pub(super) fn occurrences_of(
    link: &mut Link,
    events: &[(EventName<'_>, Timestamp)],
    limit: usize,
) -> Result<Vec<Vec<Occurrence>>, Error> {
    let sql = "SELECT found.*, place
        FROM unnest($1::bigint[], $2::text[], $3::bigint[]) WITH ORDINALITY
                AS asked (workspace, event_id, since, place)
            CROSS JOIN LATERAL (SELECT id, occurrences.workspace, occurrences.event_id, received_at, data, run
                FROM occurrences
                WHERE occurrences.workspace = asked.workspace AND occurrences.event_id = asked.event_id
                  AND received_at >= asked.since
                ORDER BY received_at, id LIMIT $4) AS found";
    let names_asked: Vec<EventName<'_>> = events.iter().map(|(event, _)| *event).collect();
    let since: Vec<i64> = events.iter().map(|(_, since)| column::instant(*since)).collect();
    let values = values!(places(names_asked.iter()), names(names_asked.iter()), since, column::limit(limit));
    let rows = look(link, &names_asked, Step { sql: sql.into(), values })?;
    let mut occurrences = vec![Vec::new(); events.len()];
    for row in &rows {
        if let Some(occurrences) = occurrences.get_mut(ordinal(row, 6)?) {
            occurrences.push(read_occurrence(row)?);
        }
    }
    Ok(occurrences)
}

fn places<'a>(events: impl Iterator<Item = &'a EventName<'a>>) -> Vec<i64> {
    events.map(|event| column::workspace(event.workspace)).collect()
}

fn names<'a>(events: impl Iterator<Item = &'a EventName<'a>>) -> Vec<String> {
    events.map(|event| column::name(event.event_id).into_owned()).collect()
}

/// PostgreSQL counts from one.
fn ordinal(row: &Row, index: usize) -> Result<usize, Error> {
    let place: u64 = row.number(index)?;
    Ok(usize::try_from(place).unwrap_or(usize::MAX).saturating_sub(1))
}

pub(super) fn occurrences(
    link: &mut Link,
    workspace: WorkspaceId,
    event_id: &str,
    since: Timestamp,
    after: Option<(Timestamp, OccurrenceId)>,
    limit: usize,
) -> Result<Vec<Occurrence>, Error> {
    let (received_at, id, seen) = match after {
        Some((at, id)) if at >= since => (column::instant(at), column::occurrence(id), true),
        Some(_) | None => (column::instant(since), Id(0), false),
    };
    let sql = "SELECT id, workspace, event_id, received_at, data, run FROM occurrences
        WHERE workspace = $1 AND event_id = $2 AND (received_at, id) >= ($3, $4)
          AND NOT ($5 AND id = $4 AND received_at = $3)
        ORDER BY received_at, id LIMIT $6";
    let place = column::workspace(workspace);
    let values = values!(place, column::name(event_id), received_at, id, seen, column::limit(limit));
    let rows = look(link, &[EventName { workspace, event_id }], Step { sql: sql.into(), values })?;
    rows.iter().map(read_occurrence).collect()
}

/// Looks at what there is of events, and notes which transactions the look could see: they were taken note of before
/// it, and so are no more than it saw.
fn look(link: &mut Link, events: &[EventName<'_>], step: Step<'_>) -> Result<Vec<Row>, Error> {
    let snapshot = Step { sql: "SELECT pg_current_snapshot()::text".into(), values: Vec::new() };
    let losses = link.looks.losses();
    let mut answers =
        link.ask(async |session| Ok(session.pipeline(None, &[snapshot, step]).await?))?.into_iter();
    let seen = answers.next().and_then(|answer| answer.rows.into_iter().next());
    let seen =
        seen.ok_or_else(|| Error::Corrupt("no answer to the question of what can be seen".to_owned()))?;
    let events = events.iter().map(|event| looks::event_key(event.workspace, event.event_id));
    link.looks.note(events, seen.try_get(0)?, losses);
    Ok(answers.next().map(|answer| answer.rows).unwrap_or_default())
}

pub(super) const OCCURRENCES: &str =
    "SELECT id, workspace, event_id, received_at, data, run FROM occurrences";

pub(super) fn read_occurrence(row: &Row) -> Result<Occurrence, Error> {
    Ok(Occurrence {
        id: OccurrenceId(row.id(0)?),
        workspace: row.workspace(1)?,
        event_id: row.name(2)?.into(),
        received_at: row.instant(3)?,
        data: row.json(4)?,
        run: row.optional_run(5)?,
    })
}
