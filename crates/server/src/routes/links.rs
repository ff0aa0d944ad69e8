//! All links at once: their revocation, and the secrets that they are signed with.

use abide_engine::stored::Scope;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::links::Secret;
use crate::problem::{Code, Problem};
use crate::request::Id;
use crate::shape::{Answer, List};

const ADMIN: Access = Access::Key(&[Scope::Admin]);

pub(super) fn routes() -> Group {
    Group::new(
        "links",
        "All resume URLs at once. Of one waitpoint they are made and revoked at `/waitpoints/{id}/link`.",
    )
    .add(
        Endpoint::new(Verb::Delete, "/links", ADMIN, "Revoke every resume URL of the workspace")
            .about("The waits stay as they are. New URLs are shown from then on.")
            .empty(StatusCode::NO_CONTENT, "Revoked."),
        revoke_all,
    )
    .add(
        Endpoint::new(Verb::Get, "/link-secrets", ADMIN, "List the secrets that resume URLs are signed with")
            .about("Without what they are. The newest signs, all of them verify. Only from the default workspace.")
            .ok::<List<SecretBody>>("All of them, the oldest first."),
        list,
    )
    .add(
        Endpoint::new(Verb::Post, "/link-secrets", ADMIN, "Sign resume URLs with a new secret from now on")
            .about("Those that are out there stay valid. Only from the default workspace.")
            .empty(StatusCode::NO_CONTENT, "Done."),
        rotate,
    )
    .add(
        Endpoint::new(Verb::Delete, "/link-secrets/{id}", ADMIN, "Retire a secret that has leaked")
            .about(
                "Every resume URL and every lease token that was signed with it is refused from then on, on other \
                 nodes after a second; a task is handed out again when its lease is over. The newest secret is \
                 replaced by a new one. Only from the default workspace.",
            )
            .empty(StatusCode::NO_CONTENT, "Retired.")
            .codes(&[Code::UnknownLinkSecret]),
        retire,
    )
}

/// A secret that resume URLs are signed with, without what it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LinkSecret")]
struct SecretBody {
    id: u32,
    created_at: Timestamp,
    /// New resume URLs are signed with it.
    signs: bool,
}

async fn revoke_all(State(app): State<Shared>, caller: Caller) -> Result<StatusCode, Problem> {
    app.engine.workspace(caller.workspace).waitpoints().revoke_all_links().await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list(State(app): State<Shared>, caller: Caller) -> Result<Answer<List<SecretBody>>, Problem> {
    caller.need_default_workspace()?;
    let secrets = app.links.secrets();
    let newest = secrets.last().map(|secret| secret.id);
    let body = |Secret { id, created_at, .. }: &Secret| SecretBody {
        id: *id,
        created_at: *created_at,
        signs: Some(*id) == newest,
    };
    Ok(Answer::ok(List { data: secrets.iter().map(body).collect(), next_cursor: None }))
}

async fn rotate(State(app): State<Shared>, caller: Caller) -> Result<StatusCode, Problem> {
    caller.need_default_workspace()?;
    app.links.rotate(&app.engine).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn retire(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
) -> Result<StatusCode, Problem> {
    caller.need_default_workspace()?;
    let unknown = || Problem::new(Code::UnknownLinkSecret, format!("there is no link secret `{id}`"));
    let number: u32 = id.parse().map_err(|_| unknown())?;
    if app.links.retire(&app.engine, number).await? { Ok(StatusCode::NO_CONTENT) } else { Err(unknown()) }
}
