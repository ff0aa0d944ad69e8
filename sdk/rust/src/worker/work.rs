//! What a worker does, from its first poll to its last report.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::sync::{Notify, watch};

use super::Worker;
use crate::build;
use crate::context::Context;
use crate::execution::Execution;
use crate::failure::TaskError;
use crate::length::backoff;
use crate::problem::{Error, Problem, ProblemKind};
use crate::reports::Reports;
use crate::wire::{
    CodeMismatch, PollTasks, Task, TaskReport, TaskReportFail, TaskReportHeartbeat, TaskReportRelease, code,
};

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);
const MOST_TASKS: usize = 1_000;
const SHORTEST_BEAT: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Working,
    Draining,
    Releasing,
}

pub(super) struct Work {
    worker: Worker,
    reports: Reports,
    stages: watch::Receiver<Stage>,
    active: Mutex<HashMap<u64, Active>>,
    next_id: AtomicU64,
    /// A task has come.
    taken: Notify,
    /// A task has ended.
    freed: Notify,
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("worker", &self.worker).finish_non_exhaustive()
    }
}

struct Active {
    execution: Arc<Execution>,
    last_beat: Instant,
}

impl Work {
    pub(super) fn new(worker: Worker, stages: watch::Receiver<Stage>) -> Arc<Work> {
        let reports = Reports::new(worker.client.clone(), worker.settings.lease);
        Arc::new(Work {
            worker,
            reports,
            stages,
            active: Mutex::default(),
            next_id: AtomicU64::new(0),
            taken: Notify::new(),
            freed: Notify::new(),
        })
    }

    fn active<T>(&self, change: impl FnOnce(&mut HashMap<u64, Active>) -> T) -> T {
        change(&mut self.active.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn tasks(&self) -> usize {
        self.active(|active| active.len())
    }

    pub(super) async fn live(self: Arc<Work>) -> Result<(), Error> {
        let beating = Aborting(tokio::spawn(self.clone().beat()));
        let polled = self.poll().await;
        tokio::select! {
            () = self.drained() => {}
            () = self.reached(|stage| stage == Stage::Releasing) => self.release().await,
        }
        drop(beating);
        polled
    }

    /// Returns when the worker is told so. One that nobody holds any more is told nothing.
    async fn reached(&self, stage: impl Fn(Stage) -> bool) {
        if self.stages.clone().wait_for(|now| stage(*now)).await.is_err() {
            std::future::pending().await
        }
    }

    async fn drained(&self) {
        loop {
            let freed = self.freed.notified();
            if self.active(|active| active.is_empty()) {
                return;
            }
            freed.await;
        }
    }

    async fn poll(self: &Arc<Work>) -> Result<(), Error> {
        let Worker { client, name, build_id, handlers, settings, middleware: _ } = &self.worker;
        if let Some(twice) = handlers.twice() {
            return Err(Error::Unusable(format!("there are two handlers `{twice}`")));
        }
        if handlers.is_empty() {
            return Err(Error::Unusable("a worker needs at least one handler".to_owned()));
        }
        let build_id = match build_id {
            Some(given) => given.clone(),
            // The file is read where nobody waits for it.
            None => tokio::task::spawn_blocking(build::of_program).await.unwrap_or_default().to_owned(),
        };
        let mut failures = 0;
        loop {
            let freed = self.freed.notified();
            let free = settings.concurrency.saturating_sub(self.active(|active| active.len()));
            let polled = async {
                if free == 0 {
                    freed.await;
                    return Ok(Vec::new());
                }
                let most = u32::try_from(free.min(MOST_TASKS)).unwrap_or(u32::MAX);
                let poll = PollTasks::new(handlers.names().cloned(), name);
                let poll =
                    poll.max_tasks(most).wait_ms(millis(settings.poll)).lease_ms(millis(settings.lease));
                let poll = if build_id.is_empty() { poll } else { poll.build_id(&build_id) };
                client.tasks().poll(&poll).await.map(|polled| polled.tasks)
            };
            let polled = tokio::select! {
                () = self.reached(|stage| stage != Stage::Working) => return Ok(()),
                polled = polled => polled,
            };
            match polled {
                Ok(tasks) => {
                    if failures > 0 {
                        tracing::info!(server = client.server(), "the server is back");
                    }
                    failures = 0;
                    let idle = free > 0 && tasks.is_empty() && self.tasks() == 0;
                    if settings.until_idle && idle {
                        return Ok(());
                    }
                    tasks.into_iter().for_each(|task| self.take(task));
                }
                Err(error) if may_pass(&error) => {
                    if failures == 0 {
                        tracing::warn!(%error, "trying again");
                    }
                    failures += 1;
                    let pause = backoff(failures, FIRST_BACKOFF, LONGEST_BACKOFF);
                    tokio::select! {
                        () = self.reached(|stage| stage != Stage::Working) => return Ok(()),
                        () = tokio::time::sleep(pause) => {}
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn take(self: &Arc<Work>, task: Task) {
        let execution =
            Arc::new(Execution::new(task, Some(self.reports.clone()), self.worker.settings.grace));
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let last_beat = Instant::now();
        self.active(|active| active.insert(id, Active { execution: execution.clone(), last_beat }));
        self.taken.notify_one();
        let work = self.clone();
        tokio::spawn(async move {
            work.execute(&execution).await;
            work.active(|active| active.remove(&id));
            work.freed.notify_waiters();
        });
    }

    async fn execute(&self, execution: &Arc<Execution>) {
        let task = &execution.task;
        let middleware = &self.worker.middleware;
        let context = Context::new(execution.clone(), &self.worker.client, middleware.clone());
        let report = match self.worker.handlers.get(&task.handler) {
            Some(handler) => execution.drive(middleware.handler(&context, handler(context.clone()))).await,
            None => {
                let message = format!("there is no handler `{}`", task.handler);
                execution.drive(Box::pin(async { Err(TaskError::new(message)) })).await
            }
        };
        if let Some(TaskReport::Suspend(_) | TaskReport::Pause(_)) = report {
            middleware.suspended(&context);
        }
        if let Some(report) = report
            && let Err(error) = self.deliver(task, report).await
        {
            tracing::warn!(task = task.id, %error, "a task could not be reported; it will be handed out again");
        }
    }

    async fn deliver(&self, task: &Task, report: TaskReport) -> Result<(), Error> {
        let done = self.reports.send(report).await?;
        let Some(problem) = done.problem.filter(|_| !done.ok) else { return Ok(()) };
        // What the server cannot take as a result is a failure, and no other attempt would help.
        let problem = Problem::new(problem, None);
        let changed = [code::JOURNAL_CONFLICT, code::JOURNAL_MISMATCH].contains(&problem.code.as_str());
        let lost = matches!(problem.status, 401 | 404 | 409) && !changed;
        if lost {
            tracing::info!(task = task.id, %problem, "the task was taken back");
            return Ok(());
        }
        let message = format!("the report was refused: {problem}");
        let mut failure =
            TaskReportFail::new(&task.lease_token, message).code(&problem.code).retryable(false);
        failure.mismatch = changed.then(|| CodeMismatch::new(problem.to_string(), "something else"));
        self.reports.send(failure).await.map(drop)
    }

    /// Asks, again and again, whether the tasks are still wanted.
    async fn beat(self: Arc<Work>) {
        let settings = &self.worker.settings;
        let every = settings.heartbeat.min(settings.lease / 3);
        loop {
            let taken = self.taken.notified();
            let next = self
                .active(|active| active.values().map(|active| active.last_beat + active.every(every)).min());
            let Some(next) = next else {
                taken.await;
                continue;
            };
            tokio::select! {
                () = taken => continue,
                () = tokio::time::sleep_until(next.into()) => {}
            }
            let now = Instant::now();
            let due = self.active(|active| {
                let due = active.values_mut().filter(|active| now - active.last_beat >= active.every(every));
                let beaten = due.map(|active| {
                    active.last_beat = now;
                    active.execution.clone()
                });
                beaten.collect::<Vec<_>>()
            });
            for execution in due {
                let reports = self.reports.clone();
                tokio::spawn(async move {
                    let beat = TaskReportHeartbeat::new(&execution.task.lease_token);
                    match reports.send(beat).await {
                        Ok(done) => execution.heed(&done),
                        Err(_) => execution.cancel("UNREACHABLE"),
                    }
                });
            }
        }
    }

    /// Gives every task back at once, for another worker.
    async fn release(&self) {
        let executions: Vec<_> =
            self.active(|active| active.drain().map(|(_, active)| active.execution).collect());
        let released = executions.iter().map(|execution| {
            execution.cancel("WORKER_STOPPED");
            self.reports.send(TaskReportRelease::new(&execution.task.lease_token))
        });
        // What cannot be given back is handed out again when its lease ends.
        join_all(released).await;
    }
}

impl Active {
    fn every(&self, every: Duration) -> Duration {
        let step = self.execution.task.heartbeat_ms.map(Duration::from_millis);
        step.map_or(every, |heartbeat| every.min(heartbeat / 3)).max(SHORTEST_BEAT)
    }
}

/// Ends a task with whoever holds it.
struct Aborting(tokio::task::JoinHandle<()>);

impl Drop for Aborting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Whether the server may take the worker later. What it says of the worker itself does not change.
fn may_pass(error: &Error) -> bool {
    match error {
        Error::Unreachable { .. } | Error::NotJson { .. } => true,
        Error::Refused(problem) => problem.status >= 500 || problem.kind() == ProblemKind::Busy,
        Error::RunNotCompleted(_) | Error::Unusable(_) => false,
    }
}
