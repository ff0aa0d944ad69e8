//! `DELETE /v2/workflows/runs?…`: cancels the runs that a query means.

use abide_core::command::Command;
use abide_core::waitpoint::Actor;
use serde_json::json;

use super::select::{OPEN, select};
use super::{Answer, Query, ok};
use crate::{Gateway, WORKFLOW};

/// How many runs are cancelled by one request if it does not say.
const COUNT: usize = 100;

pub(super) async fn cancel(gateway: &Gateway, query: &Query) -> Answer {
    let named = query.all("workflowRunIds").count();
    let limit = if named > 0 { named } else { query.count(COUNT) };
    let runs = select(gateway, query, &[WORKFLOW], &OPEN, limit).await?.runs;
    let reason = Some("cancelled by its client".to_owned());
    let commands = runs.iter().map(|run| (run.id, Command::Cancel { reason: reason.clone() })).collect();
    let answers = gateway.workspace().commands(commands, Actor::new("upstash")).await?;
    ok(json!({ "cancelled": answers.iter().filter(|answer| answer.is_ok()).count() }))
}
