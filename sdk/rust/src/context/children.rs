//! Work in many runs, or many branches, of which one handler keeps the threads together.

use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Context;
use crate::client::{RunHandle, WorkflowRef};
use crate::failure::{Result, TaskError};
use crate::wait::{ForChild, Opened, Wait, given};
use crate::wire::{Failure, Json, TaskWaitChild};

/// What a wait for a run comes to.
#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Outcome {
    #[serde(rename_all = "camelCase")]
    Started {
        run_id: String,
    },
    Completed {
        #[serde(default)]
        output: Json,
    },
    Failed {
        error: Failure,
    },
    Cancelled,
}

impl Context {
    /// Starts a run of another workflow, and waits for its output. A run that does not complete is a failure with the
    /// code `CHILD_FAILED` or `CHILD_CANCELLED`. If the wait is cancelled (it lost an `any`, or the handler's own run is
    /// cancelled), so is the child.
    pub fn child<W>(
        &self,
        name: impl Into<String>,
        workflow: &W,
        input: impl Serialize,
    ) -> Wait<W::Output, ForChild>
    where
        W: WorkflowRef + ?Sized,
        W::Output: DeserializeOwned + 'static,
    {
        self.run_of(name.into(), workflow.name(), input, false, |opened| match outcome(opened)? {
            Outcome::Completed { output } => {
                let what = format!("the output of `{}`", opened.name);
                serde_json::from_value(output).map_err(|error| TaskError::unexpected(&what, &error))
            }
            other @ (Outcome::Started { .. } | Outcome::Failed { .. } | Outcome::Cancelled) => {
                Err(not_completed(&opened.name, other))
            }
        })
    }

    /// Starts a run of another workflow, once, and goes on without waiting for its end.
    pub fn start_child<W>(
        &self,
        name: impl Into<String>,
        workflow: &W,
        input: impl Serialize,
    ) -> Wait<RunHandle<W::Output>, ForChild>
    where
        W: WorkflowRef + ?Sized,
        W::Output: DeserializeOwned + 'static,
    {
        let client = self.client.clone();
        self.run_of(name.into(), workflow.name(), input, true, move |opened| match outcome(opened)? {
            Outcome::Started { run_id } => Ok(client.run(run_id)),
            other @ (Outcome::Completed { .. } | Outcome::Failed { .. } | Outcome::Cancelled) => {
                Err(not_completed(&opened.name, other))
            }
        })
    }

    fn run_of<T>(
        &self,
        name: String,
        workflow: &str,
        input: impl Serialize,
        detached: bool,
        read: impl FnOnce(&Opened) -> Result<T> + Send + 'static,
    ) -> Wait<T, ForChild> {
        match serde_json::to_value(input) {
            Ok(input) => {
                let spec = TaskWaitChild::new(&name, workflow).input(input).detached(detached);
                self.wait(name, spec, read)
            }
            Err(error) => Wait::failed(TaskError::not_json("input", &error)),
        }
    }

    /// The work of every item, in parallel branches, `concurrency` at a time, and the results in the order of the items.
    /// `work` is given the item and a name of its own, for the durable calls of its branch: `name[0]`, `name[1]`, …
    pub async fn map<T, R, F, Fut>(
        &self,
        name: impl Into<String>,
        items: impl IntoIterator<Item = T>,
        concurrency: usize,
        work: F,
    ) -> Result<Vec<R>>
    where
        F: Fn(T, String) -> Fut,
        Fut: Future<Output = Result<R>>,
    {
        let name = name.into();
        let items = items.into_iter().enumerate();
        let branches = items.map(|(index, item)| work(item, format!("{name}[{index}]")));
        stream::iter(branches).buffered(concurrency.max(1)).try_collect().await
    }
}

pub(super) fn outcome(opened: &Opened) -> Result<Outcome> {
    // Nobody but an operator ends the wait so.
    let late =
        |name: &str| TaskError::of_call(name, format!("the wait for the run of `{name}` was timed out"));
    given(opened)?.ok_or_else(|| late(&opened.name).code("CHILD_TIMED_OUT"))
}

pub(super) fn not_completed(name: &str, outcome: Outcome) -> TaskError {
    match outcome {
        Outcome::Failed { error: Failure { code, message, .. } } => {
            let message = format!("the run of `{name}` failed: {code}: {message}");
            TaskError::of_call(name, message).code("CHILD_FAILED")
        }
        Outcome::Cancelled => {
            let message = format!("the run of `{name}` was cancelled");
            TaskError::of_call(name, message).code("CHILD_CANCELLED")
        }
        Outcome::Started { .. } | Outcome::Completed { .. } => TaskError::code_changed(
            format!("`{name}` as the run of other code"),
            format!("`{name}` as a run"),
        ),
    }
}
