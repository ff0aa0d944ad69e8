//! Doing something many times, so many at a time, as so many clients would.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use abide_engine::Histogram;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::progress::Progress;

/// How many jobs were done, and how quickly.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Pace {
    pub(super) seconds: f64,
    /// Of each, in microseconds.
    pub(super) latency: Histogram,
}

/// Calls `job` with every number below `count`. The first error ends it.
pub(super) async fn repeat<F, R>(
    what: &'static str,
    count: usize,
    starters: usize,
    job: F,
) -> anyhow::Result<Pace>
where
    F: Fn(usize) -> R + Send + Sync + 'static,
    R: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let nothing = std::iter::repeat_n((), starters);
    repeat_with(what, count, nothing, move |(), index| job(index)).await
}

/// Like `repeat`, by starters that each own something, such as a connection, which a job gives back.
pub(super) async fn repeat_with<S, F, R>(
    what: &'static str,
    count: usize,
    starters: impl IntoIterator<Item = S>,
    job: F,
) -> anyhow::Result<Pace>
where
    S: Send + 'static,
    F: Fn(S, usize) -> R + Send + Sync + 'static,
    R: Future<Output = anyhow::Result<S>> + Send + 'static,
{
    let shared = Arc::new(Shared {
        job,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        latency: Mutex::default(),
        progress: Progress::new(what, count),
    });
    let begun = Instant::now();
    let mut at_work = JoinSet::new();
    for has in starters.into_iter().take(count) {
        at_work.spawn(start(Arc::clone(&shared), count, has));
    }
    while let Some(finished) = at_work.join_next().await {
        finished??;
    }
    let latency = shared.latency.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Pace { seconds: begun.elapsed().as_secs_f64(), latency })
}

struct Shared<F> {
    job: F,
    next: AtomicUsize,
    done: AtomicUsize,
    latency: Mutex<Histogram>,
    progress: Progress,
}

async fn start<S, F, R>(shared: Arc<Shared<F>>, count: usize, mut has: S) -> anyhow::Result<()>
where
    F: Fn(S, usize) -> R + Send + Sync + 'static,
    R: Future<Output = anyhow::Result<S>> + Send + 'static,
{
    loop {
        let index = shared.next.fetch_add(1, Ordering::Relaxed);
        if index >= count {
            return Ok(());
        }
        let begun = Instant::now();
        has = (shared.job)(has, index).await?;
        let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        shared.latency.lock().unwrap_or_else(PoisonError::into_inner).add(took);
        shared.progress.at(shared.done.fetch_add(1, Ordering::Relaxed) + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_number_is_done_once_and_never_more_than_so_many_at_a_time() {
        let (seen, at_work) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (noted, busy) = (Arc::clone(&seen), Arc::clone(&at_work));
        let pace = repeat("done", 100, 7, move |index| {
            let (noted, busy) = (Arc::clone(&noted), Arc::clone(&busy));
            async move {
                assert!(busy.fetch_add(1, Ordering::SeqCst) < 7);
                tokio::task::yield_now().await;
                busy.fetch_sub(1, Ordering::SeqCst);
                noted.lock().unwrap().push(index);
                Ok(())
            }
        });
        assert_eq!(pace.await.unwrap().latency.count(), 100);
        let mut seen = seen.lock().unwrap().clone();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..100));
    }

    #[tokio::test]
    async fn an_error_ends_it() {
        let failed = repeat("done", 100, 7, async |index: usize| {
            anyhow::ensure!(index != 50, "the fiftieth");
            Ok(())
        });
        assert_eq!(failed.await.unwrap_err().to_string(), "the fiftieth");
    }
}
