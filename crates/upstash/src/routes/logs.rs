//! `GET /v2/events`: what became of plain messages, the newest first, told from the histories of their runs.

use abide_core::run::Run;
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::{Kind, ListensFor};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::messages::run_of;
use super::select::select;
use super::{Answer, Query, ok};
use crate::plain::Plain;
use crate::{Gateway, MESSAGE};

/// How many messages are told of if nobody says.
const COUNT: usize = 100;

pub(super) async fn list(gateway: &Gateway, query: &Query) -> Answer {
    let named: Vec<_> = query.all("messageIds").chain(query.all("messageId")).filter_map(run_of).collect();
    let (ids, cursor) = match named.is_empty() {
        true => {
            let found = select(gateway, query, &[MESSAGE], &[], query.count(COUNT).min(COUNT)).await?;
            (found.runs.into_iter().map(|run| run.id).collect(), found.cursor)
        }
        false => (named, None),
    };
    let runs = gateway.workspace().runs().read(ids.clone()).await?;
    let mut events = Vec::new();
    for run in ids.iter().filter_map(|id| runs.get(id)) {
        let Some(plain) = Plain::of_run(run) else { continue };
        events.extend(states(run).into_iter().rev().map(|(time, state, error)| {
            let mut event = plain.shown(run);
            event["time"] = json!(time.as_millisecond());
            event["state"] = json!(state);
            if let Some(error) = error {
                event["error"] = json!(error);
            }
            event
        }));
    }
    if let Some(state) = query.get("state") {
        events.retain(|event| event["state"] == *state);
    }
    let mut body = json!({ "events": Value::Array(events) });
    if let Some(cursor) = cursor {
        body["cursor"] = json!(cursor.to_string());
    }
    ok(body)
}

/// What a message came to, one after the other.
fn states(run: &Run) -> Vec<(Timestamp, &'static str, Option<String>)> {
    let mut states = vec![(run.created_at, "CREATED", None)];
    if let Some(started) = run.started_at {
        states.push((started, "ACTIVE", None));
    }
    for wait in run.waitpoints().filter(|wait| wait.kind == Kind::Retry) {
        let ListensFor::Attempt(next) = &wait.listens_for else { continue };
        let why = Some(next.error.message.clone());
        states.push((wait.created_at, "ERROR", why.clone()));
        states.push((wait.created_at, "RETRY", why));
        if let Some(at) = wait.resolved_at.filter(|_| wait.status != WaitStatus::Cancelled) {
            states.push((at, "ACTIVE", None));
        }
    }
    let ended = run.ended_at.unwrap_or(run.created_at);
    match run.status {
        RunStatus::Completed => states.push((ended, "DELIVERED", None)),
        RunStatus::Failed => {
            let why = run.error.as_ref().map(|error| error.message.clone());
            states.push((ended, "ERROR", why.clone()));
            states.push((ended, "FAILED", why));
        }
        RunStatus::Cancelled => states.push((ended, "CANCELED", None)),
        RunStatus::Pending | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => {}
    }
    states
}
