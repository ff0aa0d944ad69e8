//! Whether work costs the same however much is stored: W1 at one size of the store after another.

use std::time::Duration;

use abide_engine::Engine;
use clap::Args;
use jiff::Timestamp;

use super::format::{self, Unit};
use super::report::{Part, Quantiles, Report};
use super::sleeper::{self, Due};
use super::{Bed, at_least_one, three_steps};

const FAR_AWAY: Duration = Duration::from_secs(300 * 24 * 3600);
const SPREAD: Duration = Duration::from_secs(3600);
/// Filling the store is not what is measured here.
const STARTERS: usize = 1_024;

/// The cost of a transition with more and more runs stored
#[derive(Debug, Args)]
pub(super) struct Flat {
    /// How many runs are stored when it is measured
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000,1000000", value_parser = at_least_one)]
    stored: Vec<usize>,
    /// How many runs of three steps are measured each time
    #[arg(long, default_value = "5000", value_parser = at_least_one)]
    runs: usize,
}

impl Flat {
    pub(super) async fn measure(mut self, bed: &Bed) -> anyhow::Result<Report> {
        self.stored.sort_unstable();
        let due = Due::after(Timestamp::now(), FAR_AWAY, SPREAD);
        let mut stored = 0;
        let mut parts = Vec::new();
        for size in self.stored {
            let missing = size.saturating_sub(stored);
            fill(bed, missing, due).await?;
            stored += missing;
            let engine = Engine::open(bed.scratch.store()).await?;
            three_steps::deploy(&engine).await?;
            let cost = three_steps::measure(&engine, self.runs, bed.starters).await?;
            engine.shut_down().await?;
            let each = |seconds: f64| seconds * 1e6 / cost.transitions as f64;
            let mut part = Part::new(size.to_string(), format!("{} stored", format::count(stored)));
            part.count("stored", "runs stored before", stored);
            part.put("runsPerSecond", "completed", Unit::PerSecond, self.runs as f64 / cost.pace.seconds);
            part.quantiles("run", "start to end", Quantiles::of(&cost.pace.latency));
            let transitions = cost.transitions as f64 / self.runs as f64;
            part.put("transitionsPerRun", "transitions per run", Unit::Count, transitions);
            part.put(
                "wallUsPerTransition",
                "time per transition",
                Unit::Microseconds,
                each(cost.pace.seconds),
            );
            if let Some(seconds) = cost.cpu_seconds {
                part.put("cpuUsPerTransition", "CPU per transition", Unit::Microseconds, each(seconds));
            }
            parts.push(part);
            stored += cost.runs;
        }
        Ok(Report::new("flat", parts))
    }
}

/// Fills the store, and closes it: what the filling left to be folded is not the cost of what comes after.
async fn fill(bed: &Bed, missing: usize, due: Due) -> anyhow::Result<()> {
    let engine = Engine::open(bed.scratch.store()).await?;
    sleeper::deploy(&engine).await?;
    sleeper::create(&engine, 0..missing, missing, STARTERS, due).await?;
    Ok(engine.shut_down().await?)
}
