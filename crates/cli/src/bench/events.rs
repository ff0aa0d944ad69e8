//! W3: runs that wait each for its own event.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use abide_core::definition::document::Workflow;
use abide_core::id::RunId;
use abide_engine::{Engine, Histogram, Notification, TaskResult};
use clap::Args;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::format::{self, Unit};
use super::report::{Part, Quantiles, Report};
use super::{Bed, at_least_one, starters};

/// Runs that wait each for its own event
#[derive(Debug, Args)]
pub(super) struct Events {
    #[arg(long, default_value = "20000", value_parser = at_least_one)]
    runs: usize,
}

impl Events {
    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        let engine = Engine::open(bed.scratch.store()).await?;
        engine.handler("noop", async |_| TaskResult::complete(Value::Null)).await?;
        let listener =
            Workflow::new("listener").wait_for_event("wait", "go-{{ input.n }}").task("after", "noop");
        engine.deploy(listener).await?;
        let started: Arc<[OnceLock<RunId>]> = std::iter::repeat_with(OnceLock::new).take(self.runs).collect();

        let (asked, noted) = (engine.clone(), Arc::clone(&started));
        let waiting = starters::repeat("waiting", self.runs, bed.starters, move |index| {
            let (engine, started) = (asked.clone(), Arc::clone(&noted));
            async move {
                let run = engine.start("listener", json!({ "n": index })).await?;
                started[index].get_or_init(|| run);
                Ok(())
            }
        });
        let waiting = waiting.await?;

        let sent_at: Arc<[OnceLock<Instant>]> =
            std::iter::repeat_with(OnceLock::new).take(self.runs).collect();
        let ends = watch(&engine, &started, &sent_at).await?;
        let (asked, begun) = (engine.clone(), Instant::now());
        let sent = starters::repeat("events", self.runs, bed.starters, move |index| {
            let (engine, sent_at) = (asked.clone(), Arc::clone(&sent_at));
            async move {
                sent_at[index].get_or_init(Instant::now);
                let event_id = format!("go-{index}");
                engine.notify(Notification { event_id, ..Notification::default() }).await?;
                Ok(())
            }
        });
        let sent = sent.await?;
        let mut latency = Histogram::default();
        for took in ends.join_all().await {
            latency.add(u64::try_from(took?.as_micros()).unwrap_or(u64::MAX));
        }
        let seconds = begun.elapsed().as_secs_f64();

        let mut part = Part::new("events", format!("{} runs, an event for each", format::count(self.runs)));
        part.count("runs", "runs", self.runs);
        part.count("starters", "starters", bed.starters);
        part.put(
            "waitingPerSecond",
            "started and waiting",
            Unit::PerSecond,
            self.runs as f64 / waiting.seconds,
        );
        part.put(
            "completedPerSecond",
            "completed by their event",
            Unit::PerSecond,
            self.runs as f64 / seconds,
        );
        part.quantiles("sent", "event acknowledged", Quantiles::of(&sent.latency));
        part.quantiles("event", "event to end", Quantiles::of(&latency));
        let report = Report::new("w3", [part, Part::engine(&engine.stats().await?)]);
        engine.shut_down().await?;
        Ok(report)
    }
}

/// Waits for the end of every run from now on. Gives how long each took from its event.
async fn watch(
    engine: &Engine,
    started: &Arc<[OnceLock<RunId>]>,
    sent_at: &Arc<[OnceLock<Instant>]>,
) -> anyhow::Result<JoinSet<anyhow::Result<Duration>>> {
    let mut ends = JoinSet::new();
    for index in 0..started.len() {
        let (engine, started, sent_at) = (engine.clone(), Arc::clone(started), Arc::clone(sent_at));
        ends.spawn(async move {
            let run = started[index].get().expect("all were started before the first event was sent");
            engine.wait(*run).await?;
            Ok(sent_at[index].get().map(Instant::elapsed).unwrap_or_default())
        });
    }
    tokio::task::yield_now().await;
    // Requests are taken in order: once this is answered, all are watched.
    engine.stats().await?;
    Ok(ends)
}
