//! Workspaces: runs, definitions and events of one are unknown in every other.

use abide_core::id::WorkspaceId;
use abide_store::{Scope, Workspace};
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::Shared;
use crate::audit::{Noted, made as made_detail, noted};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Body, Name};
use crate::shape::{Answer, List};

const ADMIN: Access = Access::Key(&[Scope::Admin]);

pub(super) fn routes() -> Group {
    Group::new("workspaces", "Parts of the world that know nothing of each other. A key belongs to one.")
        .add(
            Endpoint::new(Verb::Post, "/workspaces", ADMIN, "Make a workspace")
                .about("Only an admin of the default workspace may.")
                .body::<NewWorkspace>()
                .answer::<WorkspaceBody>(StatusCode::CREATED, "The workspace.")
                .codes(&[Code::WorkspaceExists]),
            make,
        )
        .add(
            Endpoint::new(Verb::Get, "/workspaces", ADMIN, "List workspaces")
                .about("An admin of the default workspace sees all of them, another only its own.")
                .ok::<List<WorkspaceBody>>("All of them."),
            list,
        )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewWorkspace {
    name: Name,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Workspace")]
struct WorkspaceBody {
    #[schemars(with = "String")]
    id: WorkspaceId,
    name: String,
    created_at: Timestamp,
}

impl From<Workspace> for WorkspaceBody {
    fn from(workspace: Workspace) -> WorkspaceBody {
        let Workspace { id, name, created_at } = workspace;
        WorkspaceBody { id, name, created_at }
    }
}

async fn make(
    State(app): State<Shared>,
    caller: Caller,
    Body(NewWorkspace { name }): Body<NewWorkspace>,
) -> Result<Noted<Answer<WorkspaceBody>>, Problem> {
    caller.need_default_workspace()?;
    let (name, now) = (String::from(name), app.engine.now());
    let wanted = name.clone();
    // Looked up and made in one go: nobody else writes in between.
    let made = app.engine.write(move |store| {
        if store.workspaces()?.iter().any(|known| known.name == wanted) {
            return Ok(None);
        }
        store.add_workspace(&wanted, now).map(Some)
    });
    match made.await? {
        Some(id) => {
            let detail = made_detail(&id, &name);
            Ok(noted(detail, Answer(StatusCode::CREATED, WorkspaceBody { id, name, created_at: now })))
        }
        None => {
            let detail = format!("there is a workspace `{name}` already");
            Err(Problem::new(Code::WorkspaceExists, detail).at("/name"))
        }
    }
}

async fn list(State(app): State<Shared>, caller: Caller) -> Result<Answer<List<WorkspaceBody>>, Problem> {
    let own = caller.workspace;
    let all = app.engine.read(|store| store.workspaces()).await?;
    let seen = all.into_iter().filter(|workspace| own == WorkspaceId::DEFAULT || workspace.id == own);
    Ok(Answer::ok(List { data: seen.map(WorkspaceBody::from).collect(), next_cursor: None }))
}
