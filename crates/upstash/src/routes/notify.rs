//! `POST /v2/notify/…` and `GET /v2/waiters/{eventId}`: events for those who wait, or for one run.

use abide_core::id::WaitpointId;
use abide_core::run::Run;
use abide_engine::SendEvent;
use abide_engine::stored::Page;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Answer, GuestRequest, Problem, decoded, ok};
use crate::record::not_active;
use crate::started::Started;
use crate::{Gateway, event};

/// How many waiters are listed, and how many of those that were woken are named.
const WAITERS: usize = 1_000;

pub(super) async fn notify(gateway: &Gateway, asked: &GuestRequest, path: &str) -> Answer {
    let (run, event_id) = match path.split_once('/') {
        Some((run, event_id)) => (Some(decoded(run)), decoded(event_id)),
        None => (None, decoded(path)),
    };
    if event_id.is_empty() {
        return Err(Problem::bad("an event has an id"));
    }
    let sent = match run {
        None => SendEvent::new(event_id).data(event::to_all(&asked.body, gateway.engine.now())),
        Some(run) => {
            let found = gateway.find(&run).await?.ok_or_else(|| not_active(&run))?;
            SendEvent::new(event_id).data(event::to_run(&asked.body)).only_to(found)
        }
    };
    let sent = gateway.workspace().events().send(sent).await?;
    let mut woken = Vec::new();
    for waitpoint in sent.waiters.into_iter().take(WAITERS) {
        let run = gateway.workspace().run(waitpoint.run).get().await?;
        let Some(started) = Started::of(&run) else { continue };
        woken.push(json!({
            "waiter": shown(&started, deadline(&run, waitpoint)),
            "messageId": format!("msg_{waitpoint}"),
            "error": "",
            "workflowRunId": started.workflow_run_id,
            "workflowCreatedAt": run.created_at.as_millisecond(),
        }));
    }
    ok(Value::Array(woken))
}

fn deadline(run: &Run, waitpoint: WaitpointId) -> Option<Timestamp> {
    run.waitpoint(waitpoint.number).and_then(|wait| wait.resume_at)
}

pub(super) async fn waiters(gateway: &Gateway, event_id: &str) -> Answer {
    let page = Page { after: None, limit: WAITERS };
    let waiters = gateway.workspace().events().waiters(event_id.to_owned(), page).await?;
    let mut listed = Vec::new();
    for waiter in waiters {
        let run = gateway.workspace().run(waiter.waitpoint.run).get().await?;
        listed.extend(Started::of(&run).map(|started| shown(&started, waiter.resume_at)));
    }
    ok(Value::Array(listed))
}

fn shown(started: &Started, deadline: Option<Timestamp>) -> Value {
    json!({
        "url": started.url,
        "deadline": deadline.map_or(0, Timestamp::as_second),
        "headers": { "Upstash-Workflow-Runid": [started.workflow_run_id] },
        "timeoutUrl": started.url,
        "timeoutBody": null,
        "timeoutHeaders": { "Upstash-Workflow-Runid": [started.workflow_run_id] },
    })
}
