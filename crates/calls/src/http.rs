//! The client for every call that leaves the process.
//!
//! An address is judged after it was looked up and right before it is connected to, by the same code and without a
//! second look-up, so that a name cannot answer differently the second time. Redirects are followed here, one request
//! each, so that each target is judged like the first. There are no proxies, no cookies, no caches, and no HTTP/2.

mod address;
mod connect;
mod error;
mod policy;
mod redirect;
mod response;
mod rule;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderMap, Method};
use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::Instant;
use url::Url;

use crate::secrets::Hosts;

pub use address::Reserved;
use connect::Connector;
pub use connect::{Looked, Resolve, SystemResolver};
pub use error::Error;
pub use policy::Policy;
pub use response::{Response, Streaming};
pub use rule::{Refusal, Rule, RuleError};

/// Redirects that one call may follow, unless the request says less.
pub const REDIRECTS: u32 = 5;
/// How long a connection may take, the look-up and TLS included.
pub const CONNECT: Duration = Duration::from_secs(10);
/// How long a call may take, from the look-up to the last byte.
pub const WHOLE: Duration = Duration::from_secs(60);
/// The body of a response.
pub const RESPONSE_BYTES: usize = 1024 * 1024;
pub const URL_BYTES: usize = 8192;
/// The status line and the headers of a response.
const RESPONSE_HEAD_BYTES: usize = 64 * 1024;
const RESPONSE_HEADERS: usize = 200;
/// Shorter than the five seconds after which common servers drop an idle connection: a request written into one that
/// is just being dropped would look like a call that was cut.
const IDLE: Duration = Duration::from_secs(4);
const USER_AGENT: &str = concat!("abide/", env!("CARGO_PKG_VERSION"));

/// One call. Headers whose values are marked sensitive are not sent on to another origin.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    pub url: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub bounds: Bounds,
    /// The secrets that it carries, by name, and where each may be sent. Held to at every hop that carries them.
    pub secrets: Vec<(String, Hosts)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub whole: Duration,
    pub response_bytes: usize,
    pub redirects: u32,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { whole: WHOLE, response_bytes: RESPONSE_BYTES, redirects: REDIRECTS }
    }
}

impl Request {
    pub fn new(method: Method, url: impl Into<String>) -> Request {
        Request {
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            bounds: Bounds::default(),
            secrets: Vec::new(),
        }
    }
}

/// Cheap to clone; clones share their connections. Belongs to one runtime.
#[derive(Clone)]
pub struct Client {
    connections: legacy::Client<Connector, Full<Bytes>>,
    policy: Arc<Policy>,
}

impl Client {
    pub fn new(policy: Policy) -> Client {
        Client::with(policy, CONNECT, Arc::new(SystemResolver))
    }

    pub fn with(policy: Policy, connect: Duration, resolver: Arc<dyn Resolve>) -> Client {
        let policy = Arc::new(policy);
        let connector = Connector::new(Arc::clone(&policy), connect, resolver);
        let connections = legacy::Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_timer(TokioTimer::new())
            .http1_max_buf_size(RESPONSE_HEAD_BYTES)
            .http1_max_headers(RESPONSE_HEADERS)
            .build(connector);
        Client { connections, policy }
    }

    /// Whether a URL could be called, as far as that can be told without looking its host up.
    pub fn check(&self, url: &str) -> Result<(), Error> {
        let url = parse(url)?;
        admit(&url)?;
        self.policy.admit_literal(&url)
    }

    /// The whole response.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        self.open(request).await?.collect().await
    }

    /// The response as soon as its headers are there; its body comes in chunks, under the same bounds.
    pub async fn open(&self, request: Request) -> Result<Streaming, Error> {
        let bounds = request.bounds;
        let deadline = Instant::now() + bounds.whole;
        let mut next = redirect::Hop {
            url: parse(&request.url)?,
            method: request.method,
            headers: request.headers,
            body: request.body,
            secrets: request.secrets,
        };
        for followed in 0..=bounds.redirects {
            let response = self.one(&next, bounds, deadline).await?;
            let Some(target) = redirect::target(&next.url, &response)? else {
                return Streaming::new(response, next.url, bounds, deadline);
            };
            if followed == bounds.redirects {
                return Err(Error::TooManyRedirects { limit: bounds.redirects, url: target.into() });
            }
            next = next.follow(response.status(), target);
        }
        unreachable!("the last turn of the loop returns")
    }

    async fn one(
        &self,
        hop: &redirect::Hop,
        bounds: Bounds,
        deadline: Instant,
    ) -> Result<hyper::Response<hyper::body::Incoming>, Error> {
        admit(&hop.url)?;
        hop.check_secrets()?;
        self.policy.admit_literal(&hop.url)?;
        let mut request = hyper::Request::new(Full::new(hop.body.clone()));
        *request.method_mut() = hop.method.clone();
        *request.uri_mut() = hop.url.as_str().parse().map_err(|_| bad_url(&hop.url, "it is not a URI"))?;
        *request.headers_mut() = hop.headers.clone();
        let headers = request.headers_mut();
        headers.entry(::http::header::USER_AGENT).or_insert(::http::HeaderValue::from_static(USER_AGENT));
        headers.entry(::http::header::ACCEPT).or_insert(::http::HeaderValue::from_static("*/*"));
        match tokio::time::timeout_at(deadline, self.connections.request(request)).await {
            Err(_) => Err(Error::TimedOut { url: shown(&hop.url), after: bounds.whole }),
            Ok(Err(error)) => Err(Error::of_client(error, &hop.url)),
            Ok(Ok(response)) => Ok(response),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("policy", &self.policy).finish_non_exhaustive()
    }
}

fn parse(given: &str) -> Result<Url, Error> {
    if given.len() > URL_BYTES {
        return Err(Error::BadUrl {
            url: given.chars().take(100).collect(),
            why: format!("it has {} bytes, and at most {URL_BYTES} (URL_BYTES) are allowed", given.len()),
        });
    }
    Url::parse(given).map_err(|error| Error::BadUrl { url: given.to_owned(), why: error.to_string() })
}

/// What holds for the first URL and for every target of a redirect.
fn admit(url: &Url) -> Result<(), Error> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Error::SchemeRefused { url: shown(url), scheme: url.scheme().to_owned() });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad_url(url, "it carries a user or a password; send them in a header"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(bad_url(url, "it names no host"));
    }
    Ok(())
}

fn bad_url(url: &Url, why: &str) -> Error {
    Error::BadUrl { url: shown(url), why: why.to_owned() }
}

/// A URL as errors show it: what follows the path may carry a token.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}
