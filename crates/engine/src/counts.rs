//! What happened, counted by names that users gave: workflows, handlers, durable calls, error codes. Plain numbers; who shows
//! them encodes them. There are never more than [`NAME_SETS`] of a kind, however many names there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::definition::{Action, Work};
use abide_core::history::{About, Change};
use abide_core::id::StepAddress;
use abide_core::run::Run;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::Kind;

/// How many sets of names are counted apart, of one kind of count. What comes later is counted as [`OTHER`].
pub const NAME_SETS: usize = 1_000;
/// Stands for all names that there was no room for.
pub const OTHER: &str = "other";
/// The outcome of an attempt that came to a result.
pub const COMPLETED: &str = "COMPLETED";
/// The outcome of an attempt whose worker was lost.
const LEASE_LOST: &str = "LEASE_LOST";

/// Counts by `N` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByNames<const N: usize>(BTreeMap<[Arc<str>; N], u64>);

impl<const N: usize> Default for ByNames<N> {
    fn default() -> ByNames<N> {
        ByNames(BTreeMap::new())
    }
}

impl<const N: usize> ByNames<N> {
    /// Counts one more under these names, or under [`OTHER`] where there are too many.
    pub fn add(&mut self, names: [&Arc<str>; N]) {
        let key = names.map(Arc::clone);
        if let Some(count) = self.0.get_mut(&key) {
            *count += 1;
            return;
        }
        // The last place is for all others.
        let key = if self.0.len() + 1 < NAME_SETS { key } else { std::array::from_fn(|_| OTHER.into()) };
        *self.0.entry(key).or_default() += 1;
    }

    /// All counts, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = ([&str; N], u64)> {
        self.0.iter().map(|(names, count)| (std::array::from_fn(|at| &*names[at]), *count))
    }
}

/// What happened since the engine was opened, by names.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Runs that were started, by workflow.
    pub runs_started: ByNames<1>,
    /// Runs that completed, by workflow.
    pub runs_completed: ByNames<1>,
    /// Runs that were cancelled, by workflow.
    pub runs_cancelled: ByNames<1>,
    /// Runs that failed, by workflow and error code.
    pub runs_failed: ByNames<2>,
    /// Attempts of tasks that ended, by handler and outcome: [`COMPLETED`], or an error code.
    pub attempts: ByNames<2>,
    /// Durable calls that recorded a result, by handler and name of the call.
    pub durable_calls: ByNames<2>,
    /// Waits that began, by kind.
    pub waits_opened: BTreeMap<Kind, u64>,
    /// Waits that ended, by kind and how.
    pub waits_ended: BTreeMap<(Kind, WaitStatus), u64>,
    completed: Arc<str>,
    lease_lost: Arc<str>,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            runs_started: ByNames::default(),
            runs_completed: ByNames::default(),
            runs_cancelled: ByNames::default(),
            runs_failed: ByNames::default(),
            attempts: ByNames::default(),
            durable_calls: ByNames::default(),
            waits_opened: BTreeMap::new(),
            waits_ended: BTreeMap::new(),
            completed: COMPLETED.into(),
            lease_lost: LEASE_LOST.into(),
        }
    }
}

impl Counts {
    /// Counts what a record of a run says.
    pub(crate) fn add(&mut self, run: &Run, change: &Change) {
        let workflow = &run.definition_ref.name;
        for wait in change.opens() {
            *self.waits_opened.entry(wait.kind).or_default() += 1;
        }
        if let Change::WorkflowCreated(_) = change {
            self.runs_started.add([workflow]);
        } else if let Change::WorkflowCompleted { .. } = change {
            self.runs_completed.add([workflow]);
        } else if let Change::WorkflowCancelled { .. } = change {
            self.runs_cancelled.add([workflow]);
        } else if let Change::WorkflowFailed { error, .. } = change {
            self.runs_failed.add([workflow, &error.code]);
        } else if let Change::WaitResolved { number, status, .. } = change {
            if let Some(wait) = run.waitpoint(*number) {
                *self.waits_ended.entry((wait.kind, *status)).or_default() += 1;
            }
        } else if let About::Place { at, .. } | About::Progress { at } = change.about()
            && let Some(work) = work_at(run, at)
        {
            self.add_of_task(work, change);
        }
    }

    fn add_of_task(&mut self, work: &Work, change: &Change) {
        if let Change::StepCompleted { .. } = change {
            self.attempts.add([&work.handler, &self.completed]);
        } else if let Change::StepRetrying { error, .. } | Change::StepFailed { error, stopped: false, .. } =
            change
        {
            self.attempts.add([&work.handler, &error.code]);
        } else if let Change::TaskRedelivered { counted: true, .. } = change {
            self.attempts.add([&work.handler, &self.lease_lost]);
        } else if let Change::JournalRecorded { entries, .. } = change {
            entries.iter().for_each(|entry| self.durable_calls.add([&work.handler, &entry.name]));
        }
    }
}

/// The work of a step. A record may be of an earlier version of the workflow than the run is of: then there may be none.
fn work_at(run: &Run, at: StepAddress) -> Option<&Work> {
    let action = &run.definition.steps.get(usize::from(at.step))?.action;
    if let (Action::Map(map), Some(_)) = (action, at.item) { map.step.action.work() } else { action.work() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_end_are_counted_as_others_and_none_is_lost() {
        let mut counts = ByNames::default();
        let many = NAME_SETS as u64 + 500;
        for number in 0..many {
            counts.add([&format!("workflow-{number}").into()]);
        }
        counts.add([&"workflow-0".into()]);
        assert_eq!(counts.iter().count(), NAME_SETS);
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), many + 1);
        let of = |name: &str| counts.iter().find(|(names, _)| names == &[name]).map(|(_, count)| count);
        assert_eq!((of("workflow-0"), of(OTHER)), (Some(2), Some(many - (NAME_SETS as u64 - 1))));
    }
}
