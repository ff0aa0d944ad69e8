//! What people look for: lists, and how many there are.
//!
//! A list is put together of a few ranges of one index, each in the order of the list, so that a page costs what it
//! shows and not what there is. The ranges are given as arrays, and all of them are read in one statement, which sees
//! one state.

mod runs;
mod waitpoints;

use std::collections::BTreeMap;

use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::postgres::Handle;
use crate::postgres::column::{self};
use crate::postgres::connection::{Session, Value, values};
use crate::postgres::tasks;
use crate::roles::Lists;
use crate::row::RowReader;
use crate::tasks::TaskQueue;
use crate::{Due, Error, Page, RunFilter, RunSummary, WaitpointFilter, WaitpointSummary};

impl<Role: Send> Lists for Handle<Role> {
    fn run(&mut self, run: RunId) -> Result<Option<RunSummary>, Error> {
        runs::run(&mut self.connection, run)
    }

    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error> {
        runs::runs(&mut self.connection, filter, page)
    }

    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error> {
        waitpoints::waitpoints(&mut self.connection, filter, page)
    }

    /// Every status has its count, also when it is zero.
    fn counts(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<(RunStatus, u64)>, Error> {
        let sql = "SELECT state.status, sum(found.count)::bigint
        FROM unnest($2::smallint[]) AS state (status) CROSS JOIN unnest($1::bigint[]) AS place (workspace)
            CROSS JOIN LATERAL (SELECT count(*) FROM runs
                WHERE runs.workspace = place.workspace AND runs.status = state.status) AS found
        GROUP BY state.status ORDER BY state.status";
        self.connection.ask(async |session| {
            let workspaces = workspaces(session, workspace).await?;
            let statuses: Vec<i16> = RunStatus::ALL.into_iter().map(column::run_status).collect();
            let rows = session.rows(sql, &[&workspaces, &statuses]).await?;
            rows.iter().map(|row| Ok((row.run_status(0)?, row.number(1)?))).collect()
        })
    }

    /// Ids grow with time.
    fn oldest_waiting(&mut self, workspace: WorkspaceId, limit: usize) -> Result<Vec<RunId>, Error> {
        let sql = "SELECT found.id FROM unnest($1::bigint[]) AS place (workspace)
        CROSS JOIN LATERAL (SELECT runs.id FROM runs
            WHERE runs.workspace = place.workspace AND runs.status = $2 ORDER BY runs.id LIMIT $3) AS found";
        let (places, status) = (vec![column::workspace(workspace)], column::run_status(RunStatus::Waiting));
        let limit = column::limit(limit);
        let rows =
            self.connection.ask(async |session| session.rows(sql, &[&places, &status, &limit]).await)?;
        rows.iter().map(|row| row.id(0).map(RunId)).collect()
    }

    fn open_waits(
        &mut self,
        workspace: WorkspaceId,
        kind: Kind,
        due: Due,
        limit: usize,
    ) -> Result<usize, Error> {
        let mut query = Query::default();
        query.push(
            "SELECT count(*) FROM (SELECT FROM waitpoints WHERE workspace = ? AND kind = ? AND status = ?",
            values![
                column::workspace(workspace),
                column::kind(kind),
                column::wait_status(WaitStatus::Pending)
            ],
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
        let rows = self.connection.ask(async |session| query.rows(session).await)?;
        rows.first().map_or(Ok(0), |row| row.number(0))
    }

    fn task_queues(&mut self, limit: usize) -> Result<Option<Vec<TaskQueue>>, Error> {
        let limit = column::limit(limit);
        let rows = self.connection.ask(async |session| session.rows(tasks::QUEUES, &[&limit]).await)?;
        let mut queues: BTreeMap<(String, WorkspaceId), TaskQueue> = BTreeMap::new();
        for row in &rows {
            let (name, workspace) = (row.name(0)?, row.workspace(1)?);
            let queue = queues.entry((name.clone(), workspace)).or_insert_with(|| TaskQueue {
                workspace,
                queue: name.into(),
                ready: 0,
                leased: 0,
                oldest_ready: None,
            });
            queue.ready += row.number::<usize>(2)?;
            queue.leased += row.number::<usize>(3)?;
            queue.oldest_ready = queue.oldest_ready.into_iter().chain(row.optional_instant(4)?).min();
        }
        Ok(Some(queues.into_values().collect()))
    }

    /// What the histories and events of a workspace take.
    fn stored_bytes(&mut self, workspace: WorkspaceId) -> Result<u64, Error> {
        let sql = "SELECT coalesce(sum(bytes), 0)::bigint FROM stored_bytes WHERE workspace = $1";
        let row =
            self.connection.ask(async |session| session.one(sql, &[&column::workspace(workspace)]).await)?;
        row.number(0)
    }
}

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
