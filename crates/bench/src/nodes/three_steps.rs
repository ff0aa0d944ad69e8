//! W1 on a database: every node starts its share of the runs, and does what they ask for.

use super::crew::Crew;
use super::node::Order;
use crate::Bed;
use crate::report::Report;
use crate::three_steps;

pub(crate) async fn measure(runs: usize, bed: &Bed) -> anyhow::Result<Report> {
    let mut crew = Crew::open(bed)?;
    let warm_up = three_steps::warm_up(runs);
    let complete = |which: std::ops::Range<usize>, starters| Order::Complete { count: which.len(), starters };
    crew.share_out(warm_up, complete)?;
    let before = crew.look()?;
    let pace = crew.share_out(runs, complete)?;
    let after = crew.look()?;
    crew.ensure_completed(warm_up + runs).await?;
    crew.stop()?;
    let part = three_steps::part(runs, bed.starters, &pace);
    Ok(Report::new("w1", [part, after.engines(), after.since(&before, "database", "the database")]))
}
