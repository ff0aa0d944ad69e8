//! `/v2/messages`: plain messages that were published.

use abide_core::command::Command;
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Actor;
use axum::http::StatusCode;
use serde_json::json;

use super::select::{OPEN, select};
use super::{Answer, Problem, Query, ok};
use crate::plain::Plain;
use crate::{Gateway, MESSAGE};

/// How many messages are cancelled by one request if it does not say.
const COUNT: usize = 100;

/// The run that delivers a message.
pub(super) fn run_of(message: &str) -> Option<RunId> {
    format!("run_{}", message.strip_prefix("msg_")?).parse().ok()
}

async fn find(gateway: &Gateway, id: &str) -> Result<(Run, Plain), Problem> {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, format!("there is no message {id}"));
    let run = match gateway.workspace().run(run_of(id).ok_or_else(unknown)?).get().await {
        Ok(run) => run,
        Err(abide_engine::Error::UnknownRun(_)) => return Err(unknown()),
        Err(error) => return Err(error.into()),
    };
    let plain = Plain::of_run(&run).ok_or_else(unknown)?;
    Ok((run, plain))
}

/// A message that was not delivered yet, or is kept.
pub(super) async fn get(gateway: &Gateway, id: &str) -> Answer {
    let (run, plain) = find(gateway, id).await?;
    ok(plain.shown(&run))
}

/// Cancels a message that was not delivered yet.
pub(super) async fn cancel(gateway: &Gateway, id: &str) -> Answer {
    let (run, _) = find(gateway, id).await?;
    match gateway.workspace().run(run.id).cancel(Some("cancelled by its client")).await {
        Ok(_) => Ok((StatusCode::ACCEPTED, json!({ "cancelled": 1 }))),
        Err(abide_engine::Error::Refused(_)) => {
            Err(Problem::new(StatusCode::NOT_FOUND, format!("message {id} is over")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Cancels the messages that a query means.
pub(super) async fn cancel_many(gateway: &Gateway, query: &Query) -> Answer {
    let named: Vec<&str> = query.all("messageIds").collect();
    let ids = match named.is_empty() {
        true => {
            let found = select(gateway, query, &[MESSAGE], &OPEN, query.count(COUNT)).await?;
            found.runs.into_iter().map(|run| run.id).collect()
        }
        false => {
            let runs = named.into_iter().filter_map(run_of).collect();
            let runs = gateway.workspace().runs().read(runs).await?;
            let is_open = |run: &&Run| run.status != RunStatus::Failed && Plain::of_run(run).is_some();
            runs.values().filter(is_open).map(|run| run.id).collect::<Vec<_>>()
        }
    };
    let reason = Some("cancelled by its client".to_owned());
    let commands = ids.into_iter().map(|run| (run, Command::Cancel { reason: reason.clone() })).collect();
    let answers = gateway.workspace().commands(commands, Actor::new("upstash")).await?;
    ok(json!({ "cancelled": answers.iter().filter(|answer| answer.is_ok()).count() }))
}
