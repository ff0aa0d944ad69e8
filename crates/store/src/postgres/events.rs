//! Events, and who waits for one.

use abide_core::command::Event;
use abide_core::id::{EventUid, WaitpointId, WorkspaceId};
use jiff::Timestamp;
use tokio_postgres::Row;

use crate::code::{WAIT_EVENT, WAIT_PENDING};
use crate::events::read_waiter;
use crate::events::{EVENTS, read_event};
use crate::postgres::Handle;
use crate::postgres::column::{self, Id};
use crate::postgres::connection::{PgConnection, Step, values};
use crate::postgres::event_snapshots;
use crate::postgres::lists::Query;
use crate::roles::Events;
use crate::row::RowReader;
use crate::{Error, EventName, Page, Waiter};

impl<Role: Send> Events for Handle<Role> {
    fn waiters(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        after: Option<(Timestamp, WaitpointId)>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error> {
        let (begun, run, number) = after.map_or((i64::MIN, Id(0), -1), |(begun, after)| {
            (column::instant(begun), column::run(after.run), i64::from(after.number))
        });
        let sql = format!(
            "SELECT run, number, created_at, resume_at, filter FROM waitpoints
        WHERE status = {WAIT_PENDING} AND kind = {WAIT_EVENT} AND workspace = $1 AND listens = $2
          AND (created_at, run, number) > ($3, $4, $5)
        ORDER BY created_at, run, number LIMIT $6"
        );
        let place = column::workspace(workspace);
        let values = values!(place, column::name(event_id), begun, run, number, column::limit(limit));
        let rows = look(
            &mut self.connection,
            &[EventName { workspace, event_id }],
            Step { sql: sql.into(), values },
        )?;
        rows.iter().map(|row| read_waiter(row, workspace)).collect()
    }

    fn waiters_of(&mut self, events: &[EventName<'_>], limit: usize) -> Result<Vec<Vec<Waiter>>, Error> {
        let sql = format!("SELECT waiter.run, waiter.number, waiter.created_at, waiter.resume_at, waiter.filter, place
        FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked (workspace, event_id, place)
            CROSS JOIN LATERAL (SELECT run, number, created_at, resume_at, filter FROM waitpoints
                WHERE status = {WAIT_PENDING} AND kind = {WAIT_EVENT} AND waitpoints.workspace = asked.workspace
                  AND listens = asked.event_id
                ORDER BY created_at, run, number LIMIT $3) AS waiter");
        let values = values!(places(events.iter()), names(events.iter()), column::limit(limit));
        let rows = look(&mut self.connection, events, Step { sql: sql.into(), values })?;
        let mut waiters = vec![Vec::new(); events.len()];
        for row in &rows {
            let place = ordinal(row, 5)?;
            if let Some((event, waiters)) = events.get(place).zip(waiters.get_mut(place)) {
                waiters.push(read_waiter(row, event.workspace)?);
            }
        }
        Ok(waiters)
    }

    fn events_since(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, EventUid)>,
        limit: usize,
    ) -> Result<Vec<Event>, Error> {
        let (received_at, id, seen) = match after {
            Some((at, id)) if at >= since => (column::instant(at), column::event(id), true),
            Some(_) | None => (column::instant(since), Id(0), false),
        };
        let sql = format!(
            "{EVENTS}
        WHERE workspace = $1 AND event_id = $2 AND (received_at, id) >= ($3, $4)
          AND NOT ($5 AND id = $4 AND received_at = $3)
        ORDER BY received_at, id LIMIT $6"
        );
        let place = column::workspace(workspace);
        let values = values!(place, column::name(event_id), received_at, id, seen, column::limit(limit));
        let rows = look(
            &mut self.connection,
            &[EventName { workspace, event_id }],
            Step { sql: sql.into(), values },
        )?;
        rows.iter().map(read_event).collect()
    }

    fn events_of(
        &mut self,
        events: &[(EventName<'_>, Timestamp)],
        limit: usize,
    ) -> Result<Vec<Vec<Event>>, Error> {
        let sql = "SELECT found.*, place
        FROM unnest($1::bigint[], $2::text[], $3::bigint[]) WITH ORDINALITY
                AS asked (workspace, event_id, since, place)
            CROSS JOIN LATERAL (SELECT id, events.workspace, events.event_id, received_at, data, run
                FROM events
                WHERE events.workspace = asked.workspace AND events.event_id = asked.event_id
                  AND received_at >= asked.since
                ORDER BY received_at, id LIMIT $4) AS found";
        let names_asked: Vec<EventName<'_>> = events.iter().map(|(event, _)| *event).collect();
        let since: Vec<i64> = events.iter().map(|(_, since)| column::instant(*since)).collect();
        let values =
            values!(places(names_asked.iter()), names(names_asked.iter()), since, column::limit(limit));
        let rows = look(&mut self.connection, &names_asked, Step { sql: sql.into(), values })?;
        let mut events = vec![Vec::new(); events.len()];
        for row in &rows {
            if let Some(events) = events.get_mut(ordinal(row, 6)?) {
                events.push(read_event(row)?);
            }
        }
        Ok(events)
    }

    fn events(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        page: &Page<(Timestamp, EventUid)>,
    ) -> Result<Vec<Event>, Error> {
        let mut query = Query::default();
        query.push(&format!("{EVENTS} WHERE workspace = ?"), values![column::workspace(workspace)]);
        query.push_if(" AND event_id = ?", event_id.map(|event_id| column::name(event_id).into_owned()));
        if let Some((at, id)) = page.after {
            let cursor = values![column::instant(at), column::event(id)];
            query.push(" AND (received_at, id) < (?, ?)", cursor);
        }
        query.push(" ORDER BY received_at DESC, id DESC LIMIT ?", values![column::limit(page.limit)]);
        self.connection.ask(async |session| query.rows(session).await)?.iter().map(read_event).collect()
    }
}

/// SnapshotLog at what there is of events, and notes which transactions the look could see: they were taken note of before
/// it, and so are no more than it saw.
fn look(connection: &mut PgConnection, events: &[EventName<'_>], step: Step<'_>) -> Result<Vec<Row>, Error> {
    let snapshot = Step { sql: "SELECT pg_current_snapshot()::text".into(), values: Vec::new() };
    let invalidations = connection.snapshots.invalidations();
    let mut answers =
        connection.ask(async |session| Ok(session.pipeline(None, &[snapshot, step]).await?))?.into_iter();
    let seen = answers.next().and_then(|answer| answer.rows.into_iter().next());
    let seen =
        seen.ok_or_else(|| Error::Corrupt("no answer to the question of what can be seen".to_owned()))?;
    let events = events.iter().map(|event| event_snapshots::event_key(event.workspace, event.event_id));
    connection.snapshots.note(events, seen.try_get(0)?, invalidations);
    Ok(answers.next().map(|answer| answer.rows).unwrap_or_default())
}

pub(super) fn places<'a>(events: impl Iterator<Item = &'a EventName<'a>>) -> Vec<i64> {
    events.map(|event| column::workspace(event.workspace)).collect()
}

pub(super) fn names<'a>(events: impl Iterator<Item = &'a EventName<'a>>) -> Vec<String> {
    events.map(|event| column::name(event.event_id).into_owned()).collect()
}

/// PostgreSQL counts from one.
pub(super) fn ordinal(row: &Row, index: usize) -> Result<usize, Error> {
    let place: u64 = row.number(index)?;
    Ok(usize::try_from(place).unwrap_or(usize::MAX).saturating_sub(1))
}
