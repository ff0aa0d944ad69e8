//! `/v2/dlq`: the dead letter queue of plain messages and, as clients see it, of guests' runs.
//!
//! A message that is retried goes on under its own id; one that is deleted is CANCELLED.

use abide_core::command::Command;
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Actor;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::dlq::{self, run_of, take_out};
use super::select::select;
use super::{Answer, GuestRequest, Problem, Query, ok};
use crate::plain::{Ended, Plain, message_id};
use crate::{Gateway, MESSAGE, WORKFLOW};

/// How many messages are taken by one request if it does not say.
const COUNT: usize = 100;

pub(super) async fn answer(gateway: &Gateway, asked: &GuestRequest, method: &str, rest: &str) -> Answer {
    let query = asked.query();
    match (method, rest) {
        ("GET", "") if query.get("source") == Some("workflow") => dlq::list(gateway, &query).await,
        ("GET", "") => list(gateway, &query).await,
        ("GET", id) => get(gateway, id).await,
        ("POST", "retry") => retry(gateway, &query).await,
        ("DELETE", "") => delete(gateway, &query).await,
        ("DELETE", id) => {
            let run = failed(gateway, id).await?;
            take_out(gateway, &run, "deleted from the dead letter queue").await?;
            ok(json!({ "deleted": 1 }))
        }
        (_, _) => Err(asked.not_served()),
    }
}

async fn failed(gateway: &Gateway, id: &str) -> Result<Run, Problem> {
    let unknown =
        || Problem::new(StatusCode::NOT_FOUND, format!("there is no {id} in the dead letter queue"));
    match gateway.workspace().run(run_of(id).ok_or_else(unknown)?).get().await {
        Ok(run) if run.status == RunStatus::Failed => Ok(run),
        Ok(_) | Err(abide_engine::Error::UnknownRun(_)) => Err(unknown()),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn get(gateway: &Gateway, id: &str) -> Answer {
    let run = failed(gateway, id).await?;
    ok(shown(gateway, &run).await?.unwrap_or_default())
}

async fn shown(gateway: &Gateway, run: &Run) -> Result<Option<Value>, Problem> {
    let Some(plain) = Plain::of_run(run) else { return dlq::letter(gateway, run.id).await };
    let mut shown = plain.shown(run);
    let answer = Ended::of_run(run).map(|ended| ended.answer).unwrap_or_default();
    shown["dlqId"] = json!(crate::dlq_id(run));
    shown["responseStatus"] = answer["status"].clone();
    shown["responseHeader"] = answer["header"].clone();
    shown["responseBody"] = answer["body"].clone();
    Ok(Some(shown))
}

/// The failed runs that a query means: by their ids, or by what they are.
async fn meant(
    gateway: &Gateway,
    query: &Query,
    workflows: &[&str],
) -> Result<(Vec<RunId>, Option<RunId>), Problem> {
    let named: Vec<RunId> = query
        .all("dlqIds")
        .filter_map(run_of)
        .chain(query.all("messageId").filter_map(super::messages::run_of))
        .collect();
    if !named.is_empty() || query.get("dlqIds").is_some() || query.get("messageId").is_some() {
        return Ok((named, None));
    }
    let found = select(gateway, query, workflows, &[RunStatus::Failed], query.count(COUNT)).await?;
    Ok((found.runs.into_iter().map(|run| run.id).collect(), found.cursor))
}

async fn list(gateway: &Gateway, query: &Query) -> Answer {
    let (ids, cursor) = meant(gateway, query, &[MESSAGE, WORKFLOW]).await?;
    let runs = gateway.workspace().runs().read(ids.clone()).await?;
    let mut messages = Vec::new();
    let status = query.get("responseStatus").and_then(|status| status.parse::<u64>().ok());
    for run in ids.iter().filter_map(|id| runs.get(id)).filter(|run| run.status == RunStatus::Failed) {
        let found = shown(gateway, run).await?;
        let is_meant = |it: &Value| status.is_none_or(|status| it["responseStatus"].as_u64() == Some(status));
        messages.extend(found.filter(is_meant));
    }
    let mut body = json!({ "messages": messages });
    if let Some(cursor) = cursor {
        body["cursor"] = json!(cursor.to_string());
    }
    ok(body)
}

async fn retry(gateway: &Gateway, query: &Query) -> Answer {
    let (ids, cursor) = meant(gateway, query, &[MESSAGE]).await?;
    let commands = ids.iter().map(|id| (*id, Command::Retry)).collect();
    let answers = gateway.workspace().commands(commands, Actor::new("upstash")).await?;
    let retried = ids.iter().zip(answers).filter(|(_, answer)| answer.is_ok());
    let responses: Vec<Value> =
        retried.map(|(id, _)| json!({ "messageId": message_id(&id.to_string()) })).collect();
    ok(json!({ "responses": responses, "cursor": cursor.map_or(String::new(), |cursor| cursor.to_string()) }))
}

async fn delete(gateway: &Gateway, query: &Query) -> Answer {
    let (ids, cursor) = meant(gateway, query, &[MESSAGE, WORKFLOW]).await?;
    let runs = gateway.workspace().runs().read(ids).await?;
    let mut deleted = 0;
    for run in runs.values().filter(|run| run.status == RunStatus::Failed) {
        take_out(gateway, run, "deleted from the dead letter queue").await?;
        deleted += 1;
    }
    let mut body = json!({ "deleted": deleted });
    if let Some(cursor) = cursor {
        body["cursor"] = json!(cursor.to_string());
    }
    ok(body)
}
