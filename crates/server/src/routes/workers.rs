//! Workers that asked for tasks lately.

use std::sync::Arc;

use abide_engine::Worker;
use abide_engine::stored::Scope;
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::Problem;
use crate::shape::{Answer, List};

pub(super) fn routes() -> Group {
    Group::new("workers", "Who does the work.").add(
        Endpoint::new(Verb::Get, "/workers", Access::Key(&[Scope::Read]), "List workers seen lately")
            .ok::<List<WorkerBody>>("All of them."),
        list,
    )
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Worker")]
struct WorkerBody {
    #[schemars(with = "String")]
    id: Arc<str>,
    /// Which code it has, if it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    build_id: Option<Arc<str>>,
    #[schemars(with = "Vec<String>")]
    handlers: Vec<Arc<str>>,
    seen_at: Timestamp,
    /// Tasks it has now.
    tasks: usize,
}

async fn list(State(app): State<Shared>, caller: Caller) -> Result<Answer<List<WorkerBody>>, Problem> {
    let seen = app.engine.workers().await?.seen;
    let own = seen.into_iter().filter(|worker| worker.workspace == caller.workspace);
    let data = own.map(|worker| {
        let Worker { workspace: _, name, build, handlers, seen_at, tasks } = worker;
        let build_id = Some(build).filter(|build| !build.is_empty());
        WorkerBody { id: name, build_id, handlers, seen_at, tasks }
    });
    Ok(Answer::ok(List { data: data.collect(), next_cursor: None }))
}
