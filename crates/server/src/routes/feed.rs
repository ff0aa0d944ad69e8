//! Every change of every run, as it happens: for pages that show many runs at once.

use std::convert::Infallible;
use std::time::Duration;

use abide_core::id::{RunId, WorkspaceId};
use abide_core::status::RunStatus;
use abide_engine::Changed;
use abide_engine::stored::Scope;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;

const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) fn routes() -> Group {
    Group::new("feed", "What changes, as it changes.").add(
        Endpoint::new(Verb::Get, "/feed", Access::Key(&[Scope::Read]), "Follow all runs of the workspace")
            .about(
                "A stream of events `run`, each `{\"runId\", \"status\", \"version\"}` of a run that has changed. Whoever is too \
                 slow to read gets an event `missed`, and should read the lists again.",
            )
            .plain(StatusCode::OK, &["text/event-stream"], "The stream. It begins with what happens next."),
        feed,
    )
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangedBody {
    run_id: RunId,
    status: RunStatus,
    version: u64,
}

struct Feed {
    app: Shared,
    workspace: WorkspaceId,
    changes: Receiver<Changed>,
}

async fn feed(State(app): State<Shared>, caller: Caller) -> Response {
    let feed = Feed { workspace: caller.workspace, changes: app.engine.feed(), app };
    Sse::new(stream::unfold(feed, Feed::step))
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
        .into_response()
}

impl Feed {
    async fn step(mut self) -> Option<(Result<Event, Infallible>, Feed)> {
        loop {
            let change = tokio::select! {
                change = self.changes.recv() => change,
                () = self.app.stopped() => return None,
            };
            let event = match change {
                Ok(Changed { run, workspace, status, version, after: _ }) if workspace == self.workspace => {
                    let body = ChangedBody { run_id: run, status, version };
                    let data = serde_json::to_string(&body).expect("a change is JSON");
                    Event::default().event("run").data(data)
                }
                Ok(_) => continue,
                Err(RecvError::Lagged(count)) => Event::default().event("missed").data(count.to_string()),
                Err(RecvError::Closed) => return None,
            };
            return Some((Ok(event), self));
        }
    }
}
