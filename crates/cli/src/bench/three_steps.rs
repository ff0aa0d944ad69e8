//! W1: runs of three trivial steps, each waited for.

use abide_core::definition::document::Workflow;
use abide_engine::{Engine, TaskResult};
use clap::Args;
use serde_json::{Value, json};

use super::format::{self, Unit};
use super::report::{Part, Quantiles, Report};
use super::starters::{self, Pace};
use super::{Bed, at_least_one, machine};

/// The most runs that are done before it counts.
const WARM_UP: usize = 1_000;

/// Runs of three trivial steps, each waited for
#[derive(Debug, Args)]
pub(super) struct ThreeSteps {
    #[arg(long, default_value = "20000", value_parser = at_least_one)]
    runs: usize,
}

impl ThreeSteps {
    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        let engine = Engine::open(bed.scratch.store()).await?;
        deploy(&engine).await?;
        let cost = measure(&engine, self.runs, bed.starters).await?;
        let mut part = Part::new("runs", format!("{} runs of three steps", format::count(self.runs)));
        part.count("runs", "runs", self.runs);
        part.count("starters", "starters", bed.starters);
        part.put("runsPerSecond", "completed", Unit::PerSecond, self.runs as f64 / cost.pace.seconds);
        part.quantiles("run", "start to end", Quantiles::of(&cost.pace.latency));
        if let Some(seconds) = cost.cpu_seconds {
            let per_thousand = seconds * 1e6 / self.runs as f64;
            part.put("cpuMsPer1000Runs", "CPU per 1,000 runs", Unit::Milliseconds, per_thousand);
        }
        let report = Report::new("w1", [part, Part::engine(&engine.stats().await?)]);
        engine.shut_down().await?;
        Ok(report)
    }
}

pub(super) async fn deploy(engine: &Engine) -> anyhow::Result<()> {
    engine.handler("noop", async |_| TaskResult::complete(Value::Null)).await?;
    let workflow = Workflow::new("three").task("a", "noop").task("b", "noop").task("c", "noop");
    engine.deploy(workflow).await?;
    Ok(())
}

/// What so many runs cost.
pub(super) struct Cost {
    /// With those that did not count.
    pub(super) runs: usize,
    pub(super) pace: Pace,
    pub(super) cpu_seconds: Option<f64>,
    /// Records of history that were written.
    pub(super) transitions: u64,
}

pub(super) async fn measure(engine: &Engine, runs: usize, starters: usize) -> anyhow::Result<Cost> {
    let warm_up = (runs / 10).min(WARM_UP);
    complete("warming up", engine, warm_up, starters).await?;
    let (cpu, before) = (machine::cpu_seconds(), engine.stats().await?.records);
    let pace = complete("completed", engine, runs, starters).await?;
    let cpu_seconds = machine::cpu_seconds().zip(cpu).map(|(after, before)| after - before);
    let transitions = engine.stats().await?.records - before;
    Ok(Cost { runs: warm_up + runs, pace, cpu_seconds, transitions })
}

async fn complete(what: &'static str, engine: &Engine, runs: usize, starters: usize) -> anyhow::Result<Pace> {
    let engine = engine.clone();
    starters::repeat(what, runs, starters, move |_| {
        let engine = engine.clone();
        async move {
            let run = engine.start("three", json!({})).await?;
            engine.wait(run).await?;
            Ok(())
        }
    })
    .await
}
