//! What a limit costs that is never full, and how quick a key is under which there is always somebody in line: W1 with and without
//! it, in turn, on one engine.

use abide_definition::document::Limit;
use abide_engine::Engine;
use serde_json::json;

use super::{LimitCosts, with_limit};
use crate::Bed;
use crate::format::{self, Unit};
use crate::report::Part;
use crate::starters;
use crate::{machine, three_steps};

/// More than ever ask.
const NEVER_FULL: u32 = 100_000;
const SHARED: &str = "three-under-one-key";
const KEYED: &str = "three-under-many-keys";
const HOT: &str = "three-under-a-hot-key";
/// The runs are done in so many turns, so that what else the machine does meets all alike.
const TURNS: usize = 8;

/// What so many runs of a workflow took.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    runs: usize,
    seconds: f64,
    cpu_seconds: Option<f64>,
}

impl Took {
    fn add(&mut self, more: Took) {
        self.runs += more.runs;
        self.seconds += more.seconds;
        self.cpu_seconds = match (self.cpu_seconds, more.cpu_seconds) {
            (Some(so_far), Some(more)) => Some(so_far + more),
            (so_far, more) => so_far.or(more),
        };
    }

    fn per_second(&self) -> f64 {
        self.runs as f64 / self.seconds
    }
}

/// W1 without a limit, under one that is never full, and under one with a key for each run.
pub(super) async fn never_full(asked: &LimitCosts, bed: &Bed) -> anyhow::Result<Vec<Part>> {
    let engine = Engine::open(bed.scratch.another("cost")?).await?;
    three_steps::deploy(&engine).await?;
    let room = |key: Option<&str>| Limit {
        name: "room".to_owned(),
        key: key.map(str::to_owned),
        concurrency: Some(NEVER_FULL),
        ..Limit::default()
    };
    engine.deploy(with_limit(three_steps::workflow(), SHARED, room(None))).await?;
    engine.deploy(with_limit(three_steps::workflow(), KEYED, room(Some("{{ input.n }}")))).await?;
    let workflows = [three_steps::WORKFLOW, SHARED, KEYED];
    let took = in_turn(&engine, &workflows, asked.runs, bed.starters).await?;
    engine.shut_down().await?;
    let titles = ["without a limit", "one key, never full", "a key each, never full"];
    Ok(parts(["free", "neverFull", "keyEach"], titles, &took))
}

/// W1 without a limit, and under one key for whose room four times as many ask.
pub(super) async fn hot_key(asked: &LimitCosts, bed: &Bed) -> anyhow::Result<Vec<Part>> {
    let engine = Engine::open(bed.scratch.another("hot")?).await?;
    three_steps::deploy(&engine).await?;
    let hot = Limit { name: "hot".to_owned(), concurrency: Some(u32::from(asked.room)), ..Limit::default() };
    engine.deploy(with_limit(three_steps::workflow(), HOT, hot)).await?;
    let starters = usize::from(asked.room) * 4;
    let took = in_turn(&engine, &[three_steps::WORKFLOW, HOT], asked.runs, starters).await?;
    engine.shut_down().await?;
    let titles = [
        format!("{} starters", format::count(starters)),
        format!("the same, room for {}", format::count(usize::from(asked.room))),
    ];
    Ok(parts(["freeBesideHot", "hot"], titles, &took))
}

/// Each workflow a part of its runs, again and again.
async fn in_turn(
    engine: &Engine,
    workflows: &[&'static str],
    runs: usize,
    starters: usize,
) -> anyhow::Result<Vec<Took>> {
    for workflow in workflows {
        complete(engine, workflow, three_steps::warm_up(runs), starters).await?;
    }
    let mut took = vec![Took::default(); workflows.len()];
    let each = runs.div_ceil(TURNS);
    for turn in 0..TURNS {
        // Whoever comes first in one turn comes last in the next.
        let order: Vec<usize> = match turn % 2 {
            0 => (0..workflows.len()).collect(),
            _ => (0..workflows.len()).rev().collect(),
        };
        for index in order {
            took[index].add(complete(engine, workflows[index], each, starters).await?);
        }
    }
    Ok(took)
}

async fn complete(
    engine: &Engine,
    workflow: &'static str,
    runs: usize,
    starters: usize,
) -> anyhow::Result<Took> {
    let (cpu, asked) = (machine::cpu_seconds(), engine.clone());
    let pace = starters::repeat("completed", runs, starters, move |n| {
        let engine = asked.clone();
        async move {
            let run = engine.start(workflow, json!({ "n": n })).await?;
            engine.run(run).wait().await?;
            Ok(())
        }
    })
    .await?;
    let cpu_seconds = machine::cpu_seconds().zip(cpu).map(|(after, before)| after - before);
    Ok(Took { runs, seconds: pace.seconds, cpu_seconds })
}

/// Figures side by side, each as a share of those of the first.
fn parts<T: Into<String>, const N: usize>(keys: [&str; N], titles: [T; N], took: &[Took]) -> Vec<Part> {
    let first = took.first().copied().unwrap_or_default();
    let named = keys.into_iter().zip(titles).zip(took);
    let part = |((key, title), took): ((&str, T), &Took)| {
        let mut part = Part::new(key, title);
        part.count("runs", "runs of three steps", took.runs);
        part.put("runsPerSecond", "completed", Unit::PerSecond, took.per_second());
        part.put("rateRatio", "of the rate without", Unit::Count, took.per_second() / first.per_second());
        if let Some((own, free)) = took.cpu_seconds.zip(first.cpu_seconds) {
            let each = |seconds: f64, runs: usize| seconds * 1e6 / runs as f64;
            let own = each(own, took.runs);
            part.put("cpuUsPerRun", "CPU per run", Unit::Microseconds, own);
            part.put("cpuRatio", "of the CPU without", Unit::Count, own / each(free, first.runs));
        }
        part
    };
    named.map(part).collect()
}
