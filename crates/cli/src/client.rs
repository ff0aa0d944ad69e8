//! The server's API as the commands use it: the Rust SDK, whose answers are kept to the letter for `--json`, and read as its
//! types for people.

mod error;
mod find;
mod problem;

use std::io::Write;
use std::path::PathBuf;

use abide_definition::time::Millis;
pub(crate) use abide_sdk::{Answer, Page as List};
use abide_sdk::{EventStream, Method, RawRequest};
use clap::Args;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use error::{Error, Exit};
pub(crate) use find::whose;
pub(crate) use problem::explained;

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

impl Connection {
    pub(crate) fn open(&self) -> Result<Client, Error> {
        // Whoever gives a command sees that it failed, and decides whether to give it again.
        let mut builder = abide_sdk::Client::builder().url(&self.server).retries(0);
        if let Some(key) = &self.key {
            builder = builder.api_key(key);
        }
        if let Some(path) = &self.ca {
            let bad = |why: String| Error::Usage(format!("--ca: {}: {why}", path.display()));
            let pem = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
            builder = builder.certificates(&pem).map_err(|error| bad(error.to_string()))?;
        }
        let client = builder.build().map_err(|error| Error::Usage(error.to_string()))?;
        // As those who run commands within a trace pass it on.
        Ok(Client(match std::env::var("TRACEPARENT") {
            Ok(traceparent) => client.traced(traceparent),
            Err(_) => client,
        }))
    }
}

impl Connection {
    /// For what is not the API itself: an HTTP client, where the server is, and the key.
    pub(crate) fn http(&self) -> Result<(reqwest::Client, String, Option<String>), Error> {
        // It is checked in the same way, and brings along how TLS is done.
        let opened = self.open()?;
        let usage = |why: String| Error::Usage(why);
        let mut builder = reqwest::Client::builder().connect_timeout(std::time::Duration::from_secs(10));
        if let Some(path) = &self.ca {
            let pem = std::fs::read(path).map_err(|error| usage(format!("--ca: {error}")))?;
            let certificates = reqwest::Certificate::from_pem_bundle(&pem);
            builder = builder.tls_certs_merge(certificates.map_err(|error| usage(format!("--ca: {error}")))?);
        }
        let http = builder.build().map_err(|error| usage(error.to_string()))?;
        Ok((http, opened.server().to_owned(), self.key.clone()))
    }
}

#[derive(Debug)]
pub(crate) struct Client(abide_sdk::Client);

impl Client {
    /// Where the server is.
    pub(crate) fn server(&self) -> &str {
        self.0.server()
    }

    pub(crate) fn sdk(&self) -> &abide_sdk::Client {
        &self.0
    }

    pub(crate) async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Answer, Error> {
        self.answer(self.0.raw(Method::GET, path).query(query)).await
    }

    /// The answer to a question as a value.
    pub(crate) async fn read<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T, Error> {
        Ok(self.get(path, query).await?.read()?)
    }

    pub(crate) async fn patch(&self, path: &[&str], body: &Value) -> Result<Answer, Error> {
        self.send(Method::PATCH, path, &[], body).await
    }

    pub(crate) async fn put(&self, path: &[&str], body: &Value) -> Result<Answer, Error> {
        self.send(Method::PUT, path, &[], body).await
    }

    pub(crate) async fn post(&self, path: &[&str], body: &Value) -> Result<Answer, Error> {
        self.send(Method::POST, path, &[], body).await
    }

    pub(crate) async fn post_with(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        body: &Value,
    ) -> Result<Answer, Error> {
        self.send(Method::POST, path, query, body).await
    }

    pub(crate) async fn post_yaml(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        text: &str,
    ) -> Result<Answer, Error> {
        self.answer(self.0.raw(Method::POST, path).query(query).text("application/yaml", text)).await
    }

    pub(crate) async fn delete(&self, path: &[&str]) -> Result<Answer, Error> {
        self.answer(self.0.raw(Method::DELETE, path)).await
    }

    /// An answer that is a file. It may take its time.
    pub(crate) async fn download(&self, path: &[&str], to: &mut (impl Write + Send)) -> Result<u64, Error> {
        Ok(self.0.raw(Method::GET, path).download(to).await?)
    }

    /// Opens the stream at a path after an event; `None` when nothing more will come.
    pub(crate) async fn stream(
        &self,
        path: &[&str],
        last: Option<u64>,
    ) -> Result<Option<EventStream>, Error> {
        let last = last.map(|last| last.to_string());
        Ok(self.0.raw(Method::GET, path).events(last.as_deref()).await?)
    }

    /// An instant that was given as such, or as a time from now: by the server's clock, which may be elsewhere in time.
    pub(crate) async fn instant(
        &self,
        at: Option<Timestamp>,
        after: Option<Millis>,
    ) -> Result<Option<Timestamp>, Error> {
        let Some(after) = after else { return Ok(at) };
        let now = self.get(&["session"], &[]).await?.now;
        Ok(Some(after.after(now.unwrap_or_else(Timestamp::now))))
    }

    async fn send(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: &Value,
    ) -> Result<Answer, Error> {
        self.answer(self.0.raw(method, path).query(query).json(body)?).await
    }

    async fn answer(&self, request: RawRequest<'_>) -> Result<Answer, Error> {
        request.send().await.map_err(|error| match error {
            // Something between us and the server said it.
            abide_sdk::Error::Refused(problem) if problem.code == format!("HTTP_{}", problem.status) => {
                let (server, status, title) = (self.server(), problem.status, &problem.title);
                Error::NotUnderstood(format!(
                    "{server} said {status} {title}, which is not how abide says no"
                ))
            }
            error @ (abide_sdk::Error::Refused(_)
            | abide_sdk::Error::Unreachable { .. }
            | abide_sdk::Error::RunNotCompleted(_)
            | abide_sdk::Error::NotJson { .. }
            | abide_sdk::Error::Unusable(_)) => error.into(),
        })
    }
}
