//! One task in the hands of an executor, and its way back to the writer.

use std::time::Duration;

use abide_core::command::{Command, Reply, TaskHeartbeat};
use abide_core::history::{JournalResult, ModelCall};
use abide_core::id::{RunId, StepAddress, WorkspaceId};
use abide_core::json::Json;
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::error::Error;
use crate::request::{Accept, Answer, Decide, Query, Request, TaskRequest};
use crate::tasks::TaskKey;

/// How soon a report is sent again while the store cannot write.
const AGAIN: Duration = Duration::from_millis(100);

pub(crate) struct TaskCall {
    pub(crate) ready: TaskKey,
    pub(crate) workspace: WorkspaceId,
    /// The limit of what all model calls of the run may cost, in millionths; `None`: no limit.
    pub(crate) run_budget_micros: Option<u64>,
    pub(crate) queue: mpsc::Sender<Request>,
}

impl TaskCall {
    pub(crate) fn run_id(&self) -> RunId {
        self.ready.run
    }

    pub(crate) fn at(&self) -> StepAddress {
        self.ready.at
    }

    /// Records entries in the journal. When it returns, they are on disk.
    pub(crate) async fn record(
        &self,
        entries: Vec<(String, Value)>,
        calls: Vec<ModelCall>,
    ) -> Result<(), Error> {
        let TaskKey { run, at, lease_epoch } = self.ready;
        let entries = entries.into_iter().map(|(name, result)| {
            let result = Json::new(result);
            JournalResult { name: name.into(), result }
        });
        let (entries, cancels) = (entries.collect(), Vec::new());
        let beat = TaskHeartbeat { at, lease_epoch, checkpoint: None, entries, calls, cancels };
        tell(&self.queue, run, Command::TaskHeartbeat(beat)).await
    }

    /// The run as it is now.
    pub(crate) async fn run(&self) -> Result<Box<Run>, Error> {
        let run = self.ready.run;
        ask(&self.queue, |answer| Query::Get { run, answer }).await
    }

    /// Leaves the task with the receiver that was called, which reports later.
    pub(crate) async fn accept(&self, worker: &'static str, lease: Millis) -> Result<(), Error> {
        let accept = Accept { task: self.ready, workspace: self.workspace, worker, lease };
        until_stored(|| ask(&self.queue, |answer| TaskRequest::Accept { accept, answer })).await.map(drop)
    }
}

/// Sends a report to the writer, again and again while it cannot be written down.
pub(crate) async fn tell(queue: &mpsc::Sender<Request>, run: RunId, command: Command) -> Result<(), Error> {
    let told = until_stored(|| {
        let (command, asker) = (Box::new(command.clone()), Actor::new("handler").into());
        ask(queue, |answer: Answer<Reply>| Decide::Command {
            workspace: None,
            run,
            command,
            asker,
            key: None,
            listener: None,
            answer,
        })
    });
    told.await.map(drop)
}

async fn until_stored<T, F: Future<Output = Result<T, Error>>>(
    mut ask: impl FnMut() -> F,
) -> Result<T, Error> {
    loop {
        match ask().await {
            Err(Error::Store(_)) => tokio::time::sleep(AGAIN).await,
            answered => return answered,
        }
    }
}

async fn ask<T, R: Into<Request>>(
    queue: &mpsc::Sender<Request>,
    request: impl FnOnce(Answer<T>) -> R,
) -> Result<T, Error> {
    let (answer, answered) = oneshot::channel();
    // When the engine has stopped, the task is handed out again by the next one.
    queue.send(request(answer).into()).await.map_err(|_| Error::Stopped)?;
    answered.await.map_err(|_| Error::Stopped)?
}
