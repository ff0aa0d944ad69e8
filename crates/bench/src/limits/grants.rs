//! Whether letting in costs the same however many wait: one line after another, each longer than the one before, of which as many
//! are let in.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use abide_definition::document::{Limit, Workflow};
use abide_engine::{Engine, TaskResult};
use serde_json::{Value, json};

use super::{LimitCosts, pause, with_limit};
use crate::Bed;
use crate::format::{self, Unit};
use crate::machine;
use crate::report::Part;
use crate::starters;

const WORKFLOW: &str = "line";
const LIMIT: &str = "room";
const HANDLER: &str = "let-in";
/// Filling the line is not what is measured here.
const STARTERS: usize = 1_024;
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// When nobody is let in for this long, something is wrong.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn measure(asked: &LimitCosts, bed: &Bed) -> anyhow::Result<Vec<Part>> {
    let store = bed.scratch.another("grants")?;
    let let_in = Arc::new(AtomicUsize::new(0));
    let mut started = 0;
    let mut first: Option<Cost> = None;
    let mut parts = Vec::new();
    for size in &asked.line {
        let missing = size.saturating_sub(started - let_in.load(Ordering::Relaxed));
        fill(&store, asked.room, missing).await?;
        started += missing;
        let engine = Engine::open(&store).await?;
        handle(&engine, &let_in).await?;
        let cost = grants(&engine, &let_in, asked.granted.min(size.div_ceil(2))).await?;
        engine.shut_down().await?;
        let first = *first.get_or_insert(cost);
        let mut part = Part::new(format!("line{size}"), format!("{} in line", format::count(*size)));
        part.count("letIn", "let in, done", cost.runs);
        part.put("wallUsPerRun", "time for each", Unit::Microseconds, cost.wall_us);
        part.put("wallRatio", "of what it was at first", Unit::Count, cost.wall_us / first.wall_us);
        if let Some((now, then)) = cost.cpu_us.zip(first.cpu_us) {
            part.put("cpuUsPerRun", "CPU for each", Unit::Microseconds, now);
            part.put("cpuRatio", "CPU, of what it was at first", Unit::Count, now / then);
        }
        parts.push(part);
    }
    Ok(parts)
}

async fn handle(engine: &Engine, let_in: &Arc<AtomicUsize>) -> anyhow::Result<()> {
    let noted = Arc::clone(let_in);
    let handler = move |_| {
        noted.fetch_add(1, Ordering::Relaxed);
        async { TaskResult::complete(Value::Null) }
    };
    Ok(engine.handler(HANDLER, handler).await?)
}

/// Fills the line, and closes the store: what memory holds of those that came last is not the cost of letting them in.
async fn fill(store: &Path, room: u16, missing: usize) -> anyhow::Result<()> {
    let engine = Engine::open(store).await?;
    let room = Limit { name: LIMIT.to_owned(), concurrency: Some(u32::from(room)), ..Limit::default() };
    engine.deploy(with_limit(Workflow::new(WORKFLOW).task("work", HANDLER), WORKFLOW, room)).await?;
    pause(&engine, WORKFLOW, LIMIT, true).await?;
    let asked = engine.clone();
    let start = move |_| {
        let engine = asked.clone();
        async move {
            engine.start(WORKFLOW, json!({})).await?;
            Ok(())
        }
    };
    starters::repeat("in line", missing, STARTERS, start).await?;
    Ok(engine.shut_down().await?)
}

/// What it costs to let a run in and have it done, on average.
#[derive(Clone, Copy, Debug)]
struct Cost {
    runs: usize,
    wall_us: f64,
    cpu_us: Option<f64>,
}

/// Lets so many in, and then nobody.
async fn grants(engine: &Engine, let_in: &AtomicUsize, wanted: usize) -> anyhow::Result<Cost> {
    let before = let_in.load(Ordering::Relaxed);
    let (begun, cpu) = (Instant::now(), machine::cpu_seconds());
    pause(engine, WORKFLOW, LIMIT, false).await?;
    wait_for(let_in, before + wanted).await?;
    pause(engine, WORKFLOW, LIMIT, true).await?;
    while engine.stats().await?.tasks_out > 0 {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let runs = let_in.load(Ordering::Relaxed) - before;
    let each = |seconds: f64| seconds * 1e6 / runs as f64;
    Ok(Cost {
        runs,
        wall_us: each(begun.elapsed().as_secs_f64()),
        cpu_us: machine::cpu_seconds().zip(cpu).map(|(after, before)| each(after - before)),
    })
}

async fn wait_for(let_in: &AtomicUsize, wanted: usize) -> anyhow::Result<()> {
    let mut last = (let_in.load(Ordering::Relaxed), Instant::now());
    while last.0 < wanted {
        tokio::time::sleep(LOOK_EVERY).await;
        let now = let_in.load(Ordering::Relaxed);
        if now != last.0 {
            last = (now, Instant::now());
        }
        anyhow::ensure!(last.1.elapsed() < PATIENCE, "nobody is let in any more after {now}");
    }
    Ok(())
}
