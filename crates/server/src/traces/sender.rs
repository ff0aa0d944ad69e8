//! Sends spans to a collector.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use abide_calls::http::{Bounds, Client, Policy, Request};
use axum::body::Bytes;
use axum::http::{HeaderValue, Method, StatusCode, header};
use tokio::sync::mpsc;

use super::span::Span;
use super::{Counts, otlp};

/// Spans in one request.
pub(super) const BATCH: usize = 512;
const PATH: &str = "/v1/traces";
const ONE_CALL: Duration = Duration::from_secs(10);
/// How long to wait before the same spans are sent again; after the last, they are dropped.
const AGAIN: [Duration; 3] = [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(5)];

pub(super) struct Sender {
    url: String,
    batches: mpsc::Receiver<Vec<Span>>,
    counts: Arc<Counts>,
}

impl Sender {
    pub(super) fn new(endpoint: &str, batches: mpsc::Receiver<Vec<Span>>, counts: Arc<Counts>) -> Sender {
        let endpoint = endpoint.trim_end_matches('/');
        let url = if endpoint.ends_with(PATH) { endpoint.to_owned() } else { format!("{endpoint}{PATH}") };
        Sender { url, batches, counts }
    }

    pub(super) async fn work(mut self) {
        // The address stands in the settings: whoever wrote it there may reach it.
        let client = Client::new(Policy::everything());
        while let Some(batch) = self.batches.recv().await {
            let body = Bytes::from(otlp::document(&batch).to_string());
            match self.deliver(&client, body).await {
                Ok(()) => drop(self.counts.sent.fetch_add(batch.len() as u64, Ordering::Relaxed)),
                Err(why) => {
                    tracing::warn!(
                        spans = batch.len(),
                        error = why,
                        "spans could not be sent and are dropped"
                    );
                    self.counts.lose(batch.len());
                }
            }
        }
    }

    async fn deliver(&self, client: &Client, body: Bytes) -> Result<(), String> {
        let mut waits = AGAIN.into_iter();
        loop {
            let mut request = Request::new(Method::POST, &self.url);
            request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request.body = body.clone();
            request.bounds = Bounds { whole: ONE_CALL, redirects: 0, ..Bounds::default() };
            let (why, may_help) = match client.send(request).await {
                Ok(response) if response.status.is_success() => return Ok(()),
                Ok(response) => {
                    (format!("the collector said {}", response.status), is_for_now(response.status))
                }
                Err(error) => (error.to_string(), true),
            };
            match waits.next() {
                Some(wait) if may_help => tokio::time::sleep(wait).await,
                Some(_) | None => return Err(why),
            }
        }
    }
}

/// As the protocol has it: what else it says will not change.
fn is_for_now(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}
