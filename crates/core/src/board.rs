//! The task board, as far as it follows from runs: how the row of a task is to be after a round, and what is decided
//! about a task whose lease is over. Who keeps the rows and hands them out is not known here.

use std::sync::Arc;

use jiff::Timestamp;

use crate::command::{Command, LeaseLoss, LeaseLost};
use crate::id::{RunId, StepAddress, WorkspaceId};
use crate::queue::queue_of;
use crate::run::{Run, Timer};
use crate::time::Millis;

/// The name under which a process has the tasks that its own handlers do. No worker has such a name.
pub const IN_PROCESS: &str = "in process";

/// A task that is out: somebody has it, or is to have it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    /// The run that the task is a part of.
    pub run: RunId,
    /// The address of the task's step in its run.
    pub at: StepAddress,
    /// The lease epoch: the number that fences earlier holders.
    pub lease_epoch: u32,
    /// The workspace of the run.
    pub workspace: WorkspaceId,
    /// The name under which the task waits for workers.
    pub queue: Arc<str>,
    /// The name of the workflow.
    pub definition: Arc<str>,
    /// Whether somebody has the task.
    pub is_taken: bool,
    /// Whether the history says who has the task; then it is taken.
    pub has_begun: bool,
    /// From this instant on the task is anybody's: to be taken, or to be taken away from whoever has it.
    pub free_at: Timestamp,
    /// How long whoever has the task keeps it after each heartbeat.
    pub lease: Millis,
    /// The instant after which heartbeats do not extend the lease; `None`: they always do.
    pub deadline: Option<Timestamp>,
}

/// How a round changes the board.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskWrite {
    /// The task is out, and this is its row.
    Put(TaskRow),
    /// The task is not out under this lease epoch or an earlier one; a row with a later epoch stays.
    Remove {
        /// The run that the task is a part of.
        run: RunId,
        /// The address of the task's step in its run.
        at: StepAddress,
        /// The last lease epoch that is not out.
        lease_epoch: u32,
    },
    /// A heartbeat came from whoever has the task.
    Renew {
        /// The run that the task is a part of.
        run: RunId,
        /// The address of the task's step in its run.
        at: StepAddress,
        /// The lease epoch under which the task was handed out.
        lease_epoch: u32,
        /// When the heartbeat came.
        now: Timestamp,
    },
}

/// How the row of a task is to be after a round; `None` if it stays as it is. A worker that took the task in the round has
/// it for `lease`; a process has its own tasks for `hold`, also one that a handler of its own is about to take.
pub fn task_row(
    run: &Run,
    at: StepAddress,
    now: Timestamp,
    lease: Option<Millis>,
    hold: Millis,
    works_here: impl Fn(&Run, StepAddress) -> bool,
) -> Option<TaskWrite> {
    let work = run.defined(at).action.work()?;
    let task = run.step(at).and_then(|step| step.task.as_deref())?;
    if !task.out {
        return Some(TaskWrite::Remove { run: run.id, at, lease_epoch: task.lease_epoch });
    }
    let (is_taken, free_at, lease) = match (&task.worker, lease) {
        (Some(worker), _) if **worker == *IN_PROCESS => (true, hold.after(now), hold),
        (Some(_), Some(lease)) => (true, lease.after(now), lease),
        // It was given to somebody before.
        (Some(_), None) => return None,
        (None, _) if works_here(run, at) => (true, hold.after(now), hold),
        (None, _) => (false, now, hold),
    };
    Some(TaskWrite::Put(TaskRow {
        run: run.id,
        at,
        lease_epoch: task.lease_epoch,
        workspace: run.workspace,
        queue: queue_of(run, at, work),
        definition: Arc::clone(&run.definition_ref.name),
        is_taken,
        has_begun: task.worker.is_some(),
        free_at: task.deadline.map_or(free_at, |deadline| free_at.min(deadline)),
        lease,
        deadline: task.deadline,
    }))
}

/// What is asked of a run when the lease of one of its tasks is over: the attempt's own deadline comes first; a process
/// that is gone has done the task no harm; a worker that is gone may have been killed by it.
pub fn lease_ended(run: Option<&Run>, at: StepAddress, lease_epoch: u32, now: Timestamp) -> Command {
    let task = run.and_then(|run| run.step(at)).and_then(|step| step.task.as_deref());
    if task.and_then(|task| task.deadline).is_some_and(|deadline| deadline <= now) {
        return Command::TimerFired(Timer::Attempt { at, lease_epoch });
    }
    let worker = task.and_then(|task| task.worker.as_deref());
    let loss = if worker == Some(IN_PROCESS) { LeaseLoss::Released } else { LeaseLoss::Expired };
    Command::LeaseLost(LeaseLost { at, lease_epoch, loss })
}
