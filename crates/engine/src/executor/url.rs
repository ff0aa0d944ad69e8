//! A task whose handler is a URL: the engine posts it, signed, and takes the answer for the report. A receiver that
//! answers 202 keeps the task and reports later, as a worker that polled it would.

use std::collections::BTreeMap;

use abide_calls::http::{Bounds, Request, Response};
use abide_calls::models::retry_after_ms;
use abide_core::history::FailureDetail;
use abide_core::json::Json;
use abide_core::task::Task;
use abide_core::time::Millis;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{IDEMPOTENCY_KEY, may_pass, plain, sign, signing_key_missing};
use super::{Executors, Reach, TaskCall, UrlHandler, fail, whole};
use crate::error::Error;
use crate::handler::TaskResult;

/// The name of the worker in the history when a receiver keeps its task.
pub(crate) const URL_WORKER: &str = "url";
/// How long a receiver that answered 202 has the task before it must report, if neither it nor the step says.
pub(crate) const URL_LEASE: Millis = Millis(10 * 60 * 1_000);
const LONGEST_LEASE: Millis = Millis(24 * 60 * 60 * 1_000);
/// The header that names the task's workspace, as the body does, which is signed with the key of that workspace.
const WORKSPACE: HeaderName = HeaderName::from_static("abide-workspace");
/// How many characters of an answer that cannot be used are shown.
const SHOWN_CHARS: usize = 300;
/// What is shown instead of the token that lets a receiver report.
const LEASE_TOKEN: &str = "[lease token]";

/// The answer of a receiver with 200: the result of the task.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    output: Value,
    #[serde(default)]
    state_updates: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    pause: Option<Pause>,
    #[serde(default)]
    fail: Option<Failure>,
}

/// A pause that a receiver asks for: the task is posted again after this time.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Pause {
    name: String,
    #[serde(default)]
    duration_ms: Option<u64>,
    #[serde(default)]
    duration: Option<String>,
    #[serde(default)]
    checkpoint: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Failure {
    message: String,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    retryable: Option<bool>,
    #[serde(default)]
    retry_after_ms: Option<u64>,
    #[serde(default)]
    detail: Option<Box<FailureDetail>>,
}

/// The answer of a receiver with 202.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Accepted {
    /// How long the receiver has the task before it must report.
    #[serde(default)]
    lease_ms: Option<u64>,
}

pub(super) async fn perform(
    executors: &Executors,
    handler: &UrlHandler,
    task_call: &TaskCall,
    task: &Task,
) -> Option<TaskResult> {
    let reach = executors.reach().await;
    let now = executors.clock.now();
    let token = reach.as_ref().map(|reach| {
        (reach.lease_token)(task_call.workspace, task_call.run_id(), task_call.at(), task.lease_epoch)
    });
    let hidden = |text: String| match &token {
        // A receiver that echoes its request must not have it written down.
        Some(token) => text.replace(token.as_str(), LEASE_TOKEN),
        None => text,
    };
    let request =
        match request(executors, reach.as_deref().zip(token.as_deref()), handler, task_call, task, now) {
            Some(request) => request,
            None => return Some(fail("SIGNING_KEY_MISSING", signing_key_missing(), false)),
        };
    let response = {
        let _turn = executors.url_turns.turn(task_call.workspace, &handler.url).await;
        executors.client.send(request).await
    };
    match response {
        Err(error) => Some(fail(error.code(), error.to_string(), error.is_passing())),
        Ok(response) if response.status == StatusCode::ACCEPTED => {
            keep(reach.as_deref(), task_call, task, &response).await
        }
        Ok(response) if response.status.is_success() => Some(match answered(&response, &hidden) {
            TaskResult::Fail { message, code, retryable, retry_after, detail } => {
                TaskResult::Fail { message: hidden(message), code, retryable, retry_after, detail }
            }
            other @ (TaskResult::Complete { .. } | TaskResult::Pause { .. } | TaskResult::Suspend { .. }) => {
                other
            }
        }),
        Ok(response) => Some(TaskResult::Fail {
            message: format!("{} answered {}: {}", response.url, response.status, shown(&response, &hidden)),
            code: Some("HANDLER_STATUS".into()),
            retryable: may_pass(response.status),
            retry_after: retry_after_ms(&response.headers, now).map(Millis),
            detail: None,
        }),
    }
}

fn request(
    executors: &Executors,
    reach: Option<(&Reach, &str)>,
    handler: &UrlHandler,
    task_call: &TaskCall,
    task: &Task,
    now: Timestamp,
) -> Option<Request> {
    let mut body = task.for_workers();
    if let Some(fields) = body.as_object_mut() {
        fields.insert("workspace".to_owned(), json!(task_call.workspace));
    }
    if let (Some((reach, token)), Some(fields)) = (reach, body.as_object_mut()) {
        fields.insert("leaseToken".to_owned(), json!(token));
        fields.insert("reportUrl".to_owned(), json!(format!("{}/{}", reach.tasks_url, task.id)));
    }
    let mut request = Request::new(Method::POST, handler.url.clone());
    request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers.insert(IDEMPOTENCY_KEY, plain(&task.id.to_string()));
    if let Some(traceparent) = task.traceparent {
        request.headers.insert(HeaderName::from_static("traceparent"), plain(&traceparent.to_string()));
    }
    request.body = body.to_string().into();
    let whole = whole(task, abide_calls::http::WHOLE);
    // A task is posted where the settings say and nowhere else.
    request.bounds = Bounds { whole, redirects: 0, ..Bounds::default() };
    request.headers.insert(WORKSPACE, plain(&task_call.workspace.to_string()));
    sign(&mut request, task, &executors.settings.signing.as_ref()?.of_workspace(task_call.workspace), now);
    Some(request)
}

async fn keep(
    reach: Option<&Reach>,
    task_call: &TaskCall,
    task: &Task,
    response: &Response,
) -> Option<TaskResult> {
    if reach.is_none() {
        let message =
            format!("{} answered 202, and there is no server here to which it could report", response.url);
        return Some(fail("HANDLER_CANNOT_REPORT", message, false));
    }
    let accepted = match response.body.is_empty() {
        true => Ok(Accepted::default()),
        false => serde_json::from_slice::<Accepted>(&response.body),
    };
    // Whatever else it says, it has the task.
    let asked = accepted.unwrap_or_default().lease_ms.map(|ms| Millis(ms).min(LONGEST_LEASE));
    let lease = task.heartbeat.or(asked).unwrap_or(URL_LEASE);
    match task_call.accept(URL_WORKER, lease).await {
        // Refused when it is not wanted any more, or when the report was quicker than the answer.
        Ok(()) | Err(Error::Refused(_) | Error::Stopped) => None,
        Err(error) => Some(fail("HANDLER_CANNOT_REPORT", error.to_string(), true)),
    }
}

fn answered(response: &Response, hidden: &dyn Fn(String) -> String) -> TaskResult {
    let answer = match response.body.is_empty() {
        true => Ok(Answer::default()),
        false => serde_json::from_slice::<Answer>(&response.body),
    };
    let bad = |why: String| {
        let message = format!(
            "{} answered {}, but not with `{{\"output\": …}}`, `{{\"pause\": …}}` or `{{\"fail\": …}}`: {why}: {}",
            response.url,
            response.status,
            shown(response, hidden)
        );
        fail("HANDLER_BAD_ANSWER", message, true)
    };
    match answer {
        Err(error) => bad(error.to_string()),
        Ok(Answer { pause: Some(_), fail: Some(_), .. }) => bad("both `pause` and `fail`".to_owned()),
        Ok(Answer { pause: Some(pause), .. }) => match duration(&pause) {
            Some(duration) => TaskResult::Pause {
                name: pause.name.into(),
                duration,
                checkpoint: pause.checkpoint.map(Json::new),
            },
            None => bad("a pause has `durationMs`, or a `duration` such as `30s`".to_owned()),
        },
        Ok(Answer { fail: Some(failure), .. }) => TaskResult::Fail {
            message: failure.message,
            code: failure.code.map(Into::into),
            retryable: failure.retryable.unwrap_or(true),
            retry_after: failure.retry_after_ms.map(Millis),
            detail: failure.detail,
        },
        Ok(Answer { output, state_updates, .. }) => TaskResult::Complete {
            output: output.into(),
            state_updates: state_updates
                .map(|updates| updates.into_iter().map(|(key, value)| (key, Json::new(value))).collect()),
        },
    }
}

fn duration(pause: &Pause) -> Option<Millis> {
    match (pause.duration_ms, &pause.duration) {
        (Some(ms), None) => Some(Millis(ms)),
        (None, Some(text)) => Millis::parse(text).ok(),
        (Some(_), Some(_)) | (None, None) => None,
    }
}

fn shown(response: &Response, hidden: &dyn Fn(String) -> String) -> String {
    hidden(String::from_utf8_lossy(&response.body).into_owned()).chars().take(SHOWN_CHARS).collect()
}
