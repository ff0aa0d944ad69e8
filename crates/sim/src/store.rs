//! The durable part of the world: what survives a crash. A commit is all or nothing and refuses a stale decision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_core::command::{Event, Outcome};
use abide_core::definition::{Definition, Derived};
use abide_core::effect::{AfterCommit, RoundEffect};
use abide_core::history::{Change, Record};
use abide_core::id::{RunId, StepAddress};
use abide_core::idempotency::IdempotencyRecord;
use abide_core::run::Run;
use jiff::Timestamp;

use crate::inspector::Ledger;

#[derive(Default)]
pub(crate) struct Store {
    pub(crate) definitions: BTreeMap<String, Arc<Definition>>,
    /// All versions that runs were asked to move to, and those they began with.
    pub(crate) versions: Vec<Arc<Definition>>,
    pub(crate) runs: BTreeMap<RunId, StoredRun>,
    pub(crate) tasks: BTreeMap<(RunId, StepAddress), TaskRow>,
    /// Effects that are still to be performed, with the run that asked for them.
    pub(crate) outbox: BTreeMap<u64, (RunId, RoundEffect)>,
    outbox_last: u64,
    pub(crate) events: Vec<Event>,
    /// Occurrences whose waiters have not all been looked at.
    pub(crate) undelivered: BTreeSet<usize>,
    pub(crate) keys: BTreeMap<String, IdempotencyRecord>,
}

pub(crate) struct StoredRun {
    pub(crate) run: Run,
    pub(crate) history: Vec<Record>,
}

#[derive(Clone, Debug)]
pub(crate) struct TaskRow {
    pub(crate) lease_epoch: u32,
    pub(crate) leased_until: Option<Timestamp>,
}

/// A decision that is ready to be committed.
pub(crate) struct Write {
    /// The version the decision was made on; 0 for a new run.
    pub(crate) based_on: u64,
    pub(crate) run: Run,
    pub(crate) outcome: Outcome,
    pub(crate) idempotency: Option<IdempotencyRecord>,
}

impl Store {
    pub(crate) fn version(&self, run: RunId) -> u64 {
        self.runs.get(&run).map_or(0, |stored| stored.run.seq)
    }

    /// A workflow by its name: one that was deployed, or one that the engine derives.
    pub(crate) fn definition(&self, name: &str, version: Option<&str>) -> Arc<Definition> {
        match Definition::derived(name, version) {
            Some(Derived::Whole(whole)) => Arc::new(whole.expect("what the engine derives is sound")),
            Some(Derived::Hook(hook, of)) => {
                Arc::clone(self.definitions[of].hook(hook).expect("a hook that was started is there"))
            }
            None => Arc::clone(&self.definitions[name]),
        }
    }

    /// Whether what came before a wait is still to be offered to it.
    pub(crate) fn is_to_look_back(&self, run: RunId, number: u32) -> bool {
        let look = RoundEffect::LookBack { number };
        self.outbox.values().any(|(of, effect)| *of == run && *effect == look)
    }

    /// All or nothing; `false` when the run has moved on since it was loaded.
    pub(crate) fn commit(&mut self, write: &Write) -> bool {
        let id = write.run.id;
        if self.version(id) != write.based_on {
            return false;
        }
        for effect in &write.outcome.after_commit {
            match effect {
                AfterCommit::Dispatch { at, lease_epoch } => {
                    self.tasks.insert((id, *at), TaskRow { lease_epoch: *lease_epoch, leased_until: None });
                }
                AfterCommit::Recall { at, lease_epoch: _ } => {
                    self.tasks.remove(&(id, *at));
                }
                AfterCommit::Respond { .. } | AfterCommit::WantCode { .. } => {}
            }
        }
        for effect in &write.outcome.in_round {
            self.outbox_last += 1;
            self.outbox.insert(self.outbox_last, (id, effect.clone()));
        }
        // Whoever takes a task straight from its wait for other code has it.
        for record in &write.outcome.records {
            if let Change::TaskStarted { at, lease_epoch, .. } = &record.change {
                let row =
                    self.tasks.entry((id, *at)).or_insert(TaskRow { lease_epoch: 0, leased_until: None });
                if row.lease_epoch < *lease_epoch {
                    *row = TaskRow { lease_epoch: *lease_epoch, leased_until: None };
                }
            }
        }
        let stored =
            self.runs.entry(id).or_insert_with(|| StoredRun { run: write.run.clone(), history: Vec::new() });
        stored.run = write.run.clone();
        stored.history.extend(write.outcome.records.iter().cloned());
        // A task row lives exactly as long as its delivery is wanted.
        let run = &stored.run;
        let wanted = |at: &StepAddress, row: &TaskRow| {
            let task = run.step(*at).and_then(|step| step.task.as_deref());
            task.is_some_and(|task| task.out && task.lease_epoch == row.lease_epoch)
        };
        let gone: Vec<(RunId, StepAddress)> = self
            .tasks
            .range((id, StepAddress::step(0))..)
            .take_while(|((run, _), _)| *run == id)
            .filter(|((_, at), row)| !wanted(at, row))
            .map(|(key, _)| *key)
            .collect();
        for key in gone {
            self.tasks.remove(&key);
        }
        if let Some(idempotency) = &write.idempotency {
            self.keys.insert(idempotency.key.clone(), idempotency.clone());
        }
        true
    }
}

impl Ledger for Store {
    fn versions(&self) -> &[Arc<Definition>] {
        &self.versions
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    fn tasks_of(&self, run: RunId) -> Option<BTreeSet<(StepAddress, u32)>> {
        let rows = self.tasks.range((run, StepAddress::step(0))..).take_while(|((id, _), _)| *id == run);
        Some(rows.map(|((_, at), row)| (*at, row.lease_epoch)).collect())
    }
}
