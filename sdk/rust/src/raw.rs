//! Requests by their path, for programs that show an answer to the letter: the command line is one.

use std::io::Write;

use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::problem::Error;
use crate::stream::EventStream;
use crate::transport::{Request, at};

/// The header in which the server says its time.
const TIME: &str = "abide-time";

/// A request that is made by its path; [`Client::raw`] begins one. It is not repeated unless it only asks.
#[derive(Debug, Clone)]
pub struct RawRequest<'a> {
    client: &'a Client,
    request: Request,
}

/// What the server answered, to the letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The body.
    pub text: String,
    /// The server's time when it answered: that of its test clock, where it has one.
    pub now: Option<Timestamp>,
}

impl Answer {
    /// The answer as a value of this type, such as those of [`wire`](crate::wire).
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(&self.text).map_err(|error| Error::not_json("the answer", &error))
    }
}

impl Client {
    /// A request by the segments of its path below `/api/v1`, whose answer is given to the letter. What is a name or an id in
    /// the path is escaped.
    pub fn raw(&self, method: Method, path: &[&str]) -> RawRequest<'_> {
        RawRequest { client: self, request: self.request(method, at(path)) }
    }
}

impl RawRequest<'_> {
    /// With these parameters.
    pub fn query(mut self, parameters: &[(&str, &str)]) -> Self {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.request = self.request.parameters(parameters);
        self
    }

    /// With a body in JSON.
    pub fn json(mut self, body: &impl Serialize) -> Result<Self, Error> {
        self.request = self.request.body(body)?;
        Ok(self)
    }

    /// With a body of this media type.
    pub fn text(mut self, media_type: &'static str, body: impl Into<String>) -> Self {
        self.request = self.request.text(body.into()).of_type(media_type);
        self
    }

    /// Sends the request.
    pub async fn send(self) -> Result<Answer, Error> {
        let transport = self.client.transport();
        let response = transport.send(self.request).await?;
        let now = response.headers().get(TIME).and_then(|now| now.to_str().ok()?.parse().ok());
        let text = response.text().await.map_err(|error| transport.unreachable(&error))?;
        Ok(Answer { text, now })
    }

    /// Sends the request and writes the answer, which may be a large file, as it comes; how many bytes it has.
    pub async fn download(self, to: &mut (impl Write + Send)) -> Result<u64, Error> {
        let transport = self.client.transport();
        let mut response = transport.send(self.request.unhurried()).await?;
        let mut bytes = 0;
        while let Some(chunk) = response.chunk().await.map_err(|error| transport.unreachable(&error))? {
            to.write_all(&chunk)
                .map_err(|error| Error::Unusable(format!("it cannot be written: {error}")))?;
            bytes += chunk.len() as u64;
        }
        Ok(bytes)
    }

    /// Opens a stream of server-sent events after the one with this id; `None` when nothing more will come. A connection that
    /// breaks is not opened again: [`Runs::follow`](crate::Runs::follow) does that.
    pub async fn events(self, last_id: Option<&str>) -> Result<Option<EventStream>, Error> {
        let response = self.client.transport().send(self.request.events().since(last_id)).await?;
        let is_over = response.status() == StatusCode::NO_CONTENT;
        Ok((!is_over).then(|| EventStream::new(self.client, response)))
    }
}
