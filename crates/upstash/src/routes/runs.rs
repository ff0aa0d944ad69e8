//! `/v2/workflows/runs/{id}`: the log of a run, and its end.

use abide_core::command::{Command, TaskCompleted};
use abide_core::status::RunStatus;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, GuestRequest, Problem, ok};
use crate::Gateway;
use crate::log::STEP;
use crate::record::not_active;

/// How often the end of a run is tried because the run has just changed.
const TRIES: usize = 20;

/// The whole log: the SDK asks for it when a delivery came without.
pub(super) async fn entries(gateway: &Gateway, id: &str) -> Result<String, Problem> {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, format!("there is no workflow run {id}"));
    let run = gateway.find(id).await?.ok_or_else(unknown)?;
    let run = gateway.workspace().run(run).get().await?;
    let log = gateway.log_of(&run).filter(|_| !run.status.has_ended()).ok_or_else(unknown)?;
    Ok(log.prefix(log.entries.len() - 1))
}

/// The run's function has returned, or cancels its run.
pub(super) async fn end(gateway: &Gateway, asked: &GuestRequest, id: &str) -> Answer {
    let cancels = asked.query().get("cancel") != Some("false");
    let found = gateway.find(id).await?.ok_or_else(|| not_active(id))?;
    for _ in 0..TRIES {
        let run = gateway.workspace().run(found).get().await?;
        match run.status {
            RunStatus::Completed if !cancels => return ok(json!({})),
            RunStatus::Cancelled if cancels => return ok(json!({})),
            RunStatus::Completed | RunStatus::Cancelled | RunStatus::Failed => return Err(not_active(id)),
            RunStatus::Pending | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => {}
        }
        if cancels {
            match gateway.workspace().run(found).cancel(Some("cancelled by its client")).await {
                Ok(_) => return ok(json!({})),
                Err(abide_engine::Error::Refused(_)) => continue,
                Err(error) => return Err(error.into()),
            }
        }
        let output: Value = match asked.body.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&asked.body)
                .unwrap_or_else(|_| json!(String::from_utf8_lossy(&asked.body))),
        };
        let complete = |lease_epoch| {
            let state_updates = Some([].into());
            Command::TaskCompleted(TaskCompleted {
                at: STEP,
                lease_epoch,
                output: output.into(),
                state_updates,
            })
        };
        if gateway.under_lease(&run, complete).await? {
            return ok(json!({}));
        }
    }
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the run changes all the time; try again"))
}
