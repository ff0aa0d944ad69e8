//! A server for one test, and a client that is just large enough for it.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::store::fresh_store;
use abide_core::time::Millis;
use abide_engine::{CallSettings, Engine, Options, SettableClock};
use abide_server::{Server, Settings};
use abide_store::Store;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Engine,
    pub(crate) clock: SettableClock,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

pub(crate) const START: &str = "2026-11-15T12:00:00Z";

impl Host {
    pub(crate) async fn start() -> Host {
        Host::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Host {
        Host::on(fresh_store(), settings).await
    }

    pub(crate) async fn on(store: Box<dyn Store>, settings: Settings) -> Host {
        let mut calls = CallSettings::default();
        // Receivers of webhooks are on this machine.
        calls.allow(["127.0.0.1".parse().unwrap()]);
        Host::calling(store, settings, calls).await
    }

    pub(crate) async fn calling(store: Box<dyn Store>, settings: Settings, calls: CallSettings) -> Host {
        Host::opened(store, settings, Options { calls, ..Options::default() }).await
    }

    /// One whose waits may take no longer than this.
    pub(crate) async fn with_max_wait(max_wait: Millis) -> Host {
        let options = Options { max_wait: Some(max_wait), ..Options::default() };
        Host::opened(fresh_store(), Settings::default(), options).await
    }

    pub(crate) async fn opened(store: Box<dyn Store>, mut settings: Settings, options: Options) -> Host {
        let clock = SettableClock::new(START.parse().unwrap());
        let options = Options { clock: Some(clock.clone()), ..options };
        let engine = Engine::open_with(store, options).await.unwrap();
        settings.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = Server::bind(engine.clone(), settings).await.unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(server.run(async { drop(stopped.await) }));
        Host { address, engine, clock, stop, running }
    }

    /// Stops the server as a signal would, and closes the store.
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
        self.engine.shut_down().await.unwrap();
    }

    /// Lets time pass, and what is due happen.
    pub(crate) async fn pass(&self, ms: u64) {
        self.clock.advance(Millis(ms));
        self.engine.clock().settled().await.unwrap();
    }

    pub(crate) fn url(&self, path: &str) -> String {
        if path.starts_with("/api") || path.starts_with("http") {
            path.to_owned()
        } else {
            format!("/api/v1{path}")
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.send(Method::POST, path, &[], Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Reply {
        self.send(Method::PATCH, path, &[], Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        self.send(Method::PUT, path, &[], Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, &[], None).await
    }

    /// With a key.
    pub(crate) async fn post_as(&self, key: &str, path: &str, body: Value) -> Reply {
        self.send(Method::POST, path, &[("x-api-key", key)], Some(body)).await
    }

    pub(crate) async fn get_as(&self, key: &str, path: &str) -> Reply {
        self.send(Method::GET, path, &[("x-api-key", key)], None).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Reply {
        let text = body.map(|body| body.to_string()).unwrap_or_default();
        let has_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let mut headers = headers.to_vec();
        if !text.is_empty() && !has_type {
            headers.push(("content-type", "application/json"));
        }
        self.raw(method, &self.url(path), &headers, text.into()).await
    }

    /// The path as it is, the body as it is.
    pub(crate) async fn raw(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Reply {
        Reply::of(self.open(method, path, headers, body).await).await
    }

    pub(crate) async fn open(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Response<Incoming> {
        let path = path.strip_prefix(&format!("http://{}", self.address)).unwrap_or(path);
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request = request.header("host", self.address.to_string());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        sender.send_request(request.body(Full::new(body)).unwrap()).await.unwrap()
    }

    // What most tests begin with.

    pub(crate) async fn deploy(&self, workflow: Value) -> String {
        let reply = self.post("/workflow-definitions", workflow).await;
        assert!(reply.status == 201 || reply.status == 200, "{}", reply.text);
        reply.json["id"].as_str().unwrap().to_owned()
    }

    /// A run of a workflow with these steps.
    pub(crate) async fn run_of(&self, steps: Value) -> String {
        self.deploy(json!({ "name": "flow", "version": "1", "steps": steps })).await;
        self.start_run("flow", json!({})).await
    }

    pub(crate) async fn start_run(&self, name: &str, input: Value) -> String {
        let reply = self.post("/workflow-runs", json!({ "name": name, "input": input })).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        reply.json["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn run(&self, id: &str) -> Value {
        let reply = self.get(&format!("/workflow-runs/{id}")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json
    }

    /// The one waitpoint of a run.
    pub(crate) async fn waitpoint(&self, run: &str) -> Value {
        let reply = self.get(&format!("/waitpoints?runId={run}&status=PENDING")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let found = reply.json["data"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{}", reply.text);
        found[0].clone()
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// Null where the body is not JSON.
    pub(crate) json: Value,
}

impl Reply {
    pub(crate) async fn of(response: Response<Incoming>) -> Reply {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        // Compressed files are not text.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let json = serde_json::from_str(&text).unwrap_or_default();
        Reply { status: parts.status.as_u16(), headers: parts.headers, text, json }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Refused with this status and code, as a problem should be.
    #[track_caller]
    pub(crate) fn is_problem(&self, status: u16, code: &str) -> &Reply {
        assert_eq!((self.status, self.json["code"].as_str()), (status, Some(code)), "{}", self.text);
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.json["status"], status);
        self
    }
}

/// Looks again until it is so; a test that waits for ever is stopped by its runner.
pub(crate) async fn until<F: Future<Output = bool>>(mut is_so: impl FnMut() -> F) {
    while !is_so().await {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
