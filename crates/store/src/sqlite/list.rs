//! What people look for: lists, and how many there are.
//!
//! A list is put together of a few ranges of one index, each in the order of the list, so that a page costs what it
//! shows and not what there is. The indexes are named, so that a list that could not use its own would fail.

mod runs;
mod waitpoints;

use abide_core::command::Occurrence;
use abide_core::id::{DefinitionId, OccurrenceId, RunId, WorkspaceId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use crate::sqlite::column::{self, Column};
use crate::sqlite::find::{OCCURRENCES, collect, first, read_occurrence};
use crate::sqlite::{admin, tally};
use crate::{DefinitionSummary, Due, Error, Page};

pub(super) use runs::{run, run_ids, runs, workspace_of};
pub(super) use waitpoints::waitpoints;

/// Conditions and their values.
#[derive(Clone, Default)]
struct Where {
    conditions: Vec<&'static str>,
    values: Vec<Value>,
}

impl Where {
    fn and<V: Into<Value>>(&mut self, condition: &'static str, values: impl IntoIterator<Item = V>) {
        self.conditions.push(condition);
        self.values.extend(values.into_iter().map(Into::into));
    }

    fn and_if<V: Into<Value>>(&mut self, condition: &'static str, value: Option<V>) {
        if value.is_some() {
            self.and(condition, value);
        }
    }

    fn append(&mut self, more: Where) {
        self.conditions.extend(more.conditions);
        self.values.extend(more.values);
    }

    fn find<T>(
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
        None => Ok(admin::workspaces(connection)?.into_iter().map(|workspace| workspace.id).collect()),
    }
}

/// Every status has its count, also when it is zero.
pub(super) fn counts(
    connection: &Connection,
    workspace: Option<WorkspaceId>,
) -> Result<Vec<(RunStatus, u64)>, Error> {
    let looking = connection.unchecked_transaction()?;
    let mut counts: Vec<(RunStatus, u64)> = RunStatus::ALL.into_iter().map(|status| (status, 0)).collect();
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
pub(super) fn oldest_waiting(
    connection: &Connection,
    workspace: WorkspaceId,
    limit: usize,
) -> Result<Vec<RunId>, Error> {
    let mut conditions = Where::default();
    conditions.and("workspace = ?", [workspace.0]);
    conditions.and("status = ?", [column::run_status(RunStatus::Waiting)]);
    let select = "SELECT id FROM runs INDEXED BY runs_by_status";
    conditions.find(connection, select, "id", limit, |row| row.id(0).map(RunId))
}

pub(super) fn open_waits(
    connection: &Connection,
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
    let mut statement = connection.prepare_cached(&format!("SELECT count(*) FROM ({inner})"))?;
    let rows = statement.query(params_from_iter(conditions.values))?;
    Ok(first(rows, |row| row.number(0))?.unwrap_or(0))
}

/// In the order they came, backwards; the cursor is looked up, for an id does not say when it came.
pub(super) fn definitions(
    connection: &Connection,
    workspace: WorkspaceId,
    name: Option<&str>,
    page: &Page<DefinitionId>,
) -> Result<Vec<DefinitionSummary>, Error> {
    let index = if name.is_some() { "definitions_by_name" } else { "definitions_by_workspace" };
    let select = format!("SELECT id, name, version, created_at FROM definitions INDEXED BY {index}");
    let mut conditions = Where::default();
    conditions.and("workspace = ?", [workspace.0]);
    conditions.and_if("name = ?", name.map(str::to_owned));
    let after = page.after.map(|id| column::definition(id).to_vec());
    conditions.and_if("number < (SELECT number FROM definitions WHERE id = ?)", after);
    conditions.find(connection, &select, "number DESC", page.limit, |row| {
        Ok(DefinitionSummary {
            id: DefinitionId(row.id(0)?),
            name: row.get(1)?,
            version: row.get(2)?,
            created_at: row.instant(3)?,
        })
    })
}

pub(super) fn events(
    connection: &Connection,
    workspace: WorkspaceId,
    event_id: Option<&str>,
    page: &Page<(Timestamp, OccurrenceId)>,
) -> Result<Vec<Occurrence>, Error> {
    let index = if event_id.is_some() { "occurrences_by_event" } else { "occurrences_by_time" };
    let select = format!("{OCCURRENCES} INDEXED BY {index}");
    let mut conditions = Where::default();
    conditions.and("workspace = ?", [workspace.0]);
    conditions.and_if("event_id = ?", event_id.map(str::to_owned));
    if let Some((at, id)) = page.after {
        let cursor = [Value::from(column::instant(at)), Value::from(column::occurrence(id).to_vec())];
        conditions.and("(received_at, id) < (?, ?)", cursor);
    }
    conditions.find(connection, &select, "received_at DESC, id DESC", page.limit, read_occurrence)
}
