//! A message that is delivered and nothing more: a failure callback, or what was published without a workflow. It is a
//! run of its own; a retry is a wait of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_calls::http::{Error, Response};
use abide_core::command::{WaitFor, WaitSpec};
use abide_core::history::{Failure, WakeOn};
use abide_core::retry::RetryPolicy;
use abide_core::run::Run;
use abide_core::task::Task;
use abide_core::time::Millis;
use abide_engine::TaskResult;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::delivery::{self, Outgoing};
use crate::log::Log;
use crate::message::{Body, Headers, Message, RETRIES};
use crate::{Gateway, MESSAGE};

/// The wait that ends when the failure callback of a run is on its way.
pub(crate) const FAILURE_CALLBACK: &str = "failure callback";
/// How much of an answer is kept in the run of a message.
const KEPT_BYTES: usize = 16 * 1024;

/// The input of the run of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Plain {
    pub(crate) url: String,
    pub(crate) method: String,
    /// The headers that it is delivered with.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Body,
    pub(crate) retries: u32,
    /// The control headers that say how it is tried again.
    #[serde(default)]
    pub(crate) control: Headers,
}

impl Plain {
    /// A message that was published.
    pub(crate) fn of(message: &Message) -> Plain {
        let mut headers = message.headers.forwarded();
        let content_type = message.headers.get("content-type");
        headers.extend(content_type.map(|given| ("content-type".to_owned(), given.to_owned())));
        Plain {
            url: message.destination.clone(),
            method: delivery::method(&message.headers).to_string(),
            headers,
            body: message.body.clone(),
            retries: message.headers.retries().unwrap_or(RETRIES),
            control: control(&message.headers),
        }
    }
}

fn control(headers: &Headers) -> Headers {
    let wanted = ["upstash-retry-delay", "upstash-timeout"];
    Headers(
        wanted.iter().filter_map(|name| Some((String::from(*name), headers.get(name)?.to_owned()))).collect(),
    )
}

/// The run that delivers the failure callback of a run, as a wait that ends when it is started.
pub(crate) fn failure_callback(run: &Run, log: &Log, failure: &Value) -> Option<WaitSpec> {
    let input = serde_json::to_value(failure_message(run, log, failure)?).expect("a message is JSON");
    let wait = WaitFor::Child {
        definition: MESSAGE.into(),
        version: None,
        input: input.into(),
        timeout: None,
        detached: true,
        tags: Vec::new(),
    };
    let name = match log.visit {
        1 => FAILURE_CALLBACK.to_owned(),
        visit => format!("{FAILURE_CALLBACK} {visit}"),
    };
    Some(WaitSpec::new(name, wait))
}

/// The failure callback of a run; `None` if nobody wants one.
pub(crate) fn failure_message(run: &Run, log: &Log, failure: &Value) -> Option<Plain> {
    let config = &log.started.headers;
    let given = config.get("upstash-failure-callback").map(str::to_owned);
    // An endpoint that started the run itself does not name itself; it answers if it has no failure function.
    let own = config.has_feature("WF_TriggerOnConfig").then(|| log.started.url.clone());
    let (url, own_control) = match (given, own) {
        (Some(url), _) => (url, config.under("upstash-failure-callback-")),
        (None, Some(url)) => (url, config.clone()),
        (None, None) => return None,
    };
    let mut headers = own_control.forwarded();
    headers.remove("upstash-workflow-sdk-version");
    let mut put = |name: &str, value: String| drop(headers.insert(name.to_owned(), value));
    put("upstash-workflow-is-failure", "true".to_owned());
    put("upstash-workflow-failure-callback", "true".to_owned());
    put("content-type", "application/json".to_owned());
    put("upstash-workflow-runid", log.started.workflow_run_id.clone());
    put("upstash-workflow-createdat", run.created_at.as_millisecond().to_string());
    let body = delivery::failure_body(run, log, failure, &crate::dlq_id(run));
    Some(Plain {
        url,
        method: "POST".to_owned(),
        headers,
        body: Body::Text(body.to_string()),
        retries: own_control.retries().unwrap_or(RETRIES),
        control: control(&own_control),
    })
}

/// The id of the message that a run delivers.
pub(crate) fn message_id(run: &str) -> String {
    format!("msg_{}", run.strip_prefix("run_").unwrap_or(run))
}

/// Performs the task of a message's run.
pub(crate) async fn perform(gateway: Arc<Gateway>, task: Task) -> TaskResult {
    let Ok(plain) = serde_json::from_value::<Plain>(Value::clone(&task.input)) else {
        return not_retryable("UPSTASH_MESSAGE", "the input is not a message".to_owned());
    };
    let retried = u32::try_from(task.journal.len()).unwrap_or(u32::MAX);
    let id = message_id(&task.run_id.to_string());
    let mut headers = plain.headers.clone();
    headers.insert("upstash-message-id".to_owned(), id.clone());
    headers.insert("upstash-retried".to_owned(), retried.to_string());
    let outgoing = Outgoing {
        method: plain.method.parse().unwrap_or(axum::http::Method::POST),
        url: plain.url.clone(),
        headers,
        body: plain.body.bytes(),
        message_id: id,
        timeout: delivery_timeout(&plain),
        answer_bytes: 1024 * 1024,
        redirects: 0,
    };
    let answer = gateway.send(outgoing).await;
    judged(&plain, retried, answer)
}

fn delivery_timeout(plain: &Plain) -> std::time::Duration {
    let longest = std::time::Duration::from_secs(15 * 60);
    plain.control.timeout().map_or(longest, |given| std::time::Duration::from_millis(given.0).min(longest))
}

fn judged(plain: &Plain, retried: u32, answer: Result<Response, Error>) -> TaskResult {
    let (error, after): (Failure, Option<Millis>) = match &answer {
        Ok(response) if response.status.is_success() => {
            return TaskResult::complete(Value::clone(&kept(response)));
        }
        Ok(response) => {
            let text: String = String::from_utf8_lossy(&response.body).chars().take(500).collect();
            let message = format!("{} answered {}: {text}", plain.url, response.status.as_u16());
            if response.headers.contains_key("upstash-nonretryable-error") {
                return not_retryable("UPSTASH_DELIVERY", message);
            }
            (Failure::new("UPSTASH_DELIVERY", message), delivery::retry_after(response))
        }
        Err(error) if error.is_passing() => (Failure::new(error.code(), error.to_string()), None),
        Err(error) => return not_retryable(error.code(), error.to_string()),
    };
    if retried >= plain.retries {
        return not_retryable(&error.code, error.message);
    }
    let wait = WaitFor::Retry {
        call: "delivery".into(),
        attempt: retried + 1,
        policy: RetryPolicy { max_attempts: plain.retries + 1, ..RetryPolicy::default() },
        retry_after: Some(after.unwrap_or_else(|| delivery::delay(&plain.control, retried))),
        error,
    };
    let waits = vec![WaitSpec::new(format!("retry {}", retried + 1), wait)];
    TaskResult::Suspend { entries: Vec::new(), waits, wake: WakeOn::All }
}

fn kept(response: &Response) -> abide_core::json::Json {
    let body = &response.body[..response.body.len().min(KEPT_BYTES)];
    let header = delivery::listed(&response.headers);
    json!({ "status": response.status.as_u16(), "header": header, "body": String::from_utf8_lossy(body) })
        .into()
}

fn not_retryable(code: &str, message: String) -> TaskResult {
    TaskResult::Fail { message, code: Some(code.into()), retryable: false, retry_after: None, detail: None }
}
