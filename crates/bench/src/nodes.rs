//! Workloads on a PostgreSQL database, with so many nodes: embedded engines, each in a process of its own with its
//! share of the starters. What they were told and what came of it is counted here, and in the database.
//!
//! ```text
//!   crew ── orders ──▶ node (engine) ──┐
//!        ── orders ──▶ node (engine) ──┼──▶ database ◀── look: what it took
//!        ◀── notes of who woke ────────┘
//! ```

mod crew;
mod events;
mod herd;
mod long;
mod look;
mod node;
mod notes;
mod open;
mod sleepers;
mod three_steps;

use abide_store::postgres::{self, Postgres};
use abide_store::roles::Lists;
use clap::Args;

pub(super) use events::measure as events;
pub(super) use herd::measure as herd;
pub(super) use long::measure as long;
pub(super) use node::Node;
pub(super) use open::measure as open;
pub(super) use sleepers::measure as sleepers;
pub(super) use three_steps::measure as three_steps;

/// Where a workload is measured, if not on a file.
#[derive(Debug, Args)]
pub(super) struct NodeOptions {
    /// A PostgreSQL database with no runs in it, to measure w1, w2, w3 or sleepers on; a file, if absent
    #[arg(long, global = true, value_name = "postgres://…", conflicts_with = "folder")]
    store: Option<String>,
    /// How many nodes share the work on that database, each a process of its own
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    nodes: u16,
}

impl NodeOptions {
    /// Refuses a database in which something old would be measured.
    pub(super) fn database(self) -> anyhow::Result<Option<Database>> {
        let nodes = usize::from(self.nodes);
        let Some(text) = self.store else {
            anyhow::ensure!(
                nodes == 1,
                "on a file there is one node; give a database with `--store postgres://…`"
            );
            return Ok(None);
        };
        anyhow::ensure!(
            ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)),
            "`--store` takes a PostgreSQL database, as postgres://USER@HOST/DATABASE; without it a file is measured"
        );
        let address = text;
        let mut store = Postgres::open(&address)?;
        let runs: u64 = store.counts(None)?.into_iter().map(|(_, count)| count).sum();
        anyhow::ensure!(
            runs == 0,
            "there are {runs} runs in {}; give an empty database, so that nothing old is measured",
            postgres::shown(&address)
        );
        Ok(Some(Database { address, nodes }))
    }
}

#[derive(Debug)]
pub(super) struct Database {
    pub(super) address: String,
    pub(super) nodes: usize,
}

/// The share of each node in so many, as even as can be.
fn shares(count: usize, nodes: usize) -> Vec<std::ops::Range<usize>> {
    (0..nodes).map(|node| count * node / nodes..count * (node + 1) / nodes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_leave_nothing_out() {
        assert_eq!(shares(64, 3), [0..21, 21..42, 42..64]);
        assert_eq!(shares(2, 3), [0..0, 0..1, 1..2]);
        assert_eq!(shares(5, 1).as_slice(), std::slice::from_ref(&(0..5)));
    }
}
