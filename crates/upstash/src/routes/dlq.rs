//! The dead letter queue: runs that have failed, until they are resumed, restarted or deleted.
//!
//! A run is resumed in place: it goes on under its own id, as one that an operator retries. One that is restarted or
//! deleted is CANCELLED, so that nobody finds it in the queue again.

use abide_core::command::Command;
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Actor;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::select::{Selected, select};
use super::{Answer, GuestRequest, Problem, Query, ok};
use crate::log::Log;
use crate::message::Headers;
use crate::plain;
use crate::start::Begun;
use crate::started::Started;
use crate::throttle::Throttle;
use crate::{Gateway, WORKFLOW};

/// How many runs are taken by one request if it does not say.
const COUNT: usize = 100;

/// A failed run, with its log.
struct Letter {
    run: Run,
    log: Log,
    failure: Value,
}

impl Letter {
    async fn read(gateway: &Gateway, id: RunId) -> Result<Option<Letter>, Problem> {
        let run = gateway.workspace().run(id).get().await?;
        let log = Log::of(&run).filter(|_| run.status == RunStatus::Failed);
        Ok(log.map(|log| {
            let failure = log.failures.values().next_back().map(|failure| Value::clone(failure));
            Letter { run, failure: failure.unwrap_or_default(), log }
        }))
    }
}

async fn letters(gateway: &Gateway, query: &Query) -> Result<(Vec<Letter>, Option<RunId>), Problem> {
    let named: Vec<&str> = query.all("dlqIds").chain(query.all("dlqId")).collect();
    let (ids, cursor) = if named.is_empty() {
        let Selected { runs, cursor } =
            select(gateway, query, &[WORKFLOW], &[RunStatus::Failed], query.count(COUNT)).await?;
        (runs.into_iter().map(|run| run.id).collect(), cursor)
    } else {
        (named.into_iter().filter_map(run_of).collect::<Vec<_>>(), None)
    };
    let mut letters = Vec::new();
    for id in ids {
        letters.extend(Letter::read(gateway, id).await?);
    }
    if let Some(state) = query.get("failureFunctionState") {
        let mut in_state = Vec::new();
        for letter in letters {
            let info = callback_info(gateway, &letter.run).await?;
            if info.is_some_and(|info| info["state"] == *state) {
                in_state.push(letter);
            }
        }
        letters = in_state;
    }
    if let Some(status) = query.get("responseStatus").and_then(|status| status.parse::<u64>().ok()) {
        letters.retain(|letter| letter.failure["status"].as_u64() == Some(status));
    }
    Ok((letters, cursor))
}

pub(super) fn run_of(dlq_id: &str) -> Option<RunId> {
    format!("run_{}", dlq_id.strip_prefix("dlq_")?).parse().ok()
}

pub(super) async fn list(gateway: &Gateway, query: &Query) -> Answer {
    let (letters, cursor) = letters(gateway, query).await?;
    let mut messages = Vec::new();
    for letter in &letters {
        messages.push(shown(gateway, letter).await?);
    }
    let mut body = json!({ "messages": messages });
    if let Some(cursor) = cursor {
        body["cursor"] = json!(cursor.to_string());
    }
    ok(body)
}

/// A failed run of a guest as the queue shows it; `None` if it is none.
pub(super) async fn letter(gateway: &Gateway, id: RunId) -> Result<Option<Value>, Problem> {
    match Letter::read(gateway, id).await? {
        Some(letter) => shown(gateway, &letter).await.map(Some),
        None => Ok(None),
    }
}

async fn shown(gateway: &Gateway, Letter { run, log, failure }: &Letter) -> Result<Value, Problem> {
    let text = |name: &str| failure[name].as_str().unwrap_or_default().to_owned();
    let body = crate::message::Body::Base64(text("body")).text();
    let mut message = json!({
        "dlqId": crate::dlq_id(run),
        "messageId": text("sourceMessageId"),
        "url": log.started.url,
        "method": "POST",
        "header": {},
        "body": log.started.body.text(),
        "maxRetries": failure["maxRetries"],
        "notBefore": run.created_at.as_millisecond(),
        "createdAt": run.ended_at.unwrap_or(run.created_at).as_millisecond(),
        "callerIP": "",
        "workflowRunId": log.started.workflow_run_id,
        "workflowCreatedAt": run.created_at.as_millisecond(),
        "workflowUrl": log.started.url,
        "responseStatus": failure["status"],
        "responseHeader": failure["header"],
        "responseBody": body,
    });
    if let Some(label) = log.started.headers.get("upstash-label") {
        message["label"] = json!(label);
    }
    if let Some(info) = callback_info(gateway, run).await? {
        message["failureCallback"] =
            json!(log.started.headers.get("upstash-failure-callback").unwrap_or(&log.started.url));
        message["failureCallbackInfo"] = info;
    }
    Ok(message)
}

/// How the failure callback of a run stands; `None` if there is none, or the app has no failure function.
pub(super) async fn callback_info(gateway: &Gateway, run: &Run) -> Result<Option<Value>, Problem> {
    let started = run.waitpoints().rev().find(|wait| wait.name.starts_with(plain::FAILURE_CALLBACK));
    let child = started.and_then(|wait| wait.resume_payload.as_ref()).and_then(|payload| {
        let outcome = serde_json::from_value(Value::clone(payload)).ok()?;
        match outcome {
            abide_core::command::ChildOutcome::Started { run_id } => Some(run_id),
            abide_core::command::ChildOutcome::Completed { .. }
            | abide_core::command::ChildOutcome::Failed { .. }
            | abide_core::command::ChildOutcome::Cancelled => None,
        }
    });
    let Some(child) = child else { return Ok(None) };
    let child = match gateway.workspace().run(child).get().await {
        Ok(child) => child,
        Err(abide_engine::Error::UnknownRun(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let state = match child.status {
        RunStatus::Completed => "CALLBACK_SUCCESS",
        RunStatus::Failed | RunStatus::Cancelled => "CALLBACK_FAIL",
        RunStatus::Pending | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => {
            "CALLBACK_INPROGRESS"
        }
    };
    let answer = child.output.as_deref().cloned().unwrap_or_default();
    if answer["header"].get("Upstash-Workflow-Failure-Callback-Notfound").is_some() {
        return Ok(None);
    }
    Ok(Some(json!({
        "state": state,
        "responseStatus": answer["status"],
        "responseBody": answer["body"],
        "responseHeaders": answer["header"],
    })))
}

pub(super) async fn resume(gateway: &Gateway, query: &Query) -> Answer {
    let (letters, cursor) = letters(gateway, query).await?;
    let commands = letters.iter().map(|letter| (letter.run.id, Command::Retry)).collect();
    let answers = gateway.workspace().commands(commands, Actor::new("upstash")).await?;
    let resumed = letters.iter().zip(answers).filter(|(_, answer)| answer.is_ok());
    let runs: Vec<Value> = resumed.map(|(letter, _)| named(&letter.run, &letter.log.started)).collect();
    ok(json!({ "cursor": cursor.map_or(String::new(), |cursor| cursor.to_string()), "workflowRuns": runs }))
}

fn named(run: &Run, started: &Started) -> Value {
    json!({
        "workflowRunId": started.workflow_run_id,
        "workflowCreatedAt": run.created_at.as_millisecond(),
    })
}

pub(super) async fn restart(gateway: &Gateway, asked: &GuestRequest, query: &Query) -> Answer {
    let (letters, cursor) = letters(gateway, query).await?;
    let mut runs = Vec::new();
    for letter in &letters {
        let mut started = letter.log.started.clone();
        let own = gateway.sealer.seal_headers(Headers::of_request(&asked.headers))?;
        started.headers = started.headers.overlaid(&own);
        started.headers.0.remove("upstash-delay");
        started.headers.0.remove("upstash-not-before");
        // The same letter is restarted once, however often it is asked for.
        started.workflow_run_id = format!("wfr_{}", crate::dlq_id(&letter.run).trim_start_matches("dlq_"));
        let Begun { run, .. } = gateway.begin(started.clone()).await?;
        take_out(gateway, &letter.run, "restarted as a new run").await?;
        runs.push(named(&run, &started));
    }
    ok(json!({ "cursor": cursor.map_or(String::new(), |cursor| cursor.to_string()), "workflowRuns": runs }))
}

pub(super) async fn delete(gateway: &Gateway, query: &Query) -> Answer {
    let (letters, cursor) = letters(gateway, query).await?;
    for letter in &letters {
        take_out(gateway, &letter.run, "deleted from the dead letter queue").await?;
    }
    ok(
        json!({ "cursor": cursor.map_or(String::new(), |cursor| cursor.to_string()), "deleted": letters.len() }),
    )
}

/// Takes a failed run out of the queue.
pub(super) async fn take_out(gateway: &Gateway, run: &Run, reason: &str) -> Result<(), Problem> {
    let cancel = Command::Cancel { reason: Some(reason.to_owned()) };
    let commands = vec![(run.id, Command::Retry), (run.id, cancel)];
    let answers = gateway.workspace().commands(commands, Actor::new("upstash")).await?;
    answers.into_iter().find_map(Result::err).map_or(Ok(()), |error| Err(error.into()))
}

pub(super) async fn callback(gateway: &Gateway, id: &str) -> Answer {
    let unknown =
        || Problem::new(StatusCode::NOT_FOUND, format!("there is no {id} in the dead letter queue"));
    let letter = Letter::read(gateway, run_of(id).ok_or_else(unknown)?).await?.ok_or_else(unknown)?;
    let log = gateway.log_of(&letter.run).ok_or_else(unknown)?;
    let message = plain::failure_message(gateway, &letter.run, &log, &letter.failure)?;
    let message = message.ok_or_else(|| Problem::bad("the run has no failure callback"))?;
    let version = gateway.version(crate::MESSAGE, Throttle::default()).await?;
    let start = abide_engine::StartRun::new(crate::MESSAGE).version(version).tags(message.tags());
    let start = start.input(serde_json::to_value(&message).expect("a message is JSON"));
    gateway.workspace().start(start).await?;
    ok(named(&letter.run, &letter.log.started))
}
