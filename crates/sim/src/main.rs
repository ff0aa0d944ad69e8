//! `abide-sim`: lives through seeds until one breaks a rule.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use abide_sim::engine::{self, Setting};
use abide_sim::{Report, Violation, simulate};
use clap::Parser;

/// Tries to break abide: random workflows, workers, signals, events, people, crashes and clock jumps. It drives the decisions
/// alone, or whole engines on one simulated store.
#[derive(Parser)]
#[command(
    version,
    after_help = "Examples:\n  abide-sim --engine --nodes 3      a thousand worlds of three engines on one store\n  abide-sim --seeds 10000           ten thousand worlds, on all cores\n  abide-sim --seed 4711             one world again, with its story if it breaks a rule"
)]
struct Arguments {
    /// How many seeds to live through.
    #[arg(long, default_value_t = 1000)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Only this seed.
    #[arg(long, conflicts_with_all = ["seeds", "first"])]
    seed: Option<u64>,
    /// Whole engines on a simulated store, instead of decisions alone.
    #[arg(long)]
    engine: bool,
    /// How many engines there are on one store.
    #[arg(long, default_value_t = 3, requires = "engine")]
    nodes: usize,
    /// Workflows have limits.
    #[arg(long, requires = "engine")]
    limits: bool,
    /// All workflows share a limit beside one by key, and durable calls have limits.
    #[arg(long, requires = "limits")]
    crowded: bool,
    /// There are workflows whose starts are debounced.
    #[arg(long, requires = "engine")]
    debounce: bool,
    /// Tell the whole story of a world of engines that breaks a rule, not only its end.
    #[arg(long, requires = "engine")]
    story: bool,
    /// Also show how often each kind of record and refusal came up.
    #[arg(long)]
    coverage: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (first, count) = arguments.seed.map_or((arguments.first, arguments.seeds), |seed| (seed, 1));
    let begun = Instant::now();
    let usual = Setting::of(arguments.nodes);
    let story_lines = if arguments.story { usize::MAX } else { usual.story_lines };
    let setting = arguments.engine.then_some(Setting {
        story_lines,
        limits: arguments.limits,
        crowded: arguments.crowded,
        debounce: arguments.debounce,
        ..usual
    });
    let (done, total, violation) = live_through(first, count, setting);
    let seconds = begun.elapsed().as_secs_f64();
    let mut out = io::stdout().lock();
    let told = match &violation {
        Some(violation) => writeln!(out, "{violation}"),
        None => writeln!(
            out,
            "{done} seeds, no violation, in {seconds:.1} s: {} runs, {} records, {} refusals, {} crashes, {} conflicts; hash {:016x}",
            total.runs, total.records, total.refusals, total.crashes, total.conflicts, total.hash
        ),
    };
    let told = told.and_then(|()| if arguments.coverage { show_coverage(&mut out, &total) } else { Ok(()) });
    // A closed pipe is the reader's choice, not an error.
    drop(told);
    if violation.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn show_coverage(out: &mut impl Write, total: &Report) -> io::Result<()> {
    total.seen.iter().try_for_each(|(what, count)| writeln!(out, "{count:>12}  {what}"))
}

/// All seeds on all cores, until one breaks a rule.
fn live_through(first: u64, count: u64, setting: Option<Setting>) -> (u64, Report, Option<Box<Violation>>) {
    let next = AtomicU64::new(first);
    let end = first.saturating_add(count);
    let result: Mutex<(u64, Report, Option<Box<Violation>>)> = Mutex::default();
    let shows_progress = io::stderr().is_terminal();
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end || result.lock().unwrap_or_else(PoisonError::into_inner).2.is_some() {
            return;
        }
        let lived = match setting {
            Some(setting) => engine::simulate(seed, setting),
            None => simulate(seed),
        };
        let mut result = result.lock().unwrap_or_else(PoisonError::into_inner);
        match lived {
            Ok(report) => {
                result.0 += 1;
                result.1.add(&report);
                if shows_progress && result.0.is_multiple_of(100) {
                    drop(write!(io::stderr(), "\r{}/{count} seeds", result.0));
                }
            }
            Err(violation) => {
                result.2.get_or_insert(violation);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    if shows_progress {
        drop(write!(io::stderr(), "\r\x1b[K"));
    }
    result.into_inner().unwrap_or_else(PoisonError::into_inner)
}
