//! `/v2/messages/{id}`: plain messages that were published.

use abide_core::id::RunId;
use abide_core::run::Run;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, Problem, ok};
use crate::plain::Plain;
use crate::{Gateway, MESSAGE};

async fn find(gateway: &Gateway, id: &str) -> Result<(Run, Plain), Problem> {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, format!("there is no message {id}"));
    let run: RunId =
        id.strip_prefix("msg_").and_then(|id| format!("run_{id}").parse().ok()).ok_or_else(unknown)?;
    let run = match gateway.workspace().run(run).get().await {
        Ok(run) if *run.definition_ref.name == *MESSAGE => run,
        Ok(_) | Err(abide_engine::Error::UnknownRun(_)) => return Err(unknown()),
        Err(error) => return Err(error.into()),
    };
    let plain = serde_json::from_value(Value::clone(&run.input)).map_err(|_| unknown())?;
    Ok((run, plain))
}

pub(super) async fn get(gateway: &Gateway, id: &str) -> Answer {
    let (run, plain) = find(gateway, id).await?;
    ok(json!({
        "messageId": id,
        "url": plain.url,
        "method": plain.method,
        "header": plain.headers,
        "body": plain.body.text(),
        "maxRetries": plain.retries,
        "createdAt": run.created_at.as_millisecond(),
    }))
}

/// Cancels a message that was not delivered yet.
pub(super) async fn cancel(gateway: &Gateway, id: &str) -> Answer {
    let (run, _) = find(gateway, id).await?;
    match gateway.workspace().run(run.id).cancel(Some("cancelled by its client")).await {
        Ok(_) => Ok((StatusCode::ACCEPTED, json!({}))),
        Err(abide_engine::Error::Refused(_)) => {
            Err(Problem::new(StatusCode::NOT_FOUND, format!("message {id} is over")))
        }
        Err(error) => Err(error.into()),
    }
}
