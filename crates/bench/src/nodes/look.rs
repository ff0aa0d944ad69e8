//! A look at all that is counted: by the nodes, by the database, and by the machine, if the database is on it.

use std::time::Instant;

use abide_engine::Histogram;
use abide_store::postgres::{Figures, Postgres};

use super::node::Counted;
use crate::format::Unit;
use crate::machine;
use crate::report::{Engine, Part, Quantiles};

pub(super) struct Look {
    at: Instant,
    pub(super) figures: Figures,
    database_cpu_seconds: Option<f64>,
    nodes: Vec<Counted>,
}

impl Look {
    pub(super) fn take(store: &mut Postgres, nodes: Vec<Counted>) -> anyhow::Result<Look> {
        let figures = store.figures()?;
        let database_cpu_seconds = machine::family_cpu_seconds(figures.process, "postgres");
        Ok(Look { at: Instant::now(), figures, database_cpu_seconds, nodes })
    }

    fn sum(&self, of: impl Fn(&Counted) -> u64) -> f64 {
        self.nodes.iter().map(of).sum::<u64>() as f64
    }

    fn cpu_seconds(&self) -> Option<f64> {
        self.nodes.iter().map(|node| node.cpu_seconds).sum()
    }

    /// Records that were written, and the processor time that it took nodes and database.
    pub(super) fn spent(&self) -> (u64, Option<f64>) {
        let database = self.database_cpu_seconds.unwrap_or_default();
        (self.nodes.iter().map(|node| node.records).sum(), self.cpu_seconds().map(|nodes| nodes + database))
    }

    /// Memory of all nodes.
    pub(super) fn resident(&self) -> Option<u64> {
        self.nodes.iter().map(|node| node.resident).sum()
    }

    pub(super) fn engines(&self) -> Part {
        let merged = |of: fn(&Counted) -> &Histogram| {
            let mut all = Histogram::default();
            self.nodes.iter().for_each(|node| all.merge(of(node)));
            all
        };
        Part::engine(Engine {
            commits: self.sum(|node| node.commits),
            requests_per_commit: merged(|node| &node.batch).quantile(0.5) as f64,
            commit: Quantiles::of(&merged(|node| &node.commit_us)),
        })
    }

    /// What the database did from one look to another.
    pub(super) fn since(&self, before: &Look, key: &str, title: &str) -> Part {
        let more = |of: fn(&Counted) -> u64| self.sum(of) - before.sum(of);
        let seconds = (self.at - before.at).as_secs_f64();
        let (records, commits) = (more(|node| node.records), more(|node| node.commits));
        let each = |value: f64| value / records.max(1.0);
        let grown = |of: fn(&Figures) -> u64| of(&self.figures).saturating_sub(of(&before.figures)) as f64;
        let mut part = Part::new(key, title);
        part.put("transitionsPerSecond", "transitions", Unit::PerSecond, records / seconds);
        part.put("commitsPerSecond", "commits", Unit::PerSecond, commits / seconds);
        part.put("transitionsPerCommit", "transitions per commit", Unit::Count, records / commits.max(1.0));
        let statements = each(more(|node| node.statements));
        part.put("statementsPerTransition", "statements per transition", Unit::Count, statements);
        let transactions = each(grown(|figures| figures.transactions));
        part.put("transactionsPerTransition", "transactions per transition", Unit::Count, transactions);
        let wal_bytes = each(grown(|figures| figures.wal_bytes));
        part.put("walBytesPerTransition", "log written per transition", Unit::Bytes, wal_bytes);
        part.put("conflicts", "rounds decided again", Unit::Count, more(|node| node.conflicts));
        let mut cpu = |key: &str, name: &str, after: Option<f64>, before: Option<f64>| {
            if let Some((after, before)) = after.zip(before) {
                part.put(key, name, Unit::Microseconds, each((after - before) * 1e6));
            }
        };
        cpu(
            "databaseCpuUsPerTransition",
            "CPU of the database per transition",
            self.database_cpu_seconds,
            before.database_cpu_seconds,
        );
        cpu(
            "nodesCpuUsPerTransition",
            "CPU of the nodes per transition",
            self.cpu_seconds(),
            before.cpu_seconds(),
        );
        part
    }
}
