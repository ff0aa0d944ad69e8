//! W3 on a database. With several nodes, a run waits on one of them and its event comes to another.

use super::crew::Crew;
use super::node::Order;
use crate::Bed;
use crate::events;
use crate::report::Report;

pub(crate) async fn measure(runs: usize, bed: &Bed) -> anyhow::Result<Report> {
    let mut crew = Crew::open(bed)?;
    let begun = crew.look()?;
    let waiting = crew.share_out(runs, |which, starters| Order::Listen { which, starters })?;
    let asleep = crew.look()?;
    crew.turn();
    let sent = crew.share_out(runs, |which, starters| Order::Notify { which, starters })?;
    let after = crew.look()?;
    crew.ensure_completed(runs).await?;
    crew.stop()?;
    let parts = [
        events::part(runs, bed.starters, &waiting, &sent),
        after.engines(),
        asleep.since(&begun, "databaseWaiting", "while they start"),
        after.since(&asleep, "databaseEvents", "while events come"),
    ];
    Ok(Report::new("w3", parts))
}
