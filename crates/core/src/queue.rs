//! Queues: the names under which tasks wait for workers. A task's queue is its handler's name; that of a pinned task
//! names its build, too. A worker looks under both, and never sees a task that is pinned to another build.

use std::sync::Arc;

use crate::definition::{Executor, Work};
use crate::id::StepAddress;
use crate::run::Run;

/// The queue of the `notify` steps, which the engine does itself. No handler has such a name.
pub const NOTIFY: &str = "\u{1}notify";

/// The queue in which a task that is out waits for a worker.
pub fn queue_of(run: &Run, at: StepAddress, work: &Work) -> Arc<str> {
    match (work.executor, pinned_to(run, at)) {
        (Executor::Notify, _) => NOTIFY.into(),
        (Executor::Handler, Some(build)) => pinned(&work.handler, build),
        (Executor::Handler, None) | (Executor::Http | Executor::Llm, _) => Arc::clone(&work.handler),
    }
}

/// The only build that may have the task of a step run; `None`: any.
pub fn pinned_to(run: &Run, at: StepAddress) -> Option<&Arc<str>> {
    run.step(at)?.task.as_deref()?.pinned_to()
}

/// All queues that a worker of a build takes tasks from. Those that nobody else may take from come first.
pub fn queues_for(handlers: &[Arc<str>], build: &str) -> Vec<Arc<str>> {
    let pinned = handlers.iter().filter(|_| !build.is_empty()).map(|handler| pinned(handler, build));
    pinned.chain(handlers.iter().cloned()).collect()
}

/// The handler whose tasks wait under a name; `notify` for the steps that the engine does itself.
pub fn handler_of(queue: &str) -> &str {
    match queue.split_once('\u{1}') {
        Some(("", own)) => own,
        Some((handler, _)) => handler,
        None => queue,
    }
}

/// No handler's name has this sign in it.
fn pinned(handler: &str, build: &str) -> Arc<str> {
    format!("{handler}\u{1}{build}").into()
}
