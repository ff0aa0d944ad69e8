//! W2: sleepers, created one request each, due at one instant or spread.

use std::time::Duration;

use abide_engine::Engine;
use clap::Args;
use jiff::Timestamp;

use super::format::{self, Unit};
use super::report::{Part, Quantiles, Report};
use super::sleeper::{self, Due, Wakes};
use super::{Bed, at_least_one, length, machine, scratch};

/// Sleepers, all due at one instant or spread
#[derive(Debug, Args)]
pub(super) struct Herd {
    #[arg(long, default_value = "20000", value_parser = at_least_one)]
    sleepers: usize,
    /// From the beginning until the first is due; creating them must take less
    #[arg(long, default_value = "10", value_parser = length)]
    due_in: Duration,
    /// Spread them over this long instead
    #[arg(long, default_value = "0", value_parser = length)]
    spread: Duration,
}

impl Herd {
    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        let store = bed.scratch.store();
        let engine = Engine::open(&store).await?;
        sleeper::deploy(&engine).await?;
        let wakes = Wakes::new(self.sleepers);
        wakes.watch(&engine).await?;
        let before = (machine::resident_bytes(), scratch::disk_bytes(&store));
        let due = Due::after(Timestamp::now(), self.due_in, self.spread);
        let pace = sleeper::create(&engine, 0..self.sleepers, self.sleepers, bed.starters, due).await?;
        due.ensure_ahead()?;

        let each = |bytes: u64| bytes as f64 / self.sleepers as f64;
        let mut asleep = Part::new("asleep", format!("{} sleepers", format::count(self.sleepers)));
        asleep.count("sleepers", "sleepers", self.sleepers);
        asleep.count("starters", "starters", bed.starters);
        asleep.put("createdPerSecond", "created", Unit::PerSecond, self.sleepers as f64 / pace.seconds);
        asleep.quantiles("create", "to create one", Quantiles::of(&pace.latency));
        if let Some((after, before)) = machine::resident_bytes().zip(before.0) {
            let grown = each(after.saturating_sub(before));
            asleep.put("memoryBytesPerSleeper", "memory per sleeper", Unit::Bytes, grown);
        }
        let grown = each(scratch::disk_bytes(&store).saturating_sub(before.1));
        asleep.put("diskBytesPerSleeper", "disk per sleeper, with the log", Unit::Bytes, grown);

        wakes.wait(&engine, due.last_ms()).await?;
        let told = wakes.tell();
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
        }
        let report = Report::new("w2", [asleep, awake, Part::engine(&engine.stats().await?)]);
        engine.shut_down().await?;
        Ok(report)
    }
}
