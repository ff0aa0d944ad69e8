use abide_sse::Event;
use futures_util::TryStreamExt;
use serde::Serialize;
use serde_json::json;

use crate::client::{Client, json_of};
use crate::pages::Pages;
use crate::problem::Error;
use crate::stream::{Follower, Items};
use crate::transport::at;
use crate::wire::{self, RunStatus};

/// Runs and their histories.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a>(pub(crate) &'a Client);

impl Runs<'_> {
    /// Starts a run. When this returns, it is on disk.
    pub async fn start(&self, run: &wire::StartRun) -> Result<wire::StartedRun, Error> {
        let request = self.0.post(at(&["workflow-runs"])).body(run)?;
        self.0.transport().json(self.0.with_key(request)).await
    }

    /// Starts many runs with one request: up to 5,000, of together 8 MiB. Each has its own answer, in the same order; one that
    /// is refused hinders no other. When this returns, the runs are on disk.
    pub async fn start_many(&self, runs: &[wire::StartRun]) -> Result<wire::StartedRuns, Error> {
        let request = self.0.post(at(&["workflow-runs", "batch"])).body(&json!({ "runs": runs }))?;
        self.0.transport().json(self.0.with_key(request)).await
    }

    /// The newest first.
    pub fn list(&self, filter: &wire::RunFilter) -> Pages<wire::RunSummary> {
        Pages::new(self.0, self.0.get(at(&["workflow-runs"])).query(filter))
    }

    /// As it is.
    pub async fn find(&self, id: &str) -> Result<wire::Run, Error> {
        self.0.transport().json(self.0.get(at(&["workflow-runs", id]))).await
    }

    /// Returns when the run has ended, however it did.
    pub async fn wait(&self, id: &str) -> Result<wire::Run, Error> {
        loop {
            let run = self.find(id).await?;
            if has_ended(run.status) {
                return Ok(run);
            }
            let mut records = self.follow(id, run.version);
            while records.try_next().await?.is_some() {}
        }
    }

    /// What has happened to a run so far.
    pub fn history(&self, id: &str) -> Pages<wire::HistoryRecord> {
        Pages::new(self.0, Ok(self.0.get(at(&["workflow-runs", id, "events"]))))
    }

    /// What has happened after the record of this number, then what happens, until the run has ended. Survives broken
    /// connections.
    pub fn follow(&self, id: &str, after: u64) -> Items<wire::HistoryRecord> {
        let request = self.0.get(at(&["workflow-runs", id, "events"]));
        let events = Follower::new(self.0, request, is_last, Some(after.to_string())).events();
        Items::new(events.and_then(async |event| {
            serde_json::from_str(&event.data).map_err(|error| Error::not_json("a record", &error))
        }))
    }

    /// Sends a signal. If nothing waits for it yet, the next wait takes it.
    pub async fn signal(
        &self,
        id: &str,
        signal_type: &str,
        payload: impl Serialize,
    ) -> Result<wire::Signalled, Error> {
        let body = json!({"signalType": signal_type, "payload": json_of(payload)?});
        self.command(id, "resume", &body).await
    }

    /// Cancels a run. The reason stands in its history.
    pub async fn cancel(
        &self,
        id: &str,
        reason: impl Into<Option<&str>>,
    ) -> Result<wire::CommandedRun, Error> {
        let body = wire::CancelRun { reason: reason.into().map(str::to_owned) };
        self.command(id, "cancel", &body).await
    }

    /// Holds a run at its next step.
    pub async fn pause(&self, id: &str) -> Result<wire::CommandedRun, Error> {
        self.command(id, "pause", &json!({})).await
    }

    /// Lets a run go on.
    pub async fn unpause(&self, id: &str) -> Result<wire::CommandedRun, Error> {
        self.command(id, "unpause", &json!({})).await
    }

    /// Takes a failed run up again where it failed.
    pub async fn retry(&self, id: &str) -> Result<wire::CommandedRun, Error> {
        self.command(id, "retry", &json!({})).await
    }

    /// Only workers of this build are given the run's pinned tasks from now on.
    pub async fn pin(&self, id: &str, pin: &wire::PinRun) -> Result<wire::CommandedRun, Error> {
        self.command(id, "pin", pin).await
    }

    /// Workers of any build may have the run's pinned tasks. They are not pinned again.
    pub async fn unpin(&self, id: &str, unpin: &wire::UnpinRun) -> Result<wire::CommandedRun, Error> {
        self.command(id, "unpin", unpin).await
    }

    /// Takes a run that waits over to another version of its workflow, where its past fits. One that does not fit is refused
    /// with `RUN_DOES_NOT_FIT`, and every reason; so is one that is only asked about, with a `dry_run`.
    pub async fn move_to(&self, id: &str, to: &wire::MoveRun) -> Result<wire::MovedRun, Error> {
        let request = self.0.post(at(&["workflow-runs", id, "move"])).body(to)?.repeatable();
        self.0.transport().json(request).await
    }

    /// What its calls to models cost.
    pub async fn cost(&self, id: &str) -> Result<wire::RunCost, Error> {
        self.0.transport().json(self.0.get(at(&["workflow-runs", id, "cost"]))).await
    }

    /// One thing done to every run that a filter finds.
    pub async fn bulk(&self, command: &wire::BulkCommand) -> Result<wire::BulkDone, Error> {
        self.0.transport().json(self.0.post(at(&["workflow-runs", "bulk"])).body(command)?).await
    }

    async fn command<T>(&self, id: &str, command: &str, body: &impl Serialize) -> Result<T, Error>
    where
        T: serde::de::DeserializeOwned,
    {
        let request = self.0.post(at(&["workflow-runs", id, command])).body(body)?;
        self.0.transport().json(self.0.with_key(request)).await
    }
}

pub(crate) fn has_ended(status: RunStatus) -> bool {
    matches!(status, RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled)
}

fn is_last(event: &Event) -> bool {
    matches!(event.event.as_str(), "WORKFLOW_COMPLETED" | "WORKFLOW_FAILED" | "WORKFLOW_CANCELLED")
}
