//! What happens to steps: their status, their output, and what that does to `state` and to the steps after.

use std::sync::Arc;

use crate::apply::BadHistory;
use crate::definition::{Action, Order, is_own};
use crate::history::{Failure, Record, StateChange, WakeOn};
use crate::id::StepAddress;
use crate::json::Json;
use crate::run::{Awaiting, Journalled, MapState, Run, StepState, TaskState};
use crate::status::{StepStatus, transition};
use crate::waitpoint::{Kind, Waitpoint};

impl Run {
    pub(super) fn step_mut(&mut self, at: StepAddress) -> Result<&mut StepState, BadHistory> {
        let step = self.snapshot.steps.get_or_default(at.step);
        match at.item {
            None => Ok(step),
            Some(item) => {
                let map =
                    step.map.as_mut().ok_or(BadHistory::Unknown("an item of a map that has not begun"))?;
                Ok(map.items.get_or_default(item))
            }
        }
    }

    /// Moves a step run to another status and keeps the run's counters true.
    fn move_step(&mut self, at: StepAddress, to: StepStatus) -> Result<&mut StepState, BadHistory> {
        // A map counts by its items.
        let counts = at.item.is_some() || !matches!(self.definition.step(at.step).action, Action::Map(_));
        let step = self.step_mut(at)?;
        let from = step.status;
        step.status = transition(from, to)?;
        if counts {
            let snapshot = &mut self.snapshot;
            snapshot.running -= u32::from(from == StepStatus::Running);
            snapshot.waiting -= u32::from(from == StepStatus::Waiting);
            snapshot.running += u32::from(to == StepStatus::Running);
            snapshot.waiting += u32::from(to == StepStatus::Waiting);
        }
        if at.item.is_none() && to.is_settled() {
            self.snapshot.settled += 1;
        }
        self.step_mut(at)
    }

    pub(super) fn step_started(
        &mut self,
        record: &Record,
        at: StepAddress,
        request: Option<&Json>,
    ) -> Result<(), BadHistory> {
        let is_work = matches!(self.defined(at).action, Action::Work(_));
        let backed_off = self.call_back_offs(at);
        let handed_out = self.deliveries_before;
        let step = self.move_step(at, StepStatus::Running)?;
        if step.visit > 0 {
            step.begin_again(is_work, &backed_off);
        }
        step.visit += 1;
        step.attempt = 1;
        step.renewed_at = 0;
        step.started_at = Some(record.at);
        step.ended_at = None;
        step.error = None;
        step.stopped = false;
        if is_work {
            let first = || Box::new(TaskState { lease_epoch: handed_out, ..TaskState::default() });
            let task = step.task.get_or_insert_with(first);
            task.begin_attempt();
            task.hand_out(record.at);
            task.request = request.cloned();
            // What was resumed before the task began is in its journal from the start.
            for (name, number) in &step.waits {
                task.record(name, Journalled::Wait(*number), record.at);
            }
        }
        if let Some(item) = at.item {
            let map = self.map_mut(at)?;
            map.under_way += 1;
            map.next = map.next.max(item + 1);
        }
        Ok(())
    }

    /// The back-offs of a task's durable calls, by name.
    fn call_back_offs(&self, at: StepAddress) -> Vec<Arc<str>> {
        let waits = self.step(at).into_iter().flat_map(|step| &step.waits);
        let backs_off = |number: &u32| self.waitpoint(*number).is_some_and(|it| it.next_attempt().is_some());
        waits.filter(|(_, number)| backs_off(number)).map(|(name, _)| Arc::clone(name)).collect()
    }

    pub(super) fn step_waiting(
        &mut self,
        record: &Record,
        at: StepAddress,
        opens: &[Waitpoint],
        awaits: &[u32],
        wake: WakeOn,
    ) -> Result<(), BadHistory> {
        for waitpoint in opens {
            self.open_wait(waitpoint)?;
        }
        // What had come to a step before it began again is still there.
        let names: Vec<(Arc<str>, u32)> = awaits
            .iter()
            .filter_map(|number| Some((Arc::clone(&self.waitpoint(*number)?.name), *number)))
            .collect();
        let step = self.move_step(at, StepStatus::Waiting)?;
        if wake == WakeOn::Group {
            step.waits.extend(names);
        }
        if let Some(task) = &mut step.task {
            task.release(record.at);
        }
        self.await_all(at, awaits, wake)
    }

    /// Makes the step run go on when the given waitpoints are over.
    pub(super) fn await_all(
        &mut self,
        at: StepAddress,
        awaits: &[u32],
        wake: WakeOn,
    ) -> Result<(), BadHistory> {
        let pending = awaits.iter().filter(|number| self.open.contains_key(number)).count();
        let pending = u32::try_from(pending).expect("fewer than limits::WAITPOINTS");
        let step = self.step_mut(at)?;
        step.awaiting = Some(Awaiting { waits: awaits.to_vec(), pending, wake });
        Ok(())
    }

    pub(super) fn step_resumed(&mut self, record: &Record, at: StepAddress) -> Result<(), BadHistory> {
        self.snapshot.held.remove(&at);
        let retries = self.is_backing_off(at);
        let step = self.step_mut(at)?;
        step.awaiting = None;
        // A worker's own pause kept the step RUNNING.
        let step =
            if step.status == StepStatus::Running { step } else { self.move_step(at, StepStatus::Running)? };
        step.attempt += u32::from(retries);
        if let Some(task) = &mut step.task {
            if retries {
                task.begin_attempt();
            }
            task.hand_out(record.at);
        }
        Ok(())
    }

    pub(super) fn step_retrying(
        &mut self,
        record: &Record,
        at: StepAddress,
        error: &Failure,
        opens: &Waitpoint,
    ) -> Result<(), BadHistory> {
        self.open_wait(opens)?;
        let step = self.move_step(at, StepStatus::Waiting)?;
        step.error = Some(error.clone());
        if let Some(task) = &mut step.task {
            task.release(record.at);
        }
        self.await_all(at, &[opens.number], WakeOn::All)
    }

    pub(super) fn step_completed(
        &mut self,
        record: &Record,
        at: StepAddress,
        output: Option<&Json>,
        waitpoint: Option<u32>,
        state: &StateChange,
        not_taken: &[u16],
    ) -> Result<(), BadHistory> {
        let from_wait = || {
            let number = waitpoint?;
            self.waitpoint(number)?.resume_payload.clone()
        };
        let output = output.cloned().or_else(from_wait);
        let step = self.move_step(at, StepStatus::Completed)?;
        step.end(record);
        step.error = None;
        step.output.clone_from(&output);
        self.change_state(state, output.as_ref());
        if let Some(item) = at.item {
            return self.item_ended(at, item);
        }
        if output.is_some() && self.definition.step(at.step).action.gives_output() {
            self.snapshot.last_output = Some(at.step);
        }
        for untaken in not_taken {
            self.step_mut(StepAddress::step(*untaken))?.untaken = true;
        }
        self.settled_for_those_after(at.step, true)
    }

    pub(super) fn step_failed(
        &mut self,
        record: &Record,
        at: StepAddress,
        error: &Failure,
        stopped: bool,
    ) -> Result<(), BadHistory> {
        let step = self.move_step(at, StepStatus::Failed)?;
        step.end(record);
        step.stopped = stopped;
        step.error = Some(error.clone());
        match at.item {
            Some(item) => self.item_ended(at, item),
            None => {
                let name = Arc::clone(&self.definition.step(at.step).name);
                self.snapshot.failure.get_or_insert_with(|| Failure { step: Some(name), ..error.brief() });
                Ok(())
            }
        }
    }

    pub(super) fn step_skipped(&mut self, record: &Record, at: StepAddress) -> Result<(), BadHistory> {
        self.move_step(at, StepStatus::Skipped)?.end(record);
        self.settled_for_those_after(at.step, false)
    }

    pub(super) fn step_cancelled(&mut self, record: &Record, at: StepAddress) -> Result<(), BadHistory> {
        self.move_step(at, StepStatus::Cancelled)?.end(record);
        match at.item {
            Some(item) => self.item_ended(at, item),
            None => Ok(()),
        }
    }

    pub(super) fn map_started(&mut self, at: StepAddress, items: &Json) -> Result<(), BadHistory> {
        self.step_mut(StepAddress::step(at.step))?.map = Some(Box::new(MapState::new(items.clone())));
        Ok(())
    }

    fn map_mut(&mut self, at: StepAddress) -> Result<&mut MapState, BadHistory> {
        let step = self.step_mut(StepAddress::step(at.step))?;
        step.map.as_deref_mut().ok_or(BadHistory::Unknown("a map that has not begun"))
    }

    fn item_ended(&mut self, at: StepAddress, item: u32) -> Result<(), BadHistory> {
        let Action::Map(defined) = &self.definition.step(at.step).action else {
            return Err(BadHistory::Unknown("a map"));
        };
        let collects = defined.collect_failures;
        let map = self.map_mut(at)?;
        map.under_way -= 1;
        let done = map.items.get(&item).is_some_and(|item| {
            let collected = collects && item.status == StepStatus::Failed && !item.stopped;
            item.status == StepStatus::Completed || collected
        });
        map.done += u32::from(done);
        Ok(())
    }

    /// In a graph, tells the steps after this one that this one is settled.
    fn settled_for_those_after(&mut self, step: u16, taken: bool) -> Result<(), BadHistory> {
        match self.definition.order {
            Order::Sequence => Ok(()),
            Order::Graph => {
                let definition = Arc::clone(&self.definition);
                for after in &definition.step(step).before {
                    let after = self.step_mut(StepAddress::step(*after))?;
                    after.settled_before += 1;
                    after.taken_before += u16::from(taken);
                }
                Ok(())
            }
        }
    }

    fn change_state(&mut self, change: &StateChange, output: Option<&Json>) {
        match (change, output) {
            (StateChange::Nothing, _) | (StateChange::MergeOutput | StateChange::OutputAs(_), None) => {}
            (StateChange::MergeOutput, Some(output)) => {
                for (key, value) in output.as_object().into_iter().flatten() {
                    self.set_state(key, Json::new(value.clone()));
                }
            }
            (StateChange::OutputAs(key), Some(output)) => self.set_state(key, output.clone()),
            (StateChange::Set(values), _) => {
                for (key, value) in values {
                    self.set_state(key, value.clone());
                }
            }
        }
    }

    fn set_state(&mut self, key: &str, value: Json) {
        self.snapshot.state_bytes += key.len() + value.bytes();
        if let Some(old) = self.snapshot.state.insert(key.to_owned(), value) {
            self.snapshot.state_bytes -= key.len() + old.bytes();
        }
    }
}

impl StepState {
    fn end(&mut self, record: &Record) {
        self.ended_at = Some(record.at);
        self.awaiting = None;
        if let Some(task) = &mut self.task {
            task.release(record.at);
        }
    }

    /// Begins another visit of a step. A task goes on with its journal, results and waits alike (R19), while its
    /// durable calls have all their attempts again and any code may try; any other step waits anew.
    fn begin_again(&mut self, is_work: bool, backed_off: &[Arc<str>]) {
        self.waits.retain(|name, _| is_work && !is_own(name) && !backed_off.contains(name));
        if let Some(task) = &mut self.task {
            backed_off.iter().for_each(|name| task.forget(name));
            task.unfit = None;
        }
    }

    /// Keeps when a sleep was to end that the failure of its step ended early: a retry opens the sleep again, to the
    /// same instant.
    pub(super) fn cut_off(&mut self, wait: &Waitpoint) {
        let Some(task) = self.task.as_mut().filter(|_| !is_own(&wait.name)) else { return };
        task.forget(&wait.name);
        self.waits.remove(&wait.name);
        if let Some(resume_at) = wait.resume_at.filter(|_| wait.kind == Kind::Delay) {
            self.cut_off.insert(Arc::clone(&wait.name), resume_at);
        }
    }
}
