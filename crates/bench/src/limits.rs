//! What limits cost: next to nothing while there is room, as much for each run that is let in however many wait, and no more for
//! a run in line than for a sleeper. Every figure stands beside one of the same process without limits.

mod cost;
mod grants;
mod queued;

use std::sync::Arc;

use abide_core::capacity::SettingChange;
use abide_core::waitpoint::Actor;
use abide_definition::document::{Limit, Workflow};
use abide_engine::{Engine, LimitOrder};
use clap::{Args, ValueEnum};

use super::report::Report;
use super::{Bed, at_least_one};

pub(super) use queued::Queue;

/// What limits cost: one that is never full, a hot key, letting in with more and more in line, runs in line beside sleepers
#[derive(Debug, Args)]
pub(super) struct LimitCosts {
    /// How many runs of three steps are measured each time
    #[arg(long, default_value = "20000", value_parser = at_least_one)]
    runs: usize,
    /// How many may have room under the hot key; four times as many ask
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=2_500))]
    room: u16,
    /// How many stand in line when letting in is measured
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000", value_parser = at_least_one)]
    line: Vec<usize>,
    /// How many of them are let in each time
    #[arg(long, default_value = "5000", value_parser = at_least_one)]
    granted: usize,
    /// How many runs are queued, and how many sleepers there are beside them
    #[arg(long, default_value = "100000", value_parser = at_least_one)]
    queued: usize,
    /// Over how many keys the runs are queued
    #[arg(long, default_value = "10000", value_parser = at_least_one)]
    keys: usize,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Question>,
}

/// What is asked about limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Question {
    /// What a limit costs that is never full
    Cost,
    /// How quick one hot key is
    Hot,
    /// Whether letting in costs the same however many wait
    Grants,
    /// What runs in line cost beside sleepers
    Queued,
}

impl LimitCosts {
    pub(super) async fn measure(mut self, bed: &Bed) -> anyhow::Result<Report> {
        self.line.sort_unstable();
        self.line.dedup();
        let is_asked = |question| self.only.is_empty() || self.only.contains(&question);
        let mut parts = Vec::new();
        if is_asked(Question::Cost) {
            parts.extend(cost::never_full(&self, bed).await?);
        }
        if is_asked(Question::Hot) {
            parts.extend(cost::hot_key(&self, bed).await?);
        }
        if is_asked(Question::Grants) {
            parts.extend(grants::measure(&self, bed).await?);
        }
        if is_asked(Question::Queued) {
            parts.extend(queued::measure(&self, bed)?);
        }
        Ok(Report::new("limits", parts))
    }
}

/// A workflow under another name, with a limit.
fn with_limit(mut workflow: Workflow, name: &str, limit: Limit) -> Workflow {
    workflow.name = name.to_owned();
    workflow.limits = Some(vec![limit]);
    workflow
}

/// Lets nobody in under a limit of a workflow, or lets them in again.
async fn pause(engine: &Engine, workflow: &str, limit: &str, paused: bool) -> anyhow::Result<()> {
    let change = SettingChange { paused: Some(paused), ..SettingChange::default() };
    let order = LimitOrder { workflow: Some(Arc::from(workflow)), name: Arc::from(limit), key: None, change };
    engine.default_workspace().limits().set(order, Actor::new("bench")).await?;
    Ok(())
}
