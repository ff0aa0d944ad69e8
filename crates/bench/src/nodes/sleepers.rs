//! Very many sleepers in a database: what they cost asleep, whether others that are due meanwhile are on time, and
//! what it does to them if the node that was to wake them is killed.

use std::time::{Duration, Instant};

use abide_core::history::Change;
use abide_core::id::{RunId, WaitpointId};
use abide_core::waitpoint::Kind;
use abide_engine::Histogram;
use abide_store::postgres::Postgres;
use abide_store::roles::{Histories, Lists};
use abide_store::{Page, RunUpdate, StoredRun, WaitpointFilter};
use jiff::Timestamp;

use super::crew::Crew;
use super::node::Order;
use crate::Bed;
use crate::child::{Batch, Created};
use crate::format::Unit;
use crate::report::{Part, Quantiles, Report};
use crate::sleeper::{Due, Wakes, millis};
use crate::sleepers::Sleepers;
use crate::starters::Pace;

/// Histories read at once.
const PAGE: usize = 1_000;

pub(crate) async fn measure(sleepers: &Sleepers, bed: &Bed) -> anyhow::Result<Report> {
    let mut crew = Crew::open_one(bed)?;
    let with_none = crew.probe()?;
    crew.stop()?;

    let mut crew = Crew::open(bed)?;
    let begun = crew.look()?;
    let due = Due::after(Timestamp::now(), Sleepers::FAR_AWAY, Sleepers::SPREAD);
    let created = create(&mut crew, sleepers.count, bed.starters, due)?;
    let after = crew.look()?;
    crew.stop()?;

    let spawned = Instant::now();
    let mut crew = Crew::open_one(bed)?;
    let with_all = crew.probe()?;
    let serving_ms = spawned.elapsed().as_secs_f64() * 1000.0;
    crew.stop()?;

    let each = |bytes: u64| bytes as f64 / sleepers.count as f64;
    let mut asleep = Part::new("asleep", "asleep");
    let disk = after.figures.database_bytes.saturating_sub(begun.figures.database_bytes);
    asleep.put("diskBytesPerSleeper", "disk per sleeper", Unit::Bytes, each(disk));
    if let Some((all, none)) = with_all.resident.zip(with_none.resident) {
        asleep.put(
            "memoryBytesPerSleeper",
            "memory per sleeper, of a node",
            Unit::Bytes,
            each(all.saturating_sub(none)),
        );
        asleep.put("memoryBytes", "memory of that node", Unit::Bytes, all as f64);
        asleep.put("memoryBytesWithNone", "memory of one with no sleeper", Unit::Bytes, none as f64);
    }
    asleep.put(
        "servingMs",
        "another node's first request acknowledged after",
        Unit::Milliseconds,
        serving_ms,
    );
    asleep.put("openMs", "of that, opening the store", Unit::Milliseconds, with_all.open_ms);
    let mut parts = vec![
        sleepers.creation(&created),
        asleep,
        after.since(&begun, "databaseCreating", "while they are created"),
    ];
    if let Some(rate) = sleepers.due_rate {
        parts.extend(wake(sleepers, rate, bed).await?);
    }
    Ok(Report::new("sleepers", parts))
}

fn create(crew: &mut Crew, count: usize, starters: usize, due: Due) -> anyhow::Result<Created> {
    let first = count.min(Sleepers::FIRST);
    let mut batch = |which: std::ops::Range<usize>, starters: usize| {
        let (begin, of) = (which.start, count);
        let pace: Pace = crew.share_out_among(which.len(), starters, |share, starters| {
            let which = begin + share.start..begin + share.end;
            Order::Sleep { which, of, starters, due }
        })?;
        let latency = Quantiles::of(&pace.latency);
        anyhow::Ok(Batch { count: which.len(), starters, seconds: pace.seconds, latency })
    };
    let (first, rest) = (batch(0..first, starters)?, first..count);
    let later = if rest.is_empty() { None } else { Some(batch(rest, starters * Sleepers::MORE)?) };
    Ok(Created { first, later, resident_before: None, resident_after: None })
}

/// Others are due meanwhile. Every node wakes its part of them; if one is killed, its part falls to the rest.
async fn wake(sleepers: &Sleepers, rate: usize, bed: &Bed) -> anyhow::Result<Vec<Part>> {
    let count = sleepers.timers(rate);
    let mut crew = Crew::open(bed)?;
    let due = sleepers.due_soon(count);
    crew.share_out(count, |which, starters| Order::Sleep { which, of: count, starters, due })?;
    due.ensure_ahead()?;
    let before = crew.look()?;
    let wakes = Wakes::new(count);
    let mut killed = None;
    if sleepers.kill {
        let middle_ms = due.first_ms + millis(sleepers.due_for) / 2;
        sleep_until(middle_ms).await;
        crew.kill_first();
        killed = Some(Timestamp::now());
    }
    crew.notes.follow(&wakes, due.last_ms()).await?;
    let fired = Fired::read(&mut crew.store, due)?;
    let mut part = Part::new("due", sleepers.title(rate));
    part.count("timers", "timers", count);
    fired.put_into(&mut part, count);
    wakes.tell().put_into(&mut part);
    let mut parts = vec![part];
    match killed {
        Some(killed) => parts.push(fired.around(killed)),
        None => {
            let after = crew.look()?;
            parts.push(after.since(&before, "databaseDue", "while they wake"));
        }
    }
    crew.stop()?;
    Ok(parts)
}

async fn sleep_until(ms: i64) {
    let wait = ms - Timestamp::now().as_millisecond();
    tokio::time::sleep(Duration::from_millis(u64::try_from(wait).unwrap_or(0))).await;
}

/// When waits ended, as their histories say.
#[derive(Default)]
struct Fired {
    /// When each was due, and when it ended.
    waits: Vec<(Timestamp, Timestamp)>,
    doubled: usize,
}

impl Fired {
    fn read(store: &mut Postgres, due: Due) -> anyhow::Result<Fired> {
        let at = |ms| Timestamp::from_millisecond(ms);
        let filter = WaitpointFilter {
            kind: Some(Kind::Delay),
            due_after: Some(at(due.first_ms - 1)?),
            due_before: Some(at(due.last_ms() + 1)?),
            ..WaitpointFilter::default()
        };
        let mut fired = Fired::default();
        let mut after: Option<(Option<Timestamp>, WaitpointId)> = None;
        loop {
            let page = store.waitpoints(&filter, &Page { after, limit: PAGE })?;
            let Some(last) = page.last() else { return Ok(fired) };
            after = Some((last.resume_at, last.id));
            let known: Vec<(RunId, u64)> = page.iter().map(|wait| (wait.id.run, 0)).collect();
            for (run, update) in store.updates(&known)? {
                let due = page.iter().find(|wait| wait.id.run == run).and_then(|wait| wait.resume_at);
                // Runs as short as these have no snapshots.
                let RunUpdate::Whole(StoredRun { history, .. }) = update? else { continue };
                let ends =
                    history.iter().filter(|record| matches!(record.change, Change::WaitResolved { .. }));
                let mut ends = ends.map(|record| record.at);
                fired.waits.extend(due.zip(ends.next()));
                fired.doubled += ends.count();
            }
        }
    }

    fn put_into(&self, part: &mut Part, count: usize) {
        part.quantiles("fired", "wait ended late", Quantiles::of(&lateness(self.waits.iter())));
        part.count("firedEarly", "waits ended early", self.waits.iter().filter(|(due, at)| at < due).count());
        part.count("notFired", "waits not ended", count.saturating_sub(self.waits.len()));
        part.count("firedTwice", "waits ended twice", self.doubled);
    }

    /// How late the sleepers woke that were due before the kill, and the others.
    fn around(&self, killed: Timestamp) -> Part {
        let (before, after): (Vec<_>, Vec<_>) = self.waits.iter().partition(|(due, _)| *due < killed);
        let mut part = Part::new("killed", "one of the nodes that wake them was killed");
        part.quantiles(
            "before",
            "wait ended late, if due before",
            Quantiles::of(&lateness(before.into_iter())),
        );
        part.quantiles("after", "wait ended late, if due after", Quantiles::of(&lateness(after.into_iter())));
        part
    }
}

fn lateness<'a>(waits: impl Iterator<Item = &'a (Timestamp, Timestamp)>) -> Histogram {
    let mut late = Histogram::default();
    for (due, at) in waits {
        late.add(u64::try_from(at.as_microsecond() - due.as_microsecond()).unwrap_or(0));
    }
    late
}
