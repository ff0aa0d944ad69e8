//! Executors: work that the engine does itself. Calls over HTTP, calls to models, tasks that are posted to a URL.
//!
//! ```text
//!   commit ── Dispatch ──▶ a tokio task here ──▶ the call ──▶ a report, as any worker would send it
//!                               │      ▲
//!                               └──────┘ entries of the journal, each committed before the next call
//! ```
//!
//! Nothing is kept here that would be missed after a crash: whoever has the task's journal goes on. What waits (a
//! rate limit, a tool) gives up the task; no thread and no memory is held meanwhile.

mod http;
mod ledger;
mod llm;
mod secrets;
mod settings;
mod task_call;
mod tokens;
mod turns;
mod url;

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use abide_calls::http::Client;
use abide_calls::models::Models;
use abide_core::definition::Executor;
use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_core::task::Task;
use abide_core::time::Millis;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::handler::TaskResult;
use ledger::Ledger;
pub use settings::{CallSettings, UrlHandler, models_of};
pub(crate) use task_call::{TaskCall, tell};
pub(crate) use tokens::Tokens;
pub use tokens::{Token, TokenFollower};
use turns::Turns;
pub use turns::{CALLS_AT_ONCE, CALLS_TO_HOST};
pub(crate) use url::{URL_LEASE, URL_WORKER};

/// How long one call may take, whatever its step says: what takes longer should be a wait.
pub const LONGEST_CALL: Duration = Duration::from_secs(15 * 60);

/// The result of a task; `None` if there is nothing to report, because the task is not wanted any more or stays with
/// the receiver.
pub(crate) type Performed = Pin<Box<dyn Future<Output = Option<TaskResult>> + Send>>;

/// The kind of call that a task is.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Http,
    Llm,
    Url(UrlHandler),
}

/// How receivers of tasks can report later.
pub(crate) struct Reach {
    /// The prefix of the URLs of tasks.
    pub(crate) tasks_url: String,
    pub(crate) lease_token: Box<dyn Fn(WorkspaceId, RunId, StepAddress, u32) -> String + Send + Sync>,
}

pub(crate) struct Executors {
    settings: CallSettings,
    client: Client,
    models: Models,
    clock: Arc<dyn Clock>,
    ledger: Ledger,
    pub(crate) tokens: Tokens,
    reach: watch::Sender<Option<Arc<Reach>>>,
    /// The turns of `http` steps.
    http_turns: Turns,
    model_turns: Turns,
    url_turns: Turns,
}

impl Executors {
    pub(crate) fn new(settings: CallSettings, clock: Arc<dyn Clock>) -> Executors {
        Executors {
            client: Client::new(settings.policy.clone()),
            models: Models::new(settings.models.clone()),
            settings,
            clock,
            ledger: Ledger::default(),
            tokens: Tokens::default(),
            reach: watch::channel(None).0,
            http_turns: Turns::new(),
            model_turns: Turns::new(),
            url_turns: Turns::new(),
        }
    }

    pub(crate) fn settings(&self) -> &CallSettings {
        &self.settings
    }

    /// The client for every call to an address that a definition, a payload or a user of the API has named.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn set_reach(&self, reach: Reach) {
        self.reach.send_replace(Some(Arc::new(reach)));
    }

    /// How receivers can report later. Where a server is still to come up, it is waited for.
    async fn reach(&self) -> Option<Arc<Reach>> {
        let mut known = self.reach.subscribe();
        if self.settings.served {
            // It fails only when the engine is gone.
            drop(known.wait_for(Option::is_some).await);
        }
        known.borrow().clone()
    }

    pub(crate) fn limit_calls(&self, any: Option<usize>, of: &HashMap<WorkspaceId, usize>) {
        for turns in [&self.http_turns, &self.model_turns, &self.url_turns] {
            turns.limit(any, of.clone());
        }
    }

    pub(crate) fn share_calls(&self, of: &HashMap<WorkspaceId, usize>) {
        for turns in [&self.http_turns, &self.model_turns, &self.url_turns] {
            turns.share(of.clone());
        }
    }

    /// The call that a task is, if the engine does it.
    pub(crate) fn call(&self, executor: Executor, handler: &str) -> Option<Call> {
        match executor {
            Executor::Http => Some(Call::Http),
            Executor::Llm => Some(Call::Llm),
            Executor::Handler => self.settings.handlers.get(handler).cloned().map(Call::Url),
            Executor::Notify => None,
        }
    }

    /// The names of the handlers that are called at a URL.
    pub(crate) fn urls(&self) -> impl Iterator<Item = Arc<str>> {
        self.settings.handlers.keys().map(|name| Arc::from(name.as_str()))
    }

    pub(crate) fn perform(self: &Arc<Self>, call: Call, task_call: TaskCall, task: Task) -> Performed {
        let own = Arc::clone(self);
        Box::pin(async move {
            match call {
                Call::Http => Some(http::perform(&own, task_call.workspace, &task).await),
                Call::Llm => llm::perform(&own, &task_call, &task).await,
                Call::Url(handler) => url::perform(&own, &handler, &task_call, &task).await,
            }
        })
    }
}

impl fmt::Debug for Executors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Executors")
    }
}

/// How long the call of a task may take.
fn whole(task: &Task, otherwise: Duration) -> Duration {
    task.timeout.map_or(otherwise, |Millis(ms)| Duration::from_millis(ms)).min(LONGEST_CALL)
}

/// A failure with a code of the engine's own.
fn fail(code: &str, message: impl Into<String>, retryable: bool) -> TaskResult {
    let (message, code) = (message.into(), Some(code.into()));
    TaskResult::Fail { message, code, retryable, retry_after: None, detail: None }
}
