//! What people look for: lists, and how many there are.
//!
//! A list is put together of a few ranges of one index, each in the order of the list, so that a page costs what it
//! shows and not what there is. The indexes are named, so that a list that could not use its own would fail.

pub(super) mod runs;
mod waitpoints;

use std::borrow::Cow;

use abide_core::id::{RunId, WaitpointId, WorkspaceId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use crate::roles::Lists;
use crate::row::RowReader;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::{collect, first};
use crate::sqlite::tally;
use crate::tasks::TaskQueue;
use crate::{Due, Error, Page, RunFilter, RunSummary, WaitpointFilter, WaitpointSummary};

impl<Role: Send> Lists for Handle<Role> {
    fn run(&mut self, run: RunId) -> Result<Option<RunSummary>, Error> {
        runs::run(&self.connection, run)
    }

    fn runs(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunSummary>, Error> {
        runs::runs(&self.connection, filter, page)
    }

    fn run_ids(&mut self, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunId>, Error> {
        runs::run_ids(&self.connection, filter, page)
    }

    fn workspace_of(&mut self, run: RunId) -> Result<Option<WorkspaceId>, Error> {
        runs::workspace_of(&self.connection, run)
    }

    fn waitpoints(
        &mut self,
        filter: &WaitpointFilter,
        page: &Page<(Option<Timestamp>, WaitpointId)>,
    ) -> Result<Vec<WaitpointSummary>, Error> {
        waitpoints::waitpoints(&self.connection, filter, page)
    }

    /// Every status has its count, also when it is zero.
    fn counts(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<(RunStatus, u64)>, Error> {
        let looking = self.connection.unchecked_transaction()?;
        let mut counts: Vec<(RunStatus, u64)> =
            RunStatus::ALL.into_iter().map(|status| (status, 0)).collect();
        for workspace in workspaces(&looking, workspace)? {
            for (found, number) in tally::of(&looking, workspace)? {
                let of = counts.iter_mut().find(|(status, _)| column::run_status(*status) == found);
                let (_, count) =
                    of.ok_or_else(|| Error::Corrupt(format!("runs of an unknown status {found}")))?;
                *count += number;
            }
        }
        Ok(counts)
    }

    /// Ids grow with time.
    fn oldest_waiting(&mut self, workspace: WorkspaceId, limit: usize) -> Result<Vec<RunId>, Error> {
        let mut conditions = Where::default();
        conditions.and("workspace = ?", [workspace.0]);
        conditions.and("status = ?", [column::run_status(RunStatus::Waiting)]);
        let select = "SELECT id FROM runs INDEXED BY runs_by_status";
        conditions.find(&self.connection, select, "id", limit, |row| row.id(0).map(RunId))
    }

    fn open_waits(
        &mut self,
        workspace: WorkspaceId,
        kind: Kind,
        due: Due,
        limit: usize,
    ) -> Result<usize, Error> {
        let mut conditions = Where::default();
        conditions.and("workspace = ?", [workspace.0]);
        conditions.and("kind = ?", [column::kind(kind)]);
        conditions.and("status = ?", [column::wait_status(WaitStatus::Pending)]);
        match due {
            Due::Ever => {}
            Due::Before(until) => conditions.and("resume_at < ?", [column::instant(until)]),
            Due::Between(from, until) => {
                conditions.and("resume_at >= ? AND resume_at < ?", [from, until].map(column::instant));
            }
        }
        let inner = format!(
            "SELECT 1 FROM waitpoints INDEXED BY waitpoints_by_kind WHERE {} LIMIT ?",
            conditions.conditions.join(" AND ")
        );
        conditions.values.push(Value::from(column::limit(limit)));
        let mut statement = self.connection.prepare_cached(&format!("SELECT count(*) FROM ({inner})"))?;
        let rows = statement.query(params_from_iter(conditions.values))?;
        Ok(first(rows, |row| row.number(0))?.unwrap_or(0))
    }

    fn task_queues(&mut self, _: usize) -> Result<Option<Vec<TaskQueue>>, Error> {
        Ok(None)
    }

    /// What the histories and events of a workspace take.
    fn stored_bytes(&mut self, workspace: WorkspaceId) -> Result<u64, Error> {
        let mut statement =
            self.connection.prepare_cached("SELECT bytes FROM stored_bytes WHERE workspace = ?")?;
        Ok(first(statement.query([workspace.0])?, |row| row.number(0))?.unwrap_or(0))
    }
}

/// Conditions and their values.
#[derive(Clone, Default)]
pub(super) struct Where {
    conditions: Vec<Cow<'static, str>>,
    values: Vec<Value>,
}

impl Where {
    pub(super) fn and<V: Into<Value>>(
        &mut self,
        condition: impl Into<Cow<'static, str>>,
        values: impl IntoIterator<Item = V>,
    ) {
        self.conditions.push(condition.into());
        self.values.extend(values.into_iter().map(Into::into));
    }

    pub(super) fn and_if<V: Into<Value>>(&mut self, condition: &'static str, value: Option<V>) {
        if value.is_some() {
            self.and(condition, value);
        }
    }

    fn append(&mut self, more: Where) {
        self.conditions.extend(more.conditions);
        self.values.extend(more.values);
    }

    pub(super) fn find<T>(
        mut self,
        connection: &Connection,
        select: &str,
        order: &str,
        limit: usize,
        read: fn(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.values.push(Value::from(column::limit(limit)));
        let sql = format!("{select} WHERE {} ORDER BY {order} LIMIT ?", self.conditions.join(" AND "));
        let mut statement = connection.prepare_cached(&sql)?;
        collect(statement.query(params_from_iter(self.values))?, read)
    }
}

/// The one that is asked for, or all there are.
fn workspaces(connection: &Connection, asked: Option<WorkspaceId>) -> Result<Vec<WorkspaceId>, Error> {
    match asked {
        Some(workspace) => Ok(vec![workspace]),
        None => {
            let mut statement = connection.prepare_cached("SELECT number FROM workspaces ORDER BY number")?;
            collect(statement.query([])?, |row| row.workspace(0))
        }
    }
}
