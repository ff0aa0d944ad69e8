//! W3: runs that wait each for its own event.

use std::sync::{Arc, OnceLock};

use abide_core::definition::document::Workflow;
use abide_core::id::RunId;
use abide_engine::{Engine, Notification};
use clap::Args;
use serde_json::json;

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
        engine.deploy(Workflow::new("listener").wait_for_event("wait", "go-{{ input.n }}")).await?;
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

        let asked = engine.clone();
        let sent = starters::repeat("events", self.runs, bed.starters, move |index| {
            let (engine, started) = (asked.clone(), Arc::clone(&started));
            async move {
                let event_id = format!("go-{index}");
                engine.notify(Notification { event_id, ..Notification::default() }).await?;
                let run = started[index].get().expect("all were started before the first event was sent");
                engine.wait(*run).await?;
                Ok(())
            }
        });
        let sent = sent.await?;

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
            self.runs as f64 / sent.seconds,
        );
        part.quantiles("event", "event to end", Quantiles::of(&sent.latency));
        let report = Report::new("w3", [part, Part::engine(&engine.stats().await?)]);
        engine.shut_down().await?;
        Ok(report)
    }
}
