//! What a store on this machine does: `cargo run --release -p abide-store --example figures [directory]`.
//!
//! Sleepers are runs of a workflow of one sleep, each started by a decision of its own; every commit is synced.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use abide_core::command::{Context, NewRun, Outcome, start};
use abide_core::definition::Definition;
use abide_core::id::RunId;
use abide_core::json::Json;
use abide_core::random::Random;
use abide_core::run::Run;
use abide_core::waitpoint::Actor;
use abide_store::roles::*;
use abide_store::sqlite::Sqlite;
use abide_store::{Batch, Page, RunFilter, RunWrite, Store};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

const SLEEPERS: usize = 200_000;
const POPPED: usize = 100_000;
const POP_BATCH: usize = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let directory =
        tempfile::tempdir_in(std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from))?;
    let mut world = World::new()?;
    for (batch, runs) in [(1, 3_000), (64, 50_000), (512, 100_000)] {
        let path = directory.path().join(format!("batches-{batch}.db"));
        world.sleep(&mut Sqlite::open(path)?, runs, batch)?;
    }

    let path = directory.path().join("sleepers.db");
    let mut store = Sqlite::open(&path)?;
    world.sleep(&mut store, SLEEPERS, 512)?;
    drop(store);
    let bytes = fs::metadata(&path)?.len();
    println!("{} bytes a sleeper on disk ({SLEEPERS} of them, {bytes} bytes)", bytes / SLEEPERS as u64);

    let begun = Instant::now();
    let mut store = Sqlite::open(&path)?;
    println!("opened again in {:?}", begun.elapsed());
    pop(&mut store)?;
    look(&mut store)?;

    let crashed = directory.path().join("crashed.db");
    world.sleep(&mut store, 20_000, 512)?;
    copy_as_after_a_crash(&path, &crashed)?;
    let begun = Instant::now();
    let mut store = Sqlite::open(&crashed)?;
    let due = store.timers(None, Timestamp::MAX, 1_000)?;
    println!("opened after a crash, first {} timers read, in {:?}", due.len(), begun.elapsed());
    Ok(())
}

struct World {
    definition: Arc<Definition>,
    random: Random,
}

impl World {
    fn new() -> Result<World, Box<dyn Error>> {
        let document = json!({
            "name": "nap", "version": "1",
            "steps": [{ "type": "sleep", "name": "rest", "duration": "30d" }],
        });
        let definition = Arc::new(Definition::from_value(document)?.definition);
        Ok(World { definition, random: Random::new(1) })
    }

    fn sleep(&mut self, store: &mut Sqlite, runs: usize, batch: usize) -> Result<(), Box<dyn Error>> {
        let begun = Instant::now();
        let mut slowest = std::time::Duration::ZERO;
        for _ in 0..runs.div_ceil(batch) {
            let started: Vec<(Run, Outcome)> = (0..batch).map(|_| self.start()).collect();
            let writes =
                started.iter().map(|(run, outcome)| RunWrite { based_on: 0, run, records: &outcome.records });
            let batch = Batch { runs: writes.collect(), ..Batch::default() };
            let committing = Instant::now();
            store.commit(&batch)?;
            slowest = slowest.max(committing.elapsed());
        }
        let took = begun.elapsed();
        let rate = (runs.div_ceil(batch) * batch) as f64 / took.as_secs_f64();
        println!("{rate:>8.0} sleepers/s in batches of {batch:<4} (slowest commit {slowest:?})");
        Ok(())
    }

    fn start(&mut self) -> (Run, Outcome) {
        let now = Timestamp::now();
        let context = Context {
            now,
            random: self.random.draw(),
            by: Actor::new("api"),
            traceparent: None,
            bounds: Default::default(),
        };
        let id = RunId::new(now, self.random.draw_u128());
        let input = Json::new(json!({ "orderId": 1234567 }));
        start(NewRun::new(id, Arc::clone(&self.definition), input), &context).expect("a nap can be started")
    }
}

/// Reads what is due as an engine does that wakes up late.
fn pop(store: &mut Sqlite) -> Result<(), Box<dyn Error>> {
    let late = Timestamp::now() + SignedDuration::from_hours(24 * 31);
    let begun = Instant::now();
    let (mut popped, mut last) = (0, None);
    while popped < POPPED {
        let due = store.timers(last.as_ref(), late, POP_BATCH)?;
        popped += due.len();
        last = due.last().copied();
    }
    println!("{popped} due timers read in {:?}", begun.elapsed());
    Ok(())
}

fn look(store: &mut Sqlite) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let page = store.runs(&RunFilter::default(), &Page { after: None, limit: 100 })?;
    println!("a page of {} runs listed in {:?}", page.len(), begun.elapsed());
    let begun = Instant::now();
    let counts = store.counts(None)?;
    let runs: u64 = counts.iter().map(|(_, count)| count).sum();
    println!("{runs} runs counted in {:?}", begun.elapsed());
    let begun = Instant::now();
    for run in &page {
        store.load(run.id)?;
    }
    println!("{} runs loaded in {:?}", page.len(), begun.elapsed());
    Ok(())
}

/// While the store is open, so that nothing is folded back and nothing closed.
fn copy_as_after_a_crash(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::copy(from, to)?;
    let log = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    fs::copy(log(from), log(to))?;
    Ok(())
}
