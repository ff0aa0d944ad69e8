//! W4: a process is killed right after it acknowledged its last sleeper; another takes its place.

use std::time::Duration;

use clap::Args;
use jiff::Timestamp;

use super::child::{self, Create, Wake};
use super::format::{self, Unit};
use super::report::{Part, Report};
use super::sleeper::Due;
use super::{Bed, at_least_one, length};

/// Sleepers whose process is killed; another takes its place
#[derive(Debug, Args)]
pub(super) struct Crash {
    #[arg(long, default_value = "20000", value_parser = at_least_one)]
    sleepers: usize,
    /// From the beginning until all are due; creating them must take less
    #[arg(long, default_value = "10", value_parser = length)]
    due_in: Duration,
    /// How long nobody runs between the two
    #[arg(long, default_value = "0", value_parser = length)]
    stopped: Duration,
}

impl Crash {
    pub(super) async fn measure(self, bed: &Bed) -> anyhow::Result<Report> {
        let store = bed.scratch.store();
        let due = Due::after(Timestamp::now(), self.due_in, Duration::ZERO);
        let create = Create {
            count: self.sleepers,
            at_a_time: bed.starters,
            later: bed.starters,
            first_ms: due.first_ms,
            spread_ms: due.spread_ms,
            clock_ms: None,
            stay: true,
        };
        let created = child::create(&store, &create)?;
        due.ensure_ahead()?;
        tokio::time::sleep(self.stopped).await;

        let restarted_ms = Timestamp::now().as_millisecond();
        let wake = Wake { count: self.sleepers, last_due_ms: due.last_ms() };
        let (serving_ms, serving, told) = child::wake(&store, &wake)?;
        let could_fire_ms = due.first_ms.max(restarted_ms);
        let after = |us: i64| (us - could_fire_ms * 1000) as f64 / 1000.0;

        let mut before =
            Part::new("before", format!("{} sleepers, then kill -9", format::count(self.sleepers)));
        before.count("sleepers", "sleepers", self.sleepers);
        before.count("starters", "starters", bed.starters);
        let rate = self.sleepers as f64 / created.first.seconds;
        before.put("createdPerSecond", "created", Unit::PerSecond, rate);
        before.put("stoppedSeconds", "nobody ran for", Unit::Seconds, self.stopped.as_secs_f64());
        let mut part = Part::new("after", "the next process");
        part.put("servingMs", "first request acknowledged after", Unit::Milliseconds, serving_ms);
        part.put("openMs", "of that, opening the store", Unit::Milliseconds, serving.open_ms);
        part.put("firstFireMs", "first fire, after it could", Unit::Milliseconds, after(told.first_us));
        part.put("lastFireMs", "last fire, after it could", Unit::Milliseconds, after(told.last_us));
        told.put_into(&mut part);
        told.drain(&mut part, could_fire_ms);
        Ok(Report::new("w4", [before, part]))
    }
}
