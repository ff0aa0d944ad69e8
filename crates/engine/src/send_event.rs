//! An event that is to be sent: what the caller says, carried as it is until it is decided.

use std::sync::Arc;

use abide_core::definition::document::FanOut;
use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_core::json::Json;
use abide_core::trace::Traceparent;
use abide_core::waitpoint::Actor;
use serde_json::Value;

/// An event to send with [`Events::send`](crate::Events::send): to everyone who waits for it, or will.
#[derive(Clone, Debug)]
pub struct SendEvent {
    pub(crate) workspace: WorkspaceId,
    pub(crate) event_id: Arc<str>,
    pub(crate) data: Json,
    pub(crate) only: Option<RunId>,
    pub(crate) fan_out: FanOut,
    pub(crate) key: Option<String>,
    pub(crate) traceparent: Option<Traceparent>,
    pub(crate) dry_run: bool,
    pub(crate) sender: Option<Sender>,
    /// The run whose step sends the event.
    pub(crate) from: Option<RunId>,
}

/// The task in whose name an event is sent.
#[derive(Clone, Debug)]
pub struct Sender {
    /// The run whose task it is.
    pub run: RunId,
    /// The step that the task is of.
    pub at: StepAddress,
    /// The lease that must be the present one.
    pub lease_epoch: u32,
    /// Who has the lease.
    pub by: Actor,
}

impl SendEvent {
    /// An event of this id to everyone who waits for it, without data.
    pub fn new(event_id: impl Into<Arc<str>>) -> SendEvent {
        SendEvent {
            workspace: WorkspaceId::DEFAULT,
            event_id: event_id.into(),
            data: Value::Null.into(),
            only: None,
            fan_out: FanOut::default(),
            key: None,
            traceparent: None,
            dry_run: false,
            sender: None,
            from: None,
        }
    }

    /// Sets the workspace; [`Events::send`](crate::Events::send) sets its own.
    pub fn in_workspace(self, workspace: WorkspaceId) -> SendEvent {
        SendEvent { workspace, ..self }
    }

    /// Sets the data of the event; null unless said.
    pub fn data(self, data: impl Into<Json>) -> SendEvent {
        SendEvent { data: data.into(), ..self }
    }

    /// Sends the event to this run alone.
    pub fn only_to(self, run: impl Into<Option<RunId>>) -> SendEvent {
        SendEvent { only: run.into(), ..self }
    }

    /// Sets the fan-out: to every wait, or to the one that has waited longest; to every wait unless said.
    pub fn fan_out(self, fan_out: FanOut) -> SendEvent {
        SendEvent { fan_out, ..self }
    }

    /// Sets an idempotency key: the same key and the same request are one event.
    pub fn idempotency_key(self, key: impl Into<Option<String>>) -> SendEvent {
        SendEvent { key: key.into(), ..self }
    }

    /// Sets the W3C trace context that the event is sent in.
    pub fn traceparent(self, traceparent: Option<Traceparent>) -> SendEvent {
        SendEvent { traceparent, ..self }
    }

    /// In the name of a task: sent only if the sender has its lease when that is decided, and recorded in its run.
    pub fn sent_by(self, sender: impl Into<Option<Sender>>) -> SendEvent {
        SendEvent { sender: sender.into(), ..self }
    }

    /// Sets whether only to say which waits would take the event.
    pub fn dry_run(self, dry_run: bool) -> SendEvent {
        SendEvent { dry_run, ..self }
    }
}
