//! API keys: shown once, stored hashed, revoked at once.

use std::collections::BTreeSet;

use abide_core::id::{KeyId, WorkspaceId};
use abide_engine::stored::{ApiKey, Scope};
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::Shared;
use crate::audit::{Noted, noted};
use crate::caller::{Caller, NewSecret, check_actor};
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::links;
use crate::problem::{Code, Problem};
use crate::request::{Body, Id, Name, instant_if_given};
use crate::shape::{Answer, List, words};

const ADMIN: Access = Access::Key(&[Scope::Admin]);

pub(super) fn routes() -> Group {
    Group::new("keys", "API keys. A secret is shown once; only its hash is stored.")
        .add(
            Endpoint::new(Verb::Post, "/keys", ADMIN, "Make a key")
                .body::<NewKey>()
                .answer::<MadeKey>(StatusCode::CREATED, "The key, with its secret: it is shown only here.")
                .codes(&[Code::UnknownWorkspace]),
            make,
        )
        .add(
            Endpoint::new(Verb::Get, "/keys", ADMIN, "List the keys of the workspace, the oldest first")
                .ok::<List<KeyBody>>("All of them, also those that were revoked."),
            list,
        )
        .add(
            Endpoint::new(Verb::Delete, "/keys/{id}", ADMIN, "Revoke a key")
                .about("It is refused from then on. The first revocation stands.")
                .empty(StatusCode::NO_CONTENT, "Revoked.")
                .codes(&[Code::UnknownKey]),
            revoke,
        )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewKey {
    /// Whose it is: what histories say, and what a step's `approvers` name.
    name: Name,
    #[schemars(schema_with = "words::scopes")]
    scopes: BTreeSet<Scope>,
    /// Only an admin of the default workspace may make keys for another.
    workspace: Option<String>,
    /// Refused from then on.
    #[serde(default, deserialize_with = "instant_if_given")]
    expires_at: Option<Timestamp>,
}

/// A key, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Key")]
struct KeyBody {
    #[schemars(with = "String")]
    id: KeyId,
    name: String,
    #[schemars(with = "String")]
    workspace: WorkspaceId,
    #[schemars(schema_with = "words::scopes")]
    scopes: BTreeSet<Scope>,
    /// The first characters of the secret.
    prefix: String,
    created_at: Timestamp,
    /// Exact to a minute.
    last_used_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
}

/// A new key, with its secret.
#[derive(Debug, Serialize, JsonSchema)]
struct MadeKey {
    /// Shown once.
    secret: String,
    #[serde(flatten)]
    key: KeyBody,
}

impl From<ApiKey> for KeyBody {
    fn from(key: ApiKey) -> KeyBody {
        let ApiKey {
            id,
            workspace,
            name,
            hash: _,
            prefix,
            scopes,
            created_at,
            last_used_at,
            revoked_at,
            expires_at,
        } = key;
        KeyBody { id, name, workspace, scopes, prefix, created_at, last_used_at, expires_at, revoked_at }
    }
}

async fn make(
    State(app): State<Shared>,
    caller: Caller,
    Body(body): Body<NewKey>,
) -> Result<Noted<Answer<MadeKey>>, Problem> {
    let NewKey { name, scopes, workspace, expires_at } = body;
    check_actor("/name", name.as_str())?;
    let (name, now) = (String::from(name), app.engine.now());
    if expires_at.is_some_and(|at| at <= now) {
        let detail = format!("/expiresAt: the key would never be valid; it is {now} already");
        return Err(Problem::malformed("/expiresAt", detail));
    }
    let workspace = match workspace {
        None => caller.workspace,
        Some(text) => {
            let unknown = || Problem::new(Code::UnknownWorkspace, format!("there is no workspace `{text}`"));
            let wanted: WorkspaceId = text.parse().map_err(|_| unknown())?;
            let reaches = wanted == caller.workspace || caller.workspace == WorkspaceId::DEFAULT;
            let known = app.engine.admin().workspaces().await?;
            if !reaches || !known.iter().any(|workspace| workspace.id == wanted) {
                return Err(unknown().at("/workspace"));
            }
            wanted
        }
    };
    let secret = NewSecret::make()?;
    let mut random = [0; 16];
    links::fill(&mut random)?;
    let key = ApiKey {
        id: KeyId::new(now, u128::from_be_bytes(random)),
        workspace,
        name,
        hash: secret.hash,
        prefix: secret.prefix,
        scopes,
        created_at: now,
        last_used_at: None,
        revoked_at: None,
        expires_at,
    };
    app.engine.workspace(key.workspace).keys().add(key.clone()).await?;
    let (id, name, scopes) = (key.id.to_string(), &key.name, &key.scopes);
    let detail = json!({ "id": id, "name": name, "scopes": scopes, "workspace": key.workspace });
    let made = MadeKey { secret: secret.secret, key: key.into() };
    Ok(noted(detail, Answer(StatusCode::CREATED, made)))
}

async fn list(State(app): State<Shared>, caller: Caller) -> Result<Answer<List<KeyBody>>, Problem> {
    let keys = app.engine.workspace(caller.workspace).keys().list().await?;
    Ok(Answer::ok(List { data: keys.into_iter().map(KeyBody::from).collect(), next_cursor: None }))
}

async fn revoke(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
) -> Result<StatusCode, Problem> {
    let unknown = Problem::new(Code::UnknownKey, format!("there is no key `{id}`"));
    let Ok(id) = id.parse::<KeyId>() else { return Err(unknown) };
    let mut workspaces = vec![caller.workspace];
    if caller.workspace == WorkspaceId::DEFAULT {
        workspaces =
            app.engine.admin().workspaces().await?.into_iter().map(|workspace| workspace.id).collect();
    }
    let mut revoked = false;
    for workspace in workspaces {
        revoked = revoked || app.engine.workspace(workspace).keys().revoke(id).await?;
    }
    if !revoked {
        return Err(unknown);
    }
    app.callers.forget();
    Ok(StatusCode::NO_CONTENT)
}
