//! What calls of a workspace are signed with, for whoever checks them.

use abide_engine::stored::Scope;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::shape::Answer;

pub(super) fn routes() -> Group {
    Group::new("signing", "What signed `http` steps, and tasks that are posted to a URL, are checked with.").add(
        Endpoint::new(
            Verb::Get,
            "/signing-key",
            Access::Key(&[Scope::Admin]),
            "Get the signing key of the workspace",
        )
        .about("Who has it can sign as this workspace, and as no other. Several, the newest first, while it changes.")
        .ok::<SigningKey>("The key.")
        .codes(&[Code::NoSigningKey]),
        get,
    )
}

#[derive(Debug, Serialize, JsonSchema)]
struct SigningKey {
    /// The workspace's id.
    workspace: String,
    /// `whsec_…`, as Standard Webhooks.
    keys: Vec<String>,
}

async fn get(State(app): State<Shared>, caller: Caller) -> Result<Answer<SigningKey>, Problem> {
    let Some(keys) = &app.engine.calls().signing else {
        let detail = "the server has no SIGNING_KEY; whoever runs it sets ABIDE_SECRET_SIGNING_KEY";
        return Err(Problem::new(Code::NoSigningKey, detail));
    };
    let keys = keys.of_workspace(caller.workspace).written();
    Ok(Answer::ok(SigningKey { workspace: caller.workspace.to_string(), keys }))
}
