//! Between the standard streams and `/mcp`: a line in is a POST, and what is answered, whole or as a stream, are lines out.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use abide_sse::Parser;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::sync::mpsc::{self, Sender};
use tokio::task::{AbortHandle, JoinSet};

/// A message of a client.
const LINE_BYTES: u64 = 4 * 1024 * 1024;
/// Requests under way at the same time.
const UNDER_WAY: usize = 100;
/// Lines that wait to be written.
const LINES: usize = 256;
const SESSION: &str = "mcp-session-id";
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const REFUSED: i64 = -32000;

/// What is known of the session, where the client's version of the protocol has one.
#[derive(Clone, Debug, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
}

#[derive(Clone)]
struct Relay {
    http: Client,
    url: String,
    key: Option<String>,
    session: Arc<Mutex<Session>>,
    lines: Sender<String>,
}

/// Until the input has ended and everything is answered.
pub(super) async fn relay(
    http: Client,
    url: &str,
    key: Option<String>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (lines, mut written) = mpsc::channel::<String>(LINES);
    let relay = Relay { http, url: url.to_owned(), key, session: Arc::default(), lines };
    let reading = tokio::spawn(relay.read());
    while let Some(line) = written.recv().await {
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    reading.await??;
    Ok(())
}

impl Relay {
    async fn read(self) -> anyhow::Result<()> {
        let mut input = BufReader::new(tokio::io::stdin());
        let mut under_way: HashMap<String, AbortHandle> = HashMap::new();
        let mut streams: Vec<AbortHandle> = Vec::new();
        let mut requests = JoinSet::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut input).take(LINE_BYTES).read_until(b'\n', &mut line).await?;
            if read == 0 {
                break;
            }
            anyhow::ensure!(
                line.ends_with(b"\n") || (read as u64) < LINE_BYTES,
                "a message has more than {LINE_BYTES} bytes"
            );
            if line.trim_ascii().is_empty() {
                continue;
            }
            while requests.len() >= UNDER_WAY {
                requests.join_next().await;
            }
            let Ok(message) = serde_json::from_slice::<Value>(&line) else {
                let error = json!({ "code": -32700, "message": "this is not JSON" });
                self.write(json!({ "jsonrpc": "2.0", "id": null, "error": error })).await;
                continue;
            };
            if message["method"] == "notifications/cancelled" {
                if let Some(request) = under_way.remove(&message["params"]["requestId"].to_string()) {
                    request.abort();
                }
                continue;
            }
            let (id, method) = (message.get("id").cloned(), message["method"].clone());
            let relay = self.clone();
            let handle = requests.spawn(async move { relay.post(message).await });
            if method == "subscriptions/listen" {
                streams.push(handle.clone());
            }
            if let Some(id) = id.filter(|_| method.is_string()) {
                under_way.retain(|_, request| !request.is_finished());
                under_way.insert(id.to_string(), handle.clone());
            }
            // What comes after it needs what it says.
            if method == "initialize" {
                while !handle.is_finished() {
                    requests.join_next().await;
                }
            }
        }
        streams.iter().for_each(AbortHandle::abort);
        while requests.join_next().await.is_some() {}
        Ok(())
    }

    async fn post(&self, message: Value) {
        let id = message.get("id").cloned().filter(|_| message["method"].is_string());
        if let Err(error) = self.pass_on(&message).await
            && let Some(id) = id
        {
            let error = json!({ "code": REFUSED, "message": format!("{error:#}") });
            self.write(json!({ "jsonrpc": "2.0", "id": id, "error": error })).await;
        }
    }

    async fn pass_on(&self, message: &Value) -> anyhow::Result<()> {
        let response = self.request(message).body(message.to_string()).send().await?;
        if message["method"] == "initialize" {
            let id = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
            self.session().id = id;
        }
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/event-stream") {
            return self.pass_on_stream(response).await;
        }
        let status = response.status();
        let text = response.text().await?;
        let is_wanted = message.get("id").is_some() && message["method"].is_string();
        if !is_wanted {
            return Ok(());
        }
        let mut answer: Value = serde_json::from_str(&text).unwrap_or_default();
        if answer.get("jsonrpc").is_none() {
            let detail = answer["detail"].as_str().unwrap_or("the server did not answer as it should");
            anyhow::bail!("{status}: {detail}");
        }
        if answer.get("id").is_none() {
            answer["id"] = message["id"].clone();
        }
        if message["method"] == "initialize" {
            self.session().version = answer["result"]["protocolVersion"].as_str().map(str::to_owned);
        }
        self.write(answer).await;
        Ok(())
    }

    async fn pass_on_stream(&self, mut response: Response) -> anyhow::Result<()> {
        let mut parser = Parser::default();
        while let Some(bytes) = response.chunk().await? {
            for event in parser.take(&bytes)? {
                if let Ok(message) = serde_json::from_str::<Value>(&event.data) {
                    self.write(message).await;
                }
            }
        }
        Ok(())
    }

    /// With what the headers of a request say again of its body.
    fn request(&self, message: &Value) -> RequestBuilder {
        let mut request = self.http.post(&self.url).header(CONTENT_TYPE, "application/json");
        request =
            request.header(ACCEPT, "application/json, text/event-stream").header("abide-transport", "stdio");
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let params = &message["params"];
        let session = self.session().clone();
        if let Some(id) = session.id {
            request = request.header(SESSION, id);
        }
        let version = params["_meta"][META_VERSION].as_str().map(str::to_owned).or(session.version);
        if let Some(version) = version.filter(|version| version.is_ascii()) {
            request = request.header("mcp-protocol-version", version);
        }
        if let Some(method) = message["method"].as_str().filter(|method| method.is_ascii()) {
            request = request.header("mcp-method", method);
        }
        let named = ["name", "uri", "taskId"].iter().find_map(|field| params[*field].as_str());
        match named {
            Some(name) => request.header("mcp-name", encoded(name)),
            None => request,
        }
    }

    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, message: Value) {
        // Nobody reads any more: then everything ends.
        drop(self.lines.send(message.to_string()).await);
    }
}

/// A name as the value of a header.
fn encoded(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| (0x21..0x7f).contains(&byte)) && !name.starts_with("=?base64?");
    if is_plain {
        return name.to_owned();
    }
    use base64::Engine as _;
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(name))
}
