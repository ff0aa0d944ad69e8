//! OpenTelemetry traces, if somebody wants them. The spans of a run are made from its history, after the commit, beside
//! everything else: nobody waits for them, and what cannot be sent is dropped and counted.
//!
//! ```text
//!   requests ──▶ spans ─┐
//!   feed: a run changed ─┴▶ gatherer: reads what ended in it ──▶ sender ── OTLP over HTTP, as JSON ──▶ collector
//! ```
//!
//! A span's id follows from the run and what it is about, so nothing has to be remembered, and the parts of a trace that
//! are sent months apart fit together.

mod gatherer;
mod of_run;
mod otlp;
mod sender;
mod span;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use abide_core::id::{RunId, StepAddress};
use abide_core::trace::Traceparent;
use axum::http::HeaderMap;
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};

pub(crate) use gatherer::Gatherer;
use span::{Kind, Span};

use crate::links;

/// Spans of requests that wait for the gatherer.
const SPANS: usize = 4_096;
const HEADER: &str = "traceparent";

/// What has become of the spans.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: AtomicU64,
    pub(crate) dropped: AtomicU64,
}

/// The server's end: where spans of requests go.
pub(crate) struct Traces {
    spans: mpsc::Sender<Span>,
    pub(crate) counts: Arc<Counts>,
}

/// The trace that a request is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InTrace(pub(crate) Traceparent);

impl Traces {
    /// Sends to this endpoint once the gatherer works.
    pub(crate) fn to(endpoint: &str) -> (Traces, Gatherer, oneshot::Sender<()>) {
        let (spans, incoming) = mpsc::channel(SPANS);
        let (finish, finished) = oneshot::channel();
        let counts = Arc::<Counts>::default();
        let gatherer = Gatherer::new(endpoint, incoming, finished, Arc::clone(&counts));
        (Traces { spans, counts }, gatherer, finish)
    }

    /// A request begins, within the trace of its caller or in one of its own.
    pub(crate) fn begin(&self, name: String, parent: Option<Traceparent>, now: Timestamp) -> RequestSpan {
        let mut random = [0; 24];
        // Without randomness the ids are 1, and nothing else suffers.
        drop(links::fill(&mut random));
        let (trace, span) = random.split_at(16);
        let number = |bytes: &[u8]| bytes.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        let span_id = u64::try_from(number(span)).unwrap_or(0).max(1);
        let own = || Traceparent { trace_id: number(trace).max(1), span_id, is_sampled: true };
        let context = parent.map_or_else(own, |parent| parent.within(span_id));
        RequestSpan {
            name,
            context,
            parent,
            begun: now,
            spans: self.spans.clone(),
            counts: Arc::clone(&self.counts),
        }
    }
}

/// What a worker is to go on from: the span of its attempt. A run without a trace is one of its own.
pub(crate) fn of_attempt(
    run: RunId,
    at: StepAddress,
    lease_epoch: u32,
    of_run: Option<Traceparent>,
) -> Traceparent {
    let span_id = span::attempt_id(run, at, lease_epoch);
    let own = Traceparent { trace_id: run.0, span_id, is_sampled: true };
    of_run.map_or(own, |of_run| of_run.within(span_id))
}

/// What the caller says its trace is. What is not one is ignored, as the standard wants it.
pub(crate) fn traceparent(headers: &HeaderMap) -> Option<Traceparent> {
    headers.get(HEADER)?.to_str().ok()?.trim().parse().ok()
}

/// A request under way.
pub(crate) struct RequestSpan {
    name: String,
    pub(crate) context: Traceparent,
    parent: Option<Traceparent>,
    begun: Timestamp,
    spans: mpsc::Sender<Span>,
    counts: Arc<Counts>,
}

impl RequestSpan {
    pub(crate) fn end(self, status: u16, now: Timestamp) {
        if !self.context.is_sampled {
            return;
        }
        let span = Span {
            trace_id: self.context.trace_id,
            id: self.context.span_id,
            parent: self.parent.map(|parent| parent.span_id),
            name: self.name,
            kind: Kind::Server,
            begun: self.begun,
            ended: now,
            attributes: vec![("http.response.status_code", status.into())],
            failure: (status >= 500).then(|| format!("answered with {status}")),
            link: None,
        };
        if self.spans.try_send(span).is_err() {
            self.counts.lose(1);
        }
    }
}

impl Counts {
    fn lose(&self, spans: usize) {
        self.dropped.fetch_add(spans as u64, std::sync::atomic::Ordering::Relaxed);
    }
}
