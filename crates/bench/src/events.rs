//! W3: runs that wait each for its own event.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use abide_core::id::RunId;
use abide_definition::document::Workflow;
use abide_engine::{Engine, Histogram, SendEvent};
use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;

use super::format::{self, Unit};
use super::report::{Part, Quantiles, Report};
use super::starters::{self, Pace};
use super::{Bed, at_least_one, http, nodes};

pub(super) const WORKFLOW: &str = "listener";

/// Runs that wait each for its own event
#[derive(Debug, Args)]
pub(super) struct Events {
    #[arg(long, default_value = "20000", value_parser = at_least_one)]
    runs: usize,
    /// Over HTTP, with a server in a process of its own
    #[arg(long)]
    pub(super) http: bool,
}

pub(super) fn workflow() -> Workflow {
    Workflow::new(WORKFLOW).wait_for_event("wait", "go-{{ input.n }}")
}

/// What the run with this number waits for.
pub(super) fn event_id(n: usize) -> String {
    format!("go-{n}")
}

impl Events {
    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        if self.http {
            return http::events(self.runs, bed).await;
        }
        if bed.database.is_some() {
            return nodes::events(self.runs, bed).await;
        }
        let engine = Engine::open(bed.scratch.store()).await?;
        engine.deploy(workflow()).await?;
        let started: Arc<[OnceLock<RunId>]> = std::iter::repeat_with(OnceLock::new).take(self.runs).collect();

        let (asked, noted) = (engine.clone(), Arc::clone(&started));
        let waiting = starters::repeat("waiting", self.runs, bed.starters, move |index| {
            let (engine, started) = (asked.clone(), Arc::clone(&noted));
            async move {
                let run = engine.start(WORKFLOW, json!({ "n": index })).await?;
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
                let event_id = event_id(index);
                engine.default_workspace().events().send(SendEvent::new(event_id)).await?;
                Ok(())
            }
        });
        let sent = sent.await?;
        let mut latency = Histogram::default();
        for took in ends.join_all().await {
            latency.add(u64::try_from(took?.as_micros()).unwrap_or(u64::MAX));
        }
        let ended = Pace { seconds: begun.elapsed().as_secs_f64(), latency };
        let mut part = part(self.runs, bed.starters, &waiting, &ended);
        part.quantiles("sent", "event acknowledged", Quantiles::of(&sent.latency));
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
            engine.run(*run).wait().await?;
            Ok(sent_at[index].get().map(Instant::elapsed).unwrap_or_default())
        });
    }
    tokio::task::yield_now().await;
    // Requests are taken in order: once this is answered, all are watched.
    engine.stats().await?;
    Ok(ends)
}

pub(super) fn part(runs: usize, starters: usize, waiting: &Pace, ended: &Pace) -> Part {
    let rate = |pace: &Pace| runs as f64 / pace.seconds;
    let mut part = Part::new("events", format!("{} runs, an event for each", format::count(runs)));
    part.count("runs", "runs", runs);
    part.count("starters", "starters", starters);
    part.put("waitingPerSecond", "started and waiting", Unit::PerSecond, rate(waiting));
    part.put("completedPerSecond", "completed by their event", Unit::PerSecond, rate(ended));
    part.quantiles("event", "event to end", Quantiles::of(&ended.latency));
    part
}
