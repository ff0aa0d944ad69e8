//! Handlers registered in process: async functions from a task to its result.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use abide_core::command::WaitSpec;
use abide_core::history::{FailureDetail, JournalResult, WakeOn};
use abide_core::json::Json;
use abide_core::task::Task;
use abide_core::time::Millis;
use serde_json::Value;

/// The result of a task, as its handler returns it.
#[derive(Clone, Debug)]
pub enum TaskResult {
    /// The task is done.
    Complete {
        /// The output of the task.
        output: Json,
        /// Keys to merge into `state`, or to store under the step's `saveAs`; `None`: the output goes there.
        state_updates: Option<BTreeMap<String, Json>>,
    },
    /// The attempt failed.
    Fail {
        /// What went wrong, for people.
        message: String,
        /// The handler's own code for the failure; `None`: `TASK_FAILED`.
        code: Option<Arc<str>>,
        /// Whether another attempt may help.
        retryable: bool,
        /// The time until the next attempt, instead of the policy's back-off.
        retry_after: Option<Millis>,
        /// Where in the handler the failure came from.
        detail: Option<Box<FailureDetail>>,
    },
    /// Pauses the task: it is handed out again after this time.
    Pause {
        /// The name of the pause; a loop may use one name again and again.
        name: Arc<str>,
        /// How long the task pauses.
        duration: Millis,
        /// Data that is handed back with the task; `None`: what was saved before stays.
        checkpoint: Option<Json>,
    },
    /// Suspends the task: it is handed out again when its waits are over.
    Suspend {
        /// Results of durable calls to append to the journal.
        entries: Vec<JournalResult>,
        /// What the handler waits for.
        waits: Vec<WaitSpec>,
        /// Whether the task goes on when all waits have ended, or any.
        wake: WakeOn,
    },
}

impl TaskResult {
    /// A task that is done, with this output.
    pub fn complete(output: Value) -> TaskResult {
        TaskResult::Complete { output: output.into(), state_updates: None }
    }

    /// A failure that another attempt may mend.
    pub fn fail(message: impl Into<String>) -> TaskResult {
        let message = message.into();
        TaskResult::Fail { message, code: None, retryable: true, retry_after: None, detail: None }
    }
}

impl From<Value> for TaskResult {
    fn from(output: Value) -> TaskResult {
        TaskResult::complete(output)
    }
}

type Boxed = Pin<Box<dyn Future<Output = TaskResult> + Send>>;

/// A handler that is registered in this process.
#[derive(Clone)]
pub struct Handler(Arc<dyn Fn(Task) -> Boxed + Send + Sync>);

impl Handler {
    /// A handler made of an async function.
    pub fn new<F, R>(function: F) -> Handler
    where
        F: Fn(Task) -> R + Send + Sync + 'static,
        R: Future<Output = TaskResult> + Send + 'static,
    {
        Handler(Arc::new(move |task| Box::pin(function(task))))
    }

    pub(crate) fn call(&self, task: Task) -> Boxed {
        (self.0)(task)
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}
