//! Somebody outside who is told things: an HTTP server that keeps what it was sent and answers as it is told to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub(crate) struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    accepting: JoinHandle<()>,
}

struct State {
    status: u16,
    calls: Vec<Call>,
}

#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Call {
    pub(crate) fn id(&self) -> String {
        self.headers["webhook-id"].to_str().unwrap().to_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// As the library that receivers use sees it, by its own clock.
    pub(crate) fn is_signed(&self, secret: &str) -> bool {
        let webhook = Webhook::new(secret).unwrap();
        webhook.verify(&self.body, &self.headers).is_ok()
    }
}

impl Receiver {
    pub(crate) async fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { status: 200, calls: Vec::new() }));
        let shared = Arc::clone(&state);
        let accepting = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let shared = Arc::clone(&shared);
                let service = service_fn(move |request: Request<Incoming>| {
                    let shared = Arc::clone(&shared);
                    async move {
                        let (parts, body) = request.into_parts();
                        let body = body.collect().await?.to_bytes();
                        let mut state = shared.lock().unwrap();
                        state.calls.push(Call { headers: parts.headers, body });
                        let words = if state.status < 300 { "thank you" } else { "not now" };
                        let answer =
                            Response::builder().status(state.status).body(Full::new(Bytes::from(words)));
                        Ok::<_, hyper::Error>(answer.unwrap())
                    }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Receiver { address, state, accepting }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(crate) fn answer(&self, status: u16) {
        self.state.lock().unwrap().status = status;
    }

    /// What came since the last time.
    pub(crate) fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.state.lock().unwrap().calls)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
