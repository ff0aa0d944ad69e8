//! The names under which tasks wait for workers: that of their handler, and of a pinned task that of its build, too. A
//! worker looks under both, and never sees a task that is pinned to another build.

use std::sync::Arc;

use crate::definition::{Executor, Work};
use crate::id::StepAddress;
use crate::run::Run;

/// The queue of the `notify` steps, which the engine does itself. No handler has such a name.
pub const NOTIFY: &str = "\u{1}notify";

/// The name under which a task that is out waits for a worker.
pub fn queue_of(run: &Run, at: StepAddress, work: &Work) -> Arc<str> {
    match (work.executor, pinned_to(run, at)) {
        (Executor::Notify, _) => NOTIFY.into(),
        (Executor::Handler, Some(build)) => pinned(&work.handler, build),
        (Executor::Handler, None) | (Executor::Http | Executor::Llm, _) => Arc::clone(&work.handler),
    }
}

/// The only build that may have the task at a place.
pub fn pinned_to(run: &Run, at: StepAddress) -> Option<&Arc<str>> {
    run.step(at)?.task.as_deref()?.pinned_to()
}

/// All names under which a worker of a build looks. Those that nobody else may take from come first.
pub fn queues_for(handlers: &[Arc<str>], build: &str) -> Vec<Arc<str>> {
    let pinned = handlers.iter().filter(|_| !build.is_empty()).map(|handler| pinned(handler, build));
    pinned.chain(handlers.iter().cloned()).collect()
}

/// No handler's name has this sign in it.
fn pinned(handler: &str, build: &str) -> Arc<str> {
    format!("{handler}\u{1}{build}").into()
}
