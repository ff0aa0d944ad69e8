//! How the board is to have a task after a round: what follows from the run, and from who took the task in the round.

use std::sync::Arc;

use abide_core::id::At;
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_store::tasks::{StoredTask, TaskWrite};
use jiff::Timestamp;

use super::IN_PROCESS;
use super::queues::queue_of;

/// How the row of a task is to be after a round; `None` if it stays as it is. A process has its own tasks for `hold`.
pub(crate) fn task_row(
    run: &Run,
    at: At,
    now: Timestamp,
    lease: Option<Millis>,
    hold: Millis,
    works_here: impl Fn(&Run, At) -> bool,
) -> Option<TaskWrite> {
    let work = run.defined(at).action.work()?;
    let task = run.step(at).and_then(|step| step.task.as_deref())?;
    if !task.out {
        return Some(TaskWrite::Remove { run: run.id, at, delivery: task.delivery });
    }
    let queue = queue_of(run, at, work);
    let (is_taken, free_at, lease) = match (&task.worker, lease) {
        (Some(worker), _) if &**worker == IN_PROCESS => (true, hold.after(now), hold),
        (Some(_), Some(lease)) => (true, lease.after(now), lease),
        // It was given to somebody before.
        (Some(_), None) => return None,
        (None, _) if works_here(run, at) => (true, hold.after(now), hold),
        (None, _) => (false, now, hold),
    };
    Some(TaskWrite::Put(StoredTask {
        run: run.id,
        at,
        delivery: task.delivery,
        workspace: run.workspace,
        queue,
        definition: Arc::clone(&run.definition_ref.name),
        is_taken,
        has_begun: task.worker.is_some(),
        free_at: task.deadline.map_or(free_at, |deadline| free_at.min(deadline)),
        lease,
        deadline: task.deadline,
    }))
}
