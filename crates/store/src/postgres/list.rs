//! What people look for: lists, and how many there are.
//!
//! A list is put together of a few ranges of one index, each in the order of the list, so that a page costs what it
//! shows and not what there is. The ranges are given as arrays, and all of them are read in one statement, which sees
//! one state.

mod runs;
mod waitpoints;

use abide_core::command::Occurrence;
use abide_core::id::{DefinitionId, OccurrenceId, RunId, WorkspaceId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::postgres::column::{self, Column};
use crate::postgres::find::{OCCURRENCES, read_occurrence};
use crate::postgres::link::{Link, Session, Value, values};
use crate::{DefinitionSummary, Due, Error, Page};

pub(super) use runs::{run, runs};
pub(super) use waitpoints::waitpoints;

/// A statement that is put together, with a `?` for each value.
#[derive(Default)]
pub(super) struct Query {
    sql: String,
    values: Vec<Value<'static>>,
}

impl Query {
    pub(super) fn push(&mut self, sql: &str, values: Vec<Value<'static>>) {
        let mut given = values.into_iter();
        for (index, part) in sql.split('?').enumerate() {
            if index > 0 {
                self.values.push(given.next().expect("a value for each ?"));
                self.sql.push_str(&format!("${}", self.values.len()));
            }
            self.sql.push_str(part);
        }
        debug_assert!(given.next().is_none(), "a ? for each value");
    }

    pub(super) fn push_if<V: ToSql + Sync + Send + 'static>(&mut self, sql: &str, value: Option<V>) {
        if let Some(value) = value {
            self.push(sql, values![value]);
        }
    }

    pub(super) async fn rows(&self, session: &mut Session) -> Result<Vec<Row>, Error> {
        let values: Vec<&(dyn ToSql + Sync)> = self.values.iter().map(|value| &**value as _).collect();
        session.rows(&self.sql, &values).await
    }
}

/// The one that is asked for, or all there are.
async fn workspaces(session: &mut Session, asked: Option<WorkspaceId>) -> Result<Vec<i64>, Error> {
    if let Some(workspace) = asked {
        return Ok(vec![column::workspace(workspace)]);
    }
    let rows = session.rows("SELECT number FROM workspaces ORDER BY number", &[]).await?;
    rows.iter().map(|row| row.number(0)).collect()
}

/// Ids grow with time.
pub(super) fn oldest_waiting(
    link: &mut Link,
    workspace: WorkspaceId,
    limit: usize,
) -> Result<Vec<RunId>, Error> {
    let sql = "SELECT found.id FROM unnest($1::bigint[]) AS place (workspace)
        CROSS JOIN LATERAL (SELECT runs.id FROM runs
            WHERE runs.workspace = place.workspace AND runs.status = $2 ORDER BY runs.id LIMIT $3) AS found";
    let (places, status) = (vec![column::workspace(workspace)], column::run_status(RunStatus::Waiting));
    let limit = column::limit(limit);
    let rows = link.ask(async |session| session.rows(sql, &[&places, &status, &limit]).await)?;
    rows.iter().map(|row| row.id(0).map(RunId)).collect()
}

pub(super) fn open_waits(
    link: &mut Link,
    workspace: WorkspaceId,
    kind: Kind,
    due: Due,
    limit: usize,
) -> Result<usize, Error> {
    let mut query = Query::default();
    query.push(
        "SELECT count(*) FROM (SELECT FROM waitpoints WHERE workspace = ? AND kind = ? AND status = ?",
        values![column::workspace(workspace), column::kind(kind), column::wait_status(WaitStatus::Pending)],
    );
    match due {
        Due::Ever => {}
        Due::Before(until) => query.push(" AND resume_at < ?", values![column::instant(until)]),
        Due::Between(from, until) => {
            let between = values![column::instant(from), column::instant(until)];
            query.push(" AND resume_at >= ? AND resume_at < ?", between);
        }
    }
    query.push(" LIMIT ?) AS found", values![column::limit(limit)]);
    let rows = link.ask(async |session| query.rows(session).await)?;
    rows.first().map_or(Ok(0), |row| row.number(0))
}

/// Every status has its count, also when it is zero.
pub(super) fn counts(
    link: &mut Link,
    workspace: Option<WorkspaceId>,
) -> Result<Vec<(RunStatus, u64)>, Error> {
    let sql = "SELECT state.status, sum(found.count)::bigint
        FROM unnest($2::smallint[]) AS state (status) CROSS JOIN unnest($1::bigint[]) AS place (workspace)
            CROSS JOIN LATERAL (SELECT count(*) FROM runs
                WHERE runs.workspace = place.workspace AND runs.status = state.status) AS found
        GROUP BY state.status ORDER BY state.status";
    link.ask(async |session| {
        let workspaces = workspaces(session, workspace).await?;
        let statuses: Vec<i16> = RunStatus::ALL.into_iter().map(column::run_status).collect();
        let rows = session.rows(sql, &[&workspaces, &statuses]).await?;
        rows.iter().map(|row| Ok((row.run_status(0)?, row.number(1)?))).collect()
    })
}

/// What the histories and events of a workspace take.
pub(super) fn stored_bytes(link: &mut Link, workspace: WorkspaceId) -> Result<u64, Error> {
    let sql = "SELECT coalesce(sum(bytes), 0)::bigint FROM stored_bytes WHERE workspace = $1";
    let row = link.ask(async |session| session.one(sql, &[&column::workspace(workspace)]).await)?;
    row.number(0)
}

/// In the order they came, backwards; the cursor is looked up, for an id does not say when it came. Of two that came at
/// the same time to different processes, either may be the last.
pub(super) fn definitions(
    link: &mut Link,
    workspace: WorkspaceId,
    name: Option<&str>,
    page: &Page<DefinitionId>,
) -> Result<Vec<DefinitionSummary>, Error> {
    let mut query = Query::default();
    let order =
        if name.is_some() { "workspace DESC, name DESC, number DESC" } else { "workspace DESC, number DESC" };
    let select = "SELECT id, name, version, created_at FROM definitions WHERE workspace = ?";
    query.push(select, values![column::workspace(workspace)]);
    query.push_if(" AND name = ?", name.map(|name| column::name(name).into_owned()));
    let after = page.after.map(column::definition);
    query.push_if(" AND number < (SELECT number FROM definitions WHERE id = ?)", after);
    query.push(&format!(" ORDER BY {order} LIMIT ?"), values![column::limit(page.limit)]);
    let read = |row: &Row| {
        Ok(DefinitionSummary {
            id: DefinitionId(row.id(0)?),
            name: row.name(1)?,
            version: row.name(2)?,
            created_at: row.instant(3)?,
        })
    };
    link.ask(async |session| query.rows(session).await)?.iter().map(read).collect()
}

pub(super) fn events(
    link: &mut Link,
    workspace: WorkspaceId,
    event_id: Option<&str>,
    page: &Page<(Timestamp, OccurrenceId)>,
) -> Result<Vec<Occurrence>, Error> {
    let mut query = Query::default();
    query.push(&format!("{OCCURRENCES} WHERE workspace = ?"), values![column::workspace(workspace)]);
    query.push_if(" AND event_id = ?", event_id.map(|event_id| column::name(event_id).into_owned()));
    if let Some((at, id)) = page.after {
        let cursor = values![column::instant(at), column::occurrence(id)];
        query.push(" AND (received_at, id) < (?, ?)", cursor);
    }
    query.push(" ORDER BY received_at DESC, id DESC LIMIT ?", values![column::limit(page.limit)]);
    link.ask(async |session| query.rows(session).await)?.iter().map(read_occurrence).collect()
}
