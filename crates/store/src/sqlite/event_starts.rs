//! Which workflows an event may start.

use abide_core::id::WorkspaceId;
use rusqlite::{Transaction, params};

use crate::event_starts::EventStartWrite;
use crate::roles::EventStarts;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::collect;
use crate::{Error, EventStarter};

impl<Role: Send> EventStarts for Handle<Role> {
    fn event_starts(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        after: Option<(&str, &str)>,
        limit: usize,
    ) -> Result<Vec<EventStarter>, Error> {
        let limit = column::limit(limit);
        let Some(event_id) = event_id else {
            let (event, workflow) = after.unwrap_or_default();
            let mut statement = self.connection.prepare_cached(
                "SELECT event_id, workflow, refused FROM event_starts
                 WHERE workspace = ? AND (event_id, workflow) > (?, ?) ORDER BY event_id, workflow LIMIT ?",
            )?;
            let rows = statement.query(params![workspace.0, event, workflow, limit])?;
            return collect(rows, |row| EventStarter::read(row));
        };
        let workflow = after.map_or("", |(_, workflow)| workflow);
        let mut statement = self.connection.prepare_cached(
            "SELECT event_id, workflow, refused FROM event_starts
             WHERE workspace = ? AND event_id = ? AND workflow > ? ORDER BY workflow LIMIT ?",
        )?;
        collect(statement.query(params![workspace.0, event_id, workflow, limit])?, |row| {
            EventStarter::read(row)
        })
    }
}

pub(super) fn write(transaction: &Transaction<'_>, write: &EventStartWrite<'_>) -> Result<(), Error> {
    let EventStartWrite { workspace, event_id, workflow, refused: _ } = *write;
    transaction
        .prepare_cached(
            "INSERT INTO event_starts (workspace, event_id, workflow, refused) VALUES (?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET refused = coalesce(excluded.refused, refused)",
        )?
        .execute(params![workspace.0, event_id, workflow, write.refused_json()])?;
    Ok(())
}
