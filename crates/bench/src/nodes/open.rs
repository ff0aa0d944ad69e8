//! How long it takes to open a database in which very many runs are RUNNING.

use std::time::Instant;

use super::crew::Crew;
use super::node::Order;
use crate::Bed;
use crate::open::{Opened, STARTERS};

pub(crate) fn measure(runs: usize, bed: &Bed) -> anyhow::Result<Opened> {
    let mut crew = Crew::open_one(bed)?;
    crew.share_out_among(runs, STARTERS, |which, starters| Order::Park { which, starters })?;
    crew.stop()?;
    let begun = Instant::now();
    let mut crew = Crew::open_one(bed)?;
    let serving = crew.probe()?;
    let serving_ms = begun.elapsed().as_secs_f64() * 1000.0;
    crew.stop()?;
    Ok(Opened { open_ms: serving.open_ms, serving_ms, resident: serving.resident })
}
