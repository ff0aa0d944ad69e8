//! Retention: what is old is found in a range of one index, and removed a little at a time and in transactions of their
//! own, so that no lock is held for long. What somebody else holds is left for another time; so several processes can do
//! it at once.

use abide_core::history::DefinitionRef;
use abide_core::id::{RunId, WorkspaceId};
use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::code::{DELIVERY_PENDING, OPEN_RUNS};
use crate::postgres::column::{self, Id};
use crate::postgres::connection::Session;
use crate::postgres::{Handle, Postgres};
use crate::retention::NOT_ENDED;
use crate::roles::{Retention, WriteRetention};
use crate::row::RowReader;
use crate::{Awaits, Error, EventPlace, KeyPlace, OfRun, OldEvent, OldKey};

impl<Role: Send> Retention for Handle<Role> {
    fn awaits(&mut self, workspace: WorkspaceId) -> Result<Vec<Awaits>, Error> {
        let sql = "SELECT name, version, awaits, number FROM definitions WHERE workspace = $1 AND number > $2
        ORDER BY workspace, number LIMIT $3";
        let (place, page) = (column::workspace(workspace), column::limit(PAGE));
        let rows = self.connection.ask(async |session| {
            let mut rows: Vec<Row> = Vec::new();
            loop {
                let after: i64 = rows.last().map_or(Ok(-1), |row| row.try_get(3))?;
                let mut more = session.rows(sql, &[&place, &after, &page]).await?;
                let is_last = more.len() < PAGE;
                rows.append(&mut more);
                if is_last {
                    return Ok(rows);
                }
            }
        })?;

        rows.iter().map(Awaits::read).collect()
    }

    fn oldest_open(
        &mut self,
        workspace: WorkspaceId,
        definition: Option<&DefinitionRef>,
    ) -> Result<Option<RunId>, Error> {
        let place = column::workspace(workspace);
        let statuses: Vec<i16> = OPEN_RUNS.map(column::run_status).to_vec();
        let rows = self.connection.ask(async |session| match definition {
            Some(DefinitionRef { name, version }) => {
                let sql = "SELECT oldest.id FROM unnest($4::smallint[]) AS open (status)
                CROSS JOIN LATERAL (SELECT id FROM runs
                    WHERE workspace = $1 AND definition = $2 AND version = $3 AND runs.status = open.status
                    ORDER BY workspace, definition, version, runs.status, id LIMIT 1) AS oldest";
                let (name, version) = (column::name(name), column::name(version));
                session.rows(sql, &[&place, &name, &version, &statuses]).await
            }
            None => {
                let sql = "SELECT oldest.id FROM unnest($2::smallint[]) AS open (status)
                CROSS JOIN LATERAL (SELECT id FROM runs WHERE workspace = $1 AND runs.status = open.status
                    ORDER BY workspace, runs.status, id LIMIT 1) AS oldest";
                session.rows(sql, &[&place, &statuses]).await
            }
        })?;
        let ids: Result<Vec<RunId>, Error> = rows.iter().map(|row| row.id(0).map(RunId)).collect();
        Ok(ids?.into_iter().min())
    }

    fn old_events(
        &mut self,
        (workspace, event_id): (WorkspaceId, Option<&str>),
        before: Timestamp,
        after: Option<EventPlace>,
        limit: usize,
    ) -> Result<Vec<OldEvent>, Error> {
        const SELECT: &str = "SELECT event_id, received_at, id, run,
            (SELECT (ended_at IS NULL)::integer FROM runs WHERE runs.id = events.run)::bigint FROM events";
        let (place, before, limit) =
            (column::workspace(workspace), column::instant(before), column::limit(limit));
        let (at, id) = after.map_or((i64::MIN, Id(0)), |(at, id)| (column::instant(at), column::event(id)));
        let rows = self.connection.ask(async |session| match event_id {
        Some(event_id) => {
            let sql = format!(
                "{SELECT} WHERE workspace = $1 AND event_id = $6 AND received_at < $2 AND (received_at, id) > ($3, $4)
                 ORDER BY workspace, event_id, received_at, id LIMIT $5"
            );
            session.rows(&sql, &[&place, &before, &at, &id, &limit, &column::name(event_id)]).await
        }
        None => {
            let sql = format!(
                "{SELECT} WHERE workspace = $1 AND received_at < $2 AND (received_at, id) > ($3, $4)
                 ORDER BY workspace, received_at, id LIMIT $5"
            );
            session.rows(&sql, &[&place, &before, &at, &id, &limit]).await
        }
    })?;
        rows.iter().map(|row| OldEvent::read(row, workspace)).collect()
    }

    fn old_keys(
        &mut self,
        before: Timestamp,
        after: Option<&KeyPlace>,
        limit: usize,
    ) -> Result<Vec<OldKey>, Error> {
        let (at, key) = match after {
            Some((at, key)) => (column::instant(*at), column::name(key)),
            None => (i64::MIN, "".into()),
        };
        // A run that was forgotten leaves no row, one that is open no end.
        let sql = format!("SELECT key, written_at, (SELECT coalesce(ended_at, {NOT_ENDED}) FROM runs WHERE runs.id = idempotency_records.run)
        FROM idempotency_records WHERE written_at < $1 AND (written_at, key) > ($2, $3) ORDER BY written_at, key LIMIT $4");
        let (before, limit) = (column::instant(before), column::limit(limit));
        let rows =
            self.connection.ask(async |session| session.rows(&sql, &[&before, &at, &key, &limit]).await)?;

        rows.iter().map(OldKey::read).collect()
    }

    fn ended_runs(
        &mut self,
        before: Timestamp,
        (at, run): (Timestamp, RunId),
        limit: usize,
    ) -> Result<Vec<(Timestamp, RunId)>, Error> {
        let sql = "SELECT ended_at, id FROM runs WHERE ended_at < $1 AND (ended_at, id) > ($2, $3)
        ORDER BY ended_at, id LIMIT $4";
        let (before, at, run) = (column::instant(before), column::instant(at), column::run(run));
        let limit = column::limit(limit);
        let rows =
            self.connection.ask(async |session| session.rows(sql, &[&before, &at, &run, &limit]).await)?;
        rows.iter().map(|row| Ok((row.instant(0)?, RunId(row.id(1)?)))).collect()
    }

    fn owners(&mut self, runs: &[RunId], what: OfRun) -> Result<Vec<RunId>, Error> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let table = match what {
            OfRun::Events => "events",
            OfRun::Keys => "idempotency_records",
        };
        let sql = format!(
            "SELECT owner.run FROM unnest($1::uuid[]) AS asked (run)
             CROSS JOIN LATERAL (SELECT run FROM {table} WHERE {table}.run = asked.run LIMIT 1) AS owner"
        );
        let ids: Vec<Id> = runs.iter().map(|run| column::run(*run)).collect();
        let rows = self.connection.ask(async |session| session.rows(&sql, &[&ids]).await)?;
        rows.iter().map(|row| row.id(0).map(RunId)).collect()
    }
}

impl WriteRetention for Postgres {
    fn forget_events(&mut self, events: &[OldEvent]) -> Result<usize, Error> {
        let sql = less(
        "DELETE FROM events WHERE ctid = ANY (ARRAY(
            SELECT gone.ctid
            FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::uuid[]) AS old (workspace, event_id, received_at, id)
                CROSS JOIN LATERAL (SELECT ctid FROM events
                    WHERE events.workspace = old.workspace AND events.event_id = old.event_id
                      AND events.received_at = old.received_at AND events.id = old.id
                    FOR UPDATE SKIP LOCKED) AS gone))",
        "workspace",
        "data",
    );
        self.connection.ask(async |session| {
            let mut removed = 0;
            for events in events.chunks(AT_ONCE) {
                let workspaces: Vec<i64> =
                    events.iter().map(|event| column::workspace(event.workspace)).collect();
                let names: Vec<String> =
                    events.iter().map(|event| column::name(&event.event_id).into_owned()).collect();
                let instants: Vec<i64> =
                    events.iter().map(|event| column::instant(event.received_at)).collect();
                let ids: Vec<Id> = events.iter().map(|event| column::event(event.id)).collect();
                removed += removed_by(session, &sql, &[&workspaces, &names, &instants, &ids]).await? as usize;
            }
            Ok(removed)
        })
    }

    fn forget_of(&mut self, runs: &[RunId], what: OfRun, limit: usize) -> Result<usize, Error> {
        let table = match what {
            OfRun::Events => "events",
            OfRun::Keys => "idempotency_records",
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
        self.connection.ask(async |session| {
            little_by_little(session, limit, async |session, room| match what {
                OfRun::Events => {
                    removed_by(session, &less(&delete, "workspace", "data"), &[&ids, &room]).await
                }
                OfRun::Keys => session.count(&delete, &[&ids, &room]).await,
            })
            .await
        })
    }

    fn forget_runs(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        let before = column::instant(before);
        self.connection.ask(async |session| {
            little_by_little(session, limit, async |session, room| {
                session.transaction("BEGIN", async |session| some_runs(session, before, room).await).await
            })
            .await
        })
    }

    fn forget_keys(&mut self, keys: &[String]) -> Result<usize, Error> {
        // The run may have been retried since somebody looked.
        let sql = "DELETE FROM idempotency_records WHERE ctid = ANY (ARRAY(
        SELECT gone.ctid FROM unnest($1::text[]) AS old (key)
            CROSS JOIN LATERAL (SELECT ctid FROM idempotency_records WHERE idempotency_records.key = old.key
                  AND (SELECT ended_at IS NULL FROM runs WHERE runs.id = idempotency_records.run) IS NOT TRUE
                FOR UPDATE SKIP LOCKED) AS gone))";
        self.connection.ask(async |session| {
            let mut removed = 0;
            for keys in keys.chunks(AT_ONCE) {
                let keys: Vec<String> = keys.iter().map(|key| column::name(key).into_owned()).collect();
                removed += session.count(sql, &[&keys]).await? as usize;
            }
            Ok(removed)
        })
    }

    fn forget_deliveries(&mut self, before: Timestamp, limit: usize) -> Result<usize, Error> {
        let sql = format!(
            "DELETE FROM deliveries WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM deliveries WHERE status <> {DELIVERY_PENDING} AND created_at < $1
        ORDER BY created_at, id LIMIT $2 FOR UPDATE SKIP LOCKED))"
        );
        let before = column::instant(before);
        self.connection.ask(async |session| {
            little_by_little(session, limit, async |session, room| {
                session.count(&sql, &[&before, &room]).await
            })
            .await
        })
    }
}

/// Definitions that are read at once.
const PAGE: usize = 1_000;

/// Removed in one transaction.
const AT_ONCE: usize = 500;

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
    for (table, payload) in [("history", "chunk"), ("events", "data")] {
        let delete = format!("DELETE FROM {table} WHERE run = ANY ($1)");
        removed_by(session, &less(&delete, of_run, payload), &[&ids]).await?;
    }
    for sql in [
        "DELETE FROM waitpoints WHERE run = ANY ($1)",
        "DELETE FROM link_generations WHERE run = ANY ($1)",
        "DELETE FROM snapshots WHERE run = ANY ($1)",
        "DELETE FROM descendants WHERE root = ANY ($1)",
        "UPDATE idempotency_records SET run = NULL,
             written_at = greatest(written_at, (SELECT ended_at FROM runs WHERE runs.id = idempotency_records.run))
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
