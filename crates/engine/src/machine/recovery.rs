//! Tasks that were out when the last process ended, on a board that begins empty: a page of runs in each pass, beside whatever
//! is asked meanwhile. So an engine answers at once, however many runs are under way.

use abide_core::id::RunId;
use abide_core::run::{Run, Timer};
use abide_core::time::Millis;
use abide_store::{Owner, Page, RunFilter, StoredTimer};

use super::Machine;
use crate::tasks::{TaskBoard, WITH_TASKS_OUT, rows_of};

/// Runs that are looked at in one pass.
const PAGE: usize = 100;

/// The progress of the recovery.
pub(super) struct Recovery {
    after: Option<RunId>,
    is_at_end: bool,
    /// Runs that were being decided when it was their turn.
    aside: Vec<RunId>,
}

impl Recovery {
    pub(super) fn of(board: &dyn TaskBoard) -> Recovery {
        Recovery { after: None, is_at_end: !board.begins_empty(), aside: Vec::new() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_at_end && self.aside.is_empty()
    }
}

impl Machine {
    /// Puts the tasks of the next runs on the board.
    pub(super) fn recover_tasks(&mut self) {
        if self.recovery.is_done() {
            return;
        }
        let mut runs = std::mem::take(&mut self.recovery.aside);
        if !self.recovery.is_at_end {
            let filter = RunFilter { statuses: WITH_TASKS_OUT.to_vec(), ..RunFilter::default() };
            let page = Page { after: self.recovery.after, limit: PAGE };
            let found = self.store.run_ids(&filter, &page);
            self.watch.runs_looked_up(found.as_ref().err().map(ToString::to_string));
            match found {
                Ok(found) => {
                    self.recovery.is_at_end = found.len() < PAGE;
                    self.recovery.after = found.last().copied().or(self.recovery.after);
                    runs.extend(found);
                }
                Err(error) => {
                    tracing::error!(%error, "runs that are under way could not be looked up");
                    self.in_trouble();
                }
            }
        }
        for run in runs {
            if self.open.batch.has_run(run) || self.in_flight.has_run(run) {
                self.recovery.aside.push(run);
            } else if self.holds.check(run).is_ok() {
                self.recover_run(run);
            }
        }
    }

    fn recover_run(&mut self, id: RunId) {
        match self.memory.take(&mut *self.store, id) {
            Ok(Some(run)) => {
                self.restore_tasks(&run);
                self.memory.put(run);
            }
            Ok(None) => {}
            Err(error) if error.passes() => {
                tracing::error!(run = %id, %error, "a run could not be loaded");
                self.recovery.aside.push(id);
                self.in_trouble();
            }
            Err(error) => self.hold(Owner::of(id), error.to_string()),
        }
    }

    /// Puts the tasks of a run on the board that are out and not there, with the time that they may take.
    pub(super) fn restore_tasks(&mut self, run: &Run) {
        for (at, timer) in
            run.timers().into_iter().filter(|(_, timer)| matches!(timer, Timer::Attempt { .. }))
        {
            self.alarm.set(StoredTimer { at, run: run.id, timer });
        }
        for task in rows_of(run, self.now.wall, Millis(0)) {
            let state = run.step(task.at).and_then(|step| step.task.as_deref());
            let worker = state.and_then(|state| state.worker.clone());
            self.tasks.restore(task, worker.map(|worker| (run.workspace, worker)));
        }
    }

    /// Lets the tasks of a run be taken that somebody took while nothing was decided about it. Where leases end by
    /// themselves, they do so without a word.
    pub(super) fn free_tasks(&mut self, run: &Run) {
        if self.tasks.board().begins_empty() {
            self.restore_tasks(run);
            self.tasks.release_idle(run, self.now.wall);
        }
    }
}
