//! Moves a run to another version of its workflow.

use std::sync::Arc;

use abide_core::command::Reply;
use abide_core::definition::Definition;
use abide_core::id::RunId;
use abide_core::limits;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_engine::stored::Scope;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::{App, Shared};
use crate::audit::{Noted, noted};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Body, Id};
use crate::shape::{Answer, words};

pub(super) fn endpoint() -> Endpoint {
    let access = Access::Key(&[Scope::Run]);
    Endpoint::new(Verb::Post, "/workflow-runs/{id}/move", access, "Move a run to another version of its workflow")
        .about(
            "What it has done stays done, what it waits for it goes on waiting for, and what the new version lets begin \
             begins. Only a run that stands still is moved, and only if its past fits the new version; otherwise \
             `current.misfits` says what does not. With `dryRun` the answer is the same, and nothing is changed.",
        )
        .body::<MoveBody>()
        .ok::<MovedBody>("It is a run of that version, or would be.")
        .codes(&[
            Code::UnknownRun,
            Code::UnknownDefinition,
            Code::RunEnded,
            Code::RunNotWaiting,
            Code::RunDoesNotFit,
            Code::RunBusy,
            Code::LimitExceeded,
        ])
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "MoveRun")]
pub(super) struct MoveBody {
    /// The version to go on with.
    #[schemars(length(min = 1, max = limits::VERSION_CHARS))]
    version: String,
    /// Only say whether it fits.
    #[serde(default)]
    dry_run: bool,
}

/// A run that was moved, or could be.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MovedRun")]
pub(super) struct MovedBody {
    #[schemars(with = "String")]
    id: RunId,
    #[schemars(schema_with = "words::run_status")]
    status: RunStatus,
    /// The version it had.
    from: String,
    /// The version that was asked for.
    to: String,
    /// False: it was of that version already, or this was a dry run.
    changed: bool,
    dry_run: bool,
}

pub(super) async fn move_run(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<RunId>,
    Body(MoveBody { version, dry_run }): Body<MoveBody>,
) -> Result<Noted<Answer<MovedBody>>, Problem> {
    let before = app.run(&caller, id).await?;
    let to = app.version(&caller, &before.definition_ref.name, &version).await?;
    let changed = if dry_run {
        app.check_move(&before, &to).await?;
        false
    } else {
        app.move_run(&caller, id, &to).await? != Reply::Unchanged
    };
    let status = if dry_run { before.status } else { app.run(&caller, id).await?.status };
    let from = before.definition_ref.version.to_string();
    let detail = json!({ "from": from, "to": version, "dryRun": dry_run });
    Ok(noted(detail, Answer::ok(MovedBody { id, status, from, to: version, changed, dry_run })))
}

impl App {
    pub(super) async fn version(
        &self,
        caller: &Caller,
        name: &str,
        version: &str,
    ) -> Result<Arc<Definition>, Problem> {
        Ok(self.engine.workspace(caller.workspace).definitions().version(name, version).await?)
    }

    pub(super) async fn move_run(
        &self,
        caller: &Caller,
        run: RunId,
        to: &Arc<Definition>,
    ) -> Result<Reply, Problem> {
        Ok(self.asked(caller, run, None).move_to(to).await?)
    }

    /// Refused as the move would be.
    pub(super) async fn check_move(&self, run: &Run, to: &Arc<Definition>) -> Result<(), Problem> {
        if run.definition_ref.version.as_ref() == to.version() {
            return Ok(());
        }
        Ok(self.engine.workspace(run.workspace).runs().check_move(run, to).await?)
    }
}
