//! W2: sleepers, created one request each, due at one instant or spread.

use std::time::Duration;

use abide_engine::Engine;
use clap::Args;
use jiff::Timestamp;

use super::format::{self, Unit};
use super::report::{Part, Quantiles, Report};
use super::sleeper::{self, Due, Told, Wakes};
use super::{Bed, at_least_one, http, length, machine, nodes, scratch};

/// Sleepers, all due at one instant or spread
#[derive(Debug, Args)]
pub(super) struct Herd {
    #[arg(long, default_value = "20000", value_parser = at_least_one)]
    pub(super) sleepers: usize,
    /// From the beginning until the first is due; creating them must take less
    #[arg(long, default_value = "10", value_parser = length)]
    pub(super) due_in: Duration,
    /// Spread them over this long instead
    #[arg(long, default_value = "0", value_parser = length)]
    pub(super) spread: Duration,
    /// Over HTTP, with a server and a worker in processes of their own
    #[arg(long)]
    pub(super) http: bool,
}

/// What it took to create them.
pub(super) struct Cost {
    pub(super) seconds: f64,
    pub(super) latency: Quantiles,
    /// By how many bytes whoever keeps them has grown.
    pub(super) memory: Option<u64>,
    pub(super) disk: u64,
}

impl Herd {
    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        if self.http {
            return http::herd(&self, bed).await;
        }
        if bed.database.is_some() {
            return nodes::herd(&self, bed).await;
        }
        let store = bed.scratch.store();
        let engine = Engine::open(&store).await?;
        sleeper::deploy(&engine).await?;
        let wakes = Wakes::new(self.sleepers);
        wakes.watch(&engine).await?;
        let before = (machine::resident_bytes(), scratch::disk_bytes(&store));
        let due = Due::after(Timestamp::now(), self.due_in, self.spread);
        let pace = sleeper::create(&engine, 0..self.sleepers, self.sleepers, bed.starters, due).await?;
        due.ensure_ahead()?;
        let cost = Cost {
            seconds: pace.seconds,
            latency: Quantiles::of(&pace.latency),
            memory: machine::resident_bytes()
                .zip(before.0)
                .map(|(after, before)| after.saturating_sub(before)),
            disk: scratch::disk_bytes(&store).saturating_sub(before.1),
        };
        wakes.wait(&engine, due.last_ms()).await?;
        let awake = self.awake(&wakes.tell(), due, Some(Timestamp::now()));
        let parts = [self.asleep(bed, &cost), awake, Part::engine(&engine.stats().await?)];
        engine.shut_down().await?;
        Ok(Report::new("w2", parts))
    }

    pub(super) fn asleep(&self, bed: &Bed, cost: &Cost) -> Part {
        let each = |bytes: u64| bytes as f64 / self.sleepers as f64;
        let mut asleep = Part::new("asleep", format!("{} sleepers", format::count(self.sleepers)));
        asleep.count("sleepers", "sleepers", self.sleepers);
        asleep.count("starters", "starters", bed.starters);
        asleep.put("createdPerSecond", "created", Unit::PerSecond, self.sleepers as f64 / cost.seconds);
        asleep.quantiles("create", "to create one", cost.latency);
        if let Some(memory) = cost.memory {
            asleep.put("memoryBytesPerSleeper", "memory per sleeper", Unit::Bytes, each(memory));
        }
        let disk = if bed.database.is_some() { "disk per sleeper" } else { "disk per sleeper, with the log" };
        asleep.put("diskBytesPerSleeper", disk, Unit::Bytes, each(cost.disk));
        asleep
    }

    /// `ended`: when all runs had, if somebody looked.
    pub(super) fn awake(&self, told: &Told, due: Due, ended: Option<Timestamp>) -> Part {
        let spread = self.spread.as_secs_f64();
        let title = if self.spread.is_zero() {
            "all due at one instant".to_owned()
        } else {
            format!("due over {}", Unit::Seconds.show(spread))
        };
        let mut awake = Part::new("awake", title);
        awake.put("spreadSeconds", "spread over", Unit::Seconds, spread);
        told.put_into(&mut awake);
        if self.spread.is_zero() {
            told.drain(&mut awake, due.first_ms);
            if let Some(ended) = ended.filter(|_| told.lost == 0) {
                let seconds = (ended.as_millisecond() - due.first_ms) as f64 / 1e3;
                let rate = self.sleepers as f64 / seconds.max(0.001);
                awake.put("endedPerSecond", "ended", Unit::PerSecond, rate);
            }
        }
        awake
    }
}
