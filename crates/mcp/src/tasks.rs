//! Tasks: runs that a client polls. The id of a task is that of its run, so it is there before it is told, and after every
//! restart; what a client is to be asked are waits of the run.

use serde_json::{Map, Value, json};

use crate::api::{segment, text};
use crate::ask::{self, Ask};
use crate::client::TASKS;
use crate::dispatch::{Context, required};
use crate::outcome::{self, has_ended};
use crate::rpc::Error;

/// How often a client should ask for a task that is worked on.
const POLL_MS: u64 = 1_000;

pub(crate) fn need_extension(context: &Context) -> Result<(), Error> {
    match context.client.capabilities.tasks {
        true => Ok(()),
        false => Err(Error::missing_capability(json!({ "extensions": { TASKS: {} } }))),
    }
}

/// The answer to a call that became a task.
pub(crate) fn created(run: &Value) -> Value {
    let mut task = task(run, "working");
    task["resultType"] = "task".into();
    task
}

fn task(run: &Value, status: &str) -> Value {
    let mut task = json!({
        "taskId": run["id"],
        "status": status,
        "createdAt": run["createdAt"],
        "lastUpdatedAt": updated_at(run),
        "ttlMs": null,
        "pollIntervalMs": POLL_MS,
    });
    if let Some(message) = outcome::message(run) {
        task["statusMessage"] = message.into();
    }
    task
}

/// The last time that is known of. Instants of one form are ordered as their texts are.
fn updated_at(run: &Value) -> &str {
    let waits = run.get("waitingFor").and_then(Value::as_array).into_iter().flatten();
    let times = ["createdAt", "startedAt", "endedAt"].map(|field| text(run, field));
    waits.map(|wait| text(wait, "since")).chain(times).max().unwrap_or_default()
}

/// A task with what belongs to its status.
pub(crate) fn detailed(run: &Value, asks: &[Ask]) -> Value {
    if has_ended(run) {
        if text(run, "status") == "CANCELLED" {
            return task(run, "cancelled");
        }
        return match outcome::result(run) {
            Ok(result) => with(task(run, "completed"), "result", result),
            Err(error) => with(task(run, "failed"), "error", error.shown()),
        };
    }
    if asks.is_empty() {
        return task(run, "working");
    }
    // The id of a waitpoint is never used again.
    let requests: Map<String, Value> =
        asks.iter().map(|ask| (ask.id.clone(), ask.question.request())).collect();
    with(task(run, "input_required"), "inputRequests", requests.into())
}

fn with(mut task: Value, field: &str, value: Value) -> Value {
    task[field] = value;
    task
}

/// The run of a task, and what its client can be asked.
pub(crate) async fn find(context: &Context, id: &str) -> Result<(Value, Vec<Ask>), Error> {
    let run = match context.api.get(&format!("/workflow-runs/{}", segment(id))).await {
        Ok(run) => run,
        Err(problem) if problem.is_unknown() || problem.is_about_what_was_sent() => {
            return Err(Error::invalid(format!("there is no task `{id}`")));
        }
        Err(problem) => return Err(problem.into()),
    };
    let offered = context.gateway.catalog.get(&context.api, text(&run["definition"], "id")).await?;
    let asks = match has_ended(&run) {
        true => Vec::new(),
        false => ask::open(&context.api, &run, offered.as_deref(), context.client.capabilities).await?,
    };
    Ok((run, asks))
}

pub(crate) async fn get(context: &Context, params: &Value) -> Result<Value, Error> {
    need_extension(context)?;
    let (run, asks) = find(context, required(params, "taskId")?).await?;
    Ok(detailed(&run, &asks))
}

/// Answers to what is not asked any more, or never was, are left alone.
pub(crate) async fn update(context: &Context, params: &Value) -> Result<Value, Error> {
    need_extension(context)?;
    let (_, asks) = find(context, required(params, "taskId")?).await?;
    let Some(Value::Object(responses)) = params.get("inputResponses") else {
        return Err(Error::invalid("`inputResponses` must be an object"));
    };
    for ask in &asks {
        if let Some(response) = responses.get(&ask.id) {
            ask.give(&context.api, response).await?;
        }
    }
    Ok(json!({}))
}

pub(crate) async fn cancel(context: &Context, params: &Value) -> Result<Value, Error> {
    need_extension(context)?;
    let id = required(params, "taskId")?;
    find(context, id).await?;
    let reason = json!({ "reason": "cancelled by the client of its task" });
    match context.api.post(&format!("/workflow-runs/{}/cancel", segment(id)), &reason).await {
        Err(problem) if !problem.is_too_late() => Err(problem.into()),
        Err(_) | Ok(_) => Ok(json!({})),
    }
}
