//! Workspaces: runs, definitions and events of one are unknown in every other.

use abide_core::id::WorkspaceId;
use abide_engine::stored::{Scope, Workspace};
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::{App, Shared};
use crate::audit::{Noted, made as made_detail, noted};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::quotas::Quotas;
use crate::request::{Body, Id, Name};
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
        .add(
            Endpoint::new(Verb::Patch, "/workspaces/{workspace}", ADMIN, "Change the quotas of a workspace")
                .about(
                    "By its id or its name. Only an admin of the default workspace may. The given figures are all that it \
                     has of its own; where it has none, the server's hold.",
                )
                .body::<ChangeWorkspace>()
                .ok::<WorkspaceBody>("The workspace.")
                .codes(&[Code::UnknownWorkspace]),
            change,
        )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangeWorkspace {
    quotas: Quotas,
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
    /// What it may have: its own figures, and those of the server where it has none.
    quotas: Quotas,
    /// Runs that have not ended.
    open_runs: u64,
    /// What its histories and events take.
    stored_bytes: u64,
}

impl App {
    async fn workspace_body(&self, workspace: Workspace) -> Result<WorkspaceBody, Problem> {
        let Workspace { id, name, created_at } = workspace;
        let (quotas, open_runs) = (self.quotas.of(id), self.open_runs(id).await?);
        let stored_bytes = self.stored_bytes(id).await?;
        Ok(WorkspaceBody { id, name, created_at, quotas, open_runs, stored_bytes })
    }
}

async fn make(
    State(app): State<Shared>,
    caller: Caller,
    Body(NewWorkspace { name }): Body<NewWorkspace>,
) -> Result<Noted<Answer<WorkspaceBody>>, Problem> {
    caller.need_default_workspace()?;
    let name = String::from(name);
    // Looked up and made in one go: nobody else writes in between.
    match app.engine.admin().add_workspace(&name).await? {
        Some(workspace) => {
            let detail = made_detail(&workspace.id, &name);
            let made = app.workspace_body(workspace).await?;
            Ok(noted(detail, Answer(StatusCode::CREATED, made)))
        }
        None => {
            let detail = format!("there is a workspace `{name}` already");
            Err(Problem::new(Code::WorkspaceExists, detail).at("/name"))
        }
    }
}

async fn list(State(app): State<Shared>, caller: Caller) -> Result<Answer<List<WorkspaceBody>>, Problem> {
    let own = caller.workspace;
    let all = app.engine.admin().workspaces().await?;
    let seen = all.into_iter().filter(|workspace| own == WorkspaceId::DEFAULT || workspace.id == own);
    let mut data = Vec::new();
    for workspace in seen {
        data.push(app.workspace_body(workspace).await?);
    }
    Ok(Answer::ok(List { data, next_cursor: None }))
}

async fn change(
    State(app): State<Shared>,
    caller: Caller,
    Id(named): Id<String>,
    Body(ChangeWorkspace { quotas }): Body<ChangeWorkspace>,
) -> Result<Answer<WorkspaceBody>, Problem> {
    caller.need_default_workspace()?;
    let all = app.engine.admin().workspaces().await?;
    let is_named = |workspace: &Workspace| workspace.name == named || workspace.id.to_string() == named;
    let Some(workspace) = all.into_iter().find(is_named) else {
        let detail = format!("there is no workspace `{named}`");
        return Err(Problem::new(Code::UnknownWorkspace, detail));
    };
    app.quotas.set(&app.engine, workspace.id, quotas).await?;
    app.workspace_body(workspace).await.map(Answer::ok)
}
