//! Very many timers that are all overdue when the store is opened: how quickly they drain, and what a request that
//! comes meanwhile has to wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use abide_engine::{Engine, Histogram};
use clap::Args;
use jiff::Timestamp;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

use super::child::{self, Create};
use super::format::{self, Unit};
use super::report::{Part, Quantiles, Report};
use super::sleeper::{self, Wakes, millis};
use super::{Bed, at_least_one, machine};

/// The sleepers are created while the clock stands this long before now …
const CLOCK: Duration = Duration::from_secs(3600);
/// … and are due between this long after it …
const DUE: Duration = Duration::from_secs(60);
/// … and this much later, which has passed too.
const SPREAD: Duration = Duration::from_secs(3000);
/// Creating them is not what is measured here.
const STARTERS: usize = 1_024;
const PROBE_EVERY: Duration = Duration::from_millis(100);

/// Very many timers, all overdue at the start
#[derive(Debug, Args)]
pub(super) struct Overdue {
    #[arg(long, default_value = "1000000", value_parser = at_least_one)]
    count: usize,
}

impl Overdue {
    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        let store = bed.scratch.store();
        let clock_ms = Timestamp::now().as_millisecond() - millis(CLOCK);
        let create = Create {
            count: self.count,
            at_a_time: STARTERS,
            later: STARTERS,
            first_ms: clock_ms + millis(DUE),
            spread_ms: millis(SPREAD),
            clock_ms: Some(clock_ms),
            stay: false,
        };
        child::create(&store, &create)?;

        let resident = machine::resident_bytes();
        let (opened, opened_ms) = (Instant::now(), Timestamp::now().as_millisecond());
        let engine = Engine::open(&store).await?;
        sleeper::deploy(&engine).await?;
        let wakes = Wakes::new(self.count);
        wakes.watch(&engine).await?;
        sleeper::probe(&engine).await?;
        let serving_ms = opened.elapsed().as_secs_f64() * 1000.0;
        let probes = tokio::spawn(probe(engine.clone(), Arc::clone(&wakes), self.count));
        wakes.wait(&engine, 0).await?;
        let probed = end(probes).await?;

        let told = wakes.tell();
        let mut part =
            Part::new("overdue", format!("{} timers overdue at the start", format::count(self.count)));
        part.count("timers", "timers", self.count);
        part.put("servingMs", "first request acknowledged after", Unit::Milliseconds, serving_ms);
        let first_ms = told.first_us as f64 / 1000.0 - opened_ms as f64;
        part.put("firstFireMs", "first fire after", Unit::Milliseconds, first_ms);
        told.drain(&mut part, opened_ms);
        part.count("lost", "lost", told.lost);
        part.count("doubled", "doubled", told.doubled);
        if let Some((most, before)) = probed.resident.zip(resident) {
            let grown = most.saturating_sub(before) as f64;
            part.put("memoryBytes", "memory while they drain, at most", Unit::Bytes, grown);
        }
        let mut probes = Part::new("probes", "meanwhile, a start every 100 ms");
        probes.put("probes", "starts", Unit::Count, probed.latency.count() as f64);
        probes.quantiles("probe", "acknowledged", Quantiles::of(&probed.latency));
        let report = Report::new("overdue", [part, probes, Part::engine(&engine.stats().await?)]);
        engine.shut_down().await?;
        Ok(report)
    }
}

#[derive(Debug, Default)]
struct Probed {
    latency: Histogram,
    /// The most memory that was seen in use.
    resident: Option<u64>,
}

/// Asks at fixed instants, whether the last one was answered or not, for as long as timers drain.
async fn probe(engine: Engine, wakes: Arc<Wakes>, count: usize) -> anyhow::Result<Probed> {
    let mut asked = JoinSet::new();
    let mut resident = None;
    let mut ticks = tokio::time::interval(PROBE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    loop {
        ticks.tick().await;
        resident = resident.max(machine::resident_bytes());
        let engine = engine.clone();
        asked.spawn(async move {
            let begun = Instant::now();
            sleeper::probe(&engine).await.map(|()| begun.elapsed())
        });
        if wakes.woken() >= count {
            break;
        }
    }
    let mut latency = Histogram::default();
    while let Some(answered) = asked.join_next().await {
        latency.add(u64::try_from(answered??.as_micros()).unwrap_or(u64::MAX));
    }
    Ok(Probed { latency, resident })
}

/// When some are lost, the probes would go on for ever.
async fn end(probes: JoinHandle<anyhow::Result<Probed>>) -> anyhow::Result<Probed> {
    match tokio::time::timeout(PROBE_EVERY * 10, probes).await {
        Ok(probed) => probed?,
        Err(_) => Ok(Probed::default()),
    }
}
