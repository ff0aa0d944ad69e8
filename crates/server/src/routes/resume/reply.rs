//! What a run says to the caller that started or resumed it.

use std::time::Duration;

use abide_core::history::Failure;
use abide_core::id::RunId;
use abide_core::json::Json;
use abide_core::status::RunStatus;
use abide_engine::{Ended, Listener, RunReply, StartedHow};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::WAIT;
use crate::app::App;
use crate::problem::{Code, Problem};
use crate::request::call::Call;
use crate::routes::runs::{started, wait_time};
use crate::shape::Answer;

/// How long a caller is kept waiting if it does not say.
const SYNC_WAIT: Duration = Duration::from_secs(30);
/// What a run's reply may say besides its status and body. Others would steer a proxy, a browser or this server.
const SAID: [HeaderName; 14] = [
    header::ACCEPT_RANGES,
    header::AGE,
    header::CACHE_CONTROL,
    header::CONTENT_DISPOSITION,
    header::CONTENT_LANGUAGE,
    header::CONTENT_LOCATION,
    header::CONTENT_TYPE,
    header::ETAG,
    header::EXPIRES,
    header::LAST_MODIFIED,
    header::LINK,
    header::LOCATION,
    header::RETRY_AFTER,
    header::VARY,
];
/// What a run's own headers begin with.
const OWN: &str = "x-app-";
/// What a page of this server would run or apply.
const ACTIVE: [&str; 4] = ["script", "css", "wasm", "xslt"];

/// Of the parameters, this one is the server's; the others are the run's.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is documented by its type, and read from the call")]
pub(in crate::routes) struct SyncQuery {
    /// How long to wait for what the run says: `30s`, `2m`, at most 5 minutes.
    wait: Option<String>,
}

pub(in crate::routes) fn sync_wait(call: &Call) -> Result<Duration, Problem> {
    call.param(WAIT).map_or(Ok(SYNC_WAIT), |text| wait_time("/wait", &text))
}

/// How much of a run is shown to who waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::routes) enum Shown {
    All,
    /// What a step says to its caller, not the run's output, nor why it failed.
    WhatItSays,
}

/// What the run says next, or where to ask later.
pub(in crate::routes) async fn answer_of(
    app: &App,
    run: RunId,
    listener: Listener,
    wait: Duration,
    shown: Shown,
) -> Result<Response, Problem> {
    tokio::select! {
        said = listener.reply() => match said? {
            RunReply::Response(response) => Ok(spoken(&response)),
            RunReply::Ended(ended) => last_words(ended, shown),
        },
        () = tokio::time::sleep(wait) => Ok(started(app, StatusCode::ACCEPTED, run, StartedHow::Created)),
        () = app.stopped() => Ok(started(app, StatusCode::ACCEPTED, run, StartedHow::Created)),
    }
}

fn last_words(ended: Ended, shown: Shown) -> Result<Response, Problem> {
    let Ended { status, output, error } = ended;
    let (output, error) = match shown {
        Shown::All => (output, error),
        Shown::WhatItSays => (Some(json!({ "status": status }).into()), None),
    };
    match status {
        RunStatus::Failed => {
            let why = error.as_ref().map_or("the run failed", |Failure { message, .. }| message);
            let current = json!({ "status": status, "error": error });
            Err(Problem::new(Code::RunFailed, why).current(current))
        }
        RunStatus::Cancelled => Err(Problem::new(Code::RunCancelled, "the run was cancelled")),
        RunStatus::Completed
        | RunStatus::Pending
        | RunStatus::Running
        | RunStatus::Waiting
        | RunStatus::Paused => Ok(Answer::ok(output.unwrap_or_else(Json::null)).into_response()),
    }
}

/// A reply that a step made: `{status, headers, body}`.
fn spoken(reply: &Value) -> Response {
    let status = reply.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK);
    let (body, media_type) = match reply.get("body") {
        None | Some(Value::Null) => (Body::empty(), None),
        Some(Value::String(text)) => (Body::from(text.clone()), Some("text/plain; charset=utf-8")),
        Some(other) => (Body::from(other.to_string()), Some("application/json")),
    };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    if let Some(media_type) = media_type {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    let given = reply.get("headers").and_then(Value::as_object).into_iter().flatten();
    for (name, value) in given {
        let name = HeaderName::try_from(name.as_str()).ok().filter(may_say);
        let value = value.as_str().and_then(|value| HeaderValue::try_from(value).ok());
        if let (Some(name), Some(value)) = (name, value)
            && (name != header::CONTENT_TYPE || !is_active(&value))
        {
            headers.insert(name, value);
        }
    }
    // What a run says may hold anything; in a browser it must not act as a page of this server.
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    response
}

fn may_say(name: &HeaderName) -> bool {
    SAID.contains(name) || name.as_str().starts_with(OWN)
}

fn is_active(media_type: &HeaderValue) -> bool {
    let text = media_type.to_str().unwrap_or("script").to_ascii_lowercase();
    ACTIVE.iter().any(|kind| text.contains(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_proxy_or_a_browser_is_left_out() {
        for name in [
            "X-Accel-Redirect",
            "X-Sendfile",
            "Clear-Site-Data",
            "Alt-Svc",
            "NEL",
            "WWW-Authenticate",
            "Keep-Alive",
            "Trailer",
            "TE",
            "Set-Cookie",
            "Transfer-Encoding",
            "Strict-Transport-Security",
            "Refresh",
            "Upgrade",
            "Access-Control-Allow-Origin",
            "Service-Worker-Allowed",
            "X-Frame-Options",
            "X-Request-Id",
            "Connection",
        ] {
            let response = spoken(&json!({ "headers": { name: "x" }, "body": {} }));
            assert_eq!(response.headers().get(name), None, "{name}");
        }
        for kind in ["text/javascript", "application/ECMAScript", "text/css", "application/wasm"] {
            let response = spoken(&json!({ "headers": { "content-type": kind }, "body": "x" }));
            assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8", "{kind}");
        }
        let csv = spoken(&json!({ "headers": { "content-type": "text/csv" }, "body": "x" }));
        assert_eq!(csv.headers()["content-type"], "text/csv");
    }

    #[test]
    fn a_reply_has_the_status_headers_and_body_that_the_step_gave_it() {
        let headers =
            json!({"x-app-order": "7", "Content-Length": "99", "bad name": "x", "location": "/there"});
        let response = spoken(&json!({"status": 201, "headers": headers, "body": {"ok": true}}));
        assert_eq!(response.status(), StatusCode::CREATED);
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap());
        assert_eq!(header("x-app-order"), Some("7"));
        assert_eq!(header("location"), Some("/there"));
        assert_eq!(header("content-type"), Some("application/json"));
        assert_eq!(header("content-length"), None);
        assert_eq!(header("content-security-policy"), Some("sandbox"));
    }

    #[test]
    fn a_reply_without_anything_is_an_empty_200() {
        let response = spoken(&json!({}));
        assert_eq!(response.status(), StatusCode::OK);
        assert!(response.headers().get("content-type").is_none());
    }
}
