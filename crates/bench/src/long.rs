//! Whether a transition costs the same however long the history of its run is: one run that grows, and what the
//! transitions cost that it makes at one length after another.
//!
//! The run has a chain of maps for each node, all at the same time, and each chain asks for a handler that only its node
//! has. So every node decides on the same run, on top of what the others have just written.

use std::time::{Duration, Instant};

use abide_core::limits::MAP_ITEMS;
use abide_definition::document::Workflow;
use abide_engine::{Engine, TaskResult};
use clap::Args;
use serde_json::{Value, json};

use super::format::{self, Unit};
use super::progress::Progress;
use super::report::{Part, Report};
use super::{Bed, at_least_one, machine, nodes};

pub(super) const WORKFLOW: &str = "long";
/// How often the bench looks how far the run is.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(5);
/// When the run does not grow for this long, something is wrong with it.
const PATIENCE: Duration = Duration::from_secs(60);
/// An item of a map is at least these records: begun and ended.
const RECORDS_PER_ITEM: usize = 2;

/// The cost of a transition of a run with a longer and longer history
#[derive(Debug, Args)]
pub(super) struct Long {
    /// How many records the run has when it is measured
    #[arg(long, value_delimiter = ',', default_value = "10,1000,10000,100000", value_parser = at_least_one)]
    records: Vec<usize>,
    /// How many transitions are measured each time
    #[arg(long, default_value = "2000", value_parser = at_least_one)]
    transitions: usize,
    /// How many items of each map are done at a time
    #[arg(long, default_value = "16", value_parser = at_least_one)]
    at_a_time: usize,
}

impl Long {
    pub(super) async fn measure(mut self, bed: &Bed) -> anyhow::Result<Report> {
        self.records.sort_unstable();
        self.records.dedup();
        if bed.database.is_some() {
            return nodes::long(&self, bed).await;
        }
        let engine = Engine::open(bed.scratch.store()).await?;
        handle(&engine, 0).await?;
        engine.deploy(self.workflow(1)).await?;
        engine.start(WORKFLOW, input()).await?;
        let mut growth = Growth::new(self.end());
        while growth.is_going_on() {
            let records = engine.stats().await?.records;
            growth.note(Sample { at: Instant::now(), records, cpu_seconds: machine::cpu_seconds() })?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
        engine.shut_down().await?;
        Ok(self.report(&growth))
    }

    /// The workflow with a chain of maps for each node, long enough together for all that is measured.
    pub(super) fn workflow(&self, nodes: usize) -> Workflow {
        let items = self.end().div_ceil(RECORDS_PER_ITEM);
        let maps = items.div_ceil(MAP_ITEMS * nodes);
        let mut workflow = Workflow::new(WORKFLOW);
        for node in 0..nodes {
            let (handler, name) = (handler(node), |map: usize| format!("grow-{node}-{map}"));
            for map in 0..maps {
                let at_a_time = u32::try_from(self.at_a_time).unwrap_or(u32::MAX);
                workflow = workflow
                    .map(name(map), "input.items", |each| {
                        each.task("item", handler.as_str()).input(Value::Null)
                    })
                    .concurrency(at_a_time);
                workflow = match map {
                    0 => workflow.at_once(),
                    _ => workflow.after(name(map - 1)),
                };
            }
        }
        workflow
    }

    /// How many records there are when all is measured.
    pub(super) fn end(&self) -> usize {
        self.records.last().copied().unwrap_or_default() + self.transitions
    }

    pub(super) fn report(&self, growth: &Growth) -> Report {
        let mut first: Option<Cost> = None;
        let parts = self.records.iter().map(|size| {
            let cost = growth.cost(*size, self.transitions);
            let first = *first.get_or_insert(cost);
            let mut part = Part::new(size.to_string(), format!("{} records", format::count(*size)));
            part.count("transitions", "transitions measured", cost.transitions);
            part.put("wallUsPerTransition", "time per transition", Unit::Microseconds, cost.wall_us);
            part.put("wallRatio", "of what it was at first", Unit::Count, cost.wall_us / first.wall_us);
            if let Some((now, then)) = cost.cpu_us.zip(first.cpu_us) {
                part.put("cpuUsPerTransition", "CPU per transition", Unit::Microseconds, now);
                part.put("cpuRatio", "CPU, of what it was at first", Unit::Count, now / then);
            }
            part
        });
        Report::new("long", parts.collect::<Vec<_>>())
    }
}

/// The handler that only this node has.
fn handler(node: usize) -> String {
    format!("grow-{node}")
}

/// Has an engine do what the maps of this node ask for.
pub(super) async fn handle(engine: &Engine, node: usize) -> anyhow::Result<()> {
    Ok(engine.handler(&handler(node), async |_| TaskResult::complete(Value::Null)).await?)
}

/// What the run is started with: the items of every map.
pub(super) fn input() -> Value {
    json!({ "items": vec![0; MAP_ITEMS] })
}

/// How far the run was at an instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) at: Instant,
    pub(super) records: u64,
    /// Of the nodes, and of the database if it is on this machine.
    pub(super) cpu_seconds: Option<f64>,
}

/// A run that grows, as it was seen.
pub(super) struct Growth {
    samples: Vec<Sample>,
    end: usize,
    progress: Progress,
}

/// What a transition costs, on average of so many.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    transitions: usize,
    wall_us: f64,
    cpu_us: Option<f64>,
}

impl Growth {
    pub(super) fn new(end: usize) -> Growth {
        Growth { samples: Vec::new(), end, progress: Progress::new("records", end) }
    }

    pub(super) fn is_going_on(&self) -> bool {
        self.samples.last().is_none_or(|last| (last.records as usize) < self.end)
    }

    /// Fails when the run has stopped growing.
    pub(super) fn note(&mut self, sample: Sample) -> anyhow::Result<()> {
        self.progress.at(sample.records as usize);
        match self.samples.last() {
            Some(last) if last.records == sample.records => {
                let waited = sample.at - last.at;
                anyhow::ensure!(waited < PATIENCE, "the run stands still at {} records", last.records);
            }
            Some(_) | None => self.samples.push(sample),
        }
        Ok(())
    }

    /// What at least so many transitions cost, from the last look before this length on.
    fn cost(&self, size: usize, transitions: usize) -> Cost {
        let length = |sample: &Sample| sample.records as usize;
        let begun = self.samples.iter().rposition(|sample| length(sample) <= size).unwrap_or_default();
        let end = self.samples.iter().position(|sample| length(sample) >= size + transitions);
        let end = end.unwrap_or(self.samples.len().saturating_sub(1));
        let (Some(from), Some(to)) = (self.samples.get(begun), self.samples.get(end.max(begun))) else {
            return Cost { transitions: 0, wall_us: 0.0, cpu_us: None };
        };
        let made = to.records - from.records;
        let each = |seconds: f64| seconds * 1e6 / (made.max(1) as f64);
        Cost {
            transitions: made as usize,
            wall_us: each((to.at - from.at).as_secs_f64()),
            cpu_us: to.cpu_seconds.zip(from.cpu_seconds).map(|(to, from)| each(to - from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_at_a_length_is_that_of_the_transitions_from_there_on() {
        let begun = Instant::now();
        let mut growth = Growth::new(1_100);
        for (ms, records, cpu_seconds) in
            [(0, 10, 0.0), (10, 110, 0.01), (20, 110, 0.02), (30, 1_000, 0.5), (50, 1_100, 0.7)]
        {
            let at = begun + Duration::from_millis(ms);
            growth.note(Sample { at, records, cpu_seconds: Some(cpu_seconds) }).unwrap();
        }
        assert!(!growth.is_going_on());
        let cost = |size| {
            let Cost { transitions, wall_us, cpu_us } = growth.cost(size, 100);
            (transitions, wall_us.round(), cpu_us.unwrap().round())
        };
        assert_eq!(cost(10), (100, 100.0, 100.0));
        assert_eq!(cost(1_000), (100, 200.0, 2_000.0));
    }

    #[test]
    fn the_workflow_is_sound_and_long_enough() {
        let long = Long { records: vec![10, 100_000], transitions: 2_000, at_a_time: 16 };
        for nodes in [1, 3] {
            let workflow = long.workflow(nodes);
            let items = workflow.steps.len() * MAP_ITEMS;
            assert!(items * RECORDS_PER_ITEM >= long.end(), "{items}");
            let checked = abide_definition::Definition::from_text(&workflow.to_json());
            assert!(checked.is_ok(), "{checked:?}");
        }
    }
}
