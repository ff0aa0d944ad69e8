//! Waitpoints: listed, created by a worker, and steered (R9).

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::command::{Command, CreateWaitpoint, Reply, Steer, Steering, WaitFor};
use abide_core::id::{RunId, ScheduleId, WaitpointId};
use abide_core::limits;
use abide_core::refusal::Refusal;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::{Kind, ListensFor};
use abide_store::{Page, Scope, WaitpointFilter};
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::runs::listens_for;
use super::tasks::lease::Lease;
use super::{PAGE_BYTES, SLICE, page_size, waits_bulk};
use crate::app::{App, Shared};
use crate::audit::{Noted, noted};
use crate::caller::{Caller, check_actor};
use crate::edits;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::links::Wanted;
use crate::problem::{Code, Problem};
use crate::request::{Body, Id, IdempotencyKey, Name, Query, cursor, instant, instant_if_given, length};
use crate::shape::waitpoint::{AsFlowRun, WaitpointBody};
use crate::shape::{Answer, List, words};

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
            .body::<CreateBody>()
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
        create,
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
            .body::<RescheduleBody>(),
        reschedule,
    )
    .add(
        steer(Verb::Post, "/waitpoints/{id}/complete", "End a wait as if what it waits for had come")
            .optional_body::<CompleteBody>()
            .codes(&[Code::WrongWaitpointKind, Code::PayloadTooLarge]),
        complete,
    )
    .add(
        steer(Verb::Post, "/waitpoints/{id}/skip", "Complete the step of a wait for other code, without its handler")
            .about(
                "Of a CODE wait. The step's output is the one given; whatever else its handler waits for is cancelled, and the \
                 run goes on.",
            )
            .optional_body::<SkipBody>()
            .codes(&[Code::WrongWaitpointKind, Code::PayloadTooLarge, Code::LimitExceeded, Code::Malformed]),
        skip,
    )
    .add(
        steer(Verb::Post, "/waitpoints/{id}/timeout", "End a wait as if its time were over").about(
            "For an APPROVAL this is a decision: it needs the scope `approve` as well, and the right to decide this \
             request, and is recorded as the caller's vote. Where it would go on, votes that the quorum still needs \
             are not stood in for.",
        ),
        time_out,
    )
    .add(
        steer(Verb::Post, "/waitpoints/{id}/cancel", "Cancel a wait")
            .about("For an APPROVAL this is a decision: see `timeout`."),
        cancel,
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
        .optional_body::<LinkBody>()
        .answer::<LinkMade>(StatusCode::CREATED, "The URL. It is not stored.")
        .codes(&[Code::UnknownRun, Code::UnknownWaitpoint, Code::WrongWaitpointKind]),
        make_link,
    )
    .add(
        Endpoint::new(Verb::Delete, "/waitpoints/{id}/link", RUN, "Revoke every resume URL of a waitpoint")
            .about("The waitpoint stays as it is. A new URL is shown from then on.")
            .ok::<WaitpointBody>("The waitpoint, with its new `resumeUrl`.")
            .codes(&[Code::UnknownRun, Code::UnknownWaitpoint]),
        revoke_links,
    )
    .add(waits_bulk::endpoint(), waits_bulk::bulk)
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

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct ListQuery {
    run_id: Option<String>,
    #[schemars(schema_with = "words::kind")]
    kind: Option<Kind>,
    #[schemars(schema_with = "words::wait_status")]
    status: Option<WaitStatus>,
    /// `resumeAt` before this instant.
    due_before: Option<Timestamp>,
    /// `resumeAt` at or after this instant.
    due_after: Option<Timestamp>,
    /// Waits for this event id.
    event_id: Option<String>,
    /// Waits for this signal type.
    signal_type: Option<String>,
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
    let ListQuery { run_id, kind, status, due_before, due_after, event_id, signal_type, cursor, limit } =
        query;
    let filter = FilterBody { run_id, kind, status, due_before, due_after, event_id, signal_type };
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
        let found =
            self.engine.read_in(caller.workspace, move |store| store.waitpoints(&filter, &page)).await?;
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
            wanted.into_iter().partition(|owner| ScheduleId::of(*owner).is_some());
        let schedules = self.schedules_of(caller, scheduled).await?;
        let runs = self.runs_beside(caller.workspace, wanted).await?;
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

    async fn steer(
        &self,
        caller: &Caller,
        id: WaitpointId,
        steering: Steering,
        key: IdempotencyKey,
    ) -> Result<Answer<WaitpointBody>, Problem> {
        let scopes = caller.scopes_to_decide();
        let command = Command::Steer(Steer { number: id.number, steering, scopes });
        self.command(caller, id.run, command, key.only()).await?;
        self.waitpoint_body(caller, id).await.map(Answer::ok)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "CreateWaitpoint")]
struct CreateBody {
    /// Of the task that will wait for it.
    lease_token: String,
    name: Name,
    /// `WEBHOOK`: a call on its `resumeUrl` ends it. `DELAY`: the clock does, at `resumeDateTime`. `APPROVAL`: people do, whom
    /// its `links` can be given to. `WEBHOOK` if absent.
    #[serde(rename = "type", default)]
    kind: WaitType,
    /// Of a DELAY: when it ends. A past instant is over at once.
    #[serde(default, deserialize_with = "instant_if_given")]
    resume_date_time: Option<Timestamp>,
    /// The reply to whoever started or resumed the run and listens. It leaves at once; the handler goes on, and can wait.
    response_to_send: Option<ResponseToSend>,
    /// Of a WEBHOOK or an APPROVAL: how long it may take; no limit if absent.
    timeout_ms: Option<u64>,
    /// The same as text: `2d 4h`.
    timeout: Option<String>,
    /// Of a WEBHOOK: let a plain GET resume it. Link scanners open every link.
    #[serde(default)]
    allow_get: bool,
    /// Of an APPROVAL: what is asked.
    approval: Option<AskBody>,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
}

/// What people are asked.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Ask")]
struct AskBody {
    prompt: Option<String>,
    /// What is to be approved.
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    content: Value,
    /// A JSON Schema that edited content must satisfy.
    content_schema: Option<Value>,
    /// Every key with the scope `approve`, and whoever has a link, if absent.
    #[serde(default)]
    approvers: Vec<String>,
    /// Approvals that are needed; 1 if absent.
    quorum: Option<u32>,
}

/// What a worker can make to wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
enum WaitType {
    #[default]
    Webhook,
    Delay,
    Approval,
}

/// A reply: what a `respond` step would say.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResponseToSend {
    /// 200 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 599))]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "words::any")]
    body: Option<Value>,
}

impl CreateBody {
    fn wait(&mut self) -> Result<WaitFor, Problem> {
        let timeout = length("timeout", self.timeout_ms, self.timeout.as_deref())?;
        let belongs = |field: &str, to: &str| {
            Err(Problem::malformed(format!("/{field}"), format!("/{field}: belongs to a {to}")))
        };
        if self.approval.is_some() && self.kind != WaitType::Approval {
            return belongs("approval", "APPROVAL");
        }
        match (self.kind, self.resume_date_time) {
            (WaitType::Approval, Some(_)) => belongs("resumeDateTime", "DELAY; an APPROVAL has `timeoutMs`"),
            (WaitType::Approval, None) if self.allow_get => belongs("allowGet", "WEBHOOK"),
            (WaitType::Approval, None) => {
                let AskBody { prompt, content, content_schema, approvers, quorum } =
                    self.approval.take().unwrap_or_default();
                content_schema.as_ref().map_or(Ok(()), edits::check_schema)?;
                let (content, content_schema) = (content.into(), content_schema.map(Into::into));
                let approvers = approvers.into_iter().map(Arc::from).collect();
                let quorum = quorum.unwrap_or(1);
                Ok(WaitFor::Approval { prompt, content, content_schema, approvers, quorum, timeout })
            }
            (WaitType::Delay, Some(_)) if timeout.is_some() => {
                belongs("timeoutMs", "WEBHOOK; a DELAY has `resumeDateTime`")
            }
            (WaitType::Delay, Some(_)) if self.allow_get => belongs("allowGet", "WEBHOOK"),
            (WaitType::Delay, Some(at)) => Ok(WaitFor::Instant { at }),
            (WaitType::Delay, None) => {
                let detail = "/resumeDateTime: a DELAY needs the instant at which it ends";
                Err(Problem::malformed("/resumeDateTime", detail))
            }
            (WaitType::Webhook, Some(_)) => belongs("resumeDateTime", "DELAY; a WEBHOOK has `timeoutMs`"),
            (WaitType::Webhook, None) => Ok(WaitFor::Call { allow_get: self.allow_get, timeout }),
        }
    }
}

async fn create(
    State(app): State<Shared>,
    caller: Caller,
    Body(mut body): Body<CreateBody>,
) -> Result<Answer<WaitpointBody>, Problem> {
    let wait = body.wait()?;
    let CreateBody { lease_token, name, response_to_send, asked, .. } = body;
    let Lease { run, at, delivery } = app.lease(&caller, &lease_token).await?;
    let response =
        response_to_send.map(|response| serde_json::to_value(response).expect("a reply is JSON").into());
    let (name, asked) = (name.into(), asked.map(Into::into));
    let create = CreateWaitpoint { at, delivery, name, wait, asked, response };
    let reply = app.command(&caller, run, Command::CreateWaitpoint(create), None).await?;
    let Some(id) = waitpoint_of(&reply) else {
        return Err(Problem::new(Code::Internal, "the engine named no waitpoint"));
    };
    let mut body = app.waitpoint_body(&caller, id).await?;
    if body.kind == Kind::Webhook {
        // Also when the wait is over: durable code asks each time it is entered, and must get the same answer.
        body.resume_url = Some(app.link_urls(&caller, id, Wanted::default()).await?.resume);
    }
    let loaded = app.run(&caller, run).await?;
    if let Some(ListensFor::Approval(asked)) = loaded.waitpoint(id.number).map(|wait| &wait.listens_for) {
        body.links = app.approval_links(&caller, id, asked).await?;
    }
    let (flow_run_id, kind, resume_date_time) = (body.run_id, body.kind, body.resume_at);
    body.as_flow_run = Some(AsFlowRun { flow_run_id, kind, resume_date_time });
    Ok(Answer(StatusCode::CREATED, body))
}

pub(super) fn waitpoint_of(reply: &Reply) -> Option<WaitpointId> {
    match reply {
        Reply::Waitpoint(id) | Reply::Repeated(id) => Some(*id),
        Reply::Done
        | Reply::Started(_)
        | Reply::Unchanged
        | Reply::Signalled { .. }
        | Reply::Leased { .. }
        | Reply::Notified { .. }
        | Reply::Voted { .. } => None,
    }
}

async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.waitpoint_body(&caller, id).await.map(Answer::ok)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "RescheduleWaitpoint")]
struct RescheduleBody {
    #[serde(deserialize_with = "instant")]
    resume_at: Timestamp,
}

async fn reschedule(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
    Body(RescheduleBody { resume_at }): Body<RescheduleBody>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::Reschedule { resume_at }, key).await
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CompleteWaitpoint")]
struct CompleteBody {
    /// As if this had come.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "words::any")]
    payload: Option<Value>,
}

/// A payload of `null` is not the same as none.
pub(super) fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

async fn complete(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
    Body(CompleteBody { payload }): Body<CompleteBody>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::Complete { payload: payload.map(Into::into) }, key).await
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SkipWaitpoint")]
struct SkipBody {
    /// The step's output; null if absent.
    #[schemars(schema_with = "words::any")]
    output: Value,
    /// Stands in the history.
    #[schemars(length(max = limits::DESCRIPTION_CHARS))]
    reason: Option<String>,
}

async fn skip(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
    Body(SkipBody { output, reason }): Body<SkipBody>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::Skip { output: output.into(), reason }, key).await
}

async fn time_out(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::TimeOut, key).await
}

async fn cancel(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    key: IdempotencyKey,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.steer(&caller, id, Steering::Cancel, key).await
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "MakeLink")]
struct LinkBody {
    /// Whom it is for; anyone if absent.
    recipient: Option<Name>,
    /// How long it is good for; with its waitpoint if absent.
    expires_in_ms: Option<u64>,
    /// The same as text: `2d 4h`.
    expires_in: Option<String>,
}

/// A resume URL.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Link")]
struct LinkMade {
    resume_url: String,
    /// The same as a page for people.
    confirm_url: String,
    /// Null: with its waitpoint.
    expires_at: Option<Timestamp>,
}

async fn make_link(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
    Body(LinkBody { recipient, expires_in_ms, expires_in }): Body<LinkBody>,
) -> Result<Noted<Answer<LinkMade>>, Problem> {
    recipient.as_ref().map_or(Ok(()), |name| check_actor("/recipient", name.as_str()))?;
    let body = app.waitpoint_body(&caller, id).await?;
    if !matches!(body.kind, Kind::Webhook | Kind::Approval) {
        let refusal = Refusal::WrongKind { waitpoint: id, kind: body.kind, verb: "resumed by a link" };
        return Err(refusal.into());
    }
    let expires_in = length("expiresIn", expires_in_ms, expires_in.as_deref())?;
    let expires_at = expires_in.map(|expires_in| whole_second(expires_in.after(app.engine.now())));
    let wanted = Wanted { recipient: recipient.map(String::from), expires_at };
    let detail = json!({ "recipient": wanted.recipient, "expiresAt": expires_at });
    let urls = app.link_urls(&caller, id, wanted).await?;
    let made = LinkMade { resume_url: urls.resume, confirm_url: urls.confirm, expires_at };
    Ok(noted(detail, Answer(StatusCode::CREATED, made)))
}

/// A link knows its end to the second.
fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

async fn revoke_links(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.waitpoint_body(&caller, id).await?;
    app.engine.write(move |store| store.bump_link_generation(id)).await?;
    app.waitpoint_body(&caller, id).await.map(Answer::ok)
}
