//! Runs, newest first: ids out of the ranges of the narrowest index, and then the rows of those on the page.

use std::cmp::Reverse;

use abide_core::id::{RunId, WorkspaceId};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, Transaction, params, params_from_iter};

use super::{Where, workspaces};
use crate::code::{WAIT_EVENT, WAIT_PENDING, WAIT_SIGNAL};
use crate::row::RowReader;
use crate::sqlite::column;
use crate::sqlite::query::first;
use crate::{Error, Page, RunFilter, RunSummary};

/// Up to so many open waits, their runs are looked at one by one. If there are more, they are met often enough on the
/// way through all runs.
const FEW_WAITS: i64 = 2_000;

const BY_TAG: &str = "SELECT runs.id FROM run_tags CROSS JOIN runs ON runs.id = run_tags.run";
const BY_DEFINITION: &str = "SELECT runs.id FROM runs INDEXED BY runs_by_definition";
const BY_STATUS: &str = "SELECT runs.id FROM runs INDEXED BY runs_by_status";

pub(crate) fn runs(
    connection: &Connection,
    filter: &RunFilter,
    page: &Page<RunId>,
) -> Result<Vec<RunSummary>, Error> {
    // Without a transaction, what goes from one range to another meanwhile would be in both or in none.
    let looking = connection.unchecked_transaction()?;
    let ids = ids(&looking, filter, page)?;
    ids.into_iter().map(|id| summary(&looking, id)).collect()
}

pub(crate) fn run_ids(
    connection: &Connection,
    filter: &RunFilter,
    page: &Page<RunId>,
) -> Result<Vec<RunId>, Error> {
    ids(&connection.unchecked_transaction()?, filter, page)
}

fn ids(looking: &Transaction<'_>, filter: &RunFilter, page: &Page<RunId>) -> Result<Vec<RunId>, Error> {
    let mut ids = Vec::new();
    for workspace in workspaces(looking, filter.workspace)? {
        ids.append(&mut ids_in(looking, workspace, filter, page)?);
    }
    ids.sort_by_key(|id| Reverse(*id));
    ids.truncate(page.limit);
    Ok(ids)
}

pub(crate) fn workspace_of(connection: &Connection, id: RunId) -> Result<Option<WorkspaceId>, Error> {
    let mut statement = connection.prepare_cached("SELECT workspace FROM runs WHERE id = ?")?;
    first(statement.query([column::run(id)])?, |row| row.workspace(0))
}

fn ids_in(
    looking: &Transaction<'_>,
    workspace: WorkspaceId,
    filter: &RunFilter,
    page: &Page<RunId>,
) -> Result<Vec<RunId>, Error> {
    if filter.tag.is_some() {
        return tagged(looking, workspace, filter, page);
    }
    if let Some(waits) = OpenWaits::of(workspace, filter)
        && waits.are_few(looking)?
    {
        return waiting(looking, waits, filter, page);
    }
    let (select, versions) = match &filter.definition {
        None => (BY_STATUS, vec![None]),
        Some(name) => (BY_DEFINITION, versions(looking, workspace, name, filter)?),
    };
    let mut ids = Vec::new();
    for version in versions {
        for status in filter.possible_statuses() {
            let mut range = Where::default();
            range.and("runs.workspace = ?", [workspace.0]);
            range.and("runs.status = ?", [column::run_status(status)]);
            range.and_if("runs.version = ?", version.clone());
            let (from, before) = filter.possible_ids(page);
            range.and_if("runs.id >= ?", from.map(bytes));
            range.and_if("runs.id < ?", before.map(bytes));
            range.append(told(filter));
            range.append(waits_of_its_own(filter));
            ids.append(&mut range.find(looking, select, "runs.id DESC", page.limit, read_id)?);
        }
    }
    Ok(ids)
}

fn tagged(
    looking: &Transaction<'_>,
    workspace: WorkspaceId,
    filter: &RunFilter,
    page: &Page<RunId>,
) -> Result<Vec<RunId>, Error> {
    let mut conditions = Where::default();
    conditions.and("run_tags.workspace = ?", [workspace.0]);
    conditions.and_if("run_tags.tag = ?", filter.tag.clone());
    let (from, before) = filter.possible_ids(page);
    conditions.and_if("run_tags.run >= ?", from.map(bytes));
    conditions.and_if("run_tags.run < ?", before.map(bytes));
    conditions.and("runs.status IN (SELECT value FROM json_each(?))", [status_codes(filter)]);
    conditions.append(told(filter));
    conditions.append(waits_of_its_own(filter));
    conditions.find(looking, BY_TAG, "run_tags.run DESC", page.limit, read_id)
}

fn waiting(
    looking: &Transaction<'_>,
    waits: OpenWaits,
    filter: &RunFilter,
    page: &Page<RunId>,
) -> Result<Vec<RunId>, Error> {
    let OpenWaits { select, values } = waits;
    let select = format!(
        "SELECT runs.id FROM (SELECT DISTINCT run FROM ({select})) AS waiting
         CROSS JOIN runs ON runs.id = waiting.run"
    );
    let mut conditions = Where { values, ..Where::default() };
    conditions.and("runs.status IN (SELECT value FROM json_each(?))", [status_codes(filter)]);
    conditions.and_if("runs.id < ?", page.after.map(bytes));
    conditions.append(told(filter));
    conditions.find(looking, &select, "runs.id DESC", page.limit, read_id)
}

/// What a run's own row tells, whichever way leads to it.
fn told(filter: &RunFilter) -> Where {
    let mut conditions = Where::default();
    conditions.and_if("runs.definition = ?", filter.definition.clone());
    conditions.and_if("runs.version = ?", filter.version.clone());
    conditions.and_if("runs.created_at >= ?", filter.created_from.map(column::instant));
    conditions.and_if("runs.created_at < ?", filter.created_before.map(column::instant));
    conditions
}

/// That it has an open wait of the kind or for the name.
fn waits_of_its_own(filter: &RunFilter) -> Where {
    let mut conditions = Where::default();
    let kind = filter.waits_for.map(column::kind);
    match (kind, filter.listens_for.clone()) {
        (None, None) => {}
        (Some(kind), None) => conditions.and(
            format!("EXISTS (SELECT 1 FROM waitpoints WHERE run = runs.id AND waitpoints.status = {WAIT_PENDING} AND kind = ?)"),
            [kind],
        ),
        (None, Some(name)) => conditions.and(
            format!("EXISTS (SELECT 1 FROM waitpoints WHERE run = runs.id AND waitpoints.status = {WAIT_PENDING} AND listens = ?)"),
            [name],
        ),
        (Some(kind), Some(name)) => conditions.and(
            format!("EXISTS (SELECT 1 FROM waitpoints WHERE run = runs.id AND waitpoints.status = {WAIT_PENDING} AND kind = ? AND listens = ?)"),
            [Value::from(kind), Value::from(name)],
        ),
    }
    conditions
}

fn status_codes(filter: &RunFilter) -> String {
    let codes: Vec<i64> = filter.possible_statuses().into_iter().map(column::run_status).collect();
    serde_json::to_string(&codes).expect("numbers are JSON")
}

/// Those of which there are runs, one look into the index each; none in particular where the filter says it.
fn versions(
    looking: &Transaction<'_>,
    workspace: WorkspaceId,
    name: &str,
    filter: &RunFilter,
) -> Result<Vec<Option<String>>, Error> {
    if filter.version.is_some() {
        return Ok(vec![None]);
    }
    let mut statement = looking.prepare_cached(
        "SELECT min(version) FROM runs INDEXED BY runs_by_definition
         WHERE workspace = ? AND definition = ? AND version > ?",
    )?;
    let (mut versions, mut last) = (Vec::new(), String::new());
    loop {
        let next: Option<String> = statement.query_row(params![workspace.0, name, last], |row| row.get(0))?;
        let Some(next) = next else { return Ok(versions) };
        versions.push(Some(next.clone()));
        last = next;
    }
}

/// The open waits that a filter asks for.
struct OpenWaits {
    select: String,
    values: Vec<Value>,
}

impl OpenWaits {
    fn of(workspace: WorkspaceId, filter: &RunFilter) -> Option<OpenWaits> {
        let kind = filter.waits_for.map(column::kind);
        let select = match (kind, &filter.listens_for) {
            (None, None) => return None,
            (Some(_), None) => format!(
                "SELECT run FROM waitpoints INDEXED BY waitpoints_by_kind
                 WHERE workspace = ? AND kind = ? AND status = {WAIT_PENDING}"
            ),
            (None, Some(_)) => format!(
                "SELECT run FROM waitpoints INDEXED BY waitpoints_by_name
                 WHERE workspace = ? AND listens = ? AND kind IN ({WAIT_SIGNAL}, {WAIT_EVENT}) AND status = {WAIT_PENDING}"
            ),
            (Some(_), Some(_)) => format!(
                "SELECT run FROM waitpoints INDEXED BY waitpoints_by_name
                 WHERE workspace = ? AND kind = ? AND listens = ? AND status = {WAIT_PENDING}"
            ),
        };
        let mut values = vec![Value::from(workspace.0)];
        values.extend(kind.map(Value::from));
        values.extend(filter.listens_for.clone().map(Value::from));
        Some(OpenWaits { select, values })
    }

    fn are_few(&self, looking: &Transaction<'_>) -> Result<bool, Error> {
        let sql = format!("SELECT count(*) FROM ({} LIMIT {})", self.select, FEW_WAITS + 1);
        let mut statement = looking.prepare_cached(&sql)?;
        let count: i64 = statement.query_row(params_from_iter(&self.values), |row| row.get(0))?;
        Ok(count <= FEW_WAITS)
    }
}

fn bytes(id: RunId) -> Vec<u8> {
    column::run(id).to_vec()
}

fn read_id(row: &Row<'_>) -> Result<RunId, Error> {
    row.id(0).map(RunId)
}

fn summary(looking: &Transaction<'_>, id: RunId) -> Result<RunSummary, Error> {
    let found = run(looking, id)?;
    found.ok_or_else(|| Error::Damaged { owner: id, what: "it has a row and no history".to_owned() })
}

pub(crate) fn run(connection: &Connection, id: RunId) -> Result<Option<RunSummary>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT runs.id, runs.workspace, runs.definition, runs.version, runs.status, runs.tags, runs.created_at,
             history.written_at, history.seq, runs.seq
         FROM runs JOIN history ON history.run = runs.id
         WHERE runs.id = ? ORDER BY history.seq DESC LIMIT 1",
    )?;
    first(statement.query([column::run(id)])?, |row| {
        let (summary, told) = (RunSummary::read(row)?, row.number::<u64>(9)?);
        if summary.version != told {
            let what = format!("its row says version {told}, and its history ends at {}", summary.version);
            return Err(Error::Damaged { owner: id, what });
        }
        Ok(summary)
    })
}
