//! The streamable HTTP transport: each message is a POST of its own. A request that has nothing to say on its way is answered
//! with JSON, the others with a stream. Whoever closes it is no longer told anything; the run goes on.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream;
use serde_json::{Map, Value};
use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::api::Api;
use crate::client::{
    Capabilities, Client, Era, META_CAPABILITIES, META_VERSION, SESSION, STATELESS, VERSIONS,
};
use crate::dispatch::Context;
use crate::rpc::{Error, Message};
use crate::{Gateway, PATH, ask, headers, metadata, rpc};

/// A message: the arguments of a call, which may be a payload, and what is around them.
const MESSAGE_BYTES: usize = 2 * 1024 * 1024;
/// Notifications that wait for a slow reader.
const OUTBOX: usize = 64;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(crate) fn router(gateway: Arc<Gateway>) -> Router {
    let about = get(metadata::protected_resource);
    Router::new()
        .route(PATH, post(take))
        .route("/.well-known/oauth-protected-resource", about.clone())
        .route("/.well-known/oauth-protected-resource/mcp", about)
        .with_state(gateway)
}

/// What is told on the way to a result.
#[derive(Clone, Debug)]
pub(crate) struct Outbox(Option<Sender<Value>>);

impl Outbox {
    pub(crate) async fn send(&self, message: Value) {
        if let Some(sender) = &self.0 {
            // Nobody reads any more: then the request is over anyway.
            drop(sender.send(message).await);
        }
    }
}

async fn take(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let parts = Arc::new(parts);
    let api = Api::new(Arc::clone(&gateway.routes), Arc::clone(&parts));
    let mut id = Value::Null;
    match take_message(&gateway, api, &parts.headers, body, &mut id).await {
        Ok(response) => response,
        Err(error) => refused(&gateway, &id, error),
    }
}

async fn take_message(
    gateway: &Arc<Gateway>,
    api: Api,
    headers: &HeaderMap,
    body: Body,
    told: &mut Value,
) -> Result<Response, Error> {
    let too_large =
        |_| Error::too_large(format!("a message has at most {MESSAGE_BYTES} bytes (MESSAGE_BYTES)"));
    let bytes = to_bytes(body, MESSAGE_BYTES).await.map_err(too_large)?;
    let message = Message::read(&bytes)?;
    if let Message::Request { id, .. } = &message {
        told.clone_from(id);
    }
    api.caller().await?;
    match message {
        Message::Notification => Ok(StatusCode::ACCEPTED.into_response()),
        Message::Response { id, result } => {
            ask::answered(gateway, &api, &id, result).await?;
            Ok(StatusCode::ACCEPTED.into_response())
        }
        Message::Request { id, method, params } => {
            let room = Arc::clone(&gateway.requests).try_acquire_owned();
            let room = room.map_err(|_| Error::busy("too many requests are under way; try again"))?;
            let client = client(headers, &method, &params)?;
            let (sender, told) = mpsc::channel(OUTBOX);
            let outbox = Outbox(wants_stream(headers).then_some(sender));
            let session = (client.era == Era::Sessions && method == "initialize")
                .then(|| Capabilities::of(params.get("capabilities").unwrap_or(&Value::Null)).session());
            let context = Context { gateway: Arc::clone(gateway), api, client, id: id.clone(), outbox };
            let work = async move {
                let _room = room;
                context.answer(&method, params).await
            };
            let under_way = UnderWay { gateway: Arc::clone(gateway), id, work: Box::pin(work), told };
            Ok(under_way.respond(session).await)
        }
    }
}

/// Who sent a request, as its headers and its metadata say; they must agree.
fn client(given: &HeaderMap, method: &str, params: &Map<String, Value>) -> Result<Client, Error> {
    let meta = params.get("_meta");
    let in_body = meta.and_then(|meta| meta.get(META_VERSION)).and_then(Value::as_str);
    let in_header = given.get(headers::VERSION).and_then(|version| version.to_str().ok()).map(str::trim);
    let copied = Arc::new(given.clone());
    let is_session = |version: &str| version != STATELESS && VERSIONS.contains(&version);
    match (in_header, in_body) {
        (None, None) => return Ok(Client::of_session(copied, meta)),
        (Some(version), None) if is_session(version) => return Ok(Client::of_session(copied, meta)),
        (Some(version), _) if method == "initialize" && is_session(version) => {
            return Ok(Client::of_session(copied, meta));
        }
        (None, Some(_)) => {
            return Err(Error::header_mismatch(format!("the header `{}` is missing", headers::VERSION)));
        }
        (Some(header), Some(body)) if header != body => {
            let message = format!("the header `{}` says `{header}`, and the body `{body}`", headers::VERSION);
            return Err(Error::header_mismatch(message));
        }
        (Some(version), _) if version != STATELESS => {
            return Err(Error::unsupported_version(version, &VERSIONS));
        }
        (Some(_), _) => {}
    }
    headers::check(given, method, params)?;
    let Some(Value::Object(meta)) = meta else {
        return Err(Error::malformed(
            "`_meta` must say the version of the protocol and what the client can do",
        ));
    };
    if in_body.is_none() {
        return Err(Error::malformed(format!("`_meta` lacks `{META_VERSION}`")));
    }
    if !meta.get(META_CAPABILITIES).is_some_and(Value::is_object) {
        return Err(Error::malformed(format!("`_meta` lacks `{META_CAPABILITIES}`")));
    }
    Ok(Client::stateless(copied, meta))
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|part| part.trim().starts_with("text/event-stream"))
}

type Work = Pin<Box<dyn Future<Output = Result<Value, Error>> + Send>>;

/// A request that is being answered.
struct UnderWay {
    gateway: Arc<Gateway>,
    id: Value,
    work: Work,
    told: Receiver<Value>,
}

impl UnderWay {
    /// JSON, if the result comes before anything else is told; a stream otherwise.
    async fn respond(mut self, session: Option<String>) -> Response {
        let mut response = tokio::select! {
            biased;
            Some(first) = self.told.recv() => self.stream(first),
            outcome = &mut self.work => match self.told.try_recv() {
                Ok(first) => {
                    self.work = Box::pin(std::future::ready(outcome));
                    self.stream(first)
                }
                Err(_) => match outcome {
                    Ok(result) => json(StatusCode::OK, &rpc::answer(&self.id, &Ok(result))),
                    Err(error) => refused(&self.gateway, &self.id, error),
                },
            },
        };
        if let Some(session) = session.and_then(|session| HeaderValue::try_from(session).ok()) {
            response.headers_mut().insert(SESSION, session);
        }
        response
    }

    fn stream(self, first: Value) -> Response {
        let telling = Telling { ready: VecDeque::from([first]), under_way: Some(self) };
        let events = stream::unfold(telling, Telling::step);
        let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
        response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

/// A stream of what is told, and of the answer at its end.
struct Telling {
    ready: VecDeque<Value>,
    under_way: Option<UnderWay>,
}

impl Telling {
    async fn step(mut self) -> Option<(Result<Event, Infallible>, Telling)> {
        if let Some(message) = self.ready.pop_front() {
            return Some((Ok(Event::default().event("message").data(message.to_string())), self));
        }
        let mut under_way = self.under_way.take()?;
        let message = tokio::select! {
            biased;
            Some(message) = under_way.told.recv() => {
                self.under_way = Some(under_way);
                message
            }
            outcome = &mut under_way.work => {
                while let Ok(message) = under_way.told.try_recv() {
                    self.ready.push_back(message);
                }
                self.ready.push_back(rpc::answer(&under_way.id, &outcome));
                self.ready.pop_front()?
            }
        };
        Some((Ok(Event::default().event("message").data(message.to_string())), self))
    }
}

fn json(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], Body::from(body.to_string())).into_response()
}

fn refused(gateway: &Gateway, id: &Value, error: Error) -> Response {
    let (status, retry_after, needs_key) = (error.status, error.retry_after.clone(), error.needs_key);
    let mut answer = rpc::answer(id, &Err(error));
    if id.is_null()
        && let Some(fields) = answer.as_object_mut()
    {
        fields.remove("id");
    }
    let mut response = json(status, &answer);
    let headers = response.headers_mut();
    if let Some(retry_after) = retry_after {
        headers.insert(header::RETRY_AFTER, retry_after);
    }
    let challenge = match status {
        StatusCode::UNAUTHORIZED if needs_key => Some(metadata::challenge(&gateway.public_url, None)),
        StatusCode::FORBIDDEN => Some(metadata::challenge(&gateway.public_url, Some("insufficient_scope"))),
        _ => None,
    };
    if let Some(challenge) = challenge.and_then(|challenge| HeaderValue::try_from(challenge).ok()) {
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Question;
    use crate::resources;

    /// What is read of a message before anything is asked for on its behalf.
    fn read(bytes: &[u8]) -> String {
        let (method, params) = match Message::read(bytes) {
            Ok(Message::Request { method, params, .. }) => (method, params),
            Ok(Message::Notification) => return "a notification".to_owned(),
            Ok(Message::Response { .. }) => return "a response".to_owned(),
            Err(error) => return abide_fuzz::outcome(&error.message),
        };
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut headers = HeaderMap::new();
        headers.insert("mcp-protocol-version", HeaderValue::from_static(STATELESS));
        for (name, value) in [("mcp-method", method.clone()), ("mcp-name", text("name"))] {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        let client = client(&headers, &method, &params).map(|client| client.capabilities);
        let responses = params.get("inputResponses").and_then(Value::as_object).into_iter().flatten();
        let question = Question::of(&abide_definition::document::McpAsk::default(), &Value::Null);
        let read = responses.filter(|(_, response)| question.read(response).is_ok()).count();
        let state = crate::call::is_state(&text("requestState"));
        let named = resources::named(&text("uri")).is_some();
        format!("{:?} {read} {state} {named}", client.map_err(|error| error.code))
    }

    #[test]
    fn fuzz_messages_of_clients() {
        abide_fuzz::fuzz("mcp", &[], read);
    }
}
