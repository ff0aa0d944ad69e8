//! What comes bit by bit: pages of lists, and server-sent events that come back where they stopped.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use abide_sse::{Event, Parser};
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

/// Follows a stream for as long as the server has something to say. A connection that breaks is opened again, with
/// the id of the last event, so that nothing is missed and nothing comes twice.
pub(crate) struct Follower {
    client: Client,
    request: Request,
    is_last: fn(&Event) -> bool,
    last_id: Option<String>,
    connection: Option<EventStream>,
    failures: u32,
    over: bool,
}

impl Follower {
    pub(crate) fn new(
        client: &Client,
        request: Request,
        is_last: fn(&Event) -> bool,
        last_id: Option<String>,
    ) -> Follower {
        let request = request.events();
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

    pub(crate) fn events(self) -> impl Stream<Item = Result<Event, Error>> + Send {
        try_unfold(self, async |mut follower| {
            let event = follower.next().await?;
            Ok(event.map(|event| (event, follower)))
        })
    }

    async fn next(&mut self) -> Result<Option<Event>, Error> {
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
    async fn step(&mut self) -> Result<Option<Event>, Error> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                let request = self.request.clone().since(self.last_id.as_deref());
                let response = self.client.transport().send(request).await?;
                if response.status() == StatusCode::NO_CONTENT {
                    self.over = true;
                    return Ok(None);
                }
                self.connection.insert(EventStream::new(&self.client, response))
            }
        };
        connection.next().await
    }
}

/// Server-sent events of one connection, as they come.
#[derive(Debug)]
pub struct EventStream {
    client: Client,
    response: Response,
    parser: Parser,
    come: VecDeque<Event>,
}

impl EventStream {
    pub(crate) fn new(client: &Client, response: Response) -> EventStream {
        EventStream { client: client.clone(), response, parser: Parser::default(), come: VecDeque::new() }
    }

    /// The next event; nothing when the connection has ended.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.come.pop_front() {
                return Ok(Some(event));
            }
            let chunk = self.response.chunk().await;
            match chunk.map_err(|error| self.client.transport().unreachable(&error))? {
                Some(bytes) => {
                    let come = self.parser.take(&bytes);
                    self.come.extend(come.map_err(Error::too_large)?);
                }
                None => return Ok(None),
            }
        }
    }
}
