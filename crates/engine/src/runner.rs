//! Performs tasks in this process: handlers that were registered, and calls of the engine's own, each a task of the runtime.
//! What comes of one is reported to the writer like a worker's report.

use std::collections::HashMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use abide_core::command::{Command, TaskCompleted, TaskFailed, TaskPaused, TaskSuspended};
use abide_core::id::{RunId, StepAddress};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::by_run::ByRun;
use crate::error::Error;
use crate::executor::{Executors, Performed, TaskCall, tell};
use crate::handler::{Handler, TaskResult};
use crate::machine::Perform;
use crate::request::Request;
use crate::tasks::TaskKey;

pub(crate) struct Runner {
    runtime: Handle,
    /// Back into the writer's queue.
    queue: mpsc::WeakSender<Request>,
    /// The way of what handlers report when they are done.
    reports: mpsc::Sender<Request>,
    handlers: HashMap<Arc<str>, Handler>,
    executors: Arc<Executors>,
    running: ByRun<(RunId, StepAddress), (u32, AbortHandle)>,
}

impl Runner {
    pub(crate) fn new(
        runtime: Handle,
        queue: mpsc::WeakSender<Request>,
        reports: mpsc::Sender<Request>,
        executors: Arc<Executors>,
    ) -> Runner {
        Runner { runtime, queue, reports, handlers: HashMap::new(), executors, running: ByRun::default() }
    }

    pub(crate) fn register(&mut self, name: Arc<str>, handler: Handler) {
        self.handlers.insert(name, handler);
    }

    pub(crate) fn perform(&mut self, perform: Perform) {
        let ready = perform.ready;
        let Some(queue) = self.queue.upgrade() else { return };
        let Some(mut work) = self.work(perform, &queue) else { return };
        let reports = self.reports.clone();
        let work = self.runtime.spawn(async move {
            // The engine lives as long as somebody may still ask it for something.
            let _queue = queue;
            // A panic is a failure of the task, not of the engine.
            let performed = poll_fn(|context| {
                catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)))
                    .unwrap_or_else(|_| Poll::Ready(Some(TaskResult::fail("the handler panicked"))))
            });
            if let Some(result) = performed.await {
                tell_result(&reports, ready, result).await;
            }
        });
        self.running.insert((ready.run, ready.at), (ready.lease_epoch, work.abort_handle()));
    }

    /// A handler of the name of a call (`http`, `llm`) stands in for it.
    fn work(&self, perform: Perform, queue: &mpsc::Sender<Request>) -> Option<Performed> {
        let Perform { ready, workspace, run_budget_micros, task } = perform;
        if let Some(handler) = self.handlers.get(&task.handler).cloned() {
            return Some(Box::pin(async move { Some(handler.call(task).await) }));
        }
        let call = self.executors.call(task.executor, &task.handler)?;
        let task_call = TaskCall { ready, workspace, run_budget_micros, queue: queue.clone() };
        Some(self.executors.perform(call, task_call, task))
    }

    /// Stops performing a task, if it is being performed under this lease epoch.
    pub(crate) fn abort(&mut self, task: TaskKey) {
        if let Some(work) = self.take(task) {
            work.abort();
        }
    }

    /// A task goes on by itself.
    pub(crate) fn detach(&mut self, task: TaskKey) {
        drop(self.take(task));
    }

    fn take(&mut self, task: TaskKey) -> Option<AbortHandle> {
        let key = (task.run, task.at);
        self.running.get(&key).filter(|(lease_epoch, _)| *lease_epoch == task.lease_epoch)?;
        self.running.remove(&key).map(|(_, work)| work)
    }

    /// Stops performing all tasks. They are handed out again by the next engine.
    pub(crate) fn stop(&mut self) {
        self.running.drain().for_each(|(_, (_, work))| work.abort());
    }
}

async fn tell_result(reports: &mpsc::Sender<Request>, ready: TaskKey, result: TaskResult) {
    let TaskKey { run, at, lease_epoch } = ready;
    if let Err(Error::Refused(refusal)) = tell(reports, run, report(at, lease_epoch, result)).await {
        // Nobody is there to mend the report; if it came too late, so does this.
        let (code, message) = (refusal.code(), refusal.to_string());
        let failed = TaskResult::Fail {
            message,
            code: Some(code.into()),
            retryable: false,
            retry_after: None,
            detail: None,
        };
        drop(tell(reports, run, report(at, lease_epoch, failed)).await);
    }
}

fn report(at: StepAddress, lease_epoch: u32, result: TaskResult) -> Command {
    match result {
        TaskResult::Complete { output, state_updates } => {
            Command::TaskCompleted(TaskCompleted { at, lease_epoch, output, state_updates })
        }
        TaskResult::Fail { message, code, retryable, retry_after, detail } => {
            let mismatch = None;
            Command::TaskFailed(TaskFailed {
                at,
                lease_epoch,
                message,
                code,
                retryable,
                retry_after,
                detail,
                mismatch,
            })
        }
        TaskResult::Pause { name, duration, checkpoint } => {
            Command::TaskPaused(TaskPaused { at, lease_epoch, name, duration, checkpoint })
        }
        TaskResult::Suspend { entries, waits, wake } => {
            let (checkpoint, cancels) = (None, Vec::new());
            Command::TaskSuspended(TaskSuspended {
                at,
                lease_epoch,
                entries,
                waits,
                wake,
                checkpoint,
                cancels,
            })
        }
    }
}
