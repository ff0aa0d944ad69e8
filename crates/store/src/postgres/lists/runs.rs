//! Runs, newest first: ids out of the ranges of the narrowest index, and then the rows of those on the page.

use abide_core::id::RunId;

use super::{Query, workspaces};
use crate::code::{WAIT_EVENT, WAIT_PENDING, WAIT_SIGNAL};
use crate::postgres::column;
use crate::postgres::connection::{PgConnection, Session, values};
use crate::row::RowReader;
use crate::{Error, Page, RunFilter, RunSummary};

/// Up to so many open waits, their runs are looked at one by one. If there are more, they are met often enough on the
/// way through all runs.
const FEW_WAITS: i64 = 2_000;

/// Around what finds the ids: the rows of those on the page.
const PAGE_BEGIN: &str =
    "SELECT page.id, runs.workspace, runs.definition, runs.version, runs.status, runs.tags,
        runs.created_at, runs.written_at, runs.seq
    FROM (SELECT found.id FROM unnest(?::bigint[]) AS place (workspace)";
const PAGE_END: &str = " ORDER BY found.id DESC LIMIT ?) AS page
    CROSS JOIN LATERAL (SELECT * FROM runs WHERE runs.id = page.id OFFSET 0) AS runs
    ORDER BY page.id DESC";

pub(crate) fn runs(
    connection: &mut PgConnection,
    filter: &RunFilter,
    page: &Page<RunId>,
) -> Result<Vec<RunSummary>, Error> {
    let rows = connection.ask(async |session| {
        let places = workspaces(session, filter.workspace).await?;
        let mut query = Query::default();
        query.push(PAGE_BEGIN, values![places.clone()]);
        if filter.tag.is_some() {
            tagged(&mut query, filter, page);
        } else if waits(filter) && waits_are_few(session, &places, filter).await? {
            waiting(&mut query, filter, page);
        } else {
            let versions = versions(session, &places, filter).await?;
            in_ranges(&mut query, versions, filter, page);
        }
        query.push(PAGE_END, values![column::limit(page.limit)]);
        query.rows(session).await
    })?;
    rows.iter().map(RunSummary::read).collect()
}

pub(crate) fn run(connection: &mut PgConnection, id: RunId) -> Result<Option<RunSummary>, Error> {
    let sql = "SELECT id, workspace, definition, version, status, tags, created_at, written_at, seq
        FROM runs WHERE id = $1";
    let found = connection.ask(async |session| session.first(sql, &[&column::run(id)]).await)?;
    found.as_ref().map(RunSummary::read).transpose()
}

/// One range for each workspace, status and version.
fn in_ranges(query: &mut Query, versions: Option<Vec<String>>, filter: &RunFilter, page: &Page<RunId>) {
    query.push(" CROSS JOIN unnest(?::smallint[]) AS state (status)", values![status_codes(filter)]);
    let of_version = versions.is_some();
    query.push_if(" CROSS JOIN unnest(?::text[]) AS edition (version)", versions);
    query.push(
        " CROSS JOIN LATERAL (SELECT runs.id FROM runs
            WHERE runs.workspace = place.workspace AND runs.status = state.status",
        Vec::new(),
    );
    if of_version {
        query.push(" AND runs.version = edition.version", Vec::new());
    }
    between(query, "runs.id", filter, page);
    told(query, filter);
    waits_of_its_own(query, filter);
    query.push(" ORDER BY runs.id DESC LIMIT ?) AS found", values![column::limit(page.limit)]);
}

fn tagged(query: &mut Query, filter: &RunFilter, page: &Page<RunId>) {
    let tag = filter.tag.as_deref().map(|tag| column::name(tag).into_owned());
    query.push(
        " CROSS JOIN LATERAL (SELECT run_tags.run AS id
            FROM run_tags CROSS JOIN LATERAL (SELECT * FROM runs WHERE runs.id = run_tags.run OFFSET 0) AS runs
            WHERE run_tags.workspace = place.workspace AND run_tags.tag = ? AND runs.status = ANY (?)",
        values![tag, status_codes(filter)],
    );
    between(query, "run_tags.run", filter, page);
    told(query, filter);
    waits_of_its_own(query, filter);
    query.push(" ORDER BY run_tags.run DESC LIMIT ?) AS found", values![column::limit(page.limit)]);
}

fn waiting(query: &mut Query, filter: &RunFilter, page: &Page<RunId>) {
    query.push(" CROSS JOIN LATERAL (SELECT runs.id FROM (SELECT DISTINCT run ", Vec::new());
    open_waits(query, filter);
    query.push(
        ") AS waiting CROSS JOIN LATERAL (SELECT * FROM runs WHERE runs.id = waiting.run OFFSET 0) AS runs
            WHERE runs.status = ANY (?)",
        values![status_codes(filter)],
    );
    query.push_if(" AND runs.id < ?", page.after.map(column::run));
    told(query, filter);
    query.push(" ORDER BY runs.id DESC LIMIT ?) AS found", values![column::limit(page.limit)]);
}

fn waits(filter: &RunFilter) -> bool {
    filter.waits_for.is_some() || filter.listens_for.is_some()
}

/// The open waits that a filter asks for, in a workspace.
fn open_waits(query: &mut Query, filter: &RunFilter) {
    query.push(
        &format!("FROM waitpoints WHERE waitpoints.workspace = place.workspace AND waitpoints.status = {WAIT_PENDING}"),
        Vec::new(),
    );
    match filter.waits_for {
        Some(kind) => query.push(" AND kind = ?", values![column::kind(kind)]),
        None => query.push(&format!(" AND kind IN ({WAIT_SIGNAL}, {WAIT_EVENT})"), Vec::new()),
    }
    query.push_if(" AND listens = ?", listens_for(filter));
}

async fn waits_are_few(session: &mut Session, places: &[i64], filter: &RunFilter) -> Result<bool, Error> {
    let mut query = Query::default();
    query.push(
        "SELECT count(*) FROM unnest(?::bigint[]) AS place (workspace) CROSS JOIN LATERAL (SELECT ",
        values![places.to_vec()],
    );
    open_waits(&mut query, filter);
    query.push(" LIMIT ?) AS found", values![FEW_WAITS + 1]);
    let rows = query.rows(session).await?;
    let count: i64 = rows.first().map_or(Ok(0), |row| row.number(0))?;
    Ok(count <= FEW_WAITS)
}

/// Those of which there are runs, one look into the index each; `None` where the filter does not ask for a definition,
/// or says the version too.
async fn versions(
    session: &mut Session,
    places: &[i64],
    filter: &RunFilter,
) -> Result<Option<Vec<String>>, Error> {
    let (Some(definition), None) = (&filter.definition, &filter.version) else { return Ok(None) };
    let sql = "WITH RECURSIVE edition (workspace, version) AS (
            SELECT place.workspace, (SELECT version FROM runs
                WHERE runs.workspace = place.workspace AND definition = $2 ORDER BY version LIMIT 1)
            FROM unnest($1::bigint[]) AS place (workspace)
        UNION ALL
            SELECT edition.workspace, (SELECT version FROM runs
                WHERE runs.workspace = edition.workspace AND definition = $2 AND runs.version > edition.version
                ORDER BY version LIMIT 1)
            FROM edition WHERE edition.version IS NOT NULL)
        SELECT DISTINCT version FROM edition WHERE version IS NOT NULL";
    let rows = session.rows(sql, &[&places, &column::name(definition)]).await?;
    let versions: Result<Vec<String>, _> = rows.iter().map(|row| row.try_get(0)).collect();
    Ok(Some(versions?))
}

fn between(query: &mut Query, id: &str, filter: &RunFilter, page: &Page<RunId>) {
    let (from, before) = filter.possible_ids(page);
    query.push_if(&format!(" AND {id} >= ?"), from.map(column::run));
    query.push_if(&format!(" AND {id} < ?"), before.map(column::run));
}

/// What a run's own row tells, whichever way leads to it. A version without its definition is written as a value: else
/// PostgreSQL 18 skips through all definitions for it, and sorts what it finds.
fn told(query: &mut Query, filter: &RunFilter) {
    let stored = |name: &String| column::name(name).into_owned();
    let of_version = match filter.definition {
        Some(_) => " AND runs.version = ?",
        None => " AND CASE WHEN runs.version = ? THEN true ELSE false END",
    };
    query.push_if(" AND runs.definition = ?", filter.definition.as_ref().map(stored));
    query.push_if(of_version, filter.version.as_ref().map(stored));
    query.push_if(" AND runs.created_at >= ?", filter.created_from.map(column::instant));
    query.push_if(" AND runs.created_at < ?", filter.created_before.map(column::instant));
}

/// That it has an open wait of the kind or for the name. Written as a value and not as a condition, it is not turned
/// into a join that begins with all such waits.
fn waits_of_its_own(query: &mut Query, filter: &RunFilter) {
    if !waits(filter) {
        return;
    }
    query.push(
        &format!(" AND (SELECT true FROM waitpoints WHERE waitpoints.run = runs.id AND waitpoints.status = {WAIT_PENDING}"),
        Vec::new(),
    );
    query.push_if(" AND waitpoints.kind = ?", filter.waits_for.map(column::kind));
    query.push_if(" AND waitpoints.listens = ?", listens_for(filter));
    query.push(" LIMIT 1)", Vec::new());
}

fn listens_for(filter: &RunFilter) -> Option<String> {
    filter.listens_for.as_deref().map(|name| column::name(name).into_owned())
}

fn status_codes(filter: &RunFilter) -> Vec<i16> {
    filter.possible_statuses().into_iter().map(column::run_status).collect()
}
