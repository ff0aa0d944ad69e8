//! Events, and who waits for one.

use abide_core::command::Event;
use abide_core::id::{EventUid, WaitpointId, WorkspaceId};
use jiff::Timestamp;
use rusqlite::params;
use rusqlite::types::Value;

use crate::code::{WAIT_EVENT, WAIT_PENDING};
use crate::events::read_waiter;
use crate::events::{EVENTS, read_event};
use crate::roles::Events;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::lists::Where;
use crate::sqlite::query::collect;
use crate::{Error, Page, Waiter};

impl<Role: Send> Events for Handle<Role> {
    fn waiters(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        after: Option<(Timestamp, WaitpointId)>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error> {
        let (begun, run, number) = after.map_or((i64::MIN, [0; 16], -1), |(begun, after)| {
            (column::instant(begun), column::run(after.run), i64::from(after.number))
        });
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT run, number, created_at, resume_at, filter
         FROM waitpoints INDEXED BY waitpoints_by_event
         WHERE status = {WAIT_PENDING} AND kind = {WAIT_EVENT} AND workspace = ? AND listens = ?
           AND (created_at, run, number) > (?, ?, ?)
         ORDER BY created_at, run, number LIMIT ?",
        ))?;
        let rows =
            statement.query(params![workspace.0, event_id, begun, run, number, column::limit(limit)])?;
        collect(rows, |row| read_waiter(row, workspace))
    }

    fn events_since(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, EventUid)>,
        limit: usize,
    ) -> Result<Vec<Event>, Error> {
        let (received_at, id) = match after {
            Some((at, id)) if at >= since => (column::instant(at), column::event(id).to_vec()),
            // No id is smaller than an empty one.
            Some(_) | None => (column::instant(since), Vec::new()),
        };
        let sql = format!(
            "{EVENTS} INDEXED BY events_by_event_id
         WHERE workspace = ? AND event_id = ? AND (received_at, id) > (?, ?)
         ORDER BY received_at, id LIMIT ?"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query(params![workspace.0, event_id, received_at, id, column::limit(limit)])?;
        collect(rows, |row| read_event(row))
    }

    fn events(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        page: &Page<(Timestamp, EventUid)>,
    ) -> Result<Vec<Event>, Error> {
        let index = if event_id.is_some() { "events_by_event_id" } else { "events_by_time" };
        let select = format!("{EVENTS} INDEXED BY {index}");
        let mut conditions = Where::default();
        conditions.and("workspace = ?", [workspace.0]);
        conditions.and_if("event_id = ?", event_id.map(str::to_owned));
        if let Some((at, id)) = page.after {
            let cursor = [Value::from(column::instant(at)), Value::from(column::event(id).to_vec())];
            conditions.and("(received_at, id) < (?, ?)", cursor);
        }
        conditions
            .find(&self.connection, &select, "received_at DESC, id DESC", page.limit, |row| read_event(row))
    }
}
