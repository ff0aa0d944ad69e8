//! What retention looks at before it forgets anything. Each read is a range of one index, and says what it finds without
//! loading it.

use abide_core::definition::AwaitedEvent;
use abide_core::history::DefinitionRef;
use abide_core::id::{OccurrenceId, RunId, WorkspaceId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::code::OPEN_RUNS;
use crate::sqlite::column::{self, Column};
use crate::sqlite::find::collect;
use crate::{Awaits, Error, EventPlace, KeyPlace, OfRun, OldEvent, OldKey, RunOfKey};

pub(super) fn awaits(connection: &Connection, workspace: WorkspaceId) -> Result<Vec<Awaits>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT name, version, awaits FROM definitions INDEXED BY definitions_by_workspace WHERE workspace = ?",
    )?;
    collect(statement.query([workspace.0])?, |row| {
        let name: String = row.get(0)?;
        let version: String = row.get(1)?;
        let is_known = row.get::<_, Option<String>>(2)?.is_some();
        let events = if is_known { row.json(2)? } else { vec![AwaitedEvent::ANY] };
        Ok(Awaits { definition: DefinitionRef { name: name.into(), version: version.into() }, events })
    })
}

pub(super) fn oldest_open(
    connection: &Connection,
    workspace: WorkspaceId,
    definition: Option<&DefinitionRef>,
) -> Result<Option<RunId>, Error> {
    let mut oldest: Option<RunId> = None;
    for status in OPEN_RUNS.map(column::run_status) {
        let read = |row: &Row<'_>| row.get::<_, column::Id>(0);
        let found = match definition {
            Some(DefinitionRef { name, version }) => connection
                .prepare_cached(
                    "SELECT id FROM runs INDEXED BY runs_by_definition
                     WHERE workspace = ? AND definition = ? AND version = ? AND status = ? ORDER BY id LIMIT 1",
                )?
                .query_row(params![workspace.0, name, version, status], read)
                .optional()?,
            None => connection
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

pub(super) fn old_events(
    connection: &Connection,
    (workspace, event_id): (WorkspaceId, Option<&str>),
    before: Timestamp,
    after: Option<EventPlace>,
    limit: usize,
) -> Result<Vec<OldEvent>, Error> {
    const SELECT: &str = "SELECT event_id, received_at, id, run,
            (SELECT ended_at IS NULL FROM runs WHERE runs.id = occurrences.run) FROM occurrences";
    const RANGE: &str = "received_at < ? AND (received_at, id) > (?, ?) ORDER BY received_at, id LIMIT ?";
    let (before, limit) = (column::instant(before), column::limit(limit));
    let (at, id) =
        after.map_or((i64::MIN, [0; 16]), |(at, id)| (column::instant(at), column::occurrence(id)));
    let read = |row: &Row<'_>| read_old_event(row, workspace);
    match event_id {
        Some(event_id) => {
            let sql = format!(
                "{SELECT} INDEXED BY occurrences_by_event WHERE workspace = ? AND event_id = ? AND {RANGE}"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            collect(statement.query(params![workspace.0, event_id, before, at, id, limit])?, read)
        }
        None => {
            let sql = format!("{SELECT} INDEXED BY occurrences_by_time WHERE workspace = ? AND {RANGE}");
            let mut statement = connection.prepare_cached(&sql)?;
            collect(statement.query(params![workspace.0, before, at, id, limit])?, read)
        }
    }
}

fn read_old_event(row: &Row<'_>, workspace: WorkspaceId) -> Result<OldEvent, Error> {
    let is_open: Option<bool> = row.get(4)?;
    let event_id: String = row.get(0)?;
    Ok(OldEvent {
        workspace,
        event_id: event_id.into(),
        received_at: row.instant(1)?,
        id: OccurrenceId(row.id(2)?),
        sent_to: row.optional_run(3)?.map(|run| (run, is_open == Some(true))),
    })
}

pub(super) fn old_keys(
    connection: &Connection,
    before: Timestamp,
    after: Option<&KeyPlace>,
    limit: usize,
) -> Result<Vec<OldKey>, Error> {
    let (at, key) = after.map_or((i64::MIN, ""), |(at, key)| (column::instant(*at), key.as_str()));
    // A run that was forgotten leaves no row, one that is open no end.
    let mut statement = connection.prepare_cached(
        "SELECT key, written_at, (SELECT coalesce(ended_at, -1) FROM runs WHERE runs.id = remembered.run)
         FROM remembered INDEXED BY remembered_by_time
         WHERE written_at < ? AND (written_at, key) > (?, ?) ORDER BY written_at, key LIMIT ?",
    )?;
    let rows = statement.query(params![column::instant(before), at, key, column::limit(limit)])?;
    collect(rows, |row| {
        let run = match row.get::<_, Option<i64>>(2)? {
            None => RunOfKey::None,
            Some(-1) => RunOfKey::Open,
            Some(_) => RunOfKey::Ended(row.instant(2)?),
        };
        Ok(OldKey { key: row.get(0)?, written_at: row.instant(1)?, run })
    })
}

pub(super) fn ended_runs(
    connection: &Connection,
    before: Timestamp,
    (at, run): (Timestamp, RunId),
    limit: usize,
) -> Result<Vec<(Timestamp, RunId)>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT ended_at, id FROM runs INDEXED BY runs_by_end
         WHERE ended_at < ? AND (ended_at, id) > (?, ?) ORDER BY ended_at, id LIMIT ?",
    )?;
    let (at, run) = (column::instant(at), column::run(run));
    let rows = statement.query(params![column::instant(before), at, run, column::limit(limit)])?;
    collect(rows, |row| Ok((row.instant(0)?, RunId(row.id(1)?))))
}

pub(super) fn owners(connection: &Connection, runs: &[RunId], what: OfRun) -> Result<Vec<RunId>, Error> {
    let sql = match what {
        OfRun::Events => "SELECT 1 FROM occurrences INDEXED BY occurrences_by_run WHERE run = ? LIMIT 1",
        OfRun::Keys => "SELECT 1 FROM remembered INDEXED BY remembered_by_run WHERE run = ? LIMIT 1",
    };
    let mut statement = connection.prepare_cached(sql)?;
    let mut owners = Vec::new();
    for run in runs {
        let owns = statement.query_row([column::run(*run)], |_| Ok(())).optional()?;
        owners.extend(owns.map(|()| *run));
    }
    Ok(owners)
}
