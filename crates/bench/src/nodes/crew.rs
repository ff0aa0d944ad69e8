//! All nodes of a workload, as whoever measures holds them.

use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use abide_core::status::RunStatus;
use abide_engine::Histogram;
use abide_store::postgres::Postgres;
use abide_store::roles::Lists;
use anyhow::Context;
use serde::de::DeserializeOwned;

use super::look::Look;
use super::node::{Answer, Counted, Order};
use super::notes::Notes;
use super::{Database, shares};
use crate::Bed;
use crate::child::{Kin, Serving};
use crate::starters::Pace;

pub(super) struct Crew {
    nodes: Vec<Held>,
    pub(super) store: Postgres,
    pub(super) notes: Notes,
    starters: usize,
}

/// A node's process. It is killed when this is dropped.
struct Held(Kin);

impl Held {
    fn start() -> anyhow::Result<Held> {
        let mut command = Command::new(std::env::current_exe()?);
        Ok(Held(Kin::spawn(command.args(["bench", "node"]))?))
    }

    fn hear<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let answer: Answer<T> = self.0.hear()?;
        answer.map_err(|why| anyhow::anyhow!("a node failed: {why}"))
    }
}

impl Crew {
    /// One node after the other is opened, so that each is alone when it is measured how long that takes.
    pub(super) fn open(bed: &Bed) -> anyhow::Result<Crew> {
        Crew::open_some(bed, usize::MAX)
    }

    pub(super) fn open_one(bed: &Bed) -> anyhow::Result<Crew> {
        Crew::open_some(bed, 1)
    }

    fn open_some(bed: &Bed, most: usize) -> anyhow::Result<Crew> {
        let Database { address, nodes } = bed.database.as_ref().context("no database was given")?;
        let count = (*nodes).min(most);
        let paths: Vec<PathBuf> = (0..count).map(|node| bed.scratch.notes(node)).collect();
        let mut held = Vec::new();
        for notes in &paths {
            let mut node = Held::start()?;
            node.0.tell(&Order::Open { address: address.clone(), notes: notes.clone() })?;
            let Serving { .. } = node.hear()?;
            held.push(node);
        }
        let (store, notes) = (Postgres::open(address)?, Notes::open(&paths)?);
        Ok(Crew { nodes: held, store, notes, starters: bed.starters })
    }

    /// Starts a run on the first node.
    pub(super) fn probe(&mut self) -> anyhow::Result<Serving> {
        let node = self.nodes.first_mut().context("there is no node")?;
        node.0.tell(&Order::Probe)?;
        node.hear()
    }

    /// Shares out so much among the nodes and the starters, and waits until all have done it.
    pub(super) fn share_out(
        &mut self,
        count: usize,
        order: impl Fn(Range<usize>, usize) -> Order,
    ) -> anyhow::Result<Pace> {
        let starters = self.starters;
        self.share_out_among(count, starters, order)
    }

    pub(super) fn share_out_among(
        &mut self,
        count: usize,
        starters: usize,
        order: impl Fn(Range<usize>, usize) -> Order,
    ) -> anyhow::Result<Pace> {
        let nodes = self.nodes.len();
        let orders = shares(count, nodes).into_iter().zip(shares(starters, nodes));
        let orders: Vec<Order> =
            orders.map(|(which, starters)| order(which, starters.len().max(1))).collect();
        let begun = Instant::now();
        for (node, order) in self.nodes.iter_mut().zip(&orders) {
            node.0.tell(order)?;
        }
        let mut latency = Histogram::default();
        for node in &mut self.nodes {
            let pace: Pace = node.hear()?;
            latency.merge(&pace.latency);
        }
        Ok(Pace { seconds: begun.elapsed().as_secs_f64(), latency })
    }

    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Gives each node an order of its own, the first one last, and waits until all have done it.
    pub(super) fn each(&mut self, order: impl Fn(usize) -> Order) -> anyhow::Result<()> {
        for (number, node) in self.nodes.iter_mut().enumerate().rev() {
            node.0.tell(&order(number))?;
            node.hear::<()>()?;
        }
        Ok(())
    }

    /// Kills all nodes with SIGKILL.
    pub(super) fn kill(self) {
        drop(self.nodes);
    }

    /// What was one node's share is another's from now on.
    pub(super) fn turn(&mut self) {
        self.nodes.rotate_left(1);
    }

    /// The first node is killed with -9.
    pub(super) fn kill_first(&mut self) {
        drop(self.nodes.remove(0));
    }

    pub(super) fn look(&mut self) -> anyhow::Result<Look> {
        let mut nodes: Vec<Counted> = Vec::new();
        for node in &mut self.nodes {
            node.0.tell(&Order::Count)?;
            nodes.push(node.hear()?);
        }
        Look::take(&mut self.store, nodes)
    }

    /// Waits until so many runs have completed: what nodes answer alone is not believed.
    pub(super) async fn ensure_completed(&mut self, runs: usize) -> anyhow::Result<()> {
        /// How often rows are counted before the wait is given up. To count is work for the database, too.
        const LOOKS: u32 = 800;
        const EVERY: Duration = Duration::from_millis(50);
        let mut completed = 0;
        for _ in 0..LOOKS {
            let counts = self.store.counts(None)?.into_iter();
            completed =
                counts.filter(|(status, _)| *status == RunStatus::Completed).map(|(_, count)| count).sum();
            if completed >= runs as u64 {
                return Ok(());
            }
            tokio::time::sleep(EVERY).await;
        }
        anyhow::bail!("{completed} runs have completed, not {runs}")
    }

    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        for node in &mut self.nodes {
            node.0.tell(&Order::Stop)?;
        }
        for mut node in self.nodes {
            node.hear::<()>()?;
            node.0.end()?;
        }
        Ok(())
    }
}
