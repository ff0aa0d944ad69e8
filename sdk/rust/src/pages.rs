//! Lists: a page, or every item of every page.

use std::marker::PhantomData;

use futures_util::stream::{TryStreamExt, iter, try_unfold};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::problem::Error;
use crate::stream::Items;
use crate::transport::Request;

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// The items of the page.
    pub data: Vec<T>,
    /// Where the next page begins; nothing at the end.
    pub next_cursor: Option<String>,
}

/// A list that has not been read yet.
#[derive(Debug, Clone)]
pub struct Pages<T> {
    client: Client,
    request: Result<Request, Error>,
    cursor: Option<String>,
    limit: Option<u32>,
    item: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + Send + 'static> Pages<T> {
    pub(crate) fn new(client: &Client, request: Result<Request, Error>) -> Pages<T> {
        Pages { client: client.clone(), request, cursor: None, limit: None, item: PhantomData }
    }

    /// Items on a page, at most.
    pub fn limit(mut self, limit: u32) -> Pages<T> {
        self.limit = Some(limit);
        self
    }

    /// Begins where a page before has ended: its `next_cursor`.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Pages<T> {
        self.cursor = Some(cursor.into());
        self
    }

    /// The first page.
    pub async fn page(&self) -> Result<Page<T>, Error> {
        let place = serde_json::json!({"cursor": self.cursor, "limit": self.limit});
        self.client.transport().json(self.request.clone()?.query(&place)?).await
    }

    /// Every item of every page.
    pub fn items(self) -> Items<T> {
        let pages = try_unfold(Some(self), async |pages: Option<Pages<T>>| {
            let Some(pages) = pages else { return Ok(None) };
            let Page { data, next_cursor } = pages.page().await?;
            let rest = next_cursor.map(|cursor| pages.cursor(cursor));
            Ok::<_, Error>(Some((iter(data.into_iter().map(Ok)), rest)))
        });
        Items::new(pages.try_flatten())
    }

    /// Every item of every page, at once.
    pub async fn all(self) -> Result<Vec<T>, Error> {
        self.items().all().await
    }
}
