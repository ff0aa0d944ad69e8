//! What retention looks at before it forgets anything. Each read is a range of one index, and says what it finds without
//! loading it.

use abide_core::definition::AwaitedEvent;
use abide_core::history::DefinitionRef;
use abide_core::id::{OccurrenceId, RunId, WorkspaceId};
use jiff::Timestamp;
use tokio_postgres::Row;

use crate::code::{self, OPEN_RUNS};
use crate::postgres::column::{self, Column, Id};
use crate::postgres::link::Link;
use crate::{Awaits, Error, EventPlace, KeyPlace, OfRun, OldEvent, OldKey, RunOfKey};

/// Definitions that are read at once.
const PAGE: usize = 1_000;

pub(super) fn awaits(link: &mut Link, workspace: WorkspaceId) -> Result<Vec<Awaits>, Error> {
    let sql = "SELECT name, version, awaits, number FROM definitions WHERE workspace = $1 AND number > $2
        ORDER BY workspace, number LIMIT $3";
    let (place, page) = (column::workspace(workspace), column::limit(PAGE));
    let rows = link.ask(async |session| {
        let mut rows: Vec<Row> = Vec::new();
        loop {
            let after: i64 = rows.last().map_or(Ok(-1), |row| row.try_get(3))?;
            let mut more = session.rows(sql, &[&place, &after, &page]).await?;
            let is_last = more.len() < PAGE;
            rows.append(&mut more);
            if is_last {
                return Ok(rows);
            }
        }
    })?;
    let read = |row: &Row| {
        let definition = DefinitionRef { name: row.name(0)?.into(), version: row.name(1)?.into() };
        let is_known = row.try_get::<_, Option<&str>>(2)?.is_some();
        let events = if is_known { row.json(2)? } else { vec![AwaitedEvent::ANY] };
        Ok(Awaits { definition, events })
    };
    rows.iter().map(read).collect()
}

pub(super) fn oldest_open(
    link: &mut Link,
    workspace: WorkspaceId,
    definition: Option<&DefinitionRef>,
) -> Result<Option<RunId>, Error> {
    let place = column::workspace(workspace);
    let statuses: Vec<i16> = OPEN_RUNS.map(column::run_status).to_vec();
    let rows = link.ask(async |session| match definition {
        Some(DefinitionRef { name, version }) => {
            let sql = "SELECT oldest.id FROM unnest($4::smallint[]) AS open (status)
                CROSS JOIN LATERAL (SELECT id FROM runs
                    WHERE workspace = $1 AND definition = $2 AND version = $3 AND runs.status = open.status
                    ORDER BY workspace, definition, version, runs.status, id LIMIT 1) AS oldest";
            let (name, version) = (column::name(name), column::name(version));
            session.rows(sql, &[&place, &name, &version, &statuses]).await
        }
        None => {
            let sql = "SELECT oldest.id FROM unnest($2::smallint[]) AS open (status)
                CROSS JOIN LATERAL (SELECT id FROM runs WHERE workspace = $1 AND runs.status = open.status
                    ORDER BY workspace, runs.status, id LIMIT 1) AS oldest";
            session.rows(sql, &[&place, &statuses]).await
        }
    })?;
    let ids: Result<Vec<RunId>, Error> = rows.iter().map(|row| row.id(0).map(RunId)).collect();
    Ok(ids?.into_iter().min())
}

pub(super) fn old_events(
    link: &mut Link,
    (workspace, event_id): (WorkspaceId, Option<&str>),
    before: Timestamp,
    after: Option<EventPlace>,
    limit: usize,
) -> Result<Vec<OldEvent>, Error> {
    const SELECT: &str = "SELECT event_id, received_at, id, run,
            (SELECT ended_at IS NULL FROM runs WHERE runs.id = occurrences.run) FROM occurrences";
    let (place, before, limit) =
        (column::workspace(workspace), column::instant(before), column::limit(limit));
    let (at, id) = after.map_or((i64::MIN, Id(0)), |(at, id)| (column::instant(at), column::occurrence(id)));
    let rows = link.ask(async |session| match event_id {
        Some(event_id) => {
            let sql = format!(
                "{SELECT} WHERE workspace = $1 AND event_id = $6 AND received_at < $2 AND (received_at, id) > ($3, $4)
                 ORDER BY workspace, event_id, received_at, id LIMIT $5"
            );
            session.rows(&sql, &[&place, &before, &at, &id, &limit, &column::name(event_id)]).await
        }
        None => {
            let sql = format!(
                "{SELECT} WHERE workspace = $1 AND received_at < $2 AND (received_at, id) > ($3, $4)
                 ORDER BY workspace, received_at, id LIMIT $5"
            );
            session.rows(&sql, &[&place, &before, &at, &id, &limit]).await
        }
    })?;
    rows.iter().map(|row| read_old_event(row, workspace)).collect()
}

fn read_old_event(row: &Row, workspace: WorkspaceId) -> Result<OldEvent, Error> {
    let is_open: Option<bool> = row.try_get(4)?;
    Ok(OldEvent {
        workspace,
        event_id: row.name(0)?.into(),
        received_at: row.instant(1)?,
        id: OccurrenceId(row.id(2)?),
        sent_to: row.optional_run(3)?.map(|run| (run, is_open == Some(true))),
    })
}

pub(super) fn old_keys(
    link: &mut Link,
    before: Timestamp,
    after: Option<&KeyPlace>,
    limit: usize,
) -> Result<Vec<OldKey>, Error> {
    let (at, key) = match after {
        Some((at, key)) => (column::instant(*at), column::name(key)),
        None => (i64::MIN, "".into()),
    };
    // A run that was forgotten leaves no row, one that is open no end.
    let sql = "SELECT key, written_at, (SELECT coalesce(ended_at, -1) FROM runs WHERE runs.id = remembered.run)
        FROM remembered WHERE written_at < $1 AND (written_at, key) > ($2, $3) ORDER BY written_at, key LIMIT $4";
    let (before, limit) = (column::instant(before), column::limit(limit));
    let rows = link.ask(async |session| session.rows(sql, &[&before, &at, &key, &limit]).await)?;
    let read = |row: &Row| {
        let run = match row.try_get::<_, Option<i64>>(2)? {
            None => RunOfKey::None,
            Some(-1) => RunOfKey::Open,
            Some(ended_at) => RunOfKey::Ended(code::read_instant(ended_at)),
        };
        Ok(OldKey { key: row.name(0)?, written_at: row.instant(1)?, run })
    };
    rows.iter().map(read).collect()
}

pub(super) fn ended_runs(
    link: &mut Link,
    before: Timestamp,
    (at, run): (Timestamp, RunId),
    limit: usize,
) -> Result<Vec<(Timestamp, RunId)>, Error> {
    let sql = "SELECT ended_at, id FROM runs WHERE ended_at < $1 AND (ended_at, id) > ($2, $3)
        ORDER BY ended_at, id LIMIT $4";
    let (before, at, run) = (column::instant(before), column::instant(at), column::run(run));
    let limit = column::limit(limit);
    let rows = link.ask(async |session| session.rows(sql, &[&before, &at, &run, &limit]).await)?;
    rows.iter().map(|row| Ok((row.instant(0)?, RunId(row.id(1)?)))).collect()
}

pub(super) fn owners(link: &mut Link, runs: &[RunId], what: OfRun) -> Result<Vec<RunId>, Error> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let table = match what {
        OfRun::Events => "occurrences",
        OfRun::Keys => "remembered",
    };
    let sql = format!(
        "SELECT owner.run FROM unnest($1::uuid[]) AS asked (run)
             CROSS JOIN LATERAL (SELECT run FROM {table} WHERE {table}.run = asked.run LIMIT 1) AS owner"
    );
    let ids: Vec<Id> = runs.iter().map(|run| column::run(*run)).collect();
    let rows = link.ask(async |session| session.rows(&sql, &[&ids]).await)?;
    rows.iter().map(|row| row.id(0).map(RunId)).collect()
}
