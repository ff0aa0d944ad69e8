//! Which workflows an event may start.

use abide_core::id::WorkspaceId;

use crate::event_starts::EventStartWrite;
use crate::postgres::Handle;
use crate::postgres::column;
use crate::postgres::connection::{Step, values};
use crate::postgres::events::{names, ordinal, places};
use crate::roles::EventStarts;
use crate::{Error, EventName, EventStarter};

impl<Role: Send> EventStarts for Handle<Role> {
    fn event_starts(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        after: Option<(&str, &str)>,
        limit: usize,
    ) -> Result<Vec<EventStarter>, Error> {
        let (workspace, limit) = (column::workspace(workspace), column::limit(limit));
        let (event, workflow) = after.unwrap_or_default();
        let (event, workflow) = (column::name(event), column::name(workflow));
        let rows = match event_id.map(column::name) {
            None => {
                let sql = "SELECT event_id, workflow, refused FROM event_starts
                    WHERE workspace = $1 AND (event_id, workflow) > ($2, $3) ORDER BY event_id, workflow LIMIT $4";
                self.connection
                    .ask(async |session| session.rows(sql, &[&workspace, &event, &workflow, &limit]).await)?
            }
            Some(event_id) => {
                let sql = "SELECT event_id, workflow, refused FROM event_starts
                    WHERE workspace = $1 AND event_id = $2 AND workflow > $3 ORDER BY workflow LIMIT $4";
                self.connection.ask(async |session| {
                    session.rows(sql, &[&workspace, &event_id, &workflow, &limit]).await
                })?
            }
        };
        rows.iter().map(EventStarter::read).collect()
    }

    fn event_starts_of(
        &mut self,
        events: &[EventName<'_>],
        limit: usize,
    ) -> Result<Vec<Vec<EventStarter>>, Error> {
        let sql = "SELECT found.event_id, found.workflow, found.refused, place
            FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked (workspace, event_id, place)
                CROSS JOIN LATERAL (SELECT event_starts.event_id, workflow, refused FROM event_starts
                    WHERE event_starts.workspace = asked.workspace AND event_starts.event_id = asked.event_id
                    ORDER BY workflow LIMIT $3) AS found";
        let (workspaces, ids, limit) = (places(events.iter()), names(events.iter()), column::limit(limit));
        let rows =
            self.connection.ask(async |session| session.rows(sql, &[&workspaces, &ids, &limit]).await)?;
        let mut found = vec![Vec::new(); events.len()];
        for row in &rows {
            if let Some(found) = found.get_mut(ordinal(row, 3)?) {
                found.push(EventStarter::read(row)?);
            }
        }
        found.iter_mut().for_each(|found| found.sort_by(|a, b| a.workflow.cmp(&b.workflow)));
        Ok(found)
    }
}

/// In one order, so that no two commits wait for each other.
pub(super) fn write<'a>(writes: &[EventStartWrite<'a>]) -> Step<'a> {
    let mut sorted = writes.to_vec();
    sorted.sort_by_key(|write| (write.workspace, write.event_id, write.workflow));
    let sql = "INSERT INTO event_starts (workspace, event_id, workflow, refused)
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
        ON CONFLICT (workspace, event_id, workflow)
            DO UPDATE SET refused = coalesce(excluded.refused, event_starts.refused)";
    let each = || sorted.iter();
    let values = values![
        each().map(|write| column::workspace(write.workspace)).collect::<Vec<_>>(),
        each().map(|write| column::name(write.event_id)).collect::<Vec<_>>(),
        each().map(|write| column::name(write.workflow)).collect::<Vec<_>>(),
        each().map(EventStartWrite::refused_json).collect::<Vec<_>>()
    ];
    Step { sql: sql.into(), values }
}
