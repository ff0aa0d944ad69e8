//! Runs in line beside as many sleepers: what each takes on disk and in memory, and how long a restart takes with them.

use std::io::Write;
use std::path::Path;

use abide_definition::document::{Limit, Workflow};
use abide_engine::Engine;
use clap::Args;
use jiff::Timestamp;
use serde_json::json;

use super::{LimitCosts, pause, with_limit};
use crate::Bed;
use crate::child::{self, Batch, Create, Created};
use crate::format::{self, Unit};
use crate::report::{Part, Quantiles};
use crate::sleeper::Due;
use crate::sleepers::Sleepers;
use crate::{machine, scratch, starters};

const WORKFLOW: &str = "queued";
const LIMIT: &str = "lane";

/// Queues runs
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Queue {
    #[arg(long)]
    count: usize,
    #[arg(long)]
    keys: usize,
    /// How many ask at the same time
    #[arg(long)]
    at_a_time: usize,
}

impl Queue {
    /// Queues runs under a limit that lets nobody in, and closes the store.
    pub(crate) async fn run(self, store: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
        let engine = Engine::open(store).await?;
        let lane = Limit {
            name: LIMIT.to_owned(),
            key: Some("{{ input.key }}".to_owned()),
            concurrency: Some(1),
            ..Limit::default()
        };
        let workflow = Workflow::new(WORKFLOW).task("work", "nobody-has-it");
        engine.deploy(with_limit(workflow, WORKFLOW, lane)).await?;
        pause(&engine, WORKFLOW, LIMIT, true).await?;
        let resident_before = machine::resident_bytes();
        let (asked, keys) = (engine.clone(), self.keys);
        let pace = starters::repeat("queued", self.count, self.at_a_time, move |n| {
            let engine = asked.clone();
            async move {
                engine.start(WORKFLOW, json!({ "n": n, "key": n % keys })).await?;
                Ok(())
            }
        })
        .await?;
        let first = Batch {
            count: self.count,
            starters: self.at_a_time,
            seconds: pace.seconds,
            latency: Quantiles::of(&pace.latency),
        };
        let resident_after = machine::resident_bytes();
        child::say(out, &Created { first, later: None, resident_before, resident_after })?;
        Ok(engine.shut_down().await?)
    }

    pub(crate) fn arguments(self) -> Vec<String> {
        let Queue { count, keys, at_a_time } = self;
        ["queue".to_owned(), format!("--count={count}"), format!("--keys={keys}")]
            .into_iter()
            .chain([format!("--at-a-time={at_a_time}")])
            .collect()
    }
}

/// What those that wait cost.
struct Waiting {
    created_per_second: f64,
    disk: f64,
    memory_created: Option<f64>,
    memory: Option<f64>,
    serving_ms: f64,
    open_ms: f64,
}

pub(super) fn measure(asked: &LimitCosts, bed: &Bed) -> anyhow::Result<Vec<Part>> {
    let (count, at_a_time) = (asked.queued, bed.starters * Sleepers::MORE);
    let empty = bed.scratch.another("empty")?;
    let (_, with_none) = child::serve_once(&empty)?;
    let none = scratch::disk_bytes(&empty);
    let weigh = |store: &Path, created: &Created| -> anyhow::Result<Waiting> {
        let disk = scratch::disk_bytes(store).saturating_sub(none);
        let (serving_ms, serving) = child::serve_once(store)?;
        let each = |bytes: u64| bytes as f64 / count as f64;
        let grown = |after: Option<u64>, before: Option<u64>| {
            after.zip(before).map(|(after, before)| each(after.saturating_sub(before)))
        };
        Ok(Waiting {
            created_per_second: created.first.count as f64 / created.first.seconds,
            disk: each(disk),
            memory_created: grown(created.resident_after, created.resident_before),
            memory: grown(serving.resident, with_none.resident),
            serving_ms,
            open_ms: serving.open_ms,
        })
    };
    let store = bed.scratch.another("sleepers")?;
    let due = Due::after(Timestamp::now(), Sleepers::FAR_AWAY, Sleepers::SPREAD);
    let create = Create {
        count,
        at_a_time,
        later: at_a_time,
        first_ms: due.first_ms,
        spread_ms: due.spread_ms,
        clock_ms: None,
        stay: false,
    };
    let asleep = weigh(&store, &child::create(&store, &create)?)?;
    let store = bed.scratch.another("queued")?;
    let queue = Queue { count, keys: asked.keys, at_a_time };
    let queued = weigh(&store, &child::queue(&store, queue)?)?;
    let over = format!("{} queued over {} keys", format::count(count), format::count(asked.keys));
    Ok(vec![
        asleep.part("sleepers", format!("{} sleepers", format::count(count)), &asleep),
        queued.part("queued", over, &asleep),
    ])
}

impl Waiting {
    /// The figures, beside those of sleepers.
    fn part(&self, key: &str, title: String, sleepers: &Waiting) -> Part {
        let mut part = Part::new(key, title);
        part.put("createdPerSecond", "created", Unit::PerSecond, self.created_per_second);
        let ratio = self.created_per_second / sleepers.created_per_second;
        part.put("createdRatio", "of the rate of sleepers", Unit::Count, ratio);
        part.put("diskBytesEach", "disk for each", Unit::Bytes, self.disk);
        part.put("diskRatio", "of a sleeper's", Unit::Count, self.disk / sleepers.disk);
        if let Some(bytes) = self.memory_created {
            part.put("memoryBytesEachCreated", "memory for each, just created", Unit::Bytes, bytes);
        }
        if let Some(bytes) = self.memory {
            part.put("memoryBytesEach", "memory for each, after a restart", Unit::Bytes, bytes);
        }
        part.put("servingMs", "restart to first request acknowledged", Unit::Milliseconds, self.serving_ms);
        part.put("openMs", "of that, opening the store", Unit::Milliseconds, self.open_ms);
        part.put(
            "servingRatio",
            "of a restart with sleepers",
            Unit::Count,
            self.serving_ms / sleepers.serving_ms,
        );
        part
    }
}
