//! The rules, at every commit: those of single runs, as in other worlds, and those that several nodes must keep together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_core::command::Event;
use abide_core::definition::Definition;
use abide_core::history::{Change, Record};
use abide_core::id::{RunId, StepAddress};
use abide_core::run::Run;
use abide_store::Batch;

use super::debounce;
use super::limits::{self, Begun, Holding, Lines};
use super::store::{Kind, State};
use super::turns::Turns;
use crate::inspector::{Inspector, Ledger};
use crate::world::Check;

#[derive(Default)]
pub(super) struct Rules {
    inspector: Inspector,
    /// The version of each run of a batch, before it is committed.
    versions: BTreeMap<RunId, u64>,
    /// When runs began under a rate.
    begun: Begun,
    /// The starts that runs have collected.
    starts: debounce::Starts,
    /// Who stood in line before a batch is committed.
    lines: Lines,
    /// Which keys have had their turns in lines.
    turns: Turns,
    /// Who had room before a batch is committed.
    holding: Holding,
    /// A rule that a commit has broken.
    pub(super) broken: Option<String>,
}

/// The store, as the rules of single runs look at it.
pub(super) struct View<'a> {
    pub(super) state: &'a State,
    pub(super) versions: Vec<Arc<Definition>>,
}

impl Ledger for View<'_> {
    fn versions(&self) -> &[Arc<Definition>] {
        &self.versions
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.state.events.iter().map(|row| &row.event)
    }

    fn tasks_of(&self, run: RunId) -> Option<BTreeSet<(StepAddress, u32)>> {
        match self.state.kind {
            Kind::OneWriter => None,
            Kind::Cluster => {
                let rows = self
                    .state
                    .tasks
                    .range((run, StepAddress::step(0))..)
                    .take_while(|((id, _), _)| *id == run);
                Some(rows.map(|((_, at), row)| (*at, row.lease_epoch)).collect())
            }
        }
    }
}

impl Rules {
    pub(super) fn hash(&self) -> u64 {
        self.inspector.hash()
    }

    pub(super) fn seen(&self) -> &BTreeMap<String, u64> {
        self.inspector.seen()
    }

    pub(super) fn is_for(&self, run: &Run, number: u32, event: &Event) -> bool {
        self.inspector.is_for(run, number, event)
    }

    /// Looks at what a batch is about to change.
    pub(super) fn before(&mut self, state: &State, batch: &Batch<'_>) {
        let version = |run: RunId| state.runs.get(&run).map_or(0, |row| row.run.seq);
        self.versions = batch.runs.iter().map(|write| (write.run.id, version(write.run.id))).collect();
        self.lines = Lines::of(state);
        self.turns.before(state);
        self.holding = Holding::of(state);
    }

    /// Looks at what was committed.
    pub(super) fn committed(
        &mut self,
        state: &State,
        definitions: &BTreeMap<String, Arc<Definition>>,
        batch: &Batch<'_>,
    ) -> Check {
        let view = View { state, versions: definitions.values().cloned().collect() };
        for write in batch.runs.iter().filter(|write| !write.records.is_empty()) {
            let run = write.run;
            let before = self.versions.get(&run.id).copied().unwrap_or(0);
            if before != write.based_on {
                return Err(format!("R2: {} was at {before}, and decided on as {}", run.id, write.based_on));
            }
            for record in write.records {
                check_clock(state, run, record)?;
                check_sent(run, record, batch)?;
            }
            self.inspector.look_at(&view, run, write.records)?;
            write
                .records
                .iter()
                .try_for_each(|record| self.begun.look_at(state, &self.holding, run, record))?;
            limits::check_moves(run)?;
            write.records.iter().try_for_each(|record| self.starts.look_at(run, record))?;
        }
        if !(state.limits.is_empty() && batch.limits.is_empty()) {
            self.holding.check(state)?;
            limits::check_kept(state)?;
            limits::check_calls(state)?;
            debounce::check_alone(state)?;
            self.lines.check_order(state)?;
            self.turns.check(state)?;
        }
        Ok(())
    }
}

/// R1: the event that a task has sent is a part of the commit that says so.
fn check_sent(run: &Run, record: &Record, batch: &Batch<'_>) -> Check {
    if let Change::EventSent { event: sent, .. } = &record.change
        && !batch.events.iter().any(|event| event.id == *sent)
    {
        return Err(format!("R1: {} says that it has sent {sent}, which is not there", run.id));
    }
    Ok(())
}

/// R3: in a cluster nobody's clock is ahead of the store's, so that nothing is early by it.
fn check_clock(state: &State, run: &Run, record: &Record) -> Check {
    match state.kind {
        Kind::Cluster if record.at > state.now => Err(format!(
            "R3: {}: {} was decided at {}, which is to come",
            run.id,
            record.change.name(),
            record.at
        )),
        Kind::Cluster | Kind::OneWriter => Ok(()),
    }
}
