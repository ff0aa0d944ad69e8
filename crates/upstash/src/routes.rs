//! The routes under `/v2`, by method and path. Destinations stand in paths as they are, so paths are read here.

mod batch;
mod cancel;
mod dlq;
mod events;
mod flow;
mod groups;
mod hooks;
mod letters;
mod logs;
mod messages;
mod notify;
mod queues;
mod runs;
mod schedules;
mod select;
mod wait;

use std::sync::Arc;

use abide_core::refusal::Refusal;
use abide_engine::Error;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::log::Log;
use crate::message::{Body as MessageBody, Headers, Message, is_url};
use crate::{Gateway, Keys};

/// How large a request may be: a batch of steps, each of which has the limit of a payload.
const REQUEST_BYTES: usize = 16 * 1024 * 1024;

/// Headers of a message that say what it is, and nothing of how it is delivered. The version of the SDK is put on the
/// deliveries that need it.
const OF_MESSAGE: [&str; 5] = [
    "upstash-delay",
    "upstash-feature-set",
    "upstash-forward-upstash-workflow-sdk-version",
    "upstash-method",
    "upstash-not-before",
];

/// A refusal, as clients read it.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    message: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Problem {
        Problem { status, message: message.into() }
    }

    fn bad(message: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, message)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<abide_engine::vault::Error> for Problem {
    fn from(error: abide_engine::vault::Error) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let status = match &error {
            Error::UnknownRun(_) | Error::Refused(Refusal::RunEnded(_)) => StatusCode::BAD_REQUEST,
            // The SDK fails the run at once: to try again would not help.
            Error::Refused(_) | Error::TooManyDescendants { .. } | Error::TooManyOpenRuns { .. } => {
                StatusCode::PRECONDITION_FAILED
            }
            Error::Overloaded { .. } | Error::Busy(_) | Error::Stopped | Error::Paused | Error::Store(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Error::UnknownDefinition { .. }
            | Error::UnknownSchedule(_)
            | Error::ScheduleExists(_)
            | Error::DefinitionExists { .. }
            | Error::Rejected(_)
            | Error::InvalidContent(_)
            | Error::Held { .. }
            | Error::MasterKey(_)
            | Error::NotStarted(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Problem { status, message: error.to_string() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        answer(self.status, &json!({ "error": self.message }))
    }
}

fn answer(status: StatusCode, body: &Value) -> Response {
    written(status, body.to_string())
}

/// An answer whose JSON is written already.
fn written(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], Body::from(body)).into_response()
}

/// A request, read whole.
pub(crate) struct GuestRequest {
    method: Method,
    /// The path after `/v2/`, as it was sent.
    path: String,
    query: String,
    headers: HeaderMap,
    body: Bytes,
}

pub(crate) fn router(gateway: Arc<Gateway>) -> Router {
    Router::new().route("/v2/{*path}", any(handle)).with_state(gateway)
}

async fn handle(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let is_hook = request.uri().path().starts_with("/v2/workflows/hooks/");
    if !is_hook && !gateway.admits(request.headers()) {
        return Problem::new(StatusCode::UNAUTHORIZED, "invalid token").into_response();
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, REQUEST_BYTES).await else {
        let message = format!("a request has at most {REQUEST_BYTES} bytes (REQUEST_BYTES)");
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    };
    let asked = GuestRequest {
        method: parts.method,
        path: parts.uri.path().trim_start_matches("/v2/").to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers,
        body,
    };
    let done = match asked.fetched_run() {
        Some(id) => runs::entries(&gateway, &id).await.map(|log| written(StatusCode::OK, log)),
        None => dispatch(&gateway, asked).await.map(|(status, body)| answer(status, &body)),
    };
    done.unwrap_or_else(IntoResponse::into_response)
}

type Answer = Result<(StatusCode, Value), Problem>;

fn ok(body: Value) -> Answer {
    Ok((StatusCode::OK, body))
}

async fn dispatch(gateway: &Gateway, asked: GuestRequest) -> Answer {
    let path = asked.path.clone();
    let (first, rest) = path.split_once('/').unwrap_or((&path, ""));
    match (asked.method.as_str(), first, rest) {
        ("POST", "batch", "") => batch::batch(gateway, &asked).await,
        ("POST", "publish", _) => batch::publish(gateway, asked.message(rest)?).await,
        ("POST", "trigger", _) => {
            let begun = gateway.trigger(&gateway.sealer.seal_message(asked.message(rest)?)?).await?;
            Ok((StatusCode::CREATED, begun.answer()))
        }
        ("POST", "wait", event) => wait::wait(gateway, &asked, &decoded(event)).await,
        ("POST", "notify", event) => notify::notify(gateway, &asked, event).await,
        ("GET", "waiters", event) => notify::waiters(gateway, &decoded(event)).await,
        ("GET", "keys", "") => ok(shown(&gateway.known_keys().0)),
        ("POST", "keys", "rotate") if gateway.settings.development => {
            Err(Problem::bad("the credentials of development are always the same"))
        }
        ("POST", "keys", "rotate") => {
            let rotated = Keys::rotate(&gateway.engine).await;
            let failed =
                |error: crate::OpenError| Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string());
            let keys = rotated.map_err(failed)?;
            gateway.use_keys(keys.clone());
            ok(shown(&keys))
        }
        ("POST", "enqueue", _) => {
            let (queue, destination) = rest.split_once('/').unwrap_or((rest, ""));
            batch::enqueue(gateway, asked.message(destination)?, &decoded(queue)).await
        }
        ("GET", "messages", id) => messages::get(gateway, &decoded(id)).await,
        ("DELETE", "messages", "") => messages::cancel_many(gateway, &asked.query()).await,
        ("DELETE", "messages", id) => messages::cancel(gateway, &decoded(id)).await,
        ("GET", "events", "") => logs::list(gateway, &asked.query()).await,
        ("GET", "globalParallelism", "") => flow::global(gateway),
        (method, "flowControl", rest) => flow::answer(gateway, &asked, method, rest).await,
        (method, "dlq", rest) => letters::answer(gateway, &asked, method, &decoded(rest)).await,
        (method, "queues", rest) => queues::answer(gateway, &asked, method, rest).await,
        (method, "topics", rest) => groups::answer(gateway, &asked, method, rest).await,
        (method, "schedules", rest) => schedules::answer(gateway, &asked, method, rest).await,
        (method, "workflows", rest) => workflows(gateway, &asked, method, rest).await,
        (_, _, _) => Err(asked.not_served()),
    }
}

async fn workflows(gateway: &Gateway, asked: &GuestRequest, method: &str, rest: &str) -> Answer {
    let parts: Vec<&str> = rest.split('/').collect();
    match (method, parts.as_slice()) {
        ("DELETE", ["runs", id]) => runs::end(gateway, asked, &decoded(id)).await,
        ("DELETE", ["runs"]) => cancel::cancel(gateway, &asked.query()).await,
        ("GET", ["events"]) => events::list(gateway, &asked.query()).await,
        ("GET", ["dlq"]) => dlq::list(gateway, &asked.query()).await,
        ("GET", ["dlq", id]) => letters::get(gateway, &decoded(id)).await,
        ("POST", ["dlq", "resume"]) => dlq::resume(gateway, &asked.query()).await,
        ("POST", ["dlq", "resume", id]) => dlq::resume(gateway, &Query::of_letter(&decoded(id))).await,
        ("POST", ["dlq", "restart"]) => dlq::restart(gateway, asked, &asked.query()).await,
        ("POST", ["dlq", "restart", id]) => {
            dlq::restart(gateway, asked, &Query::of_letter(&decoded(id))).await
        }
        ("POST", ["dlq", "callback", id]) => dlq::callback(gateway, &decoded(id)).await,
        ("DELETE", ["dlq"]) => dlq::delete(gateway, &asked.query()).await,
        ("DELETE", ["dlq", id]) => dlq::delete(gateway, &Query::of_letter(&decoded(id))).await,
        (_, ["hooks", user, run, event]) => {
            hooks::hook(gateway, asked, &decoded(user), &decoded(run), &decoded(event)).await
        }
        (_, _) => Err(asked.not_served()),
    }
}

fn shown(keys: &Keys) -> Value {
    json!({ "current": keys.current, "next": keys.next })
}

fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

impl GuestRequest {
    /// The answer to a request for what there is none of.
    fn not_served(&self) -> Problem {
        let message = format!("{} /v2/{} is not among what this gateway serves", self.method, self.path);
        Problem::new(StatusCode::NOT_FOUND, message)
    }

    /// The run whose log is asked for. A log may be large, and is not read again to be written.
    fn fetched_run(&self) -> Option<String> {
        let id =
            self.path.strip_prefix("workflows/runs/").filter(|id| !id.is_empty() && !id.contains('/'))?;
        (self.method == Method::GET).then(|| decoded(id))
    }

    /// The message of a request whose path ends with the destination.
    fn message(&self, destination: &str) -> Result<Message, Problem> {
        let mut destination = destination.to_owned();
        if !self.query.is_empty() {
            destination = format!("{destination}?{}", self.query);
        }
        // Intermediaries make one slash of two.
        for scheme in ["http:/", "https:/"] {
            if let Some(rest) = destination.strip_prefix(scheme).filter(|rest| !rest.starts_with('/')) {
                destination = format!("{scheme}/{rest}");
            }
        }
        if !is_url(&destination) {
            destination = decoded(&destination);
        }
        if destination.is_empty() {
            return Err(Problem::bad("a message has a destination, a URL or the name of a URL group"));
        }
        let (headers, body) = (Headers::of_request(&self.headers), MessageBody::of(&self.body));
        Ok(Message { destination, headers, body })
    }

    fn query(&self) -> Query {
        Query(form_urlencoded::parse(self.query.as_bytes()).into_owned().collect())
    }
}

/// The query of a request: a name may stand more than once.
#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// A query for one letter of the dead letter queue.
    fn of_letter(id: &str) -> Query {
        Query(vec![("dlqIds".to_owned(), id.to_owned())])
    }

    fn get(&self, name: &str) -> Option<&str> {
        let named = self.0.iter().find(|(given, value)| given == name && !value.is_empty());
        named.map(|(_, value)| value.as_str())
    }

    fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        let named = self.0.iter().filter(move |(given, _)| given == name);
        named.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    fn count(&self, usual: usize) -> usize {
        self.get("count").and_then(|count| count.parse().ok()).unwrap_or(usual).clamp(1, 1_000)
    }
}

impl Gateway {
    /// The headers of a message that differ from those of its run, without what only says where it belongs.
    pub(crate) fn message_headers(&self, log: &Log, object: &Value) -> Result<Headers, Problem> {
        self.differing(log, Headers::of_object(object))
    }

    fn differing(&self, log: &Log, headers: Headers) -> Result<Headers, Problem> {
        let is_own = |name: &str| name.starts_with("upstash-workflow-") || OF_MESSAGE.contains(&name);
        let run = &log.started.headers;
        let differs = |name: &String, value: &String| {
            run.get(name).is_none_or(|of_run| self.sealer.open(of_run) != self.sealer.open(value))
        };
        let kept = headers.0.into_iter().filter(|(name, value)| !is_own(name) && differs(name, value));
        Ok(self.sealer.seal_headers(Headers(kept.collect()))?)
    }
}
