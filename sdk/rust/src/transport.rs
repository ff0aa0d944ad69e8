//! One door to the server: URLs, keys, retries. What may safely be repeated is repeated; what may not, is not.

use std::fmt::{self, Write as _};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Certificate, Method, Response, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::length::{backoff, random_hex};
use crate::problem::{Error, Problem};
use crate::wire;

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// A connection on which nothing has come for this long is looked after.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// Longer than the longest wait that a request may ask for: a server that vanished without a word is noticed.
const ANSWER_TIME: Duration = Duration::from_secs(330);
/// How much of an answer that is not ours stands in the error.
const DETAIL_CHARS: usize = 500;
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) server: String,
    http: reqwest::Client,
    api_key: Option<ApiKey>,
    retries: u32,
}

/// A secret: it stands in no log.
#[derive(Clone)]
pub(crate) struct ApiKey(pub(crate) String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey")
    }
}

/// What is asked. With a key, or if it is repeatable by what it is, it may be sent again.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    method: Method,
    path: String,
    query: Vec<(String, String)>,
    body: Option<String>,
    key: Option<String>,
    repeatable: bool,
    media_type: &'static str,
    accept: &'static str,
    /// How long the answer may take; nothing of a stream.
    time: Option<Duration>,
    last_event_id: Option<String>,
    traceparent: Option<String>,
}

/// A path of the API; what stands for a name or an id is escaped.
pub(crate) fn at(segments: &[&str]) -> String {
    segments.iter().fold("/api/v1".to_owned(), |mut path, segment| {
        write!(path, "/{}", utf8_percent_encode(segment, SEGMENT)).expect("a string takes everything");
        path
    })
}

impl Request {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Request {
        Request {
            repeatable: method == Method::GET,
            method,
            path: path.into(),
            query: Vec::new(),
            body: None,
            key: None,
            media_type: "application/json",
            accept: "application/json",
            time: Some(ANSWER_TIME),
            last_event_id: None,
            traceparent: None,
        }
    }

    pub(crate) fn body(self, value: &impl Serialize) -> Result<Request, Error> {
        let body = serde_json::to_string(value).map_err(|error| Error::not_json("what was given", &error))?;
        Ok(self.text(body))
    }

    /// Already written JSON.
    pub(crate) fn text(mut self, body: String) -> Request {
        self.body = Some(body);
        self
    }

    /// The fields of an object; what it does not have is not asked for.
    pub(crate) fn query(mut self, fields: &impl Serialize) -> Result<Request, Error> {
        let value = serde_json::to_value(fields).map_err(|error| Error::not_json("a query", &error))?;
        let members = value.as_object().into_iter().flatten();
        self.query.extend(members.filter_map(|(name, value)| Some((name.clone(), written(value)?))));
        Ok(self)
    }

    pub(crate) fn keyed(mut self, key: Option<&str>) -> Request {
        self.key = Some(key.map_or_else(random_hex::<16>, str::to_owned));
        self
    }

    pub(crate) fn repeatable(mut self) -> Request {
        self.repeatable = true;
        self
    }

    pub(crate) fn accept(mut self, media: &'static str) -> Request {
        self.accept = media;
        self
    }

    /// An answer that comes for as long as there is something to say.
    pub(crate) fn events(self) -> Request {
        self.accept("text/event-stream").unhurried()
    }

    /// However long the answer takes.
    pub(crate) fn unhurried(mut self) -> Request {
        self.time = None;
        self
    }

    /// A body of another media type than JSON.
    pub(crate) fn of_type(mut self, media_type: &'static str) -> Request {
        self.media_type = media_type;
        self
    }

    pub(crate) fn parameters(mut self, parameters: impl IntoIterator<Item = (String, String)>) -> Request {
        self.query.extend(parameters);
        self
    }

    pub(crate) fn since(mut self, event_id: Option<&str>) -> Request {
        self.last_event_id = event_id.map(str::to_owned);
        self
    }

    pub(crate) fn traced(mut self, traceparent: Option<&str>) -> Request {
        self.traceparent = traceparent.map(str::to_owned);
        self
    }
}

fn written(value: &wire::Json) -> Option<String> {
    match value {
        wire::Json::Null => None,
        wire::Json::String(text) => Some(text.clone()),
        wire::Json::Array(several) => Some(several.iter().filter_map(written).collect::<Vec<_>>().join(",")),
        wire::Json::Bool(_) | wire::Json::Number(_) | wire::Json::Object(_) => Some(value.to_string()),
    }
}

impl Transport {
    pub(crate) fn new(
        url: &str,
        api_key: Option<ApiKey>,
        retries: u32,
        certificates: Vec<Certificate>,
    ) -> Result<Transport, Error> {
        let bad = |why: &str| {
            Error::Unusable(format!(
                "`{url}` is not the URL of a server: {why}; it would look like `http://127.0.0.1:22433`"
            ))
        };
        let parsed = Url::parse(url).map_err(|error| bad(&error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(bad("it begins with neither http:// nor https://"));
        }
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Somebody else may be as quick: then theirs it is.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIME)
            .tcp_keepalive(KEEPALIVE)
            .user_agent(concat!("abide-rust/", env!("CARGO_PKG_VERSION")))
            .tls_certs_merge(certificates)
            .build()
            .map_err(|error| Error::Unusable(innermost(&error)))?;
        Ok(Transport { server: url.trim_end_matches('/').to_owned(), http, api_key, retries })
    }

    pub(crate) async fn json<T: DeserializeOwned>(&self, request: Request) -> Result<T, Error> {
        let path = request.path.clone();
        let response = self.send(request).await?;
        let bytes = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        let text: &[u8] = if bytes.is_empty() { b"null" } else { &bytes };
        serde_json::from_slice(text).map_err(|error| Error::not_json(format!("the answer to {path}"), &error))
    }

    /// The answer, if it is a yes.
    pub(crate) async fn send(&self, request: Request) -> Result<Response, Error> {
        for attempt in 0.. {
            let error = match self.once(&request).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let repeatable = request.repeatable || request.key.is_some();
            let again = error.is_busy() || (repeatable && may_pass(&error));
            if !again || attempt >= self.retries {
                return Err(error);
            }
            let asked = error.problem().and_then(|problem| problem.retry_after).unwrap_or_default();
            tokio::time::sleep(asked.max(backoff(attempt, FIRST_BACKOFF, LONGEST_BACKOFF))).await;
        }
        unreachable!("the last attempt returns")
    }

    async fn once(&self, request: &Request) -> Result<Response, Error> {
        let Request { method, path, query, body, key, accept, last_event_id, traceparent, .. } = request;
        let whole = if path.starts_with('/') { format!("{}{path}", self.server) } else { path.clone() };
        let mut url = Url::parse(&whole).map_err(|error| Error::Unusable(format!("`{whole}`: {error}")))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut sent = self.http.request(method.clone(), url).header(ACCEPT, *accept);
        // A resume URL may be anybody's, and needs no key.
        if let Some(ApiKey(key)) = self.api_key.as_ref().filter(|_| path.starts_with('/')) {
            sent = sent.bearer_auth(key);
        }
        let optional =
            [("idempotency-key", key), ("last-event-id", last_event_id), ("traceparent", traceparent)];
        for (name, value) in optional {
            if let Some(value) = value {
                sent = sent.header(name, value);
            }
        }
        if let Some(body) = body {
            sent = sent.header(CONTENT_TYPE, request.media_type).body(body.clone());
        }
        if let Some(time) = request.time {
            sent = sent.timeout(time);
        }
        let response = sent.send().await.map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() { Ok(response) } else { Err(self.problem_of(response).await) }
    }

    pub(crate) fn unreachable(&self, error: &reqwest::Error) -> Error {
        Error::Unreachable { server: self.server.clone(), reason: innermost(error) }
    }

    async fn problem_of(&self, response: Response) -> Error {
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let text = match response.text().await {
            Ok(text) => text,
            Err(error) => return self.unreachable(&error),
        };
        let body = serde_json::from_str(&text).unwrap_or_else(|_| {
            // Not one of ours: something between us and the server said it.
            let title = status.canonical_reason().unwrap_or_default().to_owned();
            let said: String = text.chars().take(DETAIL_CHARS).collect();
            wire::Problem {
                code: format!("HTTP_{}", status.as_u16()),
                detail: if said.is_empty() { title.clone() } else { said },
                kind: "about:blank".to_owned(),
                status: status.as_u16(),
                title,
                current: wire::Json::Null,
                outcome: wire::Json::Null,
                pointer: None,
                problems: Vec::new(),
                warnings: Vec::new(),
            }
        });
        Problem::new(body, retry_after).into()
    }
}

/// Whether the same request may succeed later, even though it is not known whether anything was done.
fn may_pass(error: &Error) -> bool {
    let between = error.problem().is_some_and(|problem| matches!(problem.status, 502 | 504));
    between || matches!(error, Error::Unreachable { .. })
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The innermost cause of an error says most: "connection refused".
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    let mut said = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        said = inner.to_string();
        cause = inner.source();
    }
    said
}
