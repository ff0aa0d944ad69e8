//! Waitpoints: listed and shown. Each of the other things that can be done to them has a file of its own.

mod bulk;
mod create;
mod links;
mod steer;

use abide_core::id::{Owner, RunId, WaitpointId};
use abide_core::refusal::Refusal;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::Kind;
use abide_engine::stored::{Page, Scope, WaitpointFilter};
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::runs::listens_for;
use super::{PAGE_BYTES, SLICE, page_size};
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Id, Query, cursor};
use crate::shape::waitpoint::WaitpointBody;
use crate::shape::{Answer, List, words};

pub(super) use create::waitpoint_of;
pub(super) use steer::present;

const READ: Access = Access::Key(&[Scope::Read]);
const RUN: Access = Access::Key(&[Scope::Run]);
const WORKER: Access = Access::Key(&[Scope::Worker]);
const LIST: &str = "waitpoints";

pub(super) fn routes() -> Group {
    let steer = |verb, path, summary| {
        Endpoint::new(verb, path, RUN, summary)
            .idempotent()
            .ok::<WaitpointBody>("The waitpoint after it.")
            .codes(&[
                Code::UnknownRun,
                Code::UnknownWaitpoint,
                Code::AlreadyResolved,
                Code::WaitpointTimedOut,
                Code::WaitpointCancelled,
                Code::WaitpointExpired,
                Code::MayNotDecide,
                Code::NotAnApprover,
                Code::SelfApproval,
                Code::QuorumNotReached,
            ])
    };
    Group::new(
        "waitpoints",
        "Every pause of every run: one durable row each, listed and steered in the same way.",
    )
    .add(
        Endpoint::new(Verb::Get, "/waitpoints", READ, "List waitpoints, the next due first")
            .query::<ListQuery>()
            .ok::<List<WaitpointBody>>("A page.")
            .codes(&[Code::BadCursor, Code::UnknownRun]),
        list,
    )
    .add(
        Endpoint::new(Verb::Post, "/waitpoints", WORKER, "Create a waitpoint, as a worker")
            .about(
                "Idempotent on run, step and name: the same name gives the same waitpoint. To wait for it, let go of the \
                 task with `POST /tasks/{id}/suspend {\"waits\": [{\"type\": \"waitpoint\", \"name\": …}]}`; the handler is re-executed from the top when it is over. \
                 With `responseToSend`, whoever called the run is answered first.",
            )
            .body::<create::CreateBody>()
            .answer::<WaitpointBody>(StatusCode::CREATED, "The waitpoint; a WEBHOOK with its `resumeUrl`, an APPROVAL with its `links`.")
            .codes(&[Code::Malformed, Code::PayloadTooLarge])
            .codes(&[
                Code::BadLease,
                Code::UnknownRun,
                Code::StaleLease,
                Code::RunEnded,
                Code::WrongStepStatus,
            ])
            .codes(&[Code::JournalConflict, Code::JournalMismatch, Code::LimitExceeded]),
        create::create,
    )
    .add(
        Endpoint::new(Verb::Get, "/waitpoints/{id}", READ, "Get a waitpoint")
            .ok::<WaitpointBody>("The waitpoint.")
            .codes(&[Code::UnknownRun, Code::UnknownWaitpoint]),
        get,
    )
    .add(
        steer(Verb::Patch, "/waitpoints/{id}", "Move a wait to another instant")
            .about(
                "A past instant is due at once. An earlier one for an APPROVAL is a decision: see `timeout`.",
            )
            .body::<steer::RescheduleBody>(),
        steer::reschedule,
    )
    .add(
        steer(Verb::Post, "/waitpoints/{id}/complete", "End a wait as if what it waits for had come")
            .optional_body::<steer::CompleteBody>()
            .codes(&[Code::WrongWaitpointKind, Code::PayloadTooLarge]),
        steer::complete,
    )
    .add(
        steer(Verb::Post, "/waitpoints/{id}/skip", "Complete the step of a wait for other code, without its handler")
            .about(
                "Of a CODE wait. The step's output is the one given; whatever else its handler waits for is cancelled, and the \
                 run goes on.",
            )
            .optional_body::<steer::SkipBody>()
            .codes(&[Code::WrongWaitpointKind, Code::PayloadTooLarge, Code::LimitExceeded, Code::Malformed]),
        steer::skip,
    )
    .add(
        steer(Verb::Post, "/waitpoints/{id}/timeout", "End a wait as if its time were over").about(
            "For an APPROVAL this is a decision: it needs the scope `approve` as well, and the right to decide this \
             request, and is recorded as the caller's vote. Where it would go on, votes that the quorum still needs \
             are not stood in for.",
        ),
        steer::time_out,
    )
    .add(
        steer(Verb::Post, "/waitpoints/{id}/cancel", "Cancel a wait")
            .about("For an APPROVAL this is a decision: see `timeout`."),
        steer::cancel,
    )
    .add(
        Endpoint::new(
            Verb::Post,
            "/waitpoints/{id}/link",
            Access::Key(&[Scope::Admin]),
            "Make a resume URL for one person",
        )
        .about(
            "What is done with it is recorded under that name, so it can decide where only named people may.",
        )
        .optional_body::<links::LinkBody>()
        .answer::<links::LinkMade>(StatusCode::CREATED, "The URL. It is not stored.")
        .codes(&[Code::UnknownRun, Code::UnknownWaitpoint, Code::WrongWaitpointKind]),
        links::make_link,
    )
    .add(
        Endpoint::new(Verb::Delete, "/waitpoints/{id}/link", RUN, "Revoke every resume URL of a waitpoint")
            .about("The waitpoint stays as it is. A new URL is shown from then on.")
            .ok::<WaitpointBody>("The waitpoint, with its new `resumeUrl`.")
            .codes(&[Code::UnknownRun, Code::UnknownWaitpoint]),
        links::revoke_links,
    )
    .add(bulk::endpoint(), bulk::bulk)
}

/// What narrows a list of waitpoints.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "WaitpointFilter")]
pub(super) struct FilterBody {
    pub(super) run_id: Option<String>,
    #[schemars(schema_with = "words::kind")]
    pub(super) kind: Option<Kind>,
    #[schemars(schema_with = "words::wait_status")]
    pub(super) status: Option<WaitStatus>,
    /// `resumeAt` before this instant.
    pub(super) due_before: Option<Timestamp>,
    /// `resumeAt` at or after this instant.
    pub(super) due_after: Option<Timestamp>,
    /// Waits for this event id.
    pub(super) event_id: Option<String>,
    /// Waits for this signal type.
    pub(super) signal_type: Option<String>,
}

impl FilterBody {
    pub(super) fn of(self, caller: &Caller) -> Result<WaitpointFilter, Problem> {
        let run = self.run_id.map(|id| id.parse::<RunId>()).transpose();
        let run = run.map_err(|error| Problem::malformed("/runId", format!("/runId: {error}")))?;
        let (kind, listens_for) = listens_for(self.kind, self.event_id, self.signal_type)?;
        Ok(WaitpointFilter {
            workspace: Some(caller.workspace),
            run,
            kind,
            status: self.status,
            due_before: self.due_before,
            due_after: self.due_after,
            listens_for,
        })
    }
}

/// Which waitpoints to list, and how far. A name that is not known is refused by the schema of the query.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ListQuery {
    #[serde(flatten)]
    filter: FilterBody,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Items at most; 50 if absent.
    #[schemars(range(min = 1, max = super::LARGEST_PAGE))]
    limit: Option<u32>,
}

/// Where a list of waitpoints goes on.
pub(super) type After = (Option<Timestamp>, WaitpointId);

async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Answer<List<WaitpointBody>>, Problem> {
    let ListQuery { filter, cursor, limit } = query;
    let page = Page { after: cursor::read::<After>(LIST, cursor.as_deref())?, limit: page_size(limit) };
    app.list_waitpoints(&caller, LIST, filter.of(&caller)?, page).await.map(Answer::ok)
}

impl App {
    pub(super) async fn list_waitpoints(
        &self,
        caller: &Caller,
        list: &str,
        filter: WaitpointFilter,
        page: Page<After>,
    ) -> Result<List<WaitpointBody>, Problem> {
        let size = page.limit;
        let found = self.engine.workspace(caller.workspace).waitpoints().list(filter, page).await?;
        let (mut data, mut seen, mut bytes) = (Vec::new(), 0, 0);
        for slice in found.chunks(SLICE) {
            let ids: Vec<WaitpointId> = slice.iter().map(|summary| summary.id).collect();
            let bodies = self.waitpoint_bodies(caller, &ids).await?;
            bytes += bodies.iter().map(WaitpointBody::payload_bytes).sum::<usize>();
            data.extend(bodies);
            seen += slice.len();
            if bytes >= PAGE_BYTES {
                break;
            }
        }
        let is_all = seen == found.len() && found.len() < size;
        let last = found[..seen].last().filter(|_| !is_all);
        let next_cursor = last.map(|last| cursor::write(list, &(last.resume_at, last.id)));
        Ok(List { data, next_cursor })
    }

    /// The waitpoints of these ids, in this order; those whose run is gone are left out.
    async fn waitpoint_bodies(
        &self,
        caller: &Caller,
        ids: &[WaitpointId],
    ) -> Result<Vec<WaitpointBody>, Problem> {
        let mut wanted: Vec<RunId> = ids.iter().map(|id| id.run).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let (scheduled, wanted): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|owner| Owner::of(*owner).schedule().is_some());
        let schedules = self.schedules_of(caller, scheduled).await?;
        let runs = self.engine.workspace(caller.workspace).runs().read(wanted).await?;
        let bodies = ids.iter().filter_map(|id| {
            if let Some(schedule) = schedules.get(&id.run) {
                return Some(WaitpointBody::of_schedule(schedule, schedule.wait(id.number)?));
            }
            let run = runs.get(&id.run)?;
            Some(WaitpointBody::new(run, run.waitpoint(id.number)?))
        });
        let mut bodies: Vec<WaitpointBody> = bodies.collect();
        self.show_links(caller, &runs, &mut bodies).await?;
        Ok(bodies)
    }

    pub(super) async fn waitpoint_body(
        &self,
        caller: &Caller,
        id: WaitpointId,
    ) -> Result<WaitpointBody, Problem> {
        let bodies = self.waitpoint_bodies(caller, &[id]).await?;
        bodies.into_iter().next().ok_or_else(|| Refusal::UnknownWaitpoint(id).into())
    }
}

async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.waitpoint_body(&caller, id).await.map(Answer::ok)
}
