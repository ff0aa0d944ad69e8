//! Which workflows an event may start: of which some version names its id in a `startOn`. Whether the newest version still
//! does is for whoever has its definition to say.

use abide_core::event_start::RefusedStart;
use abide_core::id::WorkspaceId;

use crate::row::RowReader;
use crate::{Error, EventName};

/// Finds the workflows that an event may start.
pub trait EventStarts: Send {
    /// Workflows that events of this id, or of any, may start: by event id and name, beginning after `after`.
    fn event_starts(
        &mut self,
        workspace: WorkspaceId,
        event_id: Option<&str>,
        after: Option<(&str, &str)>,
        limit: usize,
    ) -> Result<Vec<EventStarter>, Error>;

    /// [`EventStarts::event_starts`] of several event ids, each from the first on.
    fn event_starts_of(
        &mut self,
        events: &[EventName<'_>],
        limit: usize,
    ) -> Result<Vec<Vec<EventStarter>>, Error> {
        events
            .iter()
            .map(|event| self.event_starts(event.workspace, Some(event.event_id), None, limit))
            .collect()
    }
}

/// A workflow of which some version names an event in a `startOn`.
#[derive(Clone, Debug, PartialEq)]
pub struct EventStarter {
    pub event_id: String,
    /// The workflow's name.
    pub workflow: String,
    /// The last start that was refused.
    pub refused: Option<RefusedStart>,
}

/// A workflow that an event may start, as it is written: with a deployment, or when a start was refused.
#[derive(Clone, Copy, Debug)]
pub struct EventStartWrite<'a> {
    pub workspace: WorkspaceId,
    pub event_id: &'a str,
    /// The workflow's name.
    pub workflow: &'a str,
    /// A start that was refused; `None` leaves what is there.
    pub refused: Option<&'a RefusedStart>,
}

impl EventStartWrite<'_> {
    pub(crate) fn refused_json(&self) -> Option<String> {
        self.refused.map(|refused| serde_json::to_string(refused).expect("a refusal is JSON"))
    }
}

impl EventStarter {
    /// Of `event_id, workflow, refused`.
    pub(crate) fn read(row: &impl RowReader) -> Result<EventStarter, Error> {
        Ok(EventStarter { event_id: row.name(0)?, workflow: row.name(1)?, refused: row.optional_json(2)? })
    }
}
