//! An `http` step: one request under the address policy, and its response as the step's output.

use std::collections::BTreeMap;

use abide_calls::http::{Bounds, Request, Response};
use abide_calls::models::retry_after_ms;
use abide_calls::secrets::Redactor;
use abide_calls::signing::{self, Keys};
use abide_core::definition::document::{Method, StatusPattern};
use abide_core::id::WorkspaceId;
use abide_core::limits::PAYLOAD_BYTES;
use abide_core::task::Task;
use abide_core::time::Millis;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::secrets::{Filled, fill};
use super::{Executors, fail, whole};
use crate::handler::TaskResult;

/// The header whose value is the same for every attempt of a step, so that the server that is called can recognise a repeat.
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// How many characters of a response that fails the step its message shows.
const SHOWN_CHARS: usize = 300;
/// The headers of a response that are not recorded.
const NOT_KEPT: [HeaderName; 1] = [header::SET_COOKIE];

/// The `http` step with its templates rendered.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HttpRequest {
    url: Value,
    method: Method,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
    #[serde(default, deserialize_with = "present")]
    body: Option<Value>,
    fail_on: Vec<StatusPattern>,
    #[serde(default)]
    sign: bool,
}

/// Keeps a body that is null apart from none.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

pub(super) async fn perform(executors: &Executors, workspace: WorkspaceId, task: &Task) -> TaskResult {
    let filled = match fill(&task.input, &task.secrets, &executors.settings.secrets, workspace) {
        Ok(filled) => filled,
        Err(error) => return fail(error.code(), error.to_string(), false),
    };
    let Filled { request: filled, redactor, secrets } = filled;
    let asked: HttpRequest = match serde_json::from_value(filled) {
        Ok(asked) => asked,
        Err(error) => return fail("HTTP_BAD_REQUEST", redactor.text(&error.to_string()), false),
    };
    let now = executors.clock.now();
    let keys = executors.settings.signing.as_ref().map(|keys| keys.of_workspace(workspace));
    let request = match request(&asked, task, keys.as_ref(), now) {
        Ok(request) => Request { secrets, ..request },
        Err(Refused { code, message }) => return fail(code, redactor.text(&message), false),
    };
    let _turn = executors.http_turns.turn(workspace, &request.url).await;
    match executors.client.send(request).await {
        Ok(response) => result(&asked, &response, &redactor, now),
        Err(error) => fail(error.code(), redactor.text(&error.to_string()), error.is_passing()),
    }
}

/// Why a request cannot be made.
struct Refused {
    code: &'static str,
    message: String,
}

fn request(
    asked: &HttpRequest,
    task: &Task,
    keys: Option<&Keys>,
    now: Timestamp,
) -> Result<Request, Refused> {
    let mut request = Request::new(method(asked.method), text(&asked.url));
    let has_secrets = |below: &str| task.secrets.iter().any(|place| place.pointer.starts_with(below));
    for (name, value) in &asked.headers {
        let bad = |what: &str| Refused {
            code: "HTTP_BAD_REQUEST",
            message: format!("the header `{name}` has {what} that no header can have"),
        };
        let header = HeaderName::try_from(name.as_str()).map_err(|_| bad("a name"))?;
        if is_ours(&header) {
            let message = format!("the header `{header}` says how a request travels; a step cannot set it");
            return Err(Refused { code: "HTTP_HEADER_REFUSED", message });
        }
        let mut value = HeaderValue::try_from(text(value)).map_err(|_| bad("a value"))?;
        // Not sent on to another origin.
        value.set_sensitive(has_secrets(&format!("/headers/{}", name.replace('~', "~0").replace('/', "~1"))));
        request.headers.insert(header, value);
    }
    if let Some(body) = &asked.body {
        let (kind, bytes) = match body {
            Value::String(text) => ("text/plain; charset=utf-8", text.clone()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                ("application/json", body.to_string())
            }
        };
        request.headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static(kind));
        request.body = bytes.into();
    }
    if changes_something(asked.method) {
        request.headers.entry(IDEMPOTENCY_KEY).or_insert(plain(&task.id.to_string()));
    }
    if asked.sign {
        let missing = || Refused { code: "SIGNING_KEY_MISSING", message: signing_key_missing() };
        sign(&mut request, task, keys.ok_or_else(missing)?, now);
    }
    let whole = whole(task, abide_calls::http::WHOLE);
    // Another origin would get the body as it is.
    let redirects = if has_secrets("/body") { 0 } else { abide_calls::http::REDIRECTS };
    request.bounds = Bounds { whole, redirects, ..Bounds::default() };
    Ok(request)
}

/// Whether a header is the engine's to set: the URL and the body alone say whom a request is for, and where it ends.
fn is_ours(header: &HeaderName) -> bool {
    const OURS: [&str; 10] = [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
        "expect",
    ];
    OURS.contains(&header.as_str())
}

pub(super) fn signing_key_missing() -> String {
    format!(
        "there is no key to sign with; set the secret `{}` to `whsec_` and 24 to 64 bytes in base64",
        crate::SIGNING_KEY
    )
}

/// Signs a request as Standard Webhooks: the same lease epoch again, after a crash, has the same id.
pub(super) fn sign(request: &mut Request, task: &Task, keys: &Keys, now: Timestamp) {
    let id = format!("{}_{}", task.id, task.lease_epoch);
    let signature = keys.sign(&id, now.as_second(), &request.body);
    for (name, value) in [
        (signing::ID, id),
        (signing::TIMESTAMP, now.as_second().to_string()),
        (signing::SIGNATURE, signature),
    ] {
        request.headers.insert(HeaderName::from_static(name), plain(&value));
    }
}

/// The header value of a text that is ours: letters, digits and punctuation.
pub(super) fn plain(value: &str) -> HeaderValue {
    HeaderValue::try_from(value).expect("ids, numbers and base64 are header values")
}

fn method(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Head => http::Method::HEAD,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
        Method::Options => http::Method::OPTIONS,
    }
}

fn changes_something(method: Method) -> bool {
    match method {
        Method::Get | Method::Head | Method::Options => false,
        Method::Post | Method::Put | Method::Patch | Method::Delete => true,
    }
}

/// The text of a value; a template that is one expression gives a value of any type.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn result(asked: &HttpRequest, response: &Response, redactor: &Redactor, now: Timestamp) -> TaskResult {
    if asked.fail_on.iter().any(|pattern| fits(pattern, response.status)) {
        let shown: String = String::from_utf8_lossy(&response.body).chars().take(SHOWN_CHARS).collect();
        let message =
            format!("{} {} answered {}: {shown}", method(asked.method), response.url, response.status);
        return TaskResult::Fail {
            message: redactor.text(&message),
            code: Some("HTTP_STATUS".into()),
            retryable: may_pass(response.status),
            retry_after: retry_after_ms(&response.headers, now).map(Millis),
            detail: None,
        };
    }
    let output = json!({
        "status": response.status.as_u16(),
        "headers": headers(&response.headers),
        "body": body(response),
    });
    let output = abide_core::json::Json::new(redactor.json(&output));
    if output.bytes() > PAYLOAD_BYTES {
        let message = format!(
            "{} answers with {} bytes of JSON, and a payload has at most {PAYLOAD_BYTES} (PAYLOAD_BYTES)",
            response.url,
            output.bytes()
        );
        return fail("HTTP_RESPONSE_TOO_LARGE", redactor.text(&message), false);
    }
    TaskResult::Complete { output, state_updates: None }
}

fn fits(pattern: &StatusPattern, status: StatusCode) -> bool {
    match pattern {
        StatusPattern::One(one) => *one == status.as_u16(),
        StatusPattern::Class(class) => {
            let digit = char::from_digit(u32::from(status.as_u16() / 100), 10);
            class.chars().next() == digit
        }
    }
}

/// Whether another attempt may get a better answer than this status.
pub(super) fn may_pass(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429 | 500..=599)
}

fn headers(headers: &HeaderMap) -> Value {
    let mut kept = Map::new();
    for name in headers.keys().filter(|name| !NOT_KEPT.contains(name)) {
        let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        kept.insert(name.to_string(), Value::String(values.collect::<Vec<_>>().join(", ")));
    }
    Value::Object(kept)
}

/// The body of a response: JSON as such, text as text, anything else in base64.
fn body(response: &Response) -> Value {
    let kind =
        response.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_json = kind == "application/json" || kind.ends_with("+json");
    if let Some(value) = is_json.then(|| serde_json::from_slice(&response.body).ok()).flatten() {
        return value;
    }
    match std::str::from_utf8(&response.body) {
        Ok(text) => Value::String(text.to_owned()),
        Err(_) => json!({ "base64": STANDARD.encode(&response.body) }),
    }
}
