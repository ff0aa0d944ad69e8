//! The events of a workspace: sent to whoever waits for them, listed, and who waits.

use abide_core::command::Event;
use abide_core::id::{EventUid, WaitpointId};
use abide_store::{Page, Waiter};
use jiff::Timestamp;

use super::WorkspaceHandle;
use crate::error::Error;
use crate::request::{Decide, EventSent};
use crate::send_event::SendEvent;

/// Events that are read at a time, so that a page of large ones ends soon.
const SLICE: usize = 20;

/// The events of a workspace. Made by [`WorkspaceHandle::events`].
#[derive(Clone, Copy, Debug)]
pub struct Events<'e>(pub(super) WorkspaceHandle<'e>);

/// A page of events.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    /// The one received last first.
    pub events: Vec<Event>,
    /// There may be more after them.
    pub more: bool,
}

impl Events<'_> {
    /// Sends an event to everyone who waits for it, or will.
    pub async fn send(self, event: SendEvent) -> Result<EventSent, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let notify = Box::new(event.in_workspace(id));
        engine.ask_in(id, |answer| Decide::SendEvent { notify, answer }).await
    }

    /// Events of this event id or of all, the one received last first. A page ends where its payloads have `bytes`
    /// together.
    pub async fn list(
        self,
        event_id: Option<String>,
        page: Page<(Timestamp, EventUid)>,
        bytes: usize,
    ) -> Result<EventPage, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let read = move |store: &mut dyn abide_store::Read| {
            let Page { mut after, limit } = page;
            let (mut events, mut read_bytes) = (Vec::<Event>::new(), 0);
            while events.len() < limit && read_bytes < bytes {
                let page = Page { after, limit: SLICE.min(limit - events.len()) };
                let slice = store.events(id, event_id.as_deref(), &page)?;
                let is_last = slice.len() < page.limit;
                read_bytes += slice.iter().map(|event| event.data.bytes()).sum::<usize>();
                events.extend(slice);
                after = events.last().map(|last| (last.received_at, last.id));
                if is_last {
                    return Ok(EventPage { events, more: false });
                }
            }
            Ok(EventPage { events, more: true })
        };
        engine.readers.read(Some(id), read).await
    }

    /// Open waits for an event id, the oldest first.
    pub async fn waiters(
        self,
        event_id: String,
        page: Page<(Timestamp, WaitpointId)>,
    ) -> Result<Vec<Waiter>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let Page { after, limit } = page;
        engine.readers.read(Some(id), move |store| store.waiters(id, &event_id, after, limit)).await
    }
}
