//! The events of a workspace: sent, listed, and the waits for them.

use std::sync::Arc;

use abide_core::command::Event;
use abide_core::event_start::RefusedStart;
use abide_core::id::{EventUid, WaitpointId};
use abide_store::{EventStarter, Page, Waiter};
use jiff::Timestamp;

use super::WorkspaceHandle;
use crate::error::Error;
use crate::request::{Decide, EventSent};
use crate::send_event::SendEvent;

/// How many events are read at a time, so that a page of large ones ends soon.
const SLICE: usize = 20;

/// The events of a workspace. Made by [`WorkspaceHandle::events`].
#[derive(Clone, Copy, Debug)]
pub struct Events<'e>(pub(super) WorkspaceHandle<'e>);

/// A page of events.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    /// The events, the one received last first.
    pub events: Vec<Event>,
    /// Whether there may be more events after these.
    pub more: bool,
}

/// A workflow that an event starts, by the `startOn` of its newest version.
#[derive(Clone, Debug, PartialEq)]
pub struct StartedOnEvent {
    /// The name of the event.
    pub event_id: String,
    /// The name of the workflow.
    pub workflow: String,
    /// The newest version of the workflow.
    pub version: String,
    /// The condition that an event must satisfy; `None`: there is none.
    pub matching: Option<String>,
    /// The last start of the workflow on this event that was refused.
    pub refused: Option<RefusedStart>,
}

/// The event id and the workflow that a page of starts ends with.
type StartsPlace = (String, String);

impl Events<'_> {
    /// The workflows that events of this event id, or of all, start: by event id and name. Says where the next page begins.
    pub async fn starts(
        self,
        event_id: Option<String>,
        after: Option<StartsPlace>,
        limit: usize,
    ) -> Result<(Vec<StartedOnEvent>, Option<StartsPlace>), Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let known = Arc::clone(&engine.readers.known);
        let read = move |store: &mut dyn abide_store::Read| {
            let after = after.as_ref().map(|(event, workflow)| (event.as_str(), workflow.as_str()));
            let found = store.event_starts(id, event_id.as_deref(), after, limit)?;
            let next = found.last().filter(|_| found.len() == limit);
            let next = next.map(|last| (last.event_id.clone(), last.workflow.clone()));
            let mut starts = Vec::new();
            for EventStarter { event_id, workflow, refused } in found {
                let Some(newest) = known.newest(store, id, &workflow)? else { continue };
                starts.extend(newest.start_on.iter().filter(|on| *on.event_id == *event_id).map(|on| {
                    StartedOnEvent {
                        event_id: event_id.clone(),
                        workflow: workflow.clone(),
                        version: newest.version().to_owned(),
                        matching: on.matching.as_ref().map(|matching| matching.source().to_owned()),
                        refused: refused.clone(),
                    }
                }));
            }
            Ok((starts, next))
        };
        engine.readers.read(Some(id), read).await
    }

    /// Sends an event to every run that waits for it, or will.
    pub async fn send(self, event: SendEvent) -> Result<EventSent, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let send = Box::new(event.in_workspace(id));
        engine.ask_in(id, |answer| Decide::SendEvent { send, answer }).await
    }

    /// The events of this event id, or of all, the one received last first. A page ends where its payloads have
    /// `bytes` together.
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

    /// The open waits for an event id, the oldest first.
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
