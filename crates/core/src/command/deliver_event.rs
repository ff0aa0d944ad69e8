//! An event is offered to a wait. The engine finds the waiters; whether this one takes it is decided here.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::Reply;
use crate::flow;
use crate::history::Change;
use crate::id::{EventUid, RunId, StepAddress, WorkspaceId};
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::run::Run;
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::{Kind, ListensFor, Waitpoint};

/// An event, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The event's own number, `evt_…`.
    pub id: EventUid,
    /// The workspace that the event was sent in; only its runs see the event.
    #[serde(default, skip_serializing_if = "WorkspaceId::is_default")]
    pub workspace: WorkspaceId,
    /// The name that waits listen for, such as `order.paid`.
    pub event_id: Arc<str>,
    /// The payload of the event, which `match` is evaluated over.
    pub data: Json,
    /// When the engine received the event.
    pub received_at: Timestamp,
    /// The one run that the event was sent to; `None`: whoever waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

impl Event {
    /// Refuses an event that is over a limit, before it is stored.
    pub fn check(&self) -> Result<(), Refusal> {
        if !(1..=limits::NAME_CHARS).contains(&self.event_id.chars().count()) {
            let message = format!("must have 1 to {} characters", limits::NAME_CHARS);
            return Err(Refusal::Malformed { pointer: "/eventId", message });
        }
        within("the size of eventData in bytes", self.data.bytes(), limits::PAYLOAD_BYTES)
    }
}

/// An event is offered to one wait of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeliverEvent {
    /// The number of the `EVENT` waitpoint.
    pub number: u32,
    /// The event, as it is stored.
    pub event: Event,
}

impl DeliverEvent {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let DeliverEvent { number, event } = self;
        // What counts is when the event was received: one that came in time is taken even if it is offered late. And a
        // wait that is open takes what is there, also if it was received by a clock that was ahead.
        let waitpoint = turn.pending(number)?;
        let id = turn.run.waitpoint_id(number);
        let closes_at = turn.run.closes_at(number);
        if let Some(at) = closes_at.filter(|at| event.received_at >= *at && turn.now >= *at) {
            return Err(Refusal::Expired { waitpoint: id, at });
        }
        if waitpoint.kind != Kind::Event {
            let (kind, verb) = (waitpoint.kind, "matched with an event");
            return Err(Refusal::WrongKind { waitpoint: id, kind, verb });
        }
        if !turn.run.takes(number, &event) {
            return Err(Refusal::NoMatch(id));
        }
        let (taken, received_at) = (event.id, event.received_at);
        turn.emit(Change::EventMatched { number, event: taken, received_at })?;
        flow::resolve(turn, number, WaitStatus::Completed, Some(event.data))?;
        Ok(Reply::Waitpoint(id))
    }
}

impl Run {
    /// Whether the wait of this number takes the event: it is of the run's workspace, was not sent to another run,
    /// the wait's filter accepts it, and no wait before this one has taken it.
    pub fn takes(&self, number: u32, event: &Event) -> bool {
        self.takes_at(number, event).0
    }

    /// Whether a wait takes an event, and what it cost to find out, in bytes that were looked at.
    pub fn takes_at(&self, number: u32, event: &Event) -> (bool, usize) {
        let Some(Waitpoint { at, listens_for: ListensFor::Event(filter), .. }) = self.waitpoint(number)
        else {
            return (false, 0);
        };
        let may = self.workspace == event.workspace
            && event.run.is_none_or(|run| run == self.id)
            && filter.event_id == event.event_id
            && event.received_at >= filter.since
            && self.is_after_its_start(event)
            && !at.is_some_and(|at| self.was_taken_before(at, number, event.id));
        if may { filter.accepts_at(&event.data) } else { (false, 0) }
    }

    /// Whether an event came after the one that the run was started on, if it was: that one, and those of the same instant
    /// that came before it, are not what the run waits for.
    fn is_after_its_start(&self, event: &Event) -> bool {
        let on = self.started_on.as_ref();
        on.is_none_or(|on| (event.received_at, event.id) > (on.received_at, on.event))
    }

    /// Whether the event was taken before this wait: by a step that comes before its step in the workflow, or at its own
    /// place before it began. By order and not by time, so that it makes no difference whether the event or the waits come
    /// first: what stands side by side (branches, items of a map) takes it however late it begins.
    fn was_taken_before(&self, at: StepAddress, number: u32, event: EventUid) -> bool {
        let Some(takings) = self.taken.get(&event) else { return false };
        let here = takings.binary_search_by_key(&at, |taking| taking.at).map(|index| takings[index]);
        if here.is_ok_and(|taking| number > taking.waits) {
            return true;
        }
        let mut rest = takings.as_slice();
        while let Some(step) = rest.first().map(|taking| taking.at.step) {
            if step != at.step && self.definition.comes_before(step, at.step) {
                return true;
            }
            // Ten thousand items of a map are one step.
            rest = &rest[rest.partition_point(|taking| taking.at.step <= step)..];
        }
        false
    }
}
