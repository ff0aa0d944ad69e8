//! The server's API as the commands use it: one door out, answers as they came, and what is read of them.

mod error;
mod find;
mod problem;
mod shape;
mod stream;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use reqwest::{Certificate, Method, RequestBuilder, Response, Url, header};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use error::{Error, Exit};
pub(crate) use problem::Problem;
pub(crate) use shape::*;

/// In which the server says its time.
const TIME: &str = "abide-time";
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Longer than the longest wait that a request may ask for.
const ANSWER_TIME: Duration = Duration::from_secs(330);

/// Which server, and as whom.
#[derive(Clone, Debug, Args)]
pub(crate) struct Connection {
    /// Where the server is
    #[arg(
        long,
        env = "ABIDE_SERVER",
        value_name = "URL",
        default_value = "http://127.0.0.1:22433",
        help_heading = "Server"
    )]
    server: String,
    /// The API key, where the server wants one
    #[arg(long, env = "ABIDE_API_KEY", value_name = "KEY", hide_env_values = true, help_heading = "Server")]
    key: Option<String>,
    /// Certificates to trust besides those of the machine, as PEM: for a server behind https with one of your own
    #[arg(long, env = "ABIDE_CA", value_name = "FILE", help_heading = "Server")]
    ca: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    server: Url,
    key: Option<String>,
}

/// What the server said, to the letter.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// The server's time when it answered.
    pub(crate) now: Option<Timestamp>,
}

impl Answer {
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(&self.text).map_err(|why| Error::NotUnderstood(why.to_string()))
    }
}

impl Connection {
    pub(crate) fn open(&self) -> Result<Client, Error> {
        let bad = |why: String| {
            let server = &self.server;
            Error::Usage(format!(
                "`{server}` is not the URL of a server: {why}; it would look like `http://127.0.0.1:22433`"
            ))
        };
        let server = Url::parse(&self.server).map_err(|error| bad(error.to_string()))?;
        if !matches!(server.scheme(), "http" | "https") {
            return Err(bad("it begins with neither http:// nor https://".to_owned()));
        }
        // The first one stays; it is the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIME)
            .user_agent(concat!("abide/", env!("CARGO_PKG_VERSION")))
            .tls_certs_merge(self.certificates()?)
            .build()
            .map_err(|error| Error::Failed(error::causes(&error)))?;
        Ok(Client { http, server, key: self.key.clone() })
    }

    fn certificates(&self) -> Result<Vec<Certificate>, Error> {
        let Some(path) = &self.ca else { return Ok(Vec::new()) };
        let bad = |why: String| Error::Usage(format!("--ca: {}: {why}", path.display()));
        let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
        let found = Certificate::from_pem_bundle(&text).map_err(|error| bad(error::causes(&error)))?;
        if found.is_empty() {
            return Err(bad(
                "there is no certificate in it; it would begin with `-----BEGIN CERTIFICATE-----`".to_owned(),
            ));
        }
        Ok(found)
    }
}

impl Client {
    /// Where it is.
    pub(crate) fn server(&self) -> &str {
        self.server.as_str().trim_end_matches('/')
    }

    pub(crate) async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Answer, Error> {
        self.answer(self.request(Method::GET, path, query)).await
    }

    pub(crate) async fn patch(&self, path: &[&str], body: &Value) -> Result<Answer, Error> {
        self.send(Method::PATCH, path, &[], body).await
    }

    pub(crate) async fn post(&self, path: &[&str], body: &Value) -> Result<Answer, Error> {
        self.send(Method::POST, path, &[], body).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: &Value,
    ) -> Result<Answer, Error> {
        self.send_text(method, path, query, "application/json", body.to_string()).await
    }

    pub(crate) async fn send_text(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        media_type: &'static str,
        text: String,
    ) -> Result<Answer, Error> {
        let request = self.request(method, path, query).header(header::CONTENT_TYPE, media_type).body(text);
        self.answer(request).await
    }

    pub(crate) async fn delete(&self, path: &[&str]) -> Result<Answer, Error> {
        self.answer(self.request(Method::DELETE, path, &[])).await
    }

    /// An answer that is a file. It may take its time.
    pub(crate) async fn download(&self, path: &[&str], to: &mut impl Write) -> Result<u64, Error> {
        let mut response = self.respond(self.request(Method::GET, path, &[])).await?;
        let mut bytes = 0;
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            to.write_all(&chunk)?;
            bytes += chunk.len() as u64;
        }
        Ok(bytes)
    }

    fn request(&self, method: Method, path: &[&str], query: &[(&str, &str)]) -> RequestBuilder {
        let mut url = self.server.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["api", "v1"]).extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.http.request(method, url);
        // As those who run commands within a trace pass it on.
        if let Ok(traceparent) = std::env::var("TRACEPARENT") {
            request = request.header("traceparent", traceparent);
        }
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Answer, Error> {
        let response = self.respond(request.timeout(ANSWER_TIME)).await?;
        let now = response.headers().get(TIME).and_then(|now| now.to_str().ok()?.parse().ok());
        let text = response.text().await.map_err(|error| self.unreachable(&error))?;
        Ok(Answer { text, now })
    }

    /// An answer that says yes.
    async fn respond(&self, request: RequestBuilder) -> Result<Response, Error> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = response.text().await.map_err(|error| self.unreachable(&error))?;
        match serde_json::from_str::<Problem>(&text) {
            Ok(problem) => Err(Error::Problem(Box::new(problem))),
            Err(_) => Err(Error::NotUnderstood(format!(
                "{} said {status}, which is not how abide says no",
                self.server()
            ))),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        Error::Unreachable { server: self.server().to_owned(), why: error::causes(error) }
    }
}
