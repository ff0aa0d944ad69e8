//! W1: runs of three trivial steps, each waited for.

use abide_definition::document::Workflow;
use abide_engine::{Engine, TaskResult};
use clap::Args;
use serde_json::{Value, json};

use super::format::{self, Unit};
use super::report::{Part, Quantiles, Report};
use super::starters::{self, Pace};
use super::{Bed, at_least_one, http, machine, nodes};

pub(super) const WORKFLOW: &str = "three";
pub(super) const HANDLER: &str = "noop";

/// The most runs that are done before it counts.
const WARM_UP: usize = 1_000;

/// Runs of three trivial steps, each waited for
#[derive(Debug, Args)]
pub(super) struct ThreeSteps {
    #[arg(long, default_value = "20000", value_parser = at_least_one)]
    runs: usize,
    /// Over HTTP, with a server and a worker in processes of their own
    #[arg(long)]
    pub(super) http: bool,
}

impl ThreeSteps {
    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        if self.http {
            return http::three_steps(self.runs, bed).await;
        }
        if bed.database.is_some() {
            return nodes::three_steps(self.runs, bed).await;
        }
        let engine = Engine::open(bed.scratch.store()).await?;
        deploy(&engine).await?;
        let cost = measure(&engine, self.runs, bed.starters).await?;
        let mut part = part(self.runs, bed.starters, &cost.pace);
        if let Some(seconds) = cost.cpu_seconds {
            let per_thousand = seconds * 1e6 / self.runs as f64;
            part.put("cpuMsPer1000Runs", "CPU per 1,000 runs", Unit::Milliseconds, per_thousand);
        }
        let report = Report::new("w1", [part, Part::engine(&engine.stats().await?)]);
        engine.shut_down().await?;
        Ok(report)
    }
}

pub(super) fn part(runs: usize, starters: usize, pace: &Pace) -> Part {
    let mut part = Part::new("runs", format!("{} runs of three steps", format::count(runs)));
    part.count("runs", "runs", runs);
    part.count("starters", "starters", starters);
    part.put("runsPerSecond", "completed", Unit::PerSecond, runs as f64 / pace.seconds);
    part.quantiles("run", "start to end", Quantiles::of(&pace.latency));
    part
}

pub(super) fn workflow() -> Workflow {
    Workflow::new(WORKFLOW).task("a", HANDLER).task("b", HANDLER).task("c", HANDLER)
}

pub(super) async fn deploy(engine: &Engine) -> anyhow::Result<()> {
    engine.handler(HANDLER, async |_| TaskResult::complete(Value::Null)).await?;
    engine.deploy(workflow()).await?;
    Ok(())
}

/// How many are done before so many count.
pub(super) fn warm_up(runs: usize) -> usize {
    (runs / 10).min(WARM_UP)
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
    let warm_up = warm_up(runs);
    complete("warming up", engine, warm_up, starters).await?;
    let (cpu, before) = (machine::cpu_seconds(), engine.stats().await?.records);
    let pace = complete("completed", engine, runs, starters).await?;
    let cpu_seconds = machine::cpu_seconds().zip(cpu).map(|(after, before)| after - before);
    let transitions = engine.stats().await?.records - before;
    Ok(Cost { runs: warm_up + runs, pace, cpu_seconds, transitions })
}

pub(super) async fn complete(
    what: &'static str,
    engine: &Engine,
    runs: usize,
    starters: usize,
) -> anyhow::Result<Pace> {
    let engine = engine.clone();
    starters::repeat(what, runs, starters, move |_| {
        let engine = engine.clone();
        async move {
            let run = engine.start(WORKFLOW, json!({})).await?;
            engine.run(run).wait().await?;
            Ok(())
        }
    })
    .await
}
