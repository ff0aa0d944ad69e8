//! `abide bench`: measured work, in this process, everything acknowledged after it is synced.

mod machine;
mod workloads;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use abide_engine::{Engine, Histogram};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::terminal;

/// Measure this machine: runs, sleepers and events per second, and how late timers are
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide bench w1 --runs 20000\n  abide bench w2 --sleepers 20000 --due-in 5\n  abide bench w3 --runs 20000 --json"
)]
pub(crate) struct Bench {
    #[command(subcommand)]
    workload: Workload,
    /// How many ask at the same time
    #[arg(long, default_value_t = 64, global = true)]
    starters: usize,
    /// Where the store is put; a fresh folder that is removed afterwards, if absent
    #[arg(long, global = true)]
    folder: Option<PathBuf>,
    /// Write the figures as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Workload {
    /// Runs of three trivial steps, each waited for
    W1 {
        #[arg(long, default_value_t = 20_000)]
        runs: usize,
    },
    /// Sleepers, all due at one instant or spread
    W2 {
        #[arg(long, default_value_t = 20_000)]
        sleepers: usize,
        /// Seconds from the beginning until they are due
        #[arg(long, default_value_t = 10)]
        due_in: u64,
        /// Spread them over this many seconds
        #[arg(long, default_value_t = 0)]
        spread: u64,
        /// Do not wait for them: only create, and measure what they cost asleep
        #[arg(long)]
        leave: bool,
    },
    /// Runs that wait each for its own event
    W3 {
        #[arg(long, default_value_t = 20_000)]
        runs: usize,
    },
}

impl Bench {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let figures = match runtime.block_on(self.measure()) {
            Ok(figures) => figures,
            Err(error) => {
                terminal::line(err, &format!("abide bench: {error:#}"))?;
                return Ok(ExitCode::FAILURE);
            }
        };
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&figures)?)?;
        } else {
            for (name, value) in &figures {
                let shown = value.as_f64().map_or_else(|| value.to_string(), |value| format!("{value:.1}"));
                writeln!(out, "{name:<28} {shown:>14}")?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn measure(&self) -> anyhow::Result<Map<String, Value>> {
        let scratch = tempfile::tempdir()?;
        let folder = self.folder.clone().unwrap_or_else(|| scratch.path().to_owned());
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("bench.db");
        let engine = Engine::open(&path).await?;
        let mut figures = match self.workload {
            Workload::W1 { runs } => workloads::three_steps(&engine, runs, self.starters).await?,
            Workload::W2 { sleepers, due_in, spread, leave } => {
                let times = workloads::Sleep {
                    due_in: Duration::from_secs(due_in),
                    spread: Duration::from_secs(spread),
                    leave,
                };
                workloads::sleepers(&engine, sleepers, self.starters, times).await?
            }
            Workload::W3 { runs } => workloads::events(&engine, runs, self.starters).await?,
        };
        let stats = engine.stats().await?;
        figures.insert("commits".to_owned(), json!(stats.commits));
        figures.insert("requests per commit, p50".to_owned(), json!(stats.batch.quantile(0.5)));
        figures.insert("commit, p50 µs".to_owned(), json!(stats.commit_us.quantile(0.5)));
        figures.insert("commit, p99 µs".to_owned(), json!(stats.commit_us.quantile(0.99)));
        engine.shut_down().await?;
        figures.insert("disk, bytes".to_owned(), json!(machine::size_of(&folder)?));
        Ok(figures)
    }
}

/// Adds the usual quantiles of a histogram of microseconds, in milliseconds.
fn quantiles(figures: &mut Map<String, Value>, what: &str, histogram: &Histogram) {
    for (name, share) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
        figures.insert(format!("{what}, {name} ms"), json!(histogram.quantile(share) as f64 / 1000.0));
    }
}

/// Says on a terminal how far it is.
fn progress(what: &str, done: usize, of: usize) {
    if io::stderr().is_terminal() && (done.is_multiple_of(1_000) || done == of) {
        let end = if done == of { "\r\x1b[K" } else { "" };
        // A terminal that is gone needs no progress.
        let _ = write!(io::stderr(), "\r{what} {done}/{of}{end}");
    }
}
