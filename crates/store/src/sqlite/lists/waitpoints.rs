//! Waitpoints in due order, those without an instant last.

use abide_core::id::{WaitpointId, WorkspaceId};
use abide_core::status::WaitStatus;
use abide_core::waitpoint::Kind;
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction};

use super::{Where, workspaces};
use crate::lists::WAITPOINTS;
use crate::sqlite::column;
use crate::{Error, Page, WaitpointFilter, WaitpointSummary};

type Cursor = (Option<Timestamp>, WaitpointId);

const OF_RUN: &str = "FROM waitpoints";
const BY_NAME: &str = "FROM waitpoints INDEXED BY waitpoints_by_name";
const BY_KIND: &str = "FROM waitpoints INDEXED BY waitpoints_by_kind";

pub(crate) fn waitpoints(
    connection: &Connection,
    filter: &WaitpointFilter,
    page: &Page<Cursor>,
) -> Result<Vec<WaitpointSummary>, Error> {
    // Without a transaction, what goes from one range to another meanwhile would be in both or in none.
    let looking = connection.unchecked_transaction()?;
    let mut found = Vec::new();
    for (from, range) in ranges(&looking, filter)? {
        found.append(&mut in_range(&looking, from, range, filter, page)?);
    }
    found.sort_by_key(|wait| (wait.resume_at.is_none(), wait.resume_at, wait.id));
    found.truncate(page.limit);
    Ok(found)
}

/// All of one run, or one range for each workspace, kind and status that is asked for.
fn ranges(looking: &Transaction<'_>, filter: &WaitpointFilter) -> Result<Vec<(&'static str, Where)>, Error> {
    if let Some(run) = filter.run {
        // A run has few waitpoints. The other conditions are kept from choosing an index (`+`).
        let mut conditions = Where::default();
        conditions.and("run = ?", [column::run(run).to_vec()]);
        conditions.and_if("+workspace = ?", filter.workspace.map(|workspace| workspace.0));
        conditions.and_if("+kind = ?", filter.kind.map(column::kind));
        conditions.and_if("+status = ?", filter.status.map(column::wait_status));
        conditions.and_if("+listens = ?", filter.listens_for.clone());
        return Ok(vec![(OF_RUN, conditions)]);
    }
    let from = if filter.listens_for.is_some() { BY_NAME } else { BY_KIND };
    let mut ranges = Vec::new();
    for workspace in workspaces(looking, filter.workspace)? {
        for kind in filter.possible_kinds() {
            for status in filter.possible_statuses() {
                ranges.push((from, range(workspace, kind, status, filter)));
            }
        }
    }
    Ok(ranges)
}

fn range(workspace: WorkspaceId, kind: Kind, status: WaitStatus, filter: &WaitpointFilter) -> Where {
    let mut conditions = Where::default();
    conditions.and("workspace = ?", [workspace.0]);
    conditions.and_if("listens = ?", filter.listens_for.clone());
    conditions.and("kind = ?", [column::kind(kind)]);
    conditions.and("status = ?", [column::wait_status(status)]);
    conditions
}

/// Those with an instant, and then those without.
fn in_range(
    looking: &Transaction<'_>,
    from: &str,
    range: Where,
    filter: &WaitpointFilter,
    page: &Page<Cursor>,
) -> Result<Vec<WaitpointSummary>, Error> {
    let (mut found, select) = (Vec::new(), format!("SELECT {WAITPOINTS} {from}"));
    if !matches!(page.after, Some((None, _))) {
        let mut dated = range.clone();
        // One lower bound only: with two, the index would be entered at either.
        match (page.after, filter.due_after) {
            (Some((Some(at), WaitpointId { run, number })), due_after)
                if due_after.is_none_or(|due| at > due) =>
            {
                let cursor = [
                    Value::from(column::instant(at)),
                    Value::from(column::run(run).to_vec()),
                    Value::from(i64::from(number)),
                ];
                dated.and("(resume_at, run, number) > (?, ?, ?)", cursor);
            }
            (_, Some(due_after)) => dated.and("resume_at > ?", [column::instant(due_after)]),
            (_, None) => dated.and("resume_at IS NOT NULL", None::<i64>),
        }
        dated.and_if("resume_at < ?", filter.due_before.map(column::instant));
        found = dated.find(looking, &select, "resume_at, run, number", page.limit, |row| {
            WaitpointSummary::read(row)
        })?;
    }
    let by_time = filter.due_before.is_some() || filter.due_after.is_some();
    if found.len() < page.limit && !by_time {
        let mut undated = range;
        undated.and("resume_at IS NULL", None::<i64>);
        if let Some((None, WaitpointId { run, number })) = page.after {
            let cursor = [Value::from(column::run(run).to_vec()), Value::from(i64::from(number))];
            undated.and("(run, number) > (?, ?)", cursor);
        }
        let room = page.limit - found.len();
        found.append(
            &mut undated.find(looking, &select, "run, number", room, |row| WaitpointSummary::read(row))?,
        );
    }
    Ok(found)
}
