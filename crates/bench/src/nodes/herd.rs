//! W2 on a database: every node creates its share of the sleepers; who wakes them is for the nodes to find out.

use jiff::Timestamp;

use super::crew::Crew;
use super::node::Order;
use crate::Bed;
use crate::herd::{Cost, Herd};
use crate::report::{Quantiles, Report};
use crate::sleeper::{Due, Wakes};

pub(crate) async fn measure(herd: &Herd, bed: &Bed) -> anyhow::Result<Report> {
    let (mut crew, count) = (Crew::open(bed)?, herd.sleepers);
    let begun = crew.look()?;
    let due = Due::after(Timestamp::now(), herd.due_in, herd.spread);
    let pace = crew.share_out(count, |which, starters| Order::Sleep { which, of: count, starters, due })?;
    due.ensure_ahead()?;
    let asleep = crew.look()?;
    let grown = |(after, before): (u64, u64)| after.saturating_sub(before);
    let cost = Cost {
        seconds: pace.seconds,
        latency: Quantiles::of(&pace.latency),
        memory: asleep.resident().zip(begun.resident()).map(grown),
        disk: grown((asleep.figures.database_bytes, begun.figures.database_bytes)),
    };
    let wakes = Wakes::new(count);
    crew.notes.follow(&wakes, due.last_ms()).await?;
    let told = wakes.tell();
    if told.lost == 0 {
        crew.ensure_completed(count).await?;
    }
    let ended = Timestamp::now();
    let after = crew.look()?;
    crew.stop()?;
    let parts = [
        herd.asleep(bed, &cost),
        herd.awake(&told, due, Some(ended)),
        after.engines(),
        asleep.since(&begun, "databaseAsleep", "while they are created"),
        after.since(&asleep, "databaseAwake", "while they wake"),
    ];
    Ok(Report::new("w2", parts))
}
