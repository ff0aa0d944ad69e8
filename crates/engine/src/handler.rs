//! Handlers registered in process: async functions from a task to what became of it.

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

/// What a handler made of its task.
#[derive(Clone, Debug)]
pub enum TaskResult {
    Complete {
        output: Json,
        state_updates: Option<BTreeMap<String, Json>>,
    },
    Fail {
        message: String,
        code: Option<Arc<str>>,
        retryable: bool,
        retry_after: Option<Millis>,
        /// Where in the handler it came from.
        detail: Option<Box<FailureDetail>>,
    },
    /// Let go, and come back after this time.
    Pause {
        name: Arc<str>,
        duration: Millis,
        checkpoint: Option<Json>,
    },
    /// Let go, and come back when the waits are over.
    Suspend {
        entries: Vec<JournalResult>,
        waits: Vec<WaitSpec>,
        wake: WakeOn,
    },
}

impl TaskResult {
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

/// A registered handler.
#[derive(Clone)]
pub struct Handler(Arc<dyn Fn(Task) -> Boxed + Send + Sync>);

impl Handler {
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
