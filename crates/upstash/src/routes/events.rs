//! `GET /v2/workflows/events`: runs and their steps, as the SDK's `client.logs` reads them.

use std::collections::BTreeMap;

use abide_core::run::Run;
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::Waitpoint;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::dlq::callback_info;
use super::select::{Selected, select};
use super::{Answer, Problem, Query, ok};
use crate::delivery::{self, CallRequest};
use crate::log::{Entry, Log, Parcel, RequestKind, message_ids};
use crate::message::Body;
use crate::{Gateway, WORKFLOW, sealed};

/// How many runs are listed if nobody says.
const COUNT: usize = 10;

pub(super) async fn list(gateway: &Gateway, query: &Query) -> Answer {
    let statuses: &[RunStatus] = match query.get("state") {
        Some("RUN_STARTED") => {
            &[RunStatus::Pending, RunStatus::Running, RunStatus::Waiting, RunStatus::Paused]
        }
        Some("RUN_SUCCESS") => &[RunStatus::Completed],
        Some("RUN_FAILED") => &[RunStatus::Failed],
        Some("RUN_CANCELED") => &[RunStatus::Cancelled],
        Some(other) => return Err(Problem::bad(format!("`{other}` is not a state of a run"))),
        None => &[],
    };
    let Selected { runs, cursor } =
        select(gateway, query, &[WORKFLOW], statuses, query.count(COUNT).min(100)).await?;
    let mut listed = Vec::new();
    for summary in runs {
        let run = gateway.workspace().run(summary.id).get().await?;
        if let Some(log) = Log::of(&run) {
            listed.push(shown(gateway, &run, &log).await?);
        }
    }
    let mut body = json!({ "runs": listed });
    if let Some(cursor) = cursor {
        body["cursor"] = json!(cursor.to_string());
    }
    ok(body)
}

fn state(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Pending | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => "RUN_STARTED",
        RunStatus::Completed => "RUN_SUCCESS",
        RunStatus::Failed => "RUN_FAILED",
        RunStatus::Cancelled => "RUN_CANCELED",
    }
}

async fn shown(gateway: &Gateway, run: &Run, log: &Log) -> Result<Value, Problem> {
    let mut shown = json!({
        "workflowRunId": log.started.workflow_run_id,
        "workflowUrl": log.started.url,
        "workflowState": state(run.status),
        "workflowRunCreatedAt": run.created_at.as_millisecond(),
        "steps": steps(run, log),
    });
    let mut put =
        |name: &str, value: Value| drop(shown.as_object_mut().map(|it| it.insert(name.to_owned(), value)));
    if let Some(ended) = run.ended_at {
        put("workflowRunCompletedAt", json!(ended.as_millisecond()));
    }
    if let Some(output) = run.output.as_ref().filter(|_| run.status == RunStatus::Completed) {
        put("workflowRunResponse", json!(Value::clone(output).to_string()));
    }
    if let Some(label) = log.started.headers.get("upstash-label") {
        put("label", json!(label));
    }
    if let Some(invoker) = &log.started.invoker {
        put("invoker", invoker.clone());
    }
    let failure = log.failures.values().next_back().filter(|_| run.status == RunStatus::Failed);
    if let Some(failure) = failure {
        put("dlqId", json!(crate::dlq_id(run)));
        if let Some(info) = callback_info(gateway, run).await? {
            let mut function = json!({
                "messageId": failure["sourceMessageId"],
                "url": log.started.headers.get("upstash-failure-callback").unwrap_or(&log.started.url),
                "failHeaders": failure["header"],
                "failStatus": failure["status"],
                "failResponse": Body::Base64(failure["body"].as_str().unwrap_or_default().to_owned()).text(),
                "dlqId": crate::dlq_id(run),
            });
            for (name, value) in info.as_object().into_iter().flatten() {
                function[name] = value.clone();
            }
            put("failureFunction", function);
        }
    }
    Ok(shown)
}

/// Steps in groups: one after the other, side by side, and what comes next.
fn steps(run: &Run, log: &Log) -> Value {
    let mut groups = vec![json!({ "type": "sequential", "steps": [initial(run, log)] })];
    let mut parallel: Vec<(u32, Vec<Value>)> = Vec::new();
    for entry in &log.entries[1..] {
        if entry.step.plans().is_some() {
            continue;
        }
        let plan = log.plan(entry.step.step_id).and_then(|plan| plan.stored.group);
        match (plan, parallel.last_mut()) {
            (Some(group), Some((last, steps))) if *last == group => steps.push(step(run, log, entry)),
            (Some(group), _) => {
                parallel.push((group, vec![step(run, log, entry)]));
                groups.push(json!({ "type": "parallel", "group": group }));
            }
            (None, _) => groups.push(json!({ "type": "sequential", "steps": [step(run, log, entry)] })),
        }
    }
    for group in &mut groups {
        if let Some(number) = group["group"].as_u64() {
            let found = parallel.iter().find(|(group, _)| u64::from(*group) == number);
            group["steps"] = json!(found.map(|(_, steps)| steps));
            group.as_object_mut().map(|group| group.remove("group"));
        }
    }
    let pending: Vec<Value> = log
        .requests
        .iter()
        .filter(|(number, _)| log.result(**number).is_none())
        .map(|(number, (kind, request))| {
            let mut step = request.step.clone();
            tell_request(&mut step, run, log, *number);
            step["retries"] = json!(retries_of(log, *number));
            step["createdAt"] = json!(run.created_at.as_millisecond());
            step["headers"] = json!({});
            step["state"] = json!("STEP_PROGRESS");
            step["callType"] = json!(if *kind == RequestKind::Call { "toCallback" } else { "step" });
            step["messageId"] = json!(message_ids(run)(&format!("c{number}")));
            step
        })
        .collect();
    if !pending.is_empty() {
        groups.push(json!({ "type": "sequential", "steps": pending }));
    }
    let next = next(run, log);
    if !next.is_empty() {
        groups.push(json!({ "type": "next", "steps": next }));
    }
    Value::Array(groups)
}

fn initial(run: &Run, log: &Log) -> Value {
    json!({
        "stepId": 0,
        "stepName": "init",
        "stepType": "Initial",
        "callType": "step",
        "messageId": log.entries[0].message_id,
        "out": log.started.body.text(),
        "concurrent": 1,
        "retries": log.started.headers.retries().unwrap_or(crate::message::RETRIES),
        "state": "STEP_SUCCESS",
        "createdAt": run.created_at.as_millisecond(),
        "headers": {},
    })
}

fn step(run: &Run, log: &Log, entry: &Entry) -> Value {
    let mut step = entry.stored.value();
    let headers = log.headers(entry);
    let delay = log.waits.get(Log::delay_name(&entry.name).as_str());
    let is_delayed = delay.is_some_and(|(status, _)| *status == WaitStatus::Pending);
    step["callType"] = json!("step");
    step["messageId"] = json!(entry.message_id);
    step["retries"] = json!(headers.retries().unwrap_or(crate::message::RETRIES));
    step["state"] =
        json!(if is_delayed && !run.status.has_ended() { "STEP_PROGRESS" } else { "STEP_SUCCESS" });
    step["createdAt"] = json!(run.created_at.as_millisecond());
    step["headers"] = json!({});
    if let Some(delay) = headers.get("upstash-retry-delay") {
        step["retryDelay"] = json!(delay);
    }
    tell_request(&mut step, run, log, entry.step.step_id);
    step
}

fn retries_of(log: &Log, number: u32) -> u32 {
    delivery::retries(log, &Parcel::Call(number), 0).0
}

/// Adds to a step what was asked for besides the log, and how it ended: a call, a wait, another run.
fn tell_request(step: &mut Value, run: &Run, log: &Log, number: u32) {
    let Some((kind, request)) = log.requests.get(&number) else { return };
    let mut put = |name: &str, value: Value| step[name] = value;
    match kind {
        RequestKind::Call => {
            let Some(asked) = CallRequest::of(&request.asked) else { return };
            let headers = asked.headers.forwarded();
            let headers: BTreeMap<&str, [&str; 1]> =
                headers.iter().map(|(name, value)| (name.as_str(), [sealed::shown(value)])).collect();
            put("callUrl", json!(asked.url));
            put("callMethod", json!(delivery::method(&asked.headers).as_str()));
            put("callHeaders", json!(headers));
            put("callBody", json!(asked.body.text()));
            if let Some(answer) = log.answers.get(&number) {
                let body = answer["body"].as_str().unwrap_or_default().to_owned();
                put("callResponseStatus", answer["status"].clone());
                put("callResponseHeaders", answer["header"].clone());
                put("callResponseBody", json!(Body::Base64(body).text()));
            }
        }
        RequestKind::Wait => {
            let named = |wait: &&Waitpoint| Some(&*wait.name) == request.wait.as_deref();
            let deadline = run.waitpoints().find(named).and_then(|wait| wait.resume_at);
            put("waitEventId", request.asked["waitEventId"].clone());
            put("waitTimeoutDuration", request.asked["timeout"].clone());
            put("waitTimeoutDeadline", json!(deadline.map(Timestamp::as_second)));
        }
        RequestKind::Invoke => {
            put("invokedWorkflowRunId", request.asked["workflowRunId"].clone());
            put("invokedWorkflowUrl", request.asked["url"].clone());
        }
    }
}

/// The attempts of a delivery that failed, as far as another followed.
fn errors(run: &Run, call: &str) -> Vec<Value> {
    let attempts = run.waitpoints().filter_map(|wait| Some((wait.next_attempt()?, wait.created_at)));
    let failed = attempts.filter(|(next, _)| *next.call == *call);
    failed
        .map(|(next, at)| {
            let message = &next.error.message;
            let status = message.split(':').next().and_then(|status| status.parse::<u16>().ok());
            json!({
                "error": message, "body": "", "headers": {}, "status": status.unwrap_or(0),
                "time": at.as_millisecond(),
            })
        })
        .collect()
}

/// What is under way: deliveries that have not led to a step yet.
fn next(run: &Run, log: &Log) -> Vec<Value> {
    let places = (0..log.entries.len()).map(Parcel::Step);
    let open = places.filter(|parcel| !log.is_done(parcel));
    let state = match run.status {
        RunStatus::Completed => return Vec::new(),
        RunStatus::Failed => "STEP_FAILED",
        RunStatus::Cancelled => "STEP_CANCELED",
        RunStatus::Pending | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => "STEP_PROGRESS",
    };
    open.filter_map(|parcel| {
        let Parcel::Step(place) = &parcel else { return None };
        let is_retried = log.waits.contains_key(log.retry_name(&parcel, 1).as_str());
        let state = if is_retried && state == "STEP_PROGRESS" { "STEP_RETRY" } else { state };
        let retries = log.headers(&log.entries[*place]).retries().unwrap_or(crate::message::RETRIES);
        let entry = &log.entries[*place];
        let mut next = json!({ "messageId": entry.message_id, "state": state, "retries": retries });
        let errors = errors(run, &entry.name);
        if !errors.is_empty() {
            next["errors"] = json!(errors);
        }
        Some(next)
    })
    .collect()
}
