//! Gathers spans: of requests as they come, of runs from what changed in them, a moment later and all at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use abide_core::id::RunId;
use abide_engine::{Changed, Error, Recorded};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

use super::sender::{self, Sender};
use super::span::Span;
use super::{Counts, of_run};
use crate::app::Shared;

/// How long what has ended waits for company.
const GATHER: Duration = Duration::from_secs(1);
/// Runs whose changes are looked at together.
const RUNS_AT_ONCE: usize = 20;
/// Batches that wait to be sent.
const BATCHES: usize = 16;
/// How long the last spans may take when the server stops.
const LAST: Duration = Duration::from_secs(5);

pub(crate) struct Gatherer {
    incoming: mpsc::Receiver<Span>,
    finish: oneshot::Receiver<()>,
    batches: mpsc::Sender<Vec<Span>>,
    sender: Sender,
    counts: Arc<Counts>,
    waiting: Vec<Span>,
    /// Runs that have changed, and after which record.
    changed: HashMap<RunId, u64>,
}

impl Gatherer {
    pub(super) fn new(
        endpoint: &str,
        incoming: mpsc::Receiver<Span>,
        finish: oneshot::Receiver<()>,
        counts: Arc<Counts>,
    ) -> Gatherer {
        let (batches, to_send) = mpsc::channel(BATCHES);
        let sender = Sender::new(endpoint, to_send, Arc::clone(&counts));
        Gatherer { incoming, finish, batches, sender, counts, waiting: Vec::new(), changed: HashMap::new() }
    }

    /// Until it is told to finish; then what there is is sent.
    pub(crate) async fn work(self, app: Shared) {
        let Gatherer { mut incoming, mut finish, batches, sender, counts, waiting, changed } = self;
        let sending = tokio::spawn(sender.work());
        let mut gathered = Gathered { app, batches, counts, waiting, changed };
        let mut feed = gathered.app.engine.feed();
        let mut ticks = tokio::time::interval(GATHER);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                change = feed.recv() => match change {
                    Ok(change) => gathered.note(&change),
                    Err(RecvError::Lagged(missed)) => gathered.missed(missed),
                    Err(RecvError::Closed) => break,
                },
                Some(span) = incoming.recv() => gathered.keep(vec![span]),
                _ = ticks.tick() => gathered.gather().await,
                _ = &mut finish => break,
            }
        }
        while let Ok(span) = incoming.try_recv() {
            gathered.keep(vec![span]);
        }
        loop {
            match feed.try_recv() {
                Ok(change) => gathered.note(&change),
                Err(TryRecvError::Lagged(missed)) => gathered.missed(missed),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        gathered.gather().await;
        // The sender ends when nobody can give it anything.
        drop(gathered);
        if tokio::time::timeout(LAST, sending).await.is_err() {
            tracing::warn!("the last spans could not be sent in time");
        }
    }
}

struct Gathered {
    app: Shared,
    batches: mpsc::Sender<Vec<Span>>,
    counts: Arc<Counts>,
    waiting: Vec<Span>,
    changed: HashMap<RunId, u64>,
}

impl Gathered {
    fn note(&mut self, change: &Changed) {
        let after = self.changed.entry(change.run).or_insert(change.after);
        *after = change.after.min(*after);
    }

    fn missed(&self, changes: u64) {
        tracing::warn!(changes, "runs change faster than their spans are made; some are left out");
        self.counts.lose(usize::try_from(changes).unwrap_or(usize::MAX));
    }

    fn keep(&mut self, spans: Vec<Span>) {
        for span in spans {
            self.waiting.push(span);
            if self.waiting.len() >= sender::BATCH {
                self.pass_on();
            }
        }
    }

    fn pass_on(&mut self) {
        let batch = std::mem::take(&mut self.waiting);
        let count = batch.len();
        if count > 0 && self.batches.try_send(batch).is_err() {
            self.counts.lose(count);
        }
    }

    async fn gather(&mut self) {
        let changed: Vec<(RunId, u64)> = self.changed.drain().collect();
        for few in changed.chunks(RUNS_AT_ONCE) {
            match self.spans_of(few).await {
                Ok(spans) => self.keep(spans),
                Err(error) => tracing::warn!(%error, "spans could not be made"),
            }
        }
        self.pass_on();
    }

    async fn spans_of(&self, changed: &[(RunId, u64)]) -> Result<Vec<Span>, Error> {
        let mut recorded = Vec::with_capacity(changed.len());
        for (run, after) in changed {
            recorded.extend(self.app.engine.run(*run).recorded().await?.map(|found| (found, *after)));
        }
        // A history may be long, and nobody should wait for it who asks for something else.
        let made = tokio::task::spawn_blocking(move || {
            let spans = |(found, after): (Recorded, u64)| {
                let Recorded { first, moved_to, history, .. } = found;
                of_run::spans(&first, &moved_to, &history, after)
            };
            recorded.into_iter().flat_map(spans).collect()
        });
        made.await.map_err(|_| Error::Stopped)
    }
}
