//! Retention: what is old enough is removed, a little at a time and in transactions of their own, so that no lock is
//! held for long. What somebody else holds is left for another time; so several processes can do it at once.

use abide_core::id::RunId;
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use crate::postgres::column::{self, Column, Id};
use crate::postgres::link::{Link, Session};
use crate::{Error, OfRun, OldEvent};

/// Removed in one transaction.
const AT_ONCE: usize = 500;

pub(super) fn events(link: &mut Link, events: &[OldEvent]) -> Result<usize, Error> {
    let sql = less(
        "DELETE FROM occurrences WHERE ctid = ANY (ARRAY(
            SELECT gone.ctid
            FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::uuid[]) AS old (workspace, event_id, received_at, id)
                CROSS JOIN LATERAL (SELECT ctid FROM occurrences
                    WHERE occurrences.workspace = old.workspace AND occurrences.event_id = old.event_id
                      AND occurrences.received_at = old.received_at AND occurrences.id = old.id
                    FOR UPDATE SKIP LOCKED) AS gone))",
        "workspace",
        "data",
    );
    link.ask(async |session| {
        let mut removed = 0;
        for events in events.chunks(AT_ONCE) {
            let workspaces: Vec<i64> =
                events.iter().map(|event| column::workspace(event.workspace)).collect();
            let names: Vec<String> =
                events.iter().map(|event| column::name(&event.event_id).into_owned()).collect();
            let instants: Vec<i64> = events.iter().map(|event| column::instant(event.received_at)).collect();
            let ids: Vec<Id> = events.iter().map(|event| column::occurrence(event.id)).collect();
            removed += removed_by(session, &sql, &[&workspaces, &names, &instants, &ids]).await? as usize;
        }
        Ok(removed)
    })
}

pub(super) fn keys(link: &mut Link, keys: &[String]) -> Result<usize, Error> {
    // The run may have been retried since somebody looked.
    let sql = "DELETE FROM remembered WHERE ctid = ANY (ARRAY(
        SELECT gone.ctid FROM unnest($1::text[]) AS old (key)
            CROSS JOIN LATERAL (SELECT ctid FROM remembered WHERE remembered.key = old.key
                  AND (SELECT ended_at IS NULL FROM runs WHERE runs.id = remembered.run) IS NOT TRUE
                FOR UPDATE SKIP LOCKED) AS gone))";
    link.ask(async |session| {
        let mut removed = 0;
        for keys in keys.chunks(AT_ONCE) {
            let keys: Vec<String> = keys.iter().map(|key| column::name(key).into_owned()).collect();
            removed += session.count(sql, &[&keys]).await? as usize;
        }
        Ok(removed)
    })
}

pub(super) fn of(link: &mut Link, runs: &[RunId], what: OfRun, limit: usize) -> Result<usize, Error> {
    let table = match what {
        OfRun::Events => "occurrences",
        OfRun::Keys => "remembered",
    };
    let delete = format!(
        "DELETE FROM {table} WHERE ctid = ANY (ARRAY(
            SELECT gone.ctid FROM unnest($1::uuid[]) AS ended (run)
                CROSS JOIN LATERAL (SELECT ctid FROM {table} WHERE {table}.run = ended.run
                      AND (SELECT ended_at IS NULL FROM runs WHERE runs.id = ended.run) IS NOT TRUE
                    FOR UPDATE SKIP LOCKED) AS gone
            LIMIT $2))"
    );
    let ids: Vec<Id> = runs.iter().map(|run| column::run(*run)).collect();
    link.ask(async |session| {
        little_by_little(session, limit, async |session, room| match what {
            OfRun::Events => removed_by(session, &less(&delete, "workspace", "data"), &[&ids, &room]).await,
            OfRun::Keys => session.count(&delete, &[&ids, &room]).await,
        })
        .await
    })
}

/// A statement that removes rows, notes what they took, and answers with how many there were.
fn less(delete: &str, workspace: &str, payload: &str) -> String {
    format!(
        "WITH gone AS ({delete} RETURNING {workspace} AS workspace, octet_length({payload}) AS bytes),
             noted AS (INSERT INTO stored_bytes (workspace, bytes)
                 SELECT workspace, -sum(bytes) FROM gone GROUP BY workspace)
         SELECT count(*) FROM gone"
    )
}

async fn removed_by(session: &mut Session, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
    session.one(sql, values).await?.number(0)
}

/// Adds up what was noted in parts. Several processes may do it at once: each part is taken by one of them.
pub(super) fn fold(link: &mut Link) -> Result<(), Error> {
    let sql = "WITH parts AS (DELETE FROM stored_bytes WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM stored_bytes LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING workspace, bytes)
        INSERT INTO stored_bytes (workspace, bytes) SELECT workspace, sum(bytes) FROM parts GROUP BY workspace";
    link.ask(async |session| session.count(sql, &[&PARTS]).await).map(drop)
}

/// Parts that are added up at once.
const PARTS: i64 = 100_000;

pub(super) fn deliveries(link: &mut Link, before: Timestamp, limit: usize) -> Result<usize, Error> {
    let sql = "DELETE FROM deliveries WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM deliveries WHERE status <> 0 AND created_at < $1
        ORDER BY created_at, id LIMIT $2 FOR UPDATE SKIP LOCKED))";
    let before = column::instant(before);
    link.ask(async |session| {
        little_by_little(session, limit, async |session, room| session.count(sql, &[&before, &room]).await)
            .await
    })
}

pub(super) fn runs(link: &mut Link, before: Timestamp, limit: usize) -> Result<usize, Error> {
    let before = column::instant(before);
    link.ask(async |session| {
        little_by_little(session, limit, async |session, room| {
            session.transaction("BEGIN", async |session| some_runs(session, before, room).await).await
        })
        .await
    })
}

/// The rows of the runs are held before anything else is removed. Whoever writes to one of them after that waits, and
/// finds it gone; what was written before is seen by the statements that follow.
async fn some_runs(session: &mut Session, before: i64, room: i64) -> Result<u64, Error> {
    let sql = "SELECT id, workspace, tags FROM runs WHERE ended_at < $1
        ORDER BY ended_at, id LIMIT $2 FOR UPDATE SKIP LOCKED";
    let ended = session.rows(sql, &[&before, &room]).await?;
    let mut ids = Vec::with_capacity(ended.len());
    let (mut workspaces, mut tagged, mut tags) = (Vec::<i64>::new(), Vec::<Id>::new(), Vec::<String>::new());
    for row in &ended {
        let id = column::run(RunId(row.id(0)?));
        ids.push(id);
        if row.try_get::<_, Option<&str>>(2)?.is_none() {
            continue;
        }
        for tag in row.json::<Vec<String>>(2)? {
            workspaces.push(row.number(1)?);
            tagged.push(id);
            tags.push(column::name(&tag).into_owned());
        }
    }
    if ids.is_empty() {
        return Ok(0);
    }
    if !tags.is_empty() {
        let sql = "DELETE FROM run_tags USING unnest($1::bigint[], $2::text[], $3::uuid[]) AS old (workspace, tag, run)
            WHERE run_tags.workspace = old.workspace AND run_tags.tag = old.tag AND run_tags.run = old.run";
        session.count(sql, &[&workspaces, &tags, &tagged]).await?;
    }
    let of_run = "(SELECT workspace FROM runs WHERE runs.id = run)";
    for (table, payload) in [("history", "chunk"), ("occurrences", "data")] {
        let delete = format!("DELETE FROM {table} WHERE run = ANY ($1)");
        removed_by(session, &less(&delete, of_run, payload), &[&ids]).await?;
    }
    for sql in [
        "DELETE FROM waitpoints WHERE run = ANY ($1)",
        "DELETE FROM link_generations WHERE run = ANY ($1)",
        "DELETE FROM descendants WHERE root = ANY ($1)",
        "UPDATE remembered SET run = NULL,
             written_at = greatest(written_at, (SELECT ended_at FROM runs WHERE runs.id = remembered.run))
         WHERE run = ANY ($1)",
        "DELETE FROM held WHERE id = ANY ($1)",
        "DELETE FROM runs WHERE id = ANY ($1)",
    ] {
        session.count(sql, &[&ids]).await?;
    }
    Ok(ids.len() as u64)
}

/// Removes up to the limit, so many at once, until there is nothing more.
async fn little_by_little(
    session: &mut Session,
    limit: usize,
    remove: impl AsyncFn(&mut Session, i64) -> Result<u64, Error>,
) -> Result<usize, Error> {
    let mut removed = 0;
    while removed < limit {
        let room = AT_ONCE.min(limit - removed);
        let count = remove(session, column::limit(room)).await? as usize;
        removed += count;
        if count < room {
            break;
        }
    }
    Ok(removed)
}
