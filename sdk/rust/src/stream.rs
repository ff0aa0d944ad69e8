//! What comes bit by bit: pages of lists, and server-sent events that come back where they stopped.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::{Stream, TryStreamExt, try_unfold};
use reqwest::{Response, StatusCode};

use crate::client::Client;
use crate::length::backoff;
use crate::problem::Error;
use crate::transport::Request;
use crate::wire::HistoryRecord;

const FIRST_BACKOFF: Duration = Duration::from_millis(50);
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);
/// How often in a row a stream is opened in vain.
const TRIES: u32 = 20;

/// Items one after the other: a [`Stream`], or `while let Some(item) = items.try_next().await?`.
pub struct Items<T>(Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>);

impl<T> Items<T> {
    pub(crate) fn new(stream: impl Stream<Item = Result<T, Error>> + Send + 'static) -> Items<T> {
        Items(Box::pin(stream))
    }

    /// The next one; nothing at the end.
    pub async fn try_next(&mut self) -> Result<Option<T>, Error> {
        TryStreamExt::try_next(&mut self.0).await
    }

    /// All that are left.
    pub async fn all(self) -> Result<Vec<T>, Error> {
        self.0.try_collect().await
    }
}

impl Items<HistoryRecord> {
    /// The next record of this type; nothing if there is none until the end.
    pub async fn until(&mut self, kind: &str) -> Result<Option<HistoryRecord>, Error> {
        loop {
            match self.try_next().await? {
                Some(record) if record.kind != kind => {}
                found => return Ok(found),
            }
        }
    }
}

impl<T> Stream for Items<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Items")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ServerEvent {
    pub(crate) id: Option<String>,
    pub(crate) event: String,
    pub(crate) data: String,
}

/// Follows a stream for as long as the server has something to say. A connection that breaks is opened again, with
/// the id of the last event, so that nothing is missed and nothing comes twice.
pub(crate) struct Follower {
    client: Client,
    request: Request,
    is_last: fn(&ServerEvent) -> bool,
    last_id: Option<String>,
    connection: Option<Connection>,
    failures: u32,
    over: bool,
}

impl Follower {
    pub(crate) fn new(
        client: &Client,
        request: Request,
        is_last: fn(&ServerEvent) -> bool,
        last_id: Option<String>,
    ) -> Follower {
        let request = request.accept("text/event-stream");
        Follower {
            client: client.clone(),
            request,
            is_last,
            last_id,
            connection: None,
            failures: 0,
            over: false,
        }
    }

    pub(crate) fn events(self) -> impl Stream<Item = Result<ServerEvent, Error>> + Send {
        try_unfold(self, async |mut follower| {
            let event = follower.next().await?;
            Ok(event.map(|event| (event, follower)))
        })
    }

    async fn next(&mut self) -> Result<Option<ServerEvent>, Error> {
        while !self.over {
            match self.step().await {
                Ok(Some(event)) => {
                    self.failures = 0;
                    self.last_id = event.id.clone().or(self.last_id.take());
                    self.over = (self.is_last)(&event);
                    return Ok(Some(event));
                }
                Ok(None) => {}
                Err(error) if error.is_passing() && self.failures < TRIES => {}
                Err(error) => return Err(error),
            }
            if !self.over {
                self.connection = None;
                self.failures += 1;
                tokio::time::sleep(backoff(self.failures, FIRST_BACKOFF, LONGEST_BACKOFF)).await;
            }
        }
        Ok(None)
    }

    /// The next event of this connection; nothing when it has ended.
    async fn step(&mut self) -> Result<Option<ServerEvent>, Error> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                let request = self.request.clone().since(self.last_id.as_deref());
                let response = self.client.transport().send(request).await?;
                if response.status() == StatusCode::NO_CONTENT {
                    self.over = true;
                    return Ok(None);
                }
                self.connection.insert(Connection { response, rest: Vec::new() })
            }
        };
        connection.next().await.map_err(|error| self.client.transport().unreachable(&error))
    }
}

struct Connection {
    response: Response,
    /// What has come of an event that is not whole yet.
    rest: Vec<u8>,
}

impl Connection {
    async fn next(&mut self) -> Result<Option<ServerEvent>, reqwest::Error> {
        loop {
            while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.rest.drain(..end + 2).collect();
                if let Some(event) = parse(&String::from_utf8_lossy(&block)) {
                    return Ok(Some(event));
                }
            }
            match self.response.chunk().await? {
                Some(bytes) => self.rest.extend_from_slice(&bytes),
                None => return Ok(None),
            }
        }
    }
}

fn parse(block: &str) -> Option<ServerEvent> {
    let mut event = ServerEvent { event: "message".to_owned(), ..ServerEvent::default() };
    let mut data = Vec::new();
    for line in block.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => data.push(value),
            "id" => event.id = Some(value.to_owned()),
            "event" => event.event = value.to_owned(),
            _ => {}
        }
    }
    event.data = data.join("\n");
    (!data.is_empty()).then_some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_lines_joined_and_a_comment_is_none() {
        let event = parse("id: 7\nevent: STEP_STARTED\ndata: {\ndata: }\n\n");
        let expected =
            ServerEvent { id: Some("7".into()), event: "STEP_STARTED".into(), data: "{\n}".into() };
        assert_eq!(event, Some(expected));
        assert_eq!(parse(": still here\n\n"), None);
    }
}
