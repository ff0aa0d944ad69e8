//! The server: reads a call, looks into the script, logs, answers.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::log::{Log, Logged};
use crate::reply::{Outcome, outcome};
use crate::request::{Protocol, ReceivedRequest};
use crate::script::{Cut, Error, Reply, Script, by_default};

const REQUEST_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub script: Script,
    /// Zero: one that is free.
    pub port: u16,
    /// Where calls are logged, besides in memory. Added to, if it is there already.
    pub log: Option<PathBuf>,
}

/// A running stand-in, on loopback only. Stops when dropped.
#[derive(Debug)]
pub struct StandIn {
    address: SocketAddr,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    script: Script,
    log: Log,
    turn: Mutex<Turn>,
}

#[derive(Debug, Default)]
struct Turn {
    calls: u64,
    used: Vec<usize>,
}

impl StandIn {
    pub async fn start(options: Options) -> io::Result<StandIn> {
        let file = match &options.log {
            None => None,
            Some(path) => Some(File::options().create(true).append(true).open(path)?),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let log = Log::to_file(file);
        let state = Arc::new(State { script: options.script, log, turn: Mutex::default() });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(StandIn { address, state, accepting })
    }

    /// With a script, on a free port.
    pub async fn of(script: Script) -> io::Result<StandIn> {
        StandIn::start(Options { script, ..Options::default() }).await
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL of all protocols.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Logged> {
        self.state.log.lines()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let state = Arc::clone(&state);
        connections.spawn(async move {
            let service = service_fn(move |request| serve(Arc::clone(&state), request));
            // A caller that goes away, and a connection that is cut, are nobody's error.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn serve(state: Arc<State>, request: Request<Incoming>) -> io::Result<Response<Pieces>> {
    let Some(protocol) = Protocol::of_path(request.uri().path()).filter(|_| request.method() == Method::POST)
    else {
        let known = "there are POST /v1/chat/completions, /v1/responses and /v1/messages\n";
        return Ok(response(404, &[], Pieces::of([Bytes::from(known)])));
    };
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, REQUEST_BYTES).collect().await.map_err(io::Error::other)?.to_bytes();
    let outcome = state.answer(protocol, &parts.headers, &body)?;
    tokio::time::sleep(outcome.delay).await;
    let mut pieces = Pieces::of(outcome.pieces);
    match outcome.cut {
        Some(Cut::Before) => return Err(io::ErrorKind::ConnectionAborted.into()),
        Some(Cut::During) => pieces.cut_in_the_middle(),
        None => {}
    }
    Ok(response(outcome.status, &outcome.headers, pieces))
}

impl State {
    fn answer(&self, protocol: Protocol, headers: &HeaderMap, body: &[u8]) -> io::Result<Outcome> {
        let request: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let refusal = |status, kind: &str, message: String| {
            let error = Error { kind: kind.to_owned(), message };
            Reply { error: Some(error), ..Reply::status(status) }
        };
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        turn.calls += 1;
        let (asked, rule, reply) = match (self.authorised(protocol, headers), protocol.read(&request)) {
            (Err(message), _) => {
                (ReceivedRequest::default(), None, refusal(401, "authentication_error", message))
            }
            (Ok(()), Err(message)) => {
                (ReceivedRequest::default(), None, refusal(400, "invalid_request_error", message))
            }
            (Ok(()), Ok(asked)) => {
                let rule = self.script.choose(&asked, &mut turn.used);
                let reply =
                    rule.map_or_else(|| by_default(&asked), |rule| self.script.rules[rule].reply.clone());
                (asked, rule, reply)
            }
        };
        let outcome = outcome(protocol, &reply, &asked, turn.calls);
        self.log.write(Logged {
            call: turn.calls,
            protocol,
            model: asked.model,
            stream: asked.stream,
            rule,
            status: outcome.status,
            usage: outcome.usage,
            request,
        })?;
        Ok(outcome)
    }

    fn authorised(&self, protocol: Protocol, headers: &HeaderMap) -> Result<(), String> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let given = match protocol {
            Protocol::Anthropic => {
                text("anthropic-version").ok_or("anthropic-version: header is required")?;
                text("x-api-key")
            }
            Protocol::OpenaiChat | Protocol::OpenaiResponses => {
                text("authorization").and_then(|value| value.strip_prefix("Bearer "))
            }
        };
        match &self.script.key {
            Some(key) if given != Some(key) => Err("The key is missing or wrong.".to_owned()),
            Some(_) | None => Ok(()),
        }
    }
}

fn response(status: u16, headers: &[(&'static str, String)], body: Pieces) -> Response<Pieces> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    response.body(body).unwrap_or_else(|error| {
        let mut response =
            Response::new(Pieces::of([Bytes::from(format!("the script cannot be sent: {error}\n"))]));
        *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}

/// A body in pieces that may end before its end.
struct Pieces {
    left: VecDeque<Bytes>,
    cut: bool,
    /// The cut comes after what was sent before has left.
    yielded: bool,
}

impl Pieces {
    fn of(pieces: impl IntoIterator<Item = Bytes>) -> Pieces {
        let left = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        Pieces { left, cut: false, yielded: false }
    }

    fn cut_in_the_middle(&mut self) {
        self.left.truncate(self.left.len().div_ceil(2));
        self.cut = true;
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(piece) = self.left.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        if !self.cut {
            return Poll::Ready(None);
        }
        if !std::mem::replace(&mut self.yielded, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())))
    }
}
