//! Waitpoints in due order, those without an instant last.

use abide_core::id::{RunId, WaitpointId};
use jiff::Timestamp;

use super::{Query, workspaces};
use crate::lists::WAITPOINTS;
use crate::postgres::column;
use crate::postgres::connection::{PgConnection, values};
use crate::{Error, Page, WaitpointFilter, WaitpointSummary};

type Cursor = (Option<Timestamp>, WaitpointId);

pub(crate) fn waitpoints(
    connection: &mut PgConnection,
    filter: &WaitpointFilter,
    page: &Page<Cursor>,
) -> Result<Vec<WaitpointSummary>, Error> {
    let rows = connection.ask(async |session| {
        let query = match filter.run {
            Some(run) => of_run(run, filter, page),
            None => in_ranges(workspaces(session, filter.workspace).await?, filter, page),
        };
        match query {
            Some(query) => query.rows(session).await,
            None => Ok(Vec::new()),
        }
    })?;
    rows.iter().map(WaitpointSummary::read).collect()
}

/// A run has few waitpoints; all of them are read, before anything else is asked of them.
fn of_run(run: RunId, filter: &WaitpointFilter, page: &Page<Cursor>) -> Option<Query> {
    let mut query = Query::default();
    let select = format!(
        "SELECT {WAITPOINTS} FROM (SELECT {WAITPOINTS} FROM waitpoints WHERE run = ? OFFSET 0) AS own"
    );
    query.push(&select, values![column::run(run)]);
    query.push(" WHERE true", Vec::new());
    query.push_if(" AND workspace = ?", filter.workspace.map(column::workspace));
    query.push_if(" AND kind = ?", filter.kind.map(column::kind));
    query.push_if(" AND status = ?", filter.status.map(column::wait_status));
    query.push_if(" AND listens = ?", listens_for(filter));
    query.push_if(" AND resume_at > ?", filter.due_after.map(column::instant));
    query.push_if(" AND resume_at < ?", filter.due_before.map(column::instant));
    match page.after {
        Some((Some(at), WaitpointId { run, number })) => {
            let cursor = values![column::instant(at), column::run(run), i64::from(number)];
            query.push(" AND ((resume_at, run, number) > (?, ?, ?) OR resume_at IS NULL)", cursor);
        }
        Some((None, WaitpointId { run, number })) => {
            let cursor = values![column::run(run), i64::from(number)];
            query.push(" AND resume_at IS NULL AND (run, number) > (?, ?)", cursor);
        }
        None => {}
    }
    query.push(" ORDER BY resume_at, run, number LIMIT ?", values![column::limit(page.limit)]);
    Some(query)
}

/// One range for each workspace, kind and status that is asked for, of those with an instant and of those without;
/// `None` if nothing can be on the list.
fn in_ranges(places: Vec<i64>, filter: &WaitpointFilter, page: &Page<Cursor>) -> Option<Query> {
    let by_time = filter.due_before.is_some() || filter.due_after.is_some();
    let (dated, undated) = (!matches!(page.after, Some((None, _))), !by_time);
    if !dated && !undated {
        return None;
    }
    let mut query = Query::default();
    let kinds: Vec<i16> = filter.possible_kinds().into_iter().map(column::kind).collect();
    let statuses: Vec<i16> = filter.possible_statuses().into_iter().map(column::wait_status).collect();
    query.push(
        "SELECT found.* FROM unnest(?::bigint[]) AS place (workspace) CROSS JOIN unnest(?::smallint[]) AS sort (kind)
            CROSS JOIN unnest(?::smallint[]) AS state (status) CROSS JOIN LATERAL (",
        values![places, kinds, statuses],
    );
    if dated {
        push_dated(&mut query, filter, page);
    }
    if dated && undated {
        query.push(" UNION ALL ", Vec::new());
    }
    if undated {
        push_undated(&mut query, filter, page);
    }
    query.push(
        ") AS found ORDER BY found.resume_at, found.run, found.number LIMIT ?",
        values![column::limit(page.limit)],
    );
    Some(query)
}

fn push_range(query: &mut Query, filter: &WaitpointFilter) {
    let select = format!(
        "(SELECT {WAITPOINTS} FROM waitpoints WHERE waitpoints.workspace = place.workspace
            AND waitpoints.kind = sort.kind AND waitpoints.status = state.status"
    );
    query.push(&select, Vec::new());
    query.push_if(" AND listens = ?", listens_for(filter));
}

fn push_dated(query: &mut Query, filter: &WaitpointFilter, page: &Page<Cursor>) {
    push_range(query, filter);
    // One lower bound only: with two, the index would be entered at either.
    match (page.after, filter.due_after) {
        (Some((Some(at), WaitpointId { run, number })), due_after)
            if due_after.is_none_or(|due| at > due) =>
        {
            let cursor = values![column::instant(at), column::run(run), i64::from(number)];
            query.push(" AND (resume_at, run, number) > (?, ?, ?)", cursor);
        }
        (_, Some(due_after)) => query.push(" AND resume_at > ?", values![column::instant(due_after)]),
        (_, None) => query.push(" AND resume_at IS NOT NULL", Vec::new()),
    }
    query.push_if(" AND resume_at < ?", filter.due_before.map(column::instant));
    query.push(" ORDER BY resume_at, run, number LIMIT ?)", values![column::limit(page.limit)]);
}

fn push_undated(query: &mut Query, filter: &WaitpointFilter, page: &Page<Cursor>) {
    push_range(query, filter);
    query.push(" AND resume_at IS NULL", Vec::new());
    if let Some((None, WaitpointId { run, number })) = page.after {
        query.push(" AND (run, number) > (?, ?)", values![column::run(run), i64::from(number)]);
    }
    // The instant is none for all of them, but without it the order would not be seen to be that of the index.
    query.push(" ORDER BY resume_at, run, number LIMIT ?)", values![column::limit(page.limit)]);
}

fn listens_for(filter: &WaitpointFilter) -> Option<String> {
    filter.listens_for.as_deref().map(|name| column::name(name).into_owned())
}
