//! The workloads. Latency and lateness are measured where a user would notice them: around the call, and in the
//! handler right after the wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use abide_core::definition::document::Workflow;
use abide_engine::{Engine, Histogram, Notification, TaskResult};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::{machine, progress, quantiles};

/// W1: runs of three trivial steps, each waited for.
pub(super) async fn three_steps(
    engine: &Engine,
    runs: usize,
    starters: usize,
) -> anyhow::Result<Map<String, Value>> {
    engine.handler("noop", async |_| TaskResult::complete(Value::Null)).await?;
    let workflow = Workflow::new("three").task("a", "noop").task("b", "noop").task("c", "noop");
    engine.deploy(workflow).await?;
    let cpu = machine::cpu_seconds();
    let (seconds, latency) = blast("runs", runs, starters, |_| {
        let engine = engine.clone();
        async move {
            let run = engine.start("three", json!({})).await?;
            engine.wait(run).await?;
            Ok(())
        }
    })
    .await?;
    let mut figures = Map::new();
    figures.insert("runs/s".to_owned(), json!(runs as f64 / seconds));
    quantiles(&mut figures, "run", &latency);
    let cpu_ms = (machine::cpu_seconds() - cpu) * 1000.0;
    figures.insert("CPU per 1,000 runs, ms".to_owned(), json!(cpu_ms * 1000.0 / runs as f64));
    Ok(figures)
}

/// When the sleepers of W2 are due.
pub(super) struct Sleep {
    pub(super) due_in: Duration,
    pub(super) spread: Duration,
    pub(super) leave: bool,
}

/// W2: sleepers, created one request each, due at one instant or spread.
pub(super) async fn sleepers(
    engine: &Engine,
    sleepers: usize,
    starters: usize,
    times: Sleep,
) -> anyhow::Result<Map<String, Value>> {
    let woken = Arc::new(Woken::default());
    let seen = Arc::clone(&woken);
    let woke = move |task: abide_core::task::Task| {
        seen.note(task.input["due"].as_i64().unwrap_or_default());
        async { TaskResult::complete(Value::Null) }
    };
    engine.handler("woke", woke).await?;
    engine
        .deploy(Workflow::new("sleeper").sleep_until("sleep", "{{ input.due }}").task("woke", "woke"))
        .await?;
    let before = machine::resident_bytes();
    let first = Timestamp::now().as_millisecond() + millis(times.due_in);
    let spread = millis(times.spread);
    let (seconds, latency) = blast("sleepers", sleepers, starters, |index| {
        let engine = engine.clone();
        let due = first + spread * index as i64 / sleepers as i64;
        async move {
            engine.start("sleeper", json!({ "due": due })).await?;
            Ok(())
        }
    })
    .await?;
    let mut figures = Map::new();
    figures.insert("created/s".to_owned(), json!(sleepers as f64 / seconds));
    quantiles(&mut figures, "create", &latency);
    let grown = machine::resident_bytes().saturating_sub(before);
    figures.insert("memory per sleeper, bytes".to_owned(), json!(grown as f64 / sleepers as f64));
    if times.leave {
        return Ok(figures);
    }
    anyhow::ensure!(
        Timestamp::now().as_millisecond() < first || spread > 0,
        "creating them took longer than --due-in; give it more seconds"
    );
    while woken.count() < sleepers {
        progress("woken", woken.count(), sleepers);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (lateness, last) = woken.summary();
    quantiles(&mut figures, "late", &lateness);
    let drain = (last - first) as f64 / 1000.0;
    figures.insert("drained/s".to_owned(), json!(sleepers as f64 / drain.max(0.001)));
    figures.insert("early".to_owned(), json!(woken.early.load(Ordering::Relaxed)));
    figures.insert("woken more than once".to_owned(), json!(woken.count() - sleepers));
    Ok(figures)
}

#[derive(Default)]
struct Woken {
    /// Microseconds late, and the last instant.
    late: Mutex<(Histogram, i64)>,
    count: AtomicUsize,
    early: AtomicUsize,
}

impl Woken {
    fn note(&self, due: i64) {
        let now = Timestamp::now().as_millisecond();
        if now < due {
            self.early.fetch_add(1, Ordering::Relaxed);
        }
        let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        late.0.add(u64::try_from(now - due).unwrap_or(0) * 1000);
        late.1 = late.1.max(now);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn summary(&self) -> (Histogram, i64) {
        self.late.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// W3: runs that wait each for its own event.
pub(super) async fn events(
    engine: &Engine,
    runs: usize,
    starters: usize,
) -> anyhow::Result<Map<String, Value>> {
    engine.deploy(Workflow::new("listener").wait_for_event("wait", "go-{{ input.n }}")).await?;
    let started: Arc<Mutex<Vec<Option<abide_core::id::RunId>>>> = Arc::new(Mutex::new(vec![None; runs]));
    let (seconds, _) = blast("waiting", runs, starters, |index| {
        let (engine, started) = (engine.clone(), Arc::clone(&started));
        async move {
            let run = engine.start("listener", json!({ "n": index })).await?;
            started.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(run);
            Ok(())
        }
    })
    .await?;
    let mut figures = Map::new();
    figures.insert("waiting/s".to_owned(), json!(runs as f64 / seconds));
    let (seconds, latency) = blast("events", runs, starters, |index| {
        let (engine, started) = (engine.clone(), Arc::clone(&started));
        async move {
            let run = started.lock().unwrap_or_else(PoisonError::into_inner)[index];
            let event_id = format!("go-{index}");
            engine.notify(Notification { event_id, ..Notification::default() }).await?;
            engine.wait(run.ok_or_else(|| anyhow::anyhow!("run {index} was not started"))?).await?;
            Ok(())
        }
    })
    .await?;
    figures.insert("events to completion/s".to_owned(), json!(runs as f64 / seconds));
    quantiles(&mut figures, "event", &latency);
    Ok(figures)
}

/// Does something `count` times, so many at a time, and measures each in microseconds.
async fn blast<F, R>(what: &str, count: usize, at_a_time: usize, job: F) -> anyhow::Result<(f64, Histogram)>
where
    F: Fn(usize) -> R,
    R: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let begun = Instant::now();
    let mut latency = Histogram::default();
    let mut under_way = JoinSet::new();
    let mut next = 0;
    let mut done = 0;
    while done < count {
        while next < count && under_way.len() < at_a_time {
            let work = job(next);
            under_way.spawn(async move {
                let begun = Instant::now();
                work.await.map(|()| begun.elapsed())
            });
            next += 1;
        }
        if let Some(finished) = under_way.join_next().await {
            latency.add(u64::try_from(finished??.as_micros()).unwrap_or(u64::MAX));
            done += 1;
            progress(what, done, count);
        }
    }
    Ok((begun.elapsed().as_secs_f64(), latency))
}

fn millis(length: Duration) -> i64 {
    i64::try_from(length.as_millis()).unwrap_or(i64::MAX)
}
