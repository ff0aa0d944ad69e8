//! What happened, counted and timed by names that users gave: workspaces, workflows, handlers, durable calls, error codes. Plain
//! numbers; who shows them encodes them. There are never more than [`NAME_SETS`] of a count and [`TIMED_SETS`] of a
//! histogram, however many names there are.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use abide_core::definition::{Action, Executor, Step, Work};
use abide_core::history::{About, Change, Record};
use abide_core::id::{StepAddress, WorkspaceId};
use abide_core::run::Run;
use abide_core::shared_map::SharedMap;
use abide_core::status::WaitStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Kind;
use jiff::Timestamp;

use crate::timing::Timing;

/// How many sets of names are counted apart, of one kind of count. Further ones are counted as [`OTHER`].
pub const NAME_SETS: usize = 1_000;
/// How many sets of names have a histogram of their own, of one kind. What comes later is timed as [`OTHER`].
pub const TIMED_SETS: usize = 200;
/// Stands for all names that there was no room for.
pub const OTHER: &str = "other";
/// The outcome of an attempt that had a result.
pub const COMPLETED: &str = "COMPLETED";
/// The outcome of an attempt that came to an error.
const FAILED: &str = "FAILED";
/// The outcome of a run that was cancelled.
const CANCELLED: &str = "CANCELLED";
/// The outcome of an attempt whose worker was lost.
const LEASE_LOST: &str = "LEASE_LOST";

/// Values by `N` names, up to a number of sets of names.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<V, const N: usize> {
    sets: usize,
    /// Whoever is given the counts gets a copy, once a second and more.
    by: SharedMap<[Arc<str>; N], V>,
}

/// Counts by `N` names.
pub type ByNames<const N: usize> = Named<u64, N>;
/// Histograms of durations by `N` names.
pub type TimedBy<const N: usize> = Named<Timing, N>;

impl<V: Clone, const N: usize> Named<V, N> {
    fn up_to(sets: usize) -> Named<V, N> {
        Named { sets, by: SharedMap::new() }
    }

    /// The value of these names, or that of [`OTHER`] where there are too many.
    fn of(&mut self, names: [&Arc<str>; N], first: impl FnOnce() -> V) -> &mut V {
        let mut key = names.map(Arc::clone);
        if !self.by.contains_key(&key) {
            // The last place is for all others.
            if self.by.len() + 1 >= self.sets {
                key = std::array::from_fn(|_| OTHER.into());
            }
            if !self.by.contains_key(&key) {
                self.by.insert(key.clone(), first());
            }
        }
        self.by.get_mut(&key).expect("it is there")
    }

    /// All values, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = ([&str; N], &V)> {
        self.by.iter().map(|(names, value)| (std::array::from_fn(|at| &*names[at]), value))
    }
}

impl<const N: usize> ByNames<N> {
    /// Counts one more under these names.
    fn add(&mut self, names: [&Arc<str>; N]) {
        *self.of(names, || 0) += 1;
    }
}

/// What happened since the engine was opened, by names. The first name is the workspace's id, where there is one.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Runs that were started, by workspace and workflow.
    pub runs_started: ByNames<2>,
    /// Runs that completed, by workspace and workflow.
    pub runs_completed: ByNames<2>,
    /// Runs that were cancelled, by workspace and workflow.
    pub runs_cancelled: ByNames<2>,
    /// Runs that failed, by workspace, workflow and error code.
    pub runs_failed: ByNames<3>,
    /// From the start of a run to its end, by workspace, workflow and status.
    pub run_times: TimedBy<3>,
    /// Steps that failed for good, by workspace, workflow, type of step and error code.
    pub steps_failed: ByNames<4>,
    /// From the start of a step to its end, waits included, by workspace, workflow and type of step.
    pub step_times: TimedBy<3>,
    /// Attempts of tasks that ended, by workspace, handler and outcome: [`COMPLETED`], or an error code.
    pub attempts: ByNames<3>,
    /// How long attempts of tasks were worked on, waits not included, by workspace, handler and outcome.
    pub attempt_times: TimedBy<3>,
    /// From when a worker could take a task to when one did, by workspace and handler.
    pub queue_times: TimedBy<2>,
    /// Durable calls that recorded a result, by workspace, handler and name of the call.
    pub durable_calls: ByNames<3>,
    /// Waits that began, by kind.
    pub waits_opened: BTreeMap<Kind, u64>,
    /// Waits that ended, by kind and status.
    pub waits_ended: BTreeMap<(Kind, WaitStatus), u64>,
    /// How long waits lasted, by kind.
    pub wait_times: BTreeMap<Kind, Timing>,
    words: Words,
}

/// Names that are the engine's own, and those of workspaces, each made once.
#[derive(Clone, Debug)]
struct Words {
    completed: Arc<str>,
    failed: Arc<str>,
    cancelled: Arc<str>,
    lease_lost: Arc<str>,
    types: BTreeMap<&'static str, Arc<str>>,
    workspaces: BTreeMap<WorkspaceId, Arc<str>>,
}

impl Words {
    fn workspace(&mut self, id: WorkspaceId) -> Arc<str> {
        if self.workspaces.len() >= NAME_SETS && !self.workspaces.contains_key(&id) {
            return OTHER.into();
        }
        Arc::clone(self.workspaces.entry(id).or_insert_with(|| id.to_string().into()))
    }

    fn type_of(&mut self, step: &Step) -> Arc<str> {
        let name = type_name(&step.action);
        Arc::clone(self.types.entry(name).or_insert_with(|| name.into()))
    }
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            runs_started: ByNames::up_to(NAME_SETS),
            runs_completed: ByNames::up_to(NAME_SETS),
            runs_cancelled: ByNames::up_to(NAME_SETS),
            runs_failed: ByNames::up_to(NAME_SETS),
            run_times: TimedBy::up_to(TIMED_SETS),
            steps_failed: ByNames::up_to(NAME_SETS),
            step_times: TimedBy::up_to(TIMED_SETS),
            attempts: ByNames::up_to(NAME_SETS),
            attempt_times: TimedBy::up_to(TIMED_SETS),
            queue_times: TimedBy::up_to(TIMED_SETS),
            durable_calls: ByNames::up_to(NAME_SETS),
            waits_opened: BTreeMap::new(),
            waits_ended: BTreeMap::new(),
            wait_times: BTreeMap::new(),
            words: Words {
                completed: COMPLETED.into(),
                failed: FAILED.into(),
                cancelled: CANCELLED.into(),
                lease_lost: LEASE_LOST.into(),
                types: BTreeMap::new(),
                workspaces: BTreeMap::new(),
            },
        }
    }
}

impl Counts {
    /// Counts what a record of a run says. `worked` is how long an attempt took that was performed in this process, by its
    /// place.
    pub(crate) fn add(&mut self, run: &Run, record: &Record, worked: &BTreeMap<StepAddress, Duration>) {
        let change = &record.change;
        for wait in change.opens() {
            *self.waits_opened.entry(wait.kind).or_default() += 1;
        }
        let workspace = self.words.workspace(run.workspace);
        let workflow = &run.definition_ref.name;
        if let Change::WorkflowCreated(_) = change {
            self.runs_started.add([&workspace, workflow]);
        } else if let Change::WorkflowCompleted { .. } = change {
            self.runs_completed.add([&workspace, workflow]);
            let status = Arc::clone(&self.words.completed);
            self.time_run(run, record.at, [&workspace, workflow, &status]);
        } else if let Change::WorkflowCancelled { .. } = change {
            self.runs_cancelled.add([&workspace, workflow]);
            let status = Arc::clone(&self.words.cancelled);
            self.time_run(run, record.at, [&workspace, workflow, &status]);
        } else if let Change::WorkflowFailed { error, .. } = change {
            self.runs_failed.add([&workspace, workflow, &error.code]);
            let status = Arc::clone(&self.words.failed);
            self.time_run(run, record.at, [&workspace, workflow, &status]);
        } else if let Change::WaitResolved { number, status, .. } = change {
            if let Some(wait) = run.waitpoint(*number) {
                *self.waits_ended.entry((wait.kind, *status)).or_default() += 1;
                let lasted = Millis::between(wait.created_at, record.at);
                self.wait_times.entry(wait.kind).or_insert_with(Timing::of_waits).add(lasted);
            }
        } else if let About::Place { at, .. } | About::Progress { at } = change.about()
            && let Some(step) = step_at(run, at)
        {
            self.add_of_step(run, at, step, record, &workspace);
            if let Some(work) = step.action.work() {
                let worked = worked.get(&at).copied();
                self.add_of_task(run, at, (work, worked), record, &workspace);
            }
        }
    }

    fn time_run(&mut self, run: &Run, ended: Timestamp, names: [&Arc<str>; 3]) {
        let took = Millis::between(run.started_at.unwrap_or(run.created_at), ended);
        self.run_times.of(names, Timing::of_waits).add(took);
    }

    fn add_of_step(
        &mut self,
        run: &Run,
        at: StepAddress,
        step: &Step,
        record: &Record,
        workspace: &Arc<str>,
    ) {
        let workflow = &run.definition_ref.name;
        let is_completed = matches!(record.change, Change::StepCompleted { .. });
        let failed = if let Change::StepFailed { error, stopped: false, .. } = &record.change {
            Some(&error.code)
        } else {
            None
        };
        if !is_completed && failed.is_none() {
            return;
        }
        let kind = self.words.type_of(step);
        if let Some(code) = failed {
            self.steps_failed.add([workspace, workflow, &kind, code]);
        }
        if let Some(started_at) = run.step(at).and_then(|step| step.started_at) {
            let took = Millis::between(started_at, record.at);
            self.step_times.of([workspace, workflow, &kind], Timing::of_waits).add(took);
        }
    }

    fn add_of_task(
        &mut self,
        run: &Run,
        at: StepAddress,
        (work, worked): (&Work, Option<Duration>),
        record: &Record,
        workspace: &Arc<str>,
    ) {
        let handler = &work.handler;
        let task = run.step(at).and_then(|step| step.task.as_deref());
        let outcome = if let Change::StepCompleted { .. } = &record.change {
            &self.words.completed
        } else if let Change::StepRetrying { error, .. } | Change::StepFailed { error, stopped: false, .. } =
            &record.change
        {
            &error.code
        } else if let Change::TaskRedelivered { counted: true, .. } = &record.change {
            &self.words.lease_lost
        } else if let Change::TaskStarted { .. } = &record.change {
            if let Some(out_since) = task.and_then(|task| task.out_since) {
                let waited = Millis::between(out_since, record.at);
                self.queue_times.of([workspace, handler], Timing::of_work).add(waited);
            }
            return;
        } else if let Change::JournalRecorded { entries, .. } = &record.change {
            let calls = entries.iter().map(|entry| &entry.name);
            calls.for_each(|call| self.durable_calls.add([workspace, handler, call]));
            return;
        } else {
            return;
        };
        self.attempts.add([workspace, handler, outcome]);
        let worked = worked.map(|it| Millis(it.as_millis().try_into().unwrap_or(u64::MAX)));
        let worked = worked.or_else(|| task.map(|task| task.worked)).unwrap_or_default();
        let is_completed = Arc::ptr_eq(outcome, &self.words.completed);
        let outcome = if is_completed { &self.words.completed } else { &self.words.failed };
        self.attempt_times.of([workspace, handler, outcome], Timing::of_work).add(worked);
    }
}

/// A step as defined. A record may be of an earlier version of the workflow than the run is of: then there may be none.
fn step_at(run: &Run, at: StepAddress) -> Option<&Step> {
    let step = run.definition.steps.get(usize::from(at.step))?;
    if let (Action::Map(map), Some(_)) = (&step.action, at.item) { Some(&map.step) } else { Some(step) }
}

/// As the step's `type` is written in a definition.
pub fn type_name(action: &Action) -> &'static str {
    match action {
        Action::Work(work) => match work.executor {
            Executor::Handler => "task",
            Executor::Http => "http",
            Executor::Llm => "llm",
            Executor::Notify => "notify",
        },
        Action::Wait(_) => "wait",
        Action::Condition { .. } => "condition",
        Action::Signal { .. } => "external_event",
        Action::Event { .. } => "wait_for_event",
        Action::Webhook { .. } => "webhook",
        Action::Approval(_) => "approval",
        Action::Respond { .. } => "respond",
        Action::Child { .. } => "workflow",
        Action::Map(_) => "map",
        Action::Group(group) => group.type_name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_end_are_counted_as_others_and_none_is_lost() {
        let mut counts = ByNames::up_to(NAME_SETS);
        let many = NAME_SETS as u64 + 500;
        for number in 0..many {
            counts.add([&format!("workflow-{number}").into()]);
        }
        counts.add([&"workflow-0".into()]);
        assert_eq!(counts.iter().count(), NAME_SETS);
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), many + 1);
        let of = |name: &str| counts.iter().find(|(names, _)| names == &[name]).map(|(_, count)| *count);
        assert_eq!((of("workflow-0"), of(OTHER)), (Some(2), Some(many - (NAME_SETS as u64 - 1))));
    }

    #[test]
    fn histograms_of_names_without_end_are_one_of_all_others() {
        let mut times = TimedBy::up_to(TIMED_SETS);
        for number in 0..1_000_u64 {
            times.of([&format!("handler-{number}").into()], Timing::of_work).add(Millis(number));
        }
        assert_eq!(times.iter().count(), TIMED_SETS);
        assert_eq!(times.iter().map(|(_, timing)| timing.count()).sum::<u64>(), 1_000);
    }
}
