//! How long it takes to open a store in which very many runs are RUNNING: each has a task that nobody has taken.

use std::ops::Range;
use std::time::Instant;

use abide_definition::document::Workflow;
use abide_engine::Engine;
use clap::Args;
use serde_json::json;

use super::format::{self, Unit};
use super::report::{Part, Report};
use super::starters::{self, Pace};
use super::{Bed, at_least_one, machine, nodes, sleeper};

const WORKFLOW: &str = "parked";
/// Starting them is not what is measured here.
pub(super) const STARTERS: usize = 1_024;

/// How long it takes to open a store in which very many runs are RUNNING
#[derive(Debug, Args)]
pub(super) struct Open {
    #[arg(long, default_value = "100000", value_parser = at_least_one)]
    runs: usize,
}

/// What it took to open.
pub(super) struct Opened {
    /// Until the engine was there.
    pub(super) open_ms: f64,
    /// Until a run was started on it, and on disk.
    pub(super) serving_ms: f64,
    pub(super) resident: Option<u64>,
}

impl Open {
    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        let opened = match bed.database {
            Some(_) => nodes::open(self.runs, bed)?,
            None => {
                let engine = Engine::open(bed.scratch.store()).await?;
                park(&engine, 0..self.runs, STARTERS).await?;
                engine.shut_down().await?;
                open(bed).await?
            }
        };
        let mut part = Part::new("open", format!("{} runs RUNNING", format::count(self.runs)));
        part.count("runs", "runs", self.runs);
        part.put("openMs", "opened after", Unit::Milliseconds, opened.open_ms);
        part.put("servingMs", "first request acknowledged after", Unit::Milliseconds, opened.serving_ms);
        if let Some(bytes) = opened.resident {
            part.put("memoryBytes", "memory", Unit::Bytes, bytes as f64);
        }
        Ok(Report::new("open", [part]))
    }
}

async fn open(bed: &Bed) -> anyhow::Result<Opened> {
    let before = machine::resident_bytes();
    let begun = Instant::now();
    let engine = Engine::open(bed.scratch.store()).await?;
    let open_ms = begun.elapsed().as_secs_f64() * 1000.0;
    sleeper::deploy(&engine).await?;
    sleeper::probe(&engine).await?;
    let serving_ms = begun.elapsed().as_secs_f64() * 1000.0;
    let grown = machine::resident_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
    engine.shut_down().await?;
    Ok(Opened { open_ms, serving_ms, resident: grown })
}

/// Starts runs whose task nobody takes.
pub(super) async fn park(engine: &Engine, which: Range<usize>, starters: usize) -> anyhow::Result<Pace> {
    engine.deploy(Workflow::new(WORKFLOW).task("work", "nobody-has-it")).await?;
    let engine = engine.clone();
    starters::repeat("running", which.len(), starters, move |_| {
        let engine = engine.clone();
        async move {
            engine.start(WORKFLOW, json!({})).await?;
            Ok(())
        }
    })
    .await
}
