//! The server's API, as the gateway uses it: JSON in and out, on behalf of one caller.

use std::sync::Arc;

use ::http::request::Parts;
use abide_sse::Parser;
use axum::body::{Body, BodyDataStream, to_bytes};
use axum::http::{HeaderValue, Method, Request, StatusCode, header};
use futures_util::StreamExt;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::OwnRoutes;

const PREFIX: &str = "/api/v1";
/// The largest answer that is read: a page of a list, or a run with all of its payloads.
const ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// The API on behalf of whoever sent a request.
#[derive(Clone)]
pub(crate) struct Api {
    routes: Arc<dyn OwnRoutes>,
    on_behalf_of: Arc<Parts>,
}

/// What the API answered instead: RFC 9457, with a stable `code`.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    pub(crate) retry_after: Option<HeaderValue>,
}

impl Problem {
    fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Problem {
        let body = json!({ "status": status.as_u16(), "code": code, "detail": detail.into() });
        Problem { status, body, retry_after: None }
    }

    pub(crate) fn unauthenticated() -> Problem {
        let detail = "this needs an API key: `Authorization: Bearer abk_…`";
        Problem::new(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED", detail)
    }

    pub(crate) fn detail(&self) -> &str {
        self.body["detail"].as_str().unwrap_or("the server could not do this")
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    /// What was asked for is not possible any more: somebody else was first.
    pub(crate) fn is_too_late(&self) -> bool {
        [StatusCode::CONFLICT, StatusCode::GONE].contains(&self.status)
    }

    /// The model that sent the arguments can do something about it.
    pub(crate) fn is_about_what_was_sent(&self) -> bool {
        [StatusCode::BAD_REQUEST, StatusCode::UNPROCESSABLE_ENTITY, StatusCode::PAYLOAD_TOO_LARGE]
            .contains(&self.status)
    }
}

impl Api {
    pub(crate) fn new(routes: Arc<dyn OwnRoutes>, on_behalf_of: Arc<Parts>) -> Api {
        Api { routes, on_behalf_of }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value, Problem> {
        self.send(Method::GET, path, None, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, Problem> {
        self.send(Method::POST, path, Some(body), None).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<Value, Problem> {
        self.send(Method::PATCH, path, Some(body), None).await
    }

    /// A request that has the same effect however often it comes.
    pub(crate) async fn post_once(
        &self,
        path: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Result<Value, Problem> {
        self.send(Method::POST, path, Some(body), key).await
    }

    /// A page of the book, or `None` if there is none.
    pub(crate) async fn text(&self, path: &str) -> Option<String> {
        let request = Request::builder().uri(path).body(Body::empty()).ok()?;
        let response = self.routes.call(&self.on_behalf_of, request).await;
        if response.status() != StatusCode::OK {
            return None;
        }
        let bytes = to_bytes(response.into_body(), ANSWER_BYTES).await.ok()?;
        String::from_utf8(bytes.into()).ok()
    }

    /// Who asks, if that is known; a problem where nobody may ask without a key.
    pub(crate) async fn caller(&self) -> Result<Value, Problem> {
        let session = self.get("/session").await?;
        match session.get("caller") {
            Some(Value::Object(caller)) => Ok(Value::Object(caller.clone())),
            Some(_) | None => Err(Problem::unauthenticated()),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Value, Problem> {
        let mut request = Request::builder().method(method).uri(format!("{PREFIX}{path}"));
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let request = request.body(body).map_err(|error| {
            Problem::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", format!("this cannot be asked for: {error}"))
        })?;
        let response = self.routes.call(&self.on_behalf_of, request).await;
        let status = response.status();
        let retry_after = response.headers().get(header::RETRY_AFTER).cloned();
        let broken = |what: &str| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", what);
        let bytes = to_bytes(response.into_body(), ANSWER_BYTES)
            .await
            .map_err(|_| broken("the answer is too large to be passed on"))?;
        let body: Value = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).map_err(|_| broken("the answer is not JSON"))?
        };
        if status.is_success() { Ok(body) } else { Err(Problem { status, body, retry_after }) }
    }

    /// The history of a run after a record, as it grows; `None` when nothing more will come.
    pub(crate) async fn records(&self, run: &str, after: u64) -> Result<Option<Records>, Problem> {
        let path = format!("{PREFIX}/workflow-runs/{}/events?after={after}", segment(run));
        let request = Request::builder().uri(path).header(header::ACCEPT, "text/event-stream");
        let request = request.body(Body::empty()).map_err(|_| Problem::unauthenticated())?;
        let response = self.routes.call(&self.on_behalf_of, request).await;
        match response.status() {
            StatusCode::OK => Ok(Some(Records {
                body: response.into_body().into_data_stream(),
                parser: Parser::default(),
                ready: Vec::new().into_iter(),
            })),
            StatusCode::NO_CONTENT => Ok(None),
            status => {
                let bytes = to_bytes(response.into_body(), ANSWER_BYTES).await.unwrap_or_default();
                let body = serde_json::from_slice(&bytes).unwrap_or_default();
                Err(Problem { status, body, retry_after: None })
            }
        }
    }
}

/// The records of a run as they come.
pub(crate) struct Records {
    body: BodyDataStream,
    parser: Parser,
    ready: std::vec::IntoIter<abide_sse::Event>,
}

impl Records {
    /// The next one; `None` when the run has ended, or the server stops.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            for event in self.ready.by_ref() {
                // What a model says while it speaks has no id: it is no record.
                if event.id.is_some() {
                    return serde_json::from_str(&event.data).ok();
                }
            }
            let bytes = self.body.next().await?.ok()?;
            self.ready = self.parser.take(&bytes).ok()?.into_iter();
        }
    }
}

/// A name or an id as a part of a path or a query.
pub(crate) fn segment(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Text of a field, or nothing.
pub(crate) fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
