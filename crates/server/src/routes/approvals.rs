//! Approval requests: what people are asked, and their decisions.

use std::sync::Arc;

use abide_core::command::{Command, Reply, Vote};
use abide_core::id::{RunId, WaitpointId};
use abide_core::json::Json;
use abide_core::limits;
use abide_core::refusal::Refusal;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::{Actor, Decision, Kind};
use abide_engine::stored::{Page, Scope, WaitpointFilter};
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::page_size;
use super::waitpoints::{After, present};
use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::idempotency::KEY_CHARS;
use crate::request::{Body, Id, IdempotencyKey, Query, cursor};
use crate::shape::waitpoint::{ApprovalBody, WaitpointBody};
use crate::shape::{Answer, List, words};

const READ: Access = Access::Key(&[Scope::Read, Scope::Approve]);
const LIST: &str = "approvals";

pub(super) fn routes() -> Group {
    Group::new("approvals", "What people are asked to decide. A request is a waitpoint of kind APPROVAL.")
        .add(
            Endpoint::new(
                Verb::Get,
                "/approval-requests",
                READ,
                "List approval requests, the next due first",
            )
            .query::<ListQuery>()
            .ok::<List<RequestBody>>("A page.")
            .codes(&[Code::BadCursor]),
            list,
        )
        .add(
            Endpoint::new(Verb::Get, "/approval-requests/{id}", READ, "Get an approval request")
                .ok::<RequestBody>("The request.")
                .codes(&[Code::UnknownRun, Code::UnknownWaitpoint, Code::WrongWaitpointKind]),
            get,
        )
        .add(
            Endpoint::new(
                Verb::Post,
                "/approval-requests/{id}/decide",
                Access::Key(&[Scope::Approve]),
                "Approve, reject or edit",
            )
            .about("Who decides is the key's name; where a step names its approvers, only they may. With `contentDigest` the \
                 decision counts only for the content that was shown.")
            .body::<DecideBody>()
            .idempotent()
            .ok::<DecidedBody>("Recorded.")
            .codes(&[
                Code::UnknownRun,
                Code::UnknownWaitpoint,
                Code::WrongWaitpointKind,
                Code::NotAnApprover,
                Code::SelfApproval,
                Code::ContentChanged,
                Code::InvalidContent,
                Code::AlreadyDecided,
                Code::AlreadyResolved,
                Code::WaitpointTimedOut,
                Code::WaitpointCancelled,
                Code::WaitpointExpired,
                Code::PayloadTooLarge,
                Code::LimitExceeded,
            ]),
            decide,
        )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListQuery {
    /// `true`: those that wait for a decision; `false`: the others; all if absent.
    pending: Option<bool>,
    /// Only those of this run.
    run_id: Option<String>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Items at most; 50 if absent.
    #[schemars(range(min = 1, max = super::LARGEST_PAGE))]
    limit: Option<u32>,
}

/// A request, and what was decided.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ApprovalRequest")]
struct RequestBody {
    #[schemars(with = "String")]
    id: WaitpointId,
    #[schemars(with = "String")]
    run_id: RunId,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_name: Option<String>,
    /// The durable call of a handler that asks; absent where the step itself does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    call: Option<Arc<str>>,
    #[schemars(schema_with = "words::wait_status")]
    status: WaitStatus,
    created_at: Timestamp,
    /// The wait's deadline; null: none.
    resume_at: Option<Timestamp>,
    #[serde(flatten)]
    request: ApprovalBody,
    /// What was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    outcome: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    resolved_by: Option<Actor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_at: Option<Timestamp>,
    /// A URL with which one can decide without a key. Shown to those who may decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    resume_url: Option<String>,
}

impl TryFrom<WaitpointBody> for RequestBody {
    type Error = Problem;

    fn try_from(body: WaitpointBody) -> Result<RequestBody, Problem> {
        let (id, kind) = (body.id, body.kind);
        let Some(request) = body.approval else {
            return Err(Refusal::WrongKind { waitpoint: id, kind, verb: "decided" }.into());
        };
        Ok(RequestBody {
            id,
            run_id: id.run,
            step_name: body.step_name,
            call: body.call,
            status: body.status,
            created_at: body.created_at,
            resume_at: body.resume_at,
            request,
            outcome: body.resume_payload,
            resolved_by: body.resolved_by,
            resolved_at: body.resolved_at,
            resume_url: body.resume_url,
        })
    }
}

async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Answer<List<RequestBody>>, Problem> {
    let ListQuery { pending, run_id, cursor, limit } = query;
    let run = run_id.map(|id| id.parse::<RunId>()).transpose();
    let run = run.map_err(|error| Problem::malformed("/runId", format!("/runId: {error}")))?;
    let filter = WaitpointFilter {
        workspace: Some(caller.workspace),
        run,
        kind: Some(Kind::Approval),
        status: (pending == Some(true)).then_some(WaitStatus::Pending),
        ..WaitpointFilter::default()
    };
    let page = Page { after: cursor::read::<After>(LIST, cursor.as_deref())?, limit: page_size(limit) };
    let List { data, next_cursor } = app.list_waitpoints(&caller, LIST, filter, page).await?;
    // A page of decided ones may come out short, never wrong.
    let wanted = data.into_iter().filter(|body| pending != Some(false) || body.status != WaitStatus::Pending);
    let data = wanted.map(RequestBody::try_from).collect::<Result<_, _>>()?;
    Ok(Answer::ok(List { data, next_cursor }))
}

async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
) -> Result<Answer<RequestBody>, Problem> {
    app.waitpoint_body(&caller, id).await?.try_into().map(Answer::ok)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Decide")]
struct DecideBody {
    #[schemars(schema_with = "words::decision")]
    decision: Decision,
    /// With `edit`: what replaces the content.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    edited_content: Option<Value>,
    #[schemars(length(max = limits::DESCRIPTION_CHARS))]
    comment: Option<String>,
    /// The `contentDigest` of what was shown: if the content is another now, nothing is decided.
    #[schemars(length(max = limits::NAME_CHARS))]
    content_digest: Option<String>,
    /// As the header `Idempotency-Key`.
    #[schemars(length(min = 1, max = KEY_CHARS))]
    idempotency_key: Option<String>,
}

/// Where a request stands after a decision.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Decided")]
struct DecidedBody {
    #[schemars(with = "String")]
    id: WaitpointId,
    #[schemars(with = "String")]
    run_id: RunId,
    approvals: u32,
    /// Approvals that are needed.
    quorum: u32,
    /// Whether the run goes on.
    resolved: bool,
}

async fn decide(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
    Body(body): Body<DecideBody>,
) -> Result<Answer<DecidedBody>, Problem> {
    let DecideBody { decision, edited_content, comment, content_digest, idempotency_key } = body;
    let key = key.or(idempotency_key)?;
    let vote = Vote {
        number: id.number,
        decision,
        edited_content: edited_content.map(Into::into),
        comment,
        content_digest,
        scopes: caller.scopes_to_decide(),
        link: None,
    };
    let reply = app.command(&caller, id.run, Command::Vote(vote), key).await?;
    let Reply::Voted { approvals, quorum, resolved } = reply else {
        return Err(Problem::new(Code::Internal, "the engine counted no vote"));
    };
    Ok(Answer::ok(DecidedBody { id, run_id: id.run, approvals, quorum, resolved }))
}
