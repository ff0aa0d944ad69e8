//! What happens to work that is done outside of the core: hand-outs, leases, the journal.

use std::sync::Arc;

use jiff::Timestamp;

use crate::apply::BadHistory;
use crate::definition::Executor;
use crate::history::{JournalResult, Record, WakeOn};
use crate::id::StepAddress;
use crate::run::{JournalEntry, Journalled, Run, TaskState};
use crate::time::Millis;
use crate::waitpoint::Waitpoint;

impl Run {
    pub(super) fn task_mut(&mut self, at: StepAddress) -> Result<&mut TaskState, BadHistory> {
        self.step_mut(at)?.task.as_deref_mut().ok_or(BadHistory::Unknown("a task"))
    }

    pub(super) fn task_started(
        &mut self,
        record: &Record,
        at: StepAddress,
        (worker, build): (&Arc<str>, Option<&Arc<str>>),
        deadline: Option<Timestamp>,
    ) -> Result<(), BadHistory> {
        let task = self.task_mut(at)?;
        task.worker = Some(Arc::clone(worker));
        task.build = build.cloned();
        // Handed on, it was taken when the first one took it.
        task.taken_at.get_or_insert(record.at);
        task.progress_at = Some(record.at);
        task.deadline = deadline;
        Ok(())
    }

    pub(super) fn task_paused(
        &mut self,
        record: &Record,
        at: StepAddress,
        opens: &Waitpoint,
    ) -> Result<(), BadHistory> {
        self.open_wait(opens)?;
        self.task_mut(at)?.release(record.at);
        self.await_all(at, &[opens.number], WakeOn::All)
    }

    pub(super) fn task_redelivered(
        &mut self,
        record: &Record,
        at: StepAddress,
        counted: bool,
    ) -> Result<(), BadHistory> {
        let task = self.task_mut(at)?;
        task.release(record.at);
        task.lost_leases += u32::from(counted);
        task.hand_out(record.at);
        Ok(())
    }

    pub(super) fn journal_recorded(
        &mut self,
        record: &Record,
        at: StepAddress,
        entries: &[JournalResult],
    ) -> Result<(), BadHistory> {
        let task = self.task_mut(at)?;
        for JournalResult { name, result } in entries {
            task.record(name, Journalled::Result(result.clone()), record.at);
        }
        task.progress_at = Some(record.at);
        self.renew_attempts(at)
    }

    /// Gives a handler that has recorded something new all its attempts again (R21). Not so for the engine's own
    /// calls, which record their failures, too.
    pub(super) fn renew_attempts(&mut self, at: StepAddress) -> Result<(), BadHistory> {
        let work = self.defined(at).action.work();
        let is_handler = work.is_some_and(|work| work.executor == Executor::Handler);
        let step = self.step_mut(at)?;
        if is_handler {
            step.renewed_at = step.attempt.saturating_sub(1);
        }
        Ok(())
    }
}

impl TaskState {
    pub(super) fn begin_attempt(&mut self) {
        self.worked = Millis(0);
        self.lost_leases = 0;
    }

    /// Ready for a worker, under a new lease epoch.
    pub(super) fn hand_out(&mut self, now: Timestamp) {
        self.lease_epoch += 1;
        self.out = true;
        self.out_since = Some(now);
    }

    /// Ends the worker's lease; the time that the worker had the task counts for the attempt.
    pub(super) fn release(&mut self, now: Timestamp) {
        if let Some(taken_at) = self.taken_at {
            self.worked.0 = self.worked.0.saturating_add(Millis::between(taken_at, now).0);
        }
        self.take_back();
    }

    /// Nobody's any more; a report for it is refused.
    fn take_back(&mut self) {
        self.out = false;
        self.worker = None;
        self.taken_at = None;
        self.deadline = None;
    }

    pub(super) fn record(&mut self, name: &Arc<str>, what: Journalled, now: Timestamp) {
        let (order, recorded_at, since) = (self.recorded, Some(now), self.progress_at);
        if !self.journal.contains_key(name) {
            self.journal.insert(Arc::clone(name), JournalEntry { order, what, recorded_at, since });
        }
        self.recorded += 1;
    }

    /// Takes an entry out of the journal. The others stay in their order.
    pub(super) fn forget(&mut self, name: &str) {
        self.journal.remove(name);
    }
}
