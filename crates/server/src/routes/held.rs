//! What is held: runs and schedules that nothing is decided about until they are released.

use abide_core::id::WorkspaceId;
use abide_engine::stored::{Held, Owner, Page, Scope};
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PageQuery, page_size};
use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Body, Id, Query, cursor};
use crate::shape::{Answer, List};

const READ: Access = Access::Key(&[Scope::Read]);
const ADMIN: Access = Access::Key(&[Scope::Admin]);
const LIST: &str = "held";
const REASON_CHARS: usize = 1_000;

pub(super) fn routes() -> Group {
    Group::new(
        "held",
        "Runs and schedules that are held: damaged ones, those that took the server down with them, and those that \
         somebody wants to stand still. Nothing is decided about them until they are released; everything else goes on.",
    )
    .add(
        Endpoint::new(Verb::Get, "/held", READ, "List what is held")
            .query::<PageQuery>()
            .ok::<List<HeldItem>>("A page, in the order of ids.")
            .codes(&[Code::BadCursor]),
        list,
    )
    .add(
        Endpoint::new(Verb::Post, "/held", ADMIN, "Hold a run or a schedule")
            .about("Its timers do not fire and nothing that is asked of it is done, until it is released.")
            .body::<HoldBody>()
            .answer::<HeldItem>(StatusCode::CREATED, "It is held.")
            .codes(&[Code::UnknownRun, Code::UnknownSchedule]),
        hold,
    )
    .add(
        Endpoint::new(Verb::Delete, "/held/{id}", ADMIN, "Release a run or a schedule")
            .about(
                "It goes on from where it is: what came due meanwhile happens, and events and children that ended are \
                 heard of. One that is still damaged stays held.",
            )
            .empty(StatusCode::NO_CONTENT, "It goes on.")
            .codes(&[Code::NotHeld, Code::Damaged]),
        release,
    )
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HeldItem")]
struct HeldItem {
    /// Of a run or of a schedule.
    id: String,
    since: Timestamp,
    /// `engine`, or who asked for it.
    by: String,
    reason: String,
}

impl From<Held> for HeldItem {
    fn from(held: Held) -> HeldItem {
        let Held { owner, at, by, reason, workspace: _ } = held;
        HeldItem { id: owner.to_string(), since: at, by, reason }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Hold")]
struct HoldBody {
    /// Of a run or of a schedule.
    id: String,
    /// Shown wherever it is.
    #[schemars(length(max = REASON_CHARS))]
    reason: Option<String>,
}

/// What cannot be read of where it belongs is for those who look after the whole server.
fn is_for(caller: &Caller, workspace: Option<WorkspaceId>) -> bool {
    workspace.unwrap_or(WorkspaceId::DEFAULT) == caller.workspace
}

async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<PageQuery>,
) -> Result<Answer<List<HeldItem>>, Problem> {
    let after = cursor::read::<String>(LIST, query.cursor.as_deref())?;
    let after = after.and_then(|after| after.parse().ok());
    let page = Page { after, limit: page_size(query.limit) };
    let size = page.limit;
    let found = app.engine.holds().list(page).await?;
    let last = found.last().filter(|_| found.len() == size);
    let next_cursor = last.map(|last| cursor::write(LIST, &last.owner.to_string()));
    let own = found.into_iter().filter(|held| is_for(&caller, held.workspace));
    Ok(Answer::ok(List { data: own.map(HeldItem::from).collect(), next_cursor }))
}

async fn hold(
    State(app): State<Shared>,
    caller: Caller,
    Body(HoldBody { id, reason }): Body<HoldBody>,
) -> Result<Answer<HeldItem>, Problem> {
    let reason = reason.unwrap_or_else(|| "held by hand".to_owned());
    if reason.chars().count() > REASON_CHARS {
        return Err(Problem::malformed("/reason", format!("a reason has at most {REASON_CHARS} characters")));
    }
    let unknown = || Problem::new(Code::UnknownRun, format!("there is no run or schedule `{id}`")).at("/id");
    let owner: Owner = id.parse().map_err(|_| unknown())?;
    if app.engine.holds().workspace_of(owner).await? != Some(caller.workspace) {
        return Err(unknown());
    }
    let by = caller.actor.to_string();
    app.engine.holds().hold(owner, &by, &reason).await?;
    let held = app.engine.holds().get(owner).ok_or_else(unknown)?;
    Ok(Answer(StatusCode::CREATED, held.into()))
}

async fn release(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
) -> Result<StatusCode, Problem> {
    let not_held = || Problem::new(Code::NotHeld, format!("`{id}` is not held"));
    let owner: Owner = id.parse().map_err(|_| not_held())?;
    let held = app.engine.holds().get(owner).filter(|held| is_for(&caller, held.workspace));
    held.ok_or_else(not_held)?;
    match app.engine.holds().release(owner).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(not_held()),
    }
}
