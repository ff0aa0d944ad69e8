//! An event that is to be sent: what the caller says, carried as it is until it is decided.

use std::sync::Arc;

use abide_core::definition::document::FanOut;
use abide_core::id::{RunId, WorkspaceId};
use abide_core::json::Json;
use abide_core::trace::Traceparent;
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
        }
    }

    /// In which workspace; [`Events::send`](crate::Events::send) says its own.
    pub fn in_workspace(self, workspace: WorkspaceId) -> SendEvent {
        SendEvent { workspace, ..self }
    }

    /// What the event says; null unless said.
    pub fn data(self, data: impl Into<Json>) -> SendEvent {
        SendEvent { data: data.into(), ..self }
    }

    /// Only to this run.
    pub fn only_to(self, run: impl Into<Option<RunId>>) -> SendEvent {
        SendEvent { only: run.into(), ..self }
    }

    /// To everyone who waits, or to the one who has waited longest; to everyone unless said.
    pub fn fan_out(self, fan_out: FanOut) -> SendEvent {
        SendEvent { fan_out, ..self }
    }

    /// The same key and the same request are one event.
    pub fn idempotency_key(self, key: impl Into<Option<String>>) -> SendEvent {
        SendEvent { key: key.into(), ..self }
    }

    /// The trace that the event is sent in.
    pub fn traceparent(self, traceparent: Option<Traceparent>) -> SendEvent {
        SendEvent { traceparent, ..self }
    }

    /// Only say whom the event would wake.
    pub fn dry_run(self, dry_run: bool) -> SendEvent {
        SendEvent { dry_run, ..self }
    }
}
