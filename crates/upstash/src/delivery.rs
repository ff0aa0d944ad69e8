//! One HTTP request to an app, or to whom a run calls: built, signed, sent.

use std::collections::BTreeMap;
use std::time::Duration;

use abide_calls::http::{Bounds, Error, Request, Response};
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::time::Millis;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::Gateway;
use crate::duration;
use crate::log::{Log, Parcel, message_ids};
use crate::message::{Body, Headers, RETRIES};
use crate::origin::Place;
use crate::retry_delay;
use crate::signature::sign;

/// How long an app may take to answer, unless the message says less: it works on a step while it does.
const LONGEST: Duration = Duration::from_secs(15 * 60);
/// How long somebody who is called may take, unless the message says more.
const CALL: Duration = Duration::from_secs(2 * 60);
/// How much of an app's answer is read.
const ANSWER_BYTES: usize = 1024 * 1024;
/// How much of the answer of somebody who was called is read: it is kept in the run, as base64.
pub(crate) const CALLED_BYTES: usize = 700 * 1024;
/// How much of the answer that failed a run is kept.
const FAILED_BYTES: usize = 64 * 1024;

/// How much of a log goes with a delivery: what is larger is fetched by the SDK, if it can. Frameworks limit bodies.
const LOG_BYTES: usize = 64 * 1024;

const SDK_VERSION: &str = "upstash-workflow-sdk-version";

/// A request that is ready to be signed and sent.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    pub(crate) message_id: String,
    pub(crate) timeout: Duration,
    pub(crate) answer_bytes: usize,
    /// Redirects are followed where somebody else is called, never to an app.
    pub(crate) redirects: u32,
    pub(crate) place: Place,
}

impl Gateway {
    /// Sends a request when there is room for one more.
    pub(crate) async fn send(&self, outgoing: Outgoing) -> Result<Response, Error> {
        let Outgoing { method, url, headers, body, message_id, timeout, answer_bytes, redirects, place } =
            outgoing;
        let _held = self.origins.enter(&url, place).await;
        let _room = self.room.acquire().await;
        // Keys that cannot be read now are those that were known before.
        let key = self.keys().await.unwrap_or_else(|_| self.known_keys().0).current;
        let signature = sign(&key, &url, &message_id, &body, self.engine.now());
        let mut request = Request::new(method, url);
        for (name, value) in &headers {
            put(&mut request.headers, name, &self.sealer.open(value));
        }
        put(&mut request.headers, "upstash-signature", &signature);
        put(&mut request.headers, "user-agent", "Upstash-QStash");
        request.body = body.into();
        request.bounds = Bounds { whole: timeout, response_bytes: answer_bytes, redirects };
        self.client.send(request).await
    }
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    // What cannot stand in a header is left out: the message is still worth delivering.
    if let (Ok(name), Ok(value)) =
        (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value.as_bytes()))
    {
        headers.insert(name, value);
    }
}

/// The headers that every delivery of a run has.
fn common(run: &Run, log: &Log, message_id: &str, retried: u32) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::new();
    let mut put = |name: &str, value: String| drop(headers.insert(name.to_owned(), value));
    put("content-type", "application/json".to_owned());
    put("upstash-message-id", message_id.to_owned());
    put("upstash-retried", retried.to_string());
    put("upstash-workflow-runid", log.started.workflow_run_id.clone());
    put("upstash-workflow-createdat", run.created_at.as_millisecond().to_string());
    headers
}

/// The request of a delivery.
pub(crate) fn outgoing(run: &Run, log: &Log, parcel: &Parcel, retried: u32) -> Option<Outgoing> {
    match parcel {
        Parcel::Step(place) => Some(step(run, log, *place, retried)),
        Parcel::Call(step) => call(run, log, *step, retried),
        Parcel::Callback(step) => callback(run, log, *step, retried),
    }
}

fn step(run: &Run, log: &Log, place: usize, retried: u32) -> Outgoing {
    let entry = &log.entries[place];
    let effective = log.headers(entry);
    let mut headers = effective.forwarded();
    headers.extend(common(run, log, &entry.message_id, retried));
    if log.started.unknown_sdk && !log.confirmed {
        headers.remove(SDK_VERSION);
        headers.insert("upstash-workflow-unknown-sdk".to_owned(), "true".to_owned());
    } else {
        headers.insert(SDK_VERSION.to_owned(), "1".to_owned());
    }
    Outgoing {
        method: Method::POST,
        url: log.started.url.clone(),
        headers,
        body: if is_fetched(log, place) { Vec::new() } else { log.prefix(place).into_bytes() },
        message_id: entry.message_id.clone(),
        timeout: within(effective.timeout(), LONGEST, LONGEST),
        answer_bytes: ANSWER_BYTES,
        redirects: 0,
        place: if place == 0 { Place::Beginning } else { Place::Begun },
    }
}

/// Whether a delivery is sent without the log, which the SDK then fetches. The Python SDK says that it would, and does
/// not; what it does not say is that runs are configured by their start.
fn is_fetched(log: &Log, place: usize) -> bool {
    let headers = &log.started.headers;
    headers.has_feature("LazyFetch")
        && headers.has_feature("WF_TriggerOnConfig")
        && (!log.started.unknown_sdk || log.confirmed)
        && log.prefix_bytes(place) > LOG_BYTES
}

fn call(run: &Run, log: &Log, step: u32, retried: u32) -> Option<Outgoing> {
    let (_, request) = log.requests.get(&step)?;
    let asked = CallRequest::of(&request.asked)?;
    let message_id = message_ids(run)(&format!("c{step}"));
    let mut headers = asked.headers.forwarded();
    let content_type = asked.headers.get("content-type");
    headers.extend(content_type.map(|given| ("content-type".to_owned(), given.to_owned())));
    headers.insert("upstash-message-id".to_owned(), message_id.clone());
    headers.insert("upstash-retried".to_owned(), retried.to_string());
    let method = method(&asked.headers);
    Some(Outgoing {
        url: asked.url,
        headers,
        body: if takes_body(&method) { asked.body.bytes() } else { Vec::new() },
        method,
        message_id,
        timeout: within(asked.headers.timeout(), CALL, LONGEST),
        answer_bytes: CALLED_BYTES,
        redirects: abide_calls::http::REDIRECTS,
        place: Place::Begun,
    })
}

fn callback(run: &Run, log: &Log, step: u32, retried: u32) -> Option<Outgoing> {
    let (_, request) = log.requests.get(&step)?;
    let asked = CallRequest::of(&request.asked)?;
    let answer = Value::clone(log.answers.get(&step)?);
    let ids = message_ids(run);
    let message_id = ids(&format!("b{step}"));
    let mut headers = log.started.headers.forwarded();
    headers.extend(asked.headers.under("upstash-callback-").forwarded());
    // By this header the SDK tells a step from a callback.
    headers.remove(SDK_VERSION);
    headers.extend(common(run, log, &message_id, retried));
    let url = asked.headers.get("upstash-callback").unwrap_or(&log.started.url).to_owned();
    let mut body = answer.as_object().cloned().unwrap_or_default();
    about_source(&mut body, run, log, &ids(&format!("c{step}")));
    body.insert("url".to_owned(), json!(asked.url));
    body.insert("method".to_owned(), json!(method(&asked.headers).as_str()));
    let timeout = within(log.started.headers.timeout(), LONGEST, LONGEST);
    Some(Outgoing {
        method: Method::POST,
        url,
        headers,
        body: Value::Object(body).to_string().into_bytes(),
        message_id,
        timeout,
        answer_bytes: ANSWER_BYTES,
        redirects: 0,
        place: Place::Begun,
    })
}

/// What the body of every callback says of the message that it is about.
fn about_source(body: &mut Map<String, Value>, run: &Run, log: &Log, source: &str) {
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("sourceMessageId", json!(source));
    put("sourceHeader", json!({}));
    put("sourceBody", json!(log.started.body.base64()));
    put("createdAt", json!(run.created_at.as_millisecond()));
    put("workflowRunId", json!(log.started.workflow_run_id));
    put("workflowCreatedAt", json!(run.created_at.as_millisecond()));
    put("workflowUrl", json!(log.started.url));
}

/// The body of a failure callback.
pub(crate) fn failure_body(run: &Run, log: &Log, failure: &Value, dlq_id: &str) -> Value {
    let mut body = failure.as_object().cloned().unwrap_or_default();
    let source = failure["sourceMessageId"].as_str().unwrap_or_default().to_owned();
    about_source(&mut body, run, log, &source);
    body.insert("url".to_owned(), json!(log.started.url));
    body.insert("method".to_owned(), json!("POST"));
    body.insert("dlqId".to_owned(), json!(dlq_id));
    Value::Object(body)
}

/// How an answer, or its absence, is told to whoever is called back.
pub(crate) fn told(answer: &Result<Response, Error>, retried: u32, retries: u32, whole: bool) -> Json {
    let (status, header, body) = match answer {
        Ok(response) => {
            let shown = if whole { response.body.len() } else { response.body.len().min(FAILED_BYTES) };
            (response.status.as_u16(), listed(&response.headers), STANDARD.encode(&response.body[..shown]))
        }
        // The SDK takes any status that is not a success for a failure; this is the one that says why.
        Err(error) => (504, json!({}), STANDARD.encode(error.to_string())),
    };
    json!({ "status": status, "header": header, "body": body, "retried": retried, "maxRetries": retries })
        .into()
}

/// Headers by the names that Go gives them, which users of the SDK look them up by.
pub(crate) fn listed(headers: &HeaderMap) -> Value {
    let mut listed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        let words = name.as_str().split('-').map(|word| {
            let mut chars = word.chars();
            chars
                .next()
                .map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + chars.as_str())
        });
        let name = words.collect::<Vec<_>>().join("-");
        listed.entry(name).or_default().push(String::from_utf8_lossy(value.as_bytes()).into_owned());
    }
    json!(listed)
}

/// How often a delivery is retried, and after how long.
pub(crate) fn retries(log: &Log, parcel: &Parcel, retried: u32) -> (u32, Millis) {
    let (headers, usual) = match parcel {
        Parcel::Step(place) => (log.headers(&log.entries[*place]), RETRIES),
        Parcel::Callback(_) => (log.started.headers.clone(), RETRIES),
        Parcel::Call(step) => {
            let asked = log.requests.get(step).and_then(|(_, request)| CallRequest::of(&request.asked));
            (asked.map(|asked| asked.headers).unwrap_or_default(), 0)
        }
    };
    (headers.retries().unwrap_or(usual), delay(&headers, retried))
}

pub(crate) fn delay(headers: &Headers, retried: u32) -> Millis {
    let given = headers.get("upstash-retry-delay");
    given
        .and_then(|given| retry_delay::evaluate(given, retried))
        .unwrap_or_else(|| retry_delay::usual(retried))
}

/// How long an answer asks its caller to wait: in seconds, in the SDK's words, or until a date.
pub(crate) fn retry_after(response: &Response, now: Timestamp) -> Option<Millis> {
    waits_for(response.headers.get("retry-after")?.to_str().ok()?, now)
}

fn waits_for(given: &str, now: Timestamp) -> Option<Millis> {
    let until = || {
        let date = jiff::fmt::rfc2822::parse(given).ok()?.timestamp();
        Some(Millis(u64::try_from(date.as_millisecond() - now.as_millisecond()).unwrap_or(0)))
    };
    duration::parse(given).or_else(until)
}

pub(crate) fn method(headers: &Headers) -> Method {
    let given = headers.get("upstash-method").map(str::to_ascii_uppercase);
    given.and_then(|given| Method::from_bytes(given.as_bytes()).ok()).unwrap_or(Method::POST)
}

/// Whether a request of this method has a body. The Python SDK gives a GET the body `null`, which some servers refuse.
pub(crate) fn takes_body(method: &Method) -> bool {
    *method != Method::GET && *method != Method::HEAD
}

fn within(given: Option<Millis>, usual: Duration, longest: Duration) -> Duration {
    given.map_or(usual, |given| Duration::from_millis(given.0)).min(longest)
}

/// A call as the journal holds it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct CallRequest {
    pub(crate) url: String,
    pub(crate) headers: Headers,
    pub(crate) body: Body,
}

impl CallRequest {
    pub(crate) fn of(asked: &Value) -> Option<CallRequest> {
        serde_json::from_value(asked.clone()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_how_long_to_wait_in_seconds_in_words_or_by_a_date() {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let wanted = [("3", Some(3_000)), ("2m", Some(120_000)), ("soon", None)];
        let dates =
            [("Thu, 01 Jan 2026 00:00:05 GMT", Some(5_000)), ("Wed, 31 Dec 2025 00:00:00 GMT", Some(0))];
        for (given, ms) in wanted.into_iter().chain(dates) {
            assert_eq!(waits_for(given, now), ms.map(Millis), "{given}");
        }
    }
}
