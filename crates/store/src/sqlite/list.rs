//! What people look for: lists of runs and of waitpoints, and how many there are.
//!
//! A list is put together of a few ranges of indexes that are each in the order of the list, so that a page costs
//! what it shows and not what there is: runs by status, waitpoints with and without an instant.

use abide_core::history::DefinitionRef;
use abide_core::id::{RunId, WaitpointId};
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Kind;
use jiff::Timestamp;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};

use crate::sqlite::column::{self, Column};
use crate::sqlite::find::collect;
use crate::{Error, Page, RunFilter, RunSummary, WaitpointFilter, WaitpointSummary};

/// Conditions and their values.
#[derive(Default)]
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

    fn find<T>(
        mut self,
        connection: &Connection,
        select: &str,
        order: &str,
        limit: usize,
        read: fn(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.conditions.push("true");
        self.values.push(Value::from(column::limit(limit)));
        let sql = format!("{select} WHERE {} ORDER BY {order} LIMIT ?", self.conditions.join(" AND "));
        let mut statement = connection.prepare_cached(&sql)?;
        collect(statement.query(params_from_iter(self.values))?, read)
    }
}

const RUNS: &str = "SELECT runs.id, runs.definition, runs.version, runs.status, runs.tags, runs.created_at,
        last.written_at, last.seq
    FROM runs JOIN history last
    ON last.run = runs.id AND last.seq = (SELECT max(seq) FROM history WHERE history.run = runs.id)";

/// The same by way of the tag.
const TAGGED_RUNS: &str =
    "SELECT runs.id, runs.definition, runs.version, runs.status, runs.tags, runs.created_at,
        last.written_at, last.seq
    FROM run_tags CROSS JOIN runs ON runs.id = run_tags.run JOIN history last
    ON last.run = runs.id AND last.seq = (SELECT max(seq) FROM history WHERE history.run = runs.id)";

pub(super) fn runs(
    connection: &Connection,
    filter: &RunFilter,
    page: &Page<RunId>,
) -> Result<Vec<RunSummary>, Error> {
    if filter.tag.is_some() {
        return tagged_runs(connection, filter, page);
    }
    let mut statuses = filter.statuses.clone();
    if statuses.is_empty() && filter.definition.is_some() {
        statuses.extend(RunStatus::ALL);
    }
    statuses.sort();
    statuses.dedup();
    if statuses.is_empty() {
        let conditions = run_conditions(filter, page);
        return conditions.find(connection, RUNS, "runs.id DESC", page.limit, read_run);
    }
    let mut found = Vec::new();
    for status in statuses {
        let mut conditions = run_conditions(filter, page);
        conditions.and("runs.status = ?", [column::run_status(status)]);
        found.append(&mut conditions.find(connection, RUNS, "runs.id DESC", page.limit, read_run)?);
    }
    found.sort_by_key(|run| std::cmp::Reverse(run.id));
    found.truncate(page.limit);
    Ok(found)
}

fn tagged_runs(
    connection: &Connection,
    filter: &RunFilter,
    page: &Page<RunId>,
) -> Result<Vec<RunSummary>, Error> {
    let mut conditions = run_conditions(filter, page);
    conditions.and_if("run_tags.tag = ?", filter.tag.clone());
    conditions.and_if("run_tags.run < ?", page.after.map(|id| column::run(id).to_vec()));
    if !filter.statuses.is_empty() {
        let statuses: Vec<i64> = filter.statuses.iter().copied().map(column::run_status).collect();
        let statuses = serde_json::to_string(&statuses).expect("numbers are JSON");
        conditions.and("runs.status IN (SELECT value FROM json_each(?))", [statuses]);
    }
    conditions.find(connection, TAGGED_RUNS, "run_tags.run DESC", page.limit, read_run)
}

/// All but status and tag.
fn run_conditions(filter: &RunFilter, page: &Page<RunId>) -> Where {
    let mut conditions = Where::default();
    conditions.and_if("runs.id < ?", page.after.map(|id| column::run(id).to_vec()));
    conditions.and_if("runs.definition = ?", filter.definition.clone());
    conditions.and_if("runs.version = ?", filter.version.clone());
    conditions.and_if("runs.created_at >= ?", filter.created_from.map(column::instant));
    conditions.and_if("runs.created_at < ?", filter.created_before.map(column::instant));
    if let Some(kind) = filter.waits_for {
        let waits_for = if listens(kind) {
            "runs.id IN (SELECT run FROM waitpoints WHERE waitpoints.status = 0 AND kind IN (1, 2, 3, 4, 5)
                AND kind = ?)"
        } else {
            "EXISTS (SELECT 1 FROM waitpoints
                WHERE waitpoints.run = runs.id AND waitpoints.status = 0 AND kind = ?)"
        };
        conditions.and(waits_for, [column::kind(kind)]);
    }
    conditions
}

/// Whether waits of this kind are in the index by kind.
fn listens(kind: Kind) -> bool {
    !kind.ends_by_time()
}

fn read_run(row: &Row<'_>) -> Result<RunSummary, Error> {
    let is_tagged = row.get_ref(4)? != ValueRef::Null;
    Ok(RunSummary {
        id: RunId(row.id(0)?),
        definition: DefinitionRef { name: row.get(1)?, version: row.get(2)? },
        status: row.run_status(3)?,
        tags: if is_tagged { row.json(4)? } else { Vec::new() },
        created_at: row.instant(5)?,
        updated_at: row.instant(6)?,
        version: row.number(7)?,
    })
}

const WAITPOINTS: &str = "SELECT run, number, kind, status, created_at, resume_at, listens FROM waitpoints";

pub(super) fn waitpoints(
    connection: &Connection,
    filter: &WaitpointFilter,
    page: &Page<(Option<Timestamp>, WaitpointId)>,
) -> Result<Vec<WaitpointSummary>, Error> {
    let mut found = Vec::new();
    if !matches!(page.after, Some((None, _))) {
        let mut dated = waitpoint_conditions(filter);
        dated.and("resume_at IS NOT NULL", None::<i64>);
        if let Some((Some(at), WaitpointId { run, number })) = page.after {
            let cursor = [
                Value::from(column::instant(at)),
                Value::from(column::run(run).to_vec()),
                Value::from(i64::from(number)),
            ];
            dated.and("(resume_at, run, number) > (?, ?, ?)", cursor);
        }
        found = dated.find(connection, WAITPOINTS, "resume_at, run, number", page.limit, read_waitpoint)?;
    }
    let by_time = filter.due_before.is_some() || filter.due_after.is_some();
    if found.len() < page.limit && !by_time {
        let mut undated = waitpoint_conditions(filter);
        undated.and("resume_at IS NULL", None::<i64>);
        if let Some((None, WaitpointId { run, number })) = page.after {
            let cursor = [Value::from(column::run(run).to_vec()), Value::from(i64::from(number))];
            undated.and("(run, number) > (?, ?)", cursor);
        }
        let room = page.limit - found.len();
        found.append(&mut undated.find(connection, WAITPOINTS, "run, number", room, read_waitpoint)?);
    }
    Ok(found)
}

/// All but the cursor. The conditions of partial indexes are written out, so that they are seen to hold.
fn waitpoint_conditions(filter: &WaitpointFilter) -> Where {
    let mut conditions = Where::default();
    conditions.and_if("run = ?", filter.run.map(|run| column::run(run).to_vec()));
    match filter.status {
        Some(WaitStatus::Pending) => conditions.and("status = 0", None::<i64>),
        status @ (Some(WaitStatus::Completed | WaitStatus::TimedOut | WaitStatus::Cancelled) | None) => {
            conditions.and_if("status = ?", status.map(column::wait_status));
        }
    }
    if let Some(kind) = filter.kind {
        // What it listens for narrows more than its kind does.
        if listens(kind) && filter.listens_for.is_none() {
            conditions.and("kind IN (1, 2, 3, 4, 5)", None::<i64>);
        }
        conditions.and("kind = ?", [column::kind(kind)]);
    }
    conditions.and_if("resume_at < ?", filter.due_before.map(column::instant));
    conditions.and_if("resume_at > ?", filter.due_after.map(column::instant));
    conditions.and_if("listens = ?", filter.listens_for.clone());
    conditions
}

fn read_waitpoint(row: &Row<'_>) -> Result<WaitpointSummary, Error> {
    Ok(WaitpointSummary {
        id: RunId(row.id(0)?).waitpoint(row.number(1)?),
        kind: row.kind(2)?,
        status: row.wait_status(3)?,
        created_at: row.instant(4)?,
        resume_at: row.optional_instant(5)?,
        listens_for: row.get(6)?,
    })
}

/// Every status has its count, also when it is zero.
pub(super) fn counts(connection: &Connection) -> Result<Vec<(RunStatus, u64)>, Error> {
    let mut statement = connection.prepare_cached("SELECT status, count(*) FROM runs GROUP BY status")?;
    let found = collect(statement.query([])?, |row| Ok((row.run_status(0)?, row.number(1)?)))?;
    let count = |status| found.iter().find(|(of, _)| *of == status).map_or(0, |(_, count)| *count);
    Ok(RunStatus::ALL.into_iter().map(|status| (status, count(status))).collect())
}
