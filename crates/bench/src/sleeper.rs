//! The sleeper: a run that sleeps until an instant and then says so. How late it is, whether it came early, twice
//! or never, is noted where a user would notice it: in the handler after the sleep.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use abide_core::task::Task;
use abide_definition::document::Workflow;
use abide_engine::{Engine, Histogram, TaskResult};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::format::Unit;
use super::progress::Progress;
use super::report::{Part, Quantiles};
use super::starters::{self, Pace};

pub(super) const SLEEPER: &str = "sleeper";
/// The handler after the sleep.
pub(super) const WOKE: &str = "woke";
const PROBE: &str = "probe";
/// When nobody woke for this long after the last was due, the others are lost.
const PATIENCE: Duration = Duration::from_secs(20);
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(5);

pub(super) fn workflow() -> Workflow {
    Workflow::new(SLEEPER).sleep_until("sleep", "{{ input.due }}").task("woke", WOKE)
}

/// Deploys the sleeper, and a run that does nothing, to ask for.
pub(super) async fn deploy(engine: &Engine) -> anyhow::Result<()> {
    engine.deploy(workflow()).await?;
    engine.deploy(Workflow::new(PROBE).task("work", "noop")).await?;
    engine.handler("noop", async |_| TaskResult::complete(Value::Null)).await?;
    Ok(())
}

/// Starts a run that does nothing. When it returns, the run is on disk.
pub(super) async fn probe(engine: &Engine) -> anyhow::Result<()> {
    engine.start(PROBE, json!({})).await?;
    Ok(())
}

/// When sleepers are due, in milliseconds since 1970: the first, and over how long they are spread.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Due {
    pub(super) first_ms: i64,
    pub(super) spread_ms: i64,
}

impl Due {
    pub(super) fn after(now: Timestamp, length: Duration, spread: Duration) -> Due {
        Due { first_ms: now.as_millisecond() + millis(length), spread_ms: millis(spread) }
    }

    pub(super) fn of(self, index: usize, count: usize) -> i64 {
        self.first_ms + (i128::from(self.spread_ms) * index as i128 / count.max(1) as i128) as i64
    }

    /// No sleeper is due after this.
    pub(super) fn last_ms(self) -> i64 {
        self.first_ms + self.spread_ms
    }

    /// Whether they could all be created before the first was due.
    pub(super) fn ensure_ahead(self) -> anyhow::Result<()> {
        let now = Timestamp::now().as_millisecond();
        anyhow::ensure!(now < self.first_ms, "creating them took longer than `--due-in`; give it more time");
        Ok(())
    }
}

/// Creates some of so many sleepers, one request each.
pub(super) async fn create(
    engine: &Engine,
    which: Range<usize>,
    of: usize,
    starters: usize,
    due: Due,
) -> anyhow::Result<Pace> {
    let (engine, first) = (engine.clone(), which.start);
    starters::repeat("created", which.len(), starters, move |index| {
        let (engine, n) = (engine.clone(), first + index);
        async move {
            engine.start(SLEEPER, json!({ "n": n, "due": due.of(n, of) })).await?;
            Ok(())
        }
    })
    .await
}

/// What a sleeper is started with, and its handler gets: which it is, and when it is due.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Asleep {
    pub(super) n: Option<usize>,
    #[serde(default)]
    pub(super) due: i64,
}

impl Asleep {
    pub(super) fn of(input: &Value) -> Asleep {
        Asleep::deserialize(input).unwrap_or_default()
    }
}

/// Who woke.
pub(super) struct Wakes {
    who: Vec<AtomicBool>,
    /// Distinct ones.
    woken: AtomicUsize,
    doubled: AtomicUsize,
    early: AtomicUsize,
    first_us: AtomicI64,
    last_us: AtomicI64,
    /// In microseconds.
    late: Mutex<Histogram>,
}

impl Wakes {
    pub(super) fn new(count: usize) -> Arc<Wakes> {
        Arc::new(Wakes {
            who: std::iter::repeat_with(AtomicBool::default).take(count).collect(),
            woken: AtomicUsize::new(0),
            doubled: AtomicUsize::new(0),
            early: AtomicUsize::new(0),
            first_us: AtomicI64::new(i64::MAX),
            last_us: AtomicI64::new(0),
            late: Mutex::default(),
        })
    }

    /// Registers the handler that notes who wakes.
    pub(super) async fn watch(self: &Arc<Wakes>, engine: &Engine) -> anyhow::Result<()> {
        let wakes = Arc::clone(self);
        let woke = move |task: Task| {
            wakes.note(Asleep::of(&task.input), Timestamp::now().as_microsecond());
            async { TaskResult::complete(Value::Null) }
        };
        Ok(engine.handler(WOKE, woke).await?)
    }

    /// One that nobody expects is not noted.
    pub(super) fn note(&self, Asleep { n, due }: Asleep, now_us: i64) {
        let due_us = due * 1000;
        let Some(who) = n.and_then(|n| self.who.get(n)) else { return };
        if who.swap(true, Ordering::Relaxed) {
            self.doubled.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if now_us < due_us {
            self.early.fetch_add(1, Ordering::Relaxed);
        }
        self.first_us.fetch_min(now_us, Ordering::Relaxed);
        self.last_us.fetch_max(now_us, Ordering::Relaxed);
        let late_us = u64::try_from(now_us - due_us).unwrap_or(0);
        self.late.lock().unwrap_or_else(PoisonError::into_inner).add(late_us);
        self.woken.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn woken(&self) -> usize {
        self.woken.load(Ordering::Relaxed)
    }

    /// Waits until all have woken and the engine has heard of it, or until nobody does any more.
    pub(super) async fn wait(&self, engine: &Engine, last_due_ms: i64) -> anyhow::Result<()> {
        self.wait_for_all(last_due_ms).await;
        while self.woken() == self.who.len() && engine.stats().await?.tasks_out > 0 {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Waits until all have woken, or until nobody does any more.
    pub(super) async fn wait_for_all(&self, last_due_ms: i64) {
        let progress = Progress::new("woken", self.who.len());
        let mut last = (self.woken(), Instant::now());
        while self.woken() < self.who.len() {
            tokio::time::sleep(LOOK_EVERY).await;
            progress.at(self.woken());
            if self.woken() != last.0 || Timestamp::now().as_millisecond() < last_due_ms {
                last = (self.woken(), Instant::now());
            }
            if last.1.elapsed() > PATIENCE {
                return;
            }
        }
    }

    pub(super) fn tell(&self) -> Told {
        let first_us = self.first_us.load(Ordering::Relaxed);
        Told {
            first_us: if first_us == i64::MAX { 0 } else { first_us },
            last_us: self.last_us.load(Ordering::Relaxed),
            woken: self.woken(),
            lost: self.who.len() - self.woken(),
            doubled: self.doubled.load(Ordering::Relaxed),
            early: self.early.load(Ordering::Relaxed),
            late: Quantiles::of(&self.late.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// What came of the sleepers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Told {
    /// Instants, in microseconds since 1970.
    pub(super) first_us: i64,
    pub(super) last_us: i64,
    woken: usize,
    pub(super) lost: usize,
    pub(super) doubled: usize,
    pub(super) early: usize,
    late: Quantiles,
}

impl Told {
    pub(super) fn put_into(&self, part: &mut Part) {
        part.quantiles("late", "late", self.late);
        part.count("early", "early", self.early);
        part.count("lost", "lost", self.lost);
        part.count("doubled", "doubled", self.doubled);
    }

    /// How many a second woke, from an instant when they could.
    pub(super) fn drain(&self, part: &mut Part, from_ms: i64) {
        let seconds = (self.last_us - from_ms * 1000) as f64 / 1e6;
        let rate = self.woken as f64 / seconds.max(0.001);
        part.put("drainedPerSecond", "drained", Unit::PerSecond, rate);
    }
}

pub(super) fn millis(length: Duration) -> i64 {
    i64::try_from(length.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleepers_are_spread_evenly() {
        let due = Due { first_ms: 1_000, spread_ms: 100 };
        assert_eq!([0, 1, 5, 9].map(|index| due.of(index, 10)), [1_000, 1_010, 1_050, 1_090]);
        let herd = Due { spread_ms: 0, ..due };
        assert_eq!([0, 9].map(|index| herd.of(index, 10)), [1_000, 1_000]);
    }

    #[test]
    fn who_came_late_early_twice_or_never_is_noted() {
        let wakes = Wakes::new(4);
        for (index, now_us) in [(0, 1_000_500), (1, 1_002_000), (1, 1_003_000), (2, 999_999)] {
            wakes.note(Asleep::of(&json!({ "n": index, "due": 1_000 })), now_us);
        }
        let told = wakes.tell();
        assert_eq!((told.lost, told.doubled, told.early), (1, 1, 1));
        assert_eq!((told.first_us, told.last_us), (999_999, 1_002_000));
        let late = wakes.late.lock().unwrap();
        assert_eq!((late.count(), late.max()), (3, 2_000));
    }
}
