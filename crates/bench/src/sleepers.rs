//! Very many sleepers: what they cost asleep, how long a restart takes with them, and whether timers that are due
//! meanwhile are on time.

use std::time::Duration;

use abide_engine::Engine;
use clap::Args;
use jiff::Timestamp;

use super::child::{self, Batch, Create, Created};
use super::format::{self, Unit};
use super::report::{Part, Report};
use super::sleeper::{self, Due, Wakes};
use super::{Bed, at_least_one, length, nodes, scratch};

/// Time to create the timers that come due: a machine that creates fewer a second is too slow for this.
const LEAST_RATE: f64 = 2_000.0;
const LEAD: Duration = Duration::from_secs(3);

/// Very many sleepers, asleep: memory, disk, and a restart
#[derive(Debug, Args)]
pub(super) struct Sleepers {
    #[arg(long, default_value = "1000000", value_parser = at_least_one)]
    pub(super) count: usize,
    /// With all of them pending: this many other timers due each second
    #[arg(long, value_parser = at_least_one)]
    pub(super) due_rate: Option<usize>,
    /// For this long
    #[arg(long, default_value = "20", value_parser = length, requires = "due_rate")]
    pub(super) due_for: Duration,
    /// Kill one of the nodes that wake them with -9 in the middle; on a database with several nodes
    #[arg(long, requires = "due_rate")]
    pub(super) kill: bool,
}

impl Sleepers {
    /// No sleeper wakes while it is measured.
    pub(super) const FAR_AWAY: Duration = Duration::from_secs(300 * 24 * 3600);
    pub(super) const SPREAD: Duration = Duration::from_secs(3600);
    /// How many are created before more ask.
    pub(super) const FIRST: usize = 50_000;
    /// Later as many more ask at the same time.
    pub(super) const MORE: usize = 16;

    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        let nodes = bed.database.as_ref().map_or(1, |database| database.nodes);
        anyhow::ensure!(
            !self.kill || nodes > 1,
            "`--kill` takes a database (`--store`) and more than one of `--nodes`"
        );
        if bed.database.is_some() {
            return nodes::sleepers(&self, bed).await;
        }
        let (store, empty) = (bed.scratch.store(), bed.scratch.another("empty")?);
        let (_, with_none) = child::serve_once(&empty)?;
        let due = Due::after(Timestamp::now(), Sleepers::FAR_AWAY, Sleepers::SPREAD);
        let create = Create {
            count: self.count,
            at_a_time: bed.starters,
            later: bed.starters * Sleepers::MORE,
            first_ms: due.first_ms,
            spread_ms: due.spread_ms,
            clock_ms: None,
            stay: false,
        };
        let created = child::create(&store, &create)?;
        let disk = scratch::disk_bytes(&store).saturating_sub(scratch::disk_bytes(&empty));
        let (serving_ms, with_all) = child::serve_once(&store)?;

        let each = |bytes: u64| bytes as f64 / self.count as f64;
        let mut asleep = Part::new("asleep", "asleep");
        asleep.put("diskBytesPerSleeper", "disk per sleeper", Unit::Bytes, each(disk));
        if let Some((after, before)) = created.resident_after.zip(created.resident_before) {
            let grown = each(after.saturating_sub(before));
            asleep.put(
                "memoryBytesPerSleeperCreated",
                "memory per sleeper, just created",
                Unit::Bytes,
                grown,
            );
        }
        if let Some((all, none)) = with_all.resident.zip(with_none.resident) {
            let grown = each(all.saturating_sub(none));
            asleep.put("memoryBytesPerSleeper", "memory per sleeper, after a restart", Unit::Bytes, grown);
            asleep.put("memoryBytes", "memory of that process", Unit::Bytes, all as f64);
            asleep.put("memoryBytesWithNone", "memory of one with no sleeper", Unit::Bytes, none as f64);
        }
        asleep.put("servingMs", "restart to first request acknowledged", Unit::Milliseconds, serving_ms);
        asleep.put("openMs", "of that, opening the store", Unit::Milliseconds, with_all.open_ms);
        let mut parts = vec![self.creation(&created), asleep];
        if let Some(rate) = self.due_rate {
            parts.push(self.due(bed, rate).await?);
        }
        Ok(Report::new("sleepers", parts))
    }

    pub(super) fn creation(&self, created: &Created) -> Part {
        let mut part = Part::new("created", format!("{} sleepers", format::count(self.count)));
        part.count("sleepers", "sleepers", self.count);
        let mut put = |prefix: &str, batch: &Batch| {
            let who = format!("{} starters", format::count(batch.starters));
            let rate = batch.count as f64 / batch.seconds;
            part.count(&format!("{prefix}Starters"), &who, batch.count);
            part.put(format!("{prefix}PerSecond"), "  created", Unit::PerSecond, rate);
            part.quantiles(prefix, "  to create one", batch.latency);
        };
        put("first", &created.first);
        created.later.iter().for_each(|batch| put("later", batch));
        part
    }

    /// How many are due meanwhile.
    pub(super) fn timers(&self, rate: usize) -> usize {
        ((rate as f64 * self.due_for.as_secs_f64()) as usize).max(1)
    }

    /// With time to create them.
    pub(super) fn due_soon(&self, count: usize) -> Due {
        let lead = LEAD + Duration::from_secs_f64(count as f64 / LEAST_RATE);
        Due::after(Timestamp::now(), lead, self.due_for)
    }

    pub(super) fn title(&self, rate: usize) -> String {
        let over = Unit::Seconds.show(self.due_for.as_secs_f64());
        format!("{} other timers due a second, for {over}", format::count(rate))
    }

    async fn due(&self, bed: &Bed, rate: usize) -> anyhow::Result<Part> {
        let count = self.timers(rate);
        let engine = Engine::open(bed.scratch.store()).await?;
        sleeper::deploy(&engine).await?;
        let wakes = Wakes::new(count);
        wakes.watch(&engine).await?;
        let due = self.due_soon(count);
        sleeper::create(&engine, 0..count, count, bed.starters, due).await?;
        due.ensure_ahead()?;
        wakes.wait(&engine, due.last_ms()).await?;
        engine.shut_down().await?;

        let mut part = Part::new("due", self.title(rate));
        part.count("timers", "timers", count);
        wakes.tell().put_into(&mut part);
        Ok(part)
    }
}
