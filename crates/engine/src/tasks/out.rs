//! The tasks of a run that are out, as its history has them: for a board that begins empty, and for a store that keeps them
//! when runs come from one that does not.

use std::sync::Arc;

use abide_core::board::{IN_PROCESS, task_row};
use abide_core::id::StepAddress;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_store::tasks::{StoredTask, TaskWrite};
use abide_store::{Batch, Page, RunFilter, Store};
use jiff::Timestamp;

use super::LEASE;
use super::stored::HOLD;
use crate::error::Error;
use crate::executor::{URL_LEASE, URL_WORKER};
use crate::memory::Memory;

/// Runs that are looked at, and tasks that are written, at once.
const PAGE: usize = 500;
/// A worker has not been able to report while its run was moved, and may not be until the next server is up.
const GRACE: Millis = Millis(10 * 60 * 1_000);

/// Runs of these statuses may have tasks out: one that is paused leaves those of its other steps to whoever has them.
pub(crate) const WITH_TASKS_OUT: [RunStatus; 2] = [RunStatus::Running, RunStatus::Paused];

/// Writes all tasks that are out, as of an instant, and says how many there are. Nothing is written where a store does
/// not keep them.
///
/// A worker keeps its task for ten minutes from then on at least, a task that a handler of a process was at is anybody's
/// at once. The time that a task may take is not prolonged.
pub fn write_tasks_out(store: &mut dyn Store, now: Timestamp) -> Result<usize, Error> {
    if store.tasks()?.is_none() {
        return Ok(0);
    }
    let mut memory = Memory::default();
    let filter = RunFilter { statuses: WITH_TASKS_OUT.to_vec(), ..RunFilter::default() };
    let mut page = Page { after: None, limit: PAGE };
    let mut count = 0;
    loop {
        let runs = store.runs(&filter, &page)?;
        let mut tasks = Vec::new();
        for summary in &runs {
            if let Some(run) = memory.take(store, summary.id)? {
                tasks.extend(rows_of(&run, now, GRACE));
            }
        }
        count += tasks.len();
        let tasks: Vec<TaskWrite> = tasks.into_iter().map(TaskWrite::Put).collect();
        store.commit(&Batch { tasks: tasks.iter().collect(), ..Batch::default() })?;
        page.after = runs.last().map(|run| run.id);
        if runs.len() < PAGE {
            return Ok(count);
        }
    }
}

/// The tasks of a run that are out. A worker keeps its task for `at_least` this long; what a handler of a process was at is
/// late at once.
pub(crate) fn rows_of(run: &Run, now: Timestamp, at_least: Millis) -> impl Iterator<Item = StoredTask> {
    run.step_runs().filter_map(move |(at, step)| {
        let task = step.task.as_deref().filter(|task| task.out)?;
        let worker = task.worker.as_ref();
        let lease = worker.map(|worker| lease_of(run, at, worker));
        let TaskWrite::Put(task) = task_row(run, at, now, lease, HOLD, |_, _| false)? else { return None };
        let free_at = match worker {
            None => now,
            Some(worker) if **worker == *IN_PROCESS => now,
            Some(_) => task.free_at.max(at_least.after(now)),
        };
        let free_at = task.deadline.map_or(free_at, |deadline| free_at.min(deadline));
        Some(StoredTask { free_at, ..task })
    })
}

/// How long a worker has a task where nobody knows what it asked for.
pub(crate) fn lease_of(run: &Run, at: StepAddress, worker: &Arc<str>) -> Millis {
    let usual = if **worker == *URL_WORKER { URL_LEASE } else { LEASE };
    run.heartbeat(at).unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use abide_core::definition::Definition;
    use abide_core::id::RunId;
    use abide_core::json::Json;
    use abide_core::random::Random;
    use serde_json::json;

    use abide_core::command::{Command, Context, NewRun, TaskStarted, decide, start};
    use abide_core::waitpoint::Actor;

    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_700_000_000, 0);

    fn run(step: serde_json::Value) -> Run {
        let document = json!({ "name": "w", "steps": [step] });
        let definition = Arc::new(Definition::from_value(document).unwrap().definition);
        let new = NewRun::new(RunId(7), definition, Json::new(json!({})));
        start(new, &context(NOW)).unwrap().0
    }

    fn context(now: Timestamp) -> Context {
        Context {
            now,
            random: Random::new(1).draw(),
            by: Actor::new("tester"),
            traceparent: None,
            bounds: Default::default(),
        }
    }

    fn taken_by(run: &mut Run, worker: &str) {
        let taken = TaskStarted::new(StepAddress::step(0), 1, worker);
        decide(run, Command::TaskStarted(taken), &context(NOW)).unwrap();
    }

    fn task(run: &Run, now: Timestamp) -> StoredTask {
        let tasks: Vec<StoredTask> = rows_of(run, now, GRACE).collect();
        assert_eq!(tasks.len(), 1);
        tasks.into_iter().next().unwrap()
    }

    #[test]
    fn a_task_that_nobody_has_is_free() {
        let task = task(&run(json!({ "type": "task", "name": "a", "handler": "h" })), NOW);
        assert_eq!((&*task.queue, task.free_at, task.deadline), ("h", NOW, None));
        assert!(!task.is_taken && !task.has_begun);
        let call = run(json!({ "type": "http", "name": "a", "url": "https://example.com" }));
        assert_eq!(
            (rows_of(&call, NOW, GRACE).count(), &*rows_of(&call, NOW, GRACE).next().unwrap().queue),
            (1, "http")
        );
    }

    #[test]
    fn a_worker_keeps_its_task_for_a_while_and_a_process_that_is_gone_does_not() {
        let work = || run(json!({ "type": "task", "name": "a", "handler": "h" }));
        let mut leased = work();
        taken_by(&mut leased, "worker-1");
        let later = GRACE.after(NOW);
        let row = task(&leased, later);
        assert!(row.is_taken && row.has_begun);
        assert_eq!((row.free_at, row.lease), (GRACE.after(later), LEASE));
        let mut here = work();
        taken_by(&mut here, IN_PROCESS);
        let row = task(&here, later);
        assert!(row.is_taken && row.has_begun);
        assert_eq!(row.free_at, later);
    }

    #[test]
    fn the_time_that_a_task_may_take_is_not_prolonged() {
        let mut timed =
            run(json!({ "type": "task", "name": "a", "handler": "h", "timeout": "1m", "heartbeat": "20s" }));
        taken_by(&mut timed, "worker-1");
        let row = task(&timed, NOW);
        let deadline = Millis(60_000).after(NOW);
        assert_eq!((row.free_at, row.deadline, row.lease), (deadline, Some(deadline), Millis(20_000)));
    }

    #[test]
    fn a_run_that_waits_has_no_task_out() {
        assert_eq!(
            rows_of(&run(json!({ "type": "sleep", "name": "a", "duration": "1h" })), NOW, GRACE).count(),
            0
        );
    }
}
