//! Events that were sent, and who waits for one.

use abide_core::command::Event;
use abide_core::id::{EventUid, WaitpointId, WorkspaceId};
use jiff::Timestamp;

use crate::row::RowReader;
use crate::{Error, Page};

pub use abide_core::fan_out::Waiter;

/// Matches events with those who wait for them.
pub trait Events: Send {
    /// Open waits for an event id, oldest first, beginning after `after`, at most `limit`.
    fn waiters(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        after: Option<(Timestamp, WaitpointId)>,
        limit: usize,
    ) -> Result<Vec<Waiter>, Error>;

    /// [`Events::waiters`] of several event ids, each from the first on.
    fn waiters_of(&mut self, events: &[EventName<'_>], limit: usize) -> Result<Vec<Vec<Waiter>>, Error> {
        events.iter().map(|event| self.waiters(event.workspace, event.event_id, None, limit)).collect()
    }

    /// Events of an event id received at or after `since`, in the order they were received, beginning after
    /// `after`, at most `limit`.
    fn events_since(
        &mut self,
        workspace: WorkspaceId,
        event_id: &str,
        since: Timestamp,
        after: Option<(Timestamp, EventUid)>,
        limit: usize,
    ) -> Result<Vec<Event>, Error>;

    /// [`Events::events_since`] of several event ids, each from its instant on.
    fn events_of(
        &mut self,
        events: &[(EventName<'_>, Timestamp)],
        limit: usize,
    ) -> Result<Vec<Vec<Event>>, Error> {
        let look = |(event, since): &(EventName<'_>, Timestamp)| {
            self.events_since(event.workspace, event.event_id, *since, None, limit)
        };
        events.iter().map(look).collect()
    }

    /// Events, of this event id or of all, the one received last first.
    fn events(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        page: &Page<(Timestamp, EventUid)>,
    ) -> Result<Vec<Event>, Error>;
}

/// What events are looked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventName<'a> {
    pub workspace: WorkspaceId,
    pub event_id: &'a str,
}

/// Reads a waiter of `run, number, created_at, resume_at, filter`.
pub(crate) fn read_waiter(row: &impl RowReader, workspace: WorkspaceId) -> Result<Waiter, Error> {
    Ok(Waiter {
        waitpoint: row.run(0)?.waitpoint(row.number(1)?),
        workspace,
        created_at: row.instant(2)?,
        filter: row.json(4)?,
        resume_at: row.optional_instant(3)?,
    })
}

/// What is read of an event, by [`read_event`].
pub(crate) const EVENTS: &str = "SELECT id, workspace, event_id, received_at, data, run FROM events";

pub(crate) fn read_event(row: &impl RowReader) -> Result<Event, Error> {
    Ok(Event {
        id: EventUid(row.id(0)?),
        workspace: row.workspace(1)?,
        event_id: row.name(2)?.into(),
        received_at: row.instant(3)?,
        data: row.json(4)?,
        run: row.optional_run(5)?,
    })
}
