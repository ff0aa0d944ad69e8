//! Batches: what is written together, and together only.

use std::collections::BTreeSet;

use abide_core::command::Event;
use abide_core::history::{Change, Record};
use abide_core::id::RunId;
use abide_core::idempotency::IdempotencyRecord;
use abide_core::run::Run;

use crate::tasks::TaskWrite;
use crate::{
    Delivery, EventStartWrite, FollowUpWrite, LimitWrite, NewDefinition, Owner, ScheduleWrite, SettingsWrite,
};

/// What is written together.
#[derive(Debug, Default)]
pub struct Batch<'a> {
    pub runs: Vec<RunWrite<'a>>,
    pub events: Vec<&'a Event>,
    pub idempotency: Vec<&'a IdempotencyRecord>,
    pub definitions: Vec<NewDefinition<'a>>,
    /// Which workflows events may start.
    pub event_starts: Vec<EventStartWrite<'a>>,
    pub schedules: Vec<ScheduleWrite<'a>>,
    /// Keys of limits whose room was taken or given back.
    pub limits: Vec<LimitWrite<'a>>,
    /// What was set for limits.
    pub limit_settings: Vec<SettingsWrite<'a>>,
    /// What webhooks are to be told of all this. One for a webhook that is gone is left out.
    pub deliveries: Vec<&'a Delivery>,
    /// Which tasks are out. Only a store that is shared keeps them.
    pub tasks: Vec<&'a TaskWrite>,
    /// What is left to be done, and what was.
    pub follow_ups: Vec<FollowUpWrite<'a>>,
    /// How many descendants of a run were started.
    pub descendants: Vec<(RunId, u64)>,
}

/// A run that was decided on, after all decisions of the batch.
#[derive(Debug)]
pub struct RunWrite<'a> {
    /// The version the first decision was made on; 0 for a new run.
    pub based_on: u64,
    pub run: &'a Run,
    /// In order, from `based_on + 1` to the run's version.
    pub records: &'a [Record],
}

impl<'a> Batch<'a> {
    /// Each run and each schedule of it alone, with what is told of it.
    pub(crate) fn one_by_one(&self) -> impl Iterator<Item = (Owner, Batch<'a>)> {
        let told = |run: RunId| self.deliveries.iter().copied().filter(move |delivery| delivery.run == run);
        let runs = self.runs.iter().map(move |write| {
            let RunWrite { based_on, run, records } = *write;
            let deliveries = told(run.id).collect();
            let runs = vec![RunWrite { based_on, run, records }];
            (Owner::Run(run.id), Batch { runs, deliveries, ..Batch::default() })
        });
        let schedules = self.schedules.iter().map(|write| {
            let ScheduleWrite { based_on, schedule, removed } = *write;
            let schedules = vec![ScheduleWrite { based_on, schedule, removed }];
            (schedule.id.owner(), Batch { schedules, ..Batch::default() })
        });
        runs.chain(schedules)
    }
}

impl RunWrite<'_> {
    /// The waitpoints that have no row yet.
    #[cfg(feature = "postgres")]
    pub(crate) fn opens(&self) -> BTreeSet<u32> {
        self.records.iter().flat_map(|record| record.change.opens()).map(|wait| wait.number).collect()
    }

    /// The run has another version of its workflow than before.
    pub(crate) fn is_moved(&self) -> bool {
        self.records.iter().any(|record| matches!(record.change, Change::WorkflowMoved { .. }))
    }

    /// The waitpoints whose row is made or changes.
    pub fn waitpoints(&self) -> BTreeSet<u32> {
        self.records.iter().flat_map(|record| record.change.waitpoints()).collect()
    }
}
