//! An event is offered to a wait. The engine finds the waiters; whether this one takes it is decided here.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::Reply;
use crate::flow;
use crate::history::Change;
use crate::id::{OccurrenceId, WorkspaceId};
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::run::Run;
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::{EventFilter, ListensFor};

/// One occurrence of an event, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Occurrence {
    pub id: OccurrenceId,
    #[serde(default, skip_serializing_if = "WorkspaceId::is_default")]
    pub workspace: WorkspaceId,
    pub event_id: Arc<str>,
    pub data: Json,
    pub received_at: Timestamp,
}

impl Occurrence {
    /// Refuses an event that keeps no limit, before it is stored.
    pub fn check(&self) -> Result<(), Refusal> {
        if !(1..=limits::NAME_CHARS).contains(&self.event_id.chars().count()) {
            let message = format!("must have 1 to {} characters", limits::NAME_CHARS);
            return Err(Refusal::Malformed { pointer: "/eventId", message });
        }
        within("the size of eventData in bytes", self.data.bytes(), limits::PAYLOAD_BYTES)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeliverEvent {
    pub number: u32,
    pub occurrence: Occurrence,
}

impl DeliverEvent {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let DeliverEvent { number, occurrence } = self;
        // What counts is when the event was received: one that came in time is taken even if it is offered late.
        let waitpoint = turn.pending(number)?;
        let id = turn.run.waitpoint_id(number);
        if let Some(at) = waitpoint.resume_at.filter(|at| occurrence.received_at >= *at) {
            return Err(Refusal::Expired { waitpoint: id, at });
        }
        let ListensFor::Event(filter) = &waitpoint.listens_for else {
            return Err(Refusal::WrongKind {
                waitpoint: id,
                kind: waitpoint.kind,
                verb: "matched with an event",
            });
        };
        if !turn.run.takes(filter, &occurrence) {
            return Err(Refusal::NoMatch(id));
        }
        turn.emit(Change::EventMatched { number, occurrence: occurrence.id })?;
        flow::resolve(turn, number, WaitStatus::Completed, Some(occurrence.data))?;
        Ok(Reply::Waitpoint(id))
    }
}

impl Run {
    /// Whether a wait of this run with this filter takes the event: each occurrence at most once per run, and only
    /// those of its workspace.
    pub fn takes(&self, filter: &EventFilter, occurrence: &Occurrence) -> bool {
        self.workspace == occurrence.workspace
            && filter.event_id == occurrence.event_id
            && occurrence.received_at >= filter.since
            && !self.has_consumed(occurrence.id)
            && filter.accepts(&occurrence.data)
    }
}
