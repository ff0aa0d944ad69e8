//! What a scenario can be asked about.

use std::sync::Arc;

use abide_core::command::Outcome;
use abide_core::definition::Definition;
use abide_core::effect::{AfterCommit, ChildStart, RoundEffect};
use abide_core::history::Record;
use abide_core::id::StepAddress;
use abide_core::run::{Run, StepState};
use abide_core::task::{JournalWhat, Task};
use abide_core::waiting_for::waiting_for;
use abide_core::waitpoint::{Kind, Waitpoint};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::Scenario;

impl Scenario {
    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn definition(&self) -> Arc<Definition> {
        Arc::clone(&self.definition)
    }

    pub(crate) fn status(&self) -> String {
        self.run.status.to_string()
    }

    /// Every status the run has had.
    pub(crate) fn path(&self) -> String {
        self.path.join(" ")
    }

    /// Every status the step has had after PENDING.
    pub(crate) fn step_path(&self, step: &str) -> String {
        let path = self.step_paths.iter().filter(|(name, _)| name == step).map(|(_, status)| status.as_str());
        path.collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    pub(crate) fn at(&self, step: &str) -> StepAddress {
        self.run.find_step(step).unwrap_or_else(|| panic!("there is no step {step}"))
    }

    pub(crate) fn step(&self, step: &str) -> String {
        self.run.step_status(self.at(step)).to_string()
    }

    /// The statuses of all steps, in the order written.
    pub(crate) fn steps(&self) -> String {
        let names =
            self.definition.steps.iter().map(|step| format!("{} {}", step.name, self.step(&step.name)));
        names.collect::<Vec<_>>().join(", ")
    }

    #[track_caller]
    pub(crate) fn step_state(&self, step: &str) -> &StepState {
        self.run.step(self.at(step)).unwrap_or_else(|| panic!("{step} has not begun"))
    }

    pub(crate) fn attempt(&self, step: &str) -> u32 {
        self.step_state(step).attempt
    }

    pub(crate) fn output_of(&self, step: &str) -> Value {
        self.step_state(step).output.as_ref().map_or(Value::Null, |output| Value::clone(output))
    }

    /// The code of the step's failure.
    pub(crate) fn error_of(&self, step: &str) -> String {
        self.step_state(step).error.as_ref().map(|error| error.code.to_string()).unwrap_or_default()
    }

    pub(crate) fn output(&self) -> Value {
        self.run.output.as_ref().map_or(Value::Null, |output| Value::clone(output))
    }

    /// The code of the run's failure.
    pub(crate) fn error(&self) -> String {
        self.run.error.as_ref().map(|error| error.code.to_string()).unwrap_or_default()
    }

    pub(crate) fn state(&self) -> Value {
        let state = self.run.state.iter().map(|(key, value)| (key.clone(), Value::clone(value)));
        Value::Object(state.collect::<Map<_, _>>())
    }

    pub(crate) fn waiting_for(&self) -> Vec<String> {
        waiting_for(&self.run).iter().map(ToString::to_string).collect()
    }
}

/// Waits.
impl Scenario {
    /// The number of the step's newest waitpoint that holds it up.
    #[track_caller]
    pub(crate) fn wait(&self, step: &str) -> u32 {
        self.waitpoint(step).number
    }

    #[track_caller]
    pub(crate) fn waitpoint(&self, step: &str) -> &Waitpoint {
        let at = self.at(step);
        let mut waits = self.run.waitpoints().rev();
        waits
            .find(|wait| wait.at == Some(at) && !wait.is_aside())
            .unwrap_or_else(|| panic!("{step} has no waitpoint"))
    }

    pub(crate) fn waits_of(&self, step: &str) -> Vec<&Waitpoint> {
        let at = self.at(step);
        self.run.waitpoints().filter(|wait| wait.at == Some(at)).collect()
    }

    /// When the step's wait ends, or its deadline.
    #[track_caller]
    pub(crate) fn resume_at(&self, step: &str) -> Timestamp {
        self.waitpoint(step).resume_at.unwrap_or_else(|| panic!("{step} waits without a deadline"))
    }

    pub(crate) fn wait_status(&self, step: &str) -> String {
        self.waitpoint(step).status.to_string()
    }

    /// The steps with open waits, and their kinds, the oldest first.
    /// The number of the open wait of this kind.
    pub(crate) fn wait_of_kind(&self, kind: Kind) -> u32 {
        self.run.open_waitpoints().find(|wait| wait.kind == kind).expect("a wait of this kind").number
    }

    pub(crate) fn open(&self) -> Vec<String> {
        let name = |wait: &Waitpoint| match wait.at {
            Some(at) => format!("{} {}", self.run.step_name(at), wait.kind),
            None => format!("{} {}", wait.name, wait.kind),
        };
        self.run.open_waitpoints().map(name).collect()
    }
}

/// Tasks.
impl Scenario {
    #[track_caller]
    pub(crate) fn lease_epoch(&self, step: &str) -> u32 {
        let task = self.step_state(step).task.as_ref();
        task.unwrap_or_else(|| panic!("{step} is no task")).lease_epoch
    }

    /// The task as it is handed out.
    #[track_caller]
    pub(crate) fn task(&self, step: &str) -> Task {
        let task = self.run.task(self.at(step)).unwrap_or_else(|| panic!("{step} is not handed out"));
        task.unwrap_or_else(|failure| panic!("{step} cannot be handed out: {failure:?}"))
    }

    pub(crate) fn is_handed_out(&self, step: &str) -> bool {
        self.run.task(self.at(step)).is_some()
    }

    /// The journal that comes with the task: results as they are, waits by their status and payload.
    #[track_caller]
    pub(crate) fn journal_of(&self, step: &str) -> Vec<(String, Value)> {
        let item = |what: JournalWhat| match what {
            JournalWhat::Result(result) => Value::clone(&result),
            JournalWhat::Wait { status, payload, .. } => json!({ "status": status, "payload": payload }),
        };
        self.task(step).journal.into_iter().map(|entry| (entry.name.to_string(), item(entry.what))).collect()
    }
}

/// History and effects.
impl Scenario {
    pub(crate) fn history(&self) -> &[Record] {
        &self.history
    }

    pub(crate) fn last(&self) -> &Outcome {
        &self.last
    }

    /// The names of all records.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.history.iter().map(|record| record.change.name()).collect()
    }

    /// The names of the records of the last command.
    pub(crate) fn last_names(&self) -> Vec<&'static str> {
        self.last.records.iter().map(|record| record.change.name()).collect()
    }

    pub(crate) fn count(&self, name: &str) -> usize {
        self.names().into_iter().filter(|known| *known == name).count()
    }

    pub(crate) fn in_round(&self) -> &[RoundEffect] {
        &self.in_round
    }

    pub(crate) fn after_commit(&self) -> &[AfterCommit] {
        &self.after_commit
    }

    pub(crate) fn last_in_round(&self) -> &[RoundEffect] {
        &self.last.in_round
    }

    pub(crate) fn last_after_commit(&self) -> &[AfterCommit] {
        &self.last.after_commit
    }

    /// How often the step's work was handed out.
    pub(crate) fn dispatches(&self, step: &str) -> usize {
        let at = self.at(step);
        self.after_commit
            .iter()
            .filter(|effect| matches!(effect, AfterCommit::Dispatch { at: to, .. } if *to == at))
            .count()
    }

    /// The steps whose work the last command handed out.
    pub(crate) fn dispatched(&self) -> Vec<String> {
        let dispatched = self.last.after_commit.iter().filter_map(|effect| {
            if let AfterCommit::Dispatch { at, .. } = effect { Some(self.run.step_name(*at)) } else { None }
        });
        dispatched.collect()
    }

    pub(crate) fn children(&self) -> Vec<&ChildStart> {
        let started = self.in_round.iter().filter_map(|effect| {
            if let RoundEffect::StartChild(child) = effect { Some(child.as_ref()) } else { None }
        });
        started.collect()
    }
}
