//! A run that grows on a database, with every node deciding on it.

use std::time::Instant;

use super::crew::Crew;
use super::node::Order;
use crate::Bed;
use crate::long::{Growth, LOOK_EVERY, Long, Sample};
use crate::report::Report;

pub(crate) async fn measure(long: &Long, bed: &Bed) -> anyhow::Result<Report> {
    let mut crew = Crew::open(bed)?;
    let workflow = long.workflow(crew.count()).to_json();
    crew.each(|node| Order::Grow { node, workflow: (node == 0).then(|| workflow.clone()) })?;
    let mut growth = Growth::new(long.end());
    while growth.is_going_on() {
        let (records, cpu_seconds) = crew.look()?.spent();
        growth.note(Sample { at: Instant::now(), records, cpu_seconds })?;
        tokio::time::sleep(LOOK_EVERY).await;
    }
    // Nobody needs the rest of the run.
    crew.kill();
    Ok(long.report(&growth))
}
