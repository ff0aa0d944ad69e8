//! `abide bench`: measured work on this machine. Whatever is counted as done was synced before it was acknowledged.
//!
//! ```text
//!   one file per workload ──▶ starters (so many at a time), sleeper (who woke, how late), child (other processes)
//!     or the same in http ──▶ server, worker: processes of their own
//!     or in nodes         ──▶ so many engines on one database
//!                         ──▶ report: parts of figures, as a table or as JSON
//! ```

mod child;
mod crash;
mod events;
mod flat;
mod format;
mod herd;
mod http;
mod limits;
mod long;
mod machine;
mod nodes;
mod open;
mod overdue;
mod progress;
mod report;
mod scratch;
mod sleeper;
mod sleepers;
mod starters;
mod three_steps;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use abide_definition::time::Millis;
use clap::{Args, Subcommand};

use nodes::Database;
use report::Report;
use scratch::Scratch;

/// Measure this machine: runs, sleepers and events per second, and how late timers are
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  abide bench w1 --runs 20000\n  abide bench w2 --sleepers 20000 --due-in 5\n  abide bench sleepers --count 1000000 --due-rate 1000\n  abide bench long\n  abide bench limits --only cost,hot\n  abide bench w4 --json\n  abide bench w1 --http\n  abide bench w1 --store postgres://postgres@127.0.0.1/empty --nodes 3\n\nA length of time is a number of seconds, or text like `500ms` or `2m`."
)]
pub struct Bench {
    #[command(subcommand)]
    workload: Workload,
    /// How many ask at the same time
    #[arg(long, default_value_t = 64, global = true, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    starters: u16,
    /// Where the store is put, and left; a fresh folder that is removed afterwards, if absent
    #[arg(long, global = true)]
    folder: Option<PathBuf>,
    #[command(flatten)]
    asked: nodes::NodeOptions,
    /// Write the figures as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Workload {
    W1(three_steps::ThreeSteps),
    W2(herd::Herd),
    W3(events::Events),
    W4(crash::Crash),
    Sleepers(sleepers::Sleepers),
    Overdue(overdue::Overdue),
    Flat(flat::Flat),
    Long(long::Long),
    Limits(limits::LimitCosts),
    Open(open::Open),
    #[command(hide = true)]
    Child(child::Child),
    #[command(hide = true)]
    Worker(http::Worker),
    #[command(hide = true)]
    Node(nodes::Node),
}

impl Workload {
    /// Clients and workers of a server share the machine with it, and are leaner on one thread.
    fn is_light(&self) -> bool {
        match self {
            Workload::W1(three_steps::ThreeSteps { http, .. })
            | Workload::W2(herd::Herd { http, .. })
            | Workload::W3(events::Events { http, .. }) => *http,
            Workload::Worker(_) => true,
            Workload::W4(_)
            | Workload::Sleepers(_)
            | Workload::Overdue(_)
            | Workload::Flat(_)
            | Workload::Long(_)
            | Workload::Limits(_)
            | Workload::Open(_)
            | Workload::Child(_)
            | Workload::Node(_) => false,
        }
    }
}

impl Workload {
    fn ensure_on_database(&self) -> anyhow::Result<()> {
        match self {
            Workload::W1(three_steps::ThreeSteps { http, .. })
            | Workload::W2(herd::Herd { http, .. })
            | Workload::W3(events::Events { http, .. }) => {
                anyhow::ensure!(
                    !http,
                    "`--http` measures a server on a file; leave out one of `--http` and `--store`"
                );
            }
            Workload::Sleepers(_) | Workload::Long(_) | Workload::Open(_) => {}
            Workload::W4(_)
            | Workload::Overdue(_)
            | Workload::Flat(_)
            | Workload::Limits(_)
            | Workload::Child(_)
            | Workload::Worker(_)
            | Workload::Node(_) => {
                anyhow::bail!(
                    "w1, w2, w3, sleepers, long and open are measured on a database, the others on a file"
                )
            }
        }
        Ok(())
    }
}

/// Where and how a workload runs.
struct Bed {
    scratch: Scratch,
    starters: usize,
    /// Instead of a file.
    database: Option<Database>,
}

impl Bench {
    /// Measures, and writes what it found.
    pub fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<ExitCode> {
        let mut builder = if self.workload.is_light() {
            tokio::runtime::Builder::new_current_thread()
        } else {
            tokio::runtime::Builder::new_multi_thread()
        };
        let runtime = builder.enable_all().build()?;
        let json = self.json;
        let done = match self.workload {
            Workload::Child(child) => runtime.block_on(child.run(out)).map(|()| None),
            Workload::Worker(worker) => runtime.block_on(worker.run(out)).map(|()| None),
            Workload::Node(node) => runtime.block_on(node.run(out)).map(|()| None),
            Workload::W1(_)
            | Workload::W2(_)
            | Workload::W3(_)
            | Workload::W4(_)
            | Workload::Sleepers(_)
            | Workload::Overdue(_)
            | Workload::Flat(_)
            | Workload::Long(_)
            | Workload::Limits(_)
            | Workload::Open(_) => runtime.block_on(self.measure()).map(Some),
        };
        match done {
            Ok(Some(report)) if json => {
                writeln!(out, "{}", serde_json::to_string_pretty(&report.to_json())?)?
            }
            Ok(Some(report)) => out.write_all(report.to_text().as_bytes())?,
            Ok(None) => {}
            Err(error) => {
                writeln!(err, "abide bench: {error:#}")?;
                return Ok(ExitCode::FAILURE);
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn measure(self) -> anyhow::Result<Report> {
        let database = self.asked.database()?;
        if database.is_some() {
            self.workload.ensure_on_database()?;
        }
        let bed =
            Bed { scratch: Scratch::fresh(self.folder)?, starters: usize::from(self.starters), database };
        match self.workload {
            Workload::W1(workload) => workload.measure(&bed).await,
            Workload::W2(workload) => workload.measure(&bed).await,
            Workload::W3(workload) => workload.measure(&bed).await,
            Workload::W4(workload) => workload.measure(&bed).await,
            Workload::Sleepers(workload) => workload.measure(&bed).await,
            Workload::Overdue(workload) => workload.measure(&bed).await,
            Workload::Flat(workload) => workload.measure(&bed).await,
            Workload::Long(workload) => workload.measure(&bed).await,
            Workload::Limits(workload) => workload.measure(&bed).await,
            Workload::Open(workload) => workload.measure(&bed).await,
            Workload::Child(_) | Workload::Worker(_) | Workload::Node(_) => {
                anyhow::bail!("a child measures nothing of its own")
            }
        }
    }
}

/// Seconds, or a length as everywhere else.
fn length(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string());
    }
    Millis::parse(text).map(|length| Duration::from_millis(length.0)).map_err(|error| error.to_string())
}

/// For how many there are of something.
fn at_least_one(text: &str) -> Result<usize, String> {
    let digits: String = text.chars().filter(|char| !matches!(char, '_' | ',')).collect();
    match digits.parse() {
        Ok(0) => Err("there must be at least one".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(format!("{error}")),
    }
}
