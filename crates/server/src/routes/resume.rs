//! Resume URLs: a call on one ends a wait. Reading one changes nothing (R7), the same call again gets the same answer
//! (R14), another one is told that the wait is over (R2), and a call may come before the wait it is for (R5).

mod reply;
mod visit;

use abide_core::command::{Command, Reply, ResumeWaitpoint, Via, Vote};
use abide_core::id::{RunId, WaitpointId};
use abide_core::limits;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::{ApprovalRequest, ApprovalVote, Decision, Kind, ListensFor};
use abide_engine::stored::Scope;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub(super) use reply::{Shown, SyncQuery, answer_of, sync_wait};
use visit::Visit;
pub(crate) use visit::link_target;

use super::waitpoints::waitpoint_of;
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::edits;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::links::Link;
use crate::pages::confirm;
use crate::problem::{Code, Problem};
use crate::request::call::Call;
use crate::request::{IdempotencyKey, Ids};
use crate::shape::waitpoint::AsFlowRun;
use crate::shape::{Answer, words};

const LINK: Access = Access::Link(&[Scope::Run]);
const BODIES: &[&str] = &[
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "text/plain",
    "application/octet-stream",
];
const HTML: &[&str] = &["text/html"];
/// The query parameter that says how long a sync caller waits.
pub(super) const WAIT: &str = "wait";
/// Says of an answer that the same call got it before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

pub(super) fn routes() -> Group {
    let codes = [
        Code::BadLink,
        Code::LinkRevoked,
        Code::LinkExpired,
        Code::UnknownRun,
        Code::UnknownWaitpoint,
        Code::UnknownStep,
        Code::AlreadyResolved,
        Code::AlreadyDecided,
        Code::WaitpointTimedOut,
        Code::WaitpointCancelled,
        Code::WaitpointExpired,
        Code::WrongWaitpointKind,
        Code::WrongStepStatus,
        Code::RunEnded,
        Code::NotAnApprover,
        Code::InvalidContent,
        Code::ReadOnly,
        Code::PayloadTooLarge,
        Code::LimitExceeded,
        Code::Malformed,
    ];
    Group::new("resume URLs", "URLs that end a wait without a key: the token is what lets a caller in.")
        .add(
            Endpoint::new(
                Verb::Any,
                "/workflow-runs/{id}/waitpoints/{waitpoint}",
                LINK,
                "Resume a run, without waiting for it",
            )
            .alias(&["/flow-runs/{id}/waitpoints/{waitpoint}"])
            .about(
                "The wait gets `{body, headers, queryParams}`. Of the headers, those are kept that the step's \
                 `keepHeaders` names, and a few that hold no secret. `{waitpoint}` \
                 is a waitpoint's id or, with a key, a step's name, even before the step begins. GET and HEAD change \
                 nothing, unless the waitpoint was created with `allowGet`: a browser gets a page that asks, anybody \
                 else 405. The same call again (the same body and query, or the same `webhook-id` or \
                 `Idempotency-Key`) gets the first answer again, with `Idempotency-Replayed: true`. An APPROVAL takes \
                 `{\"decision\": \"approve\"}`, `\"reject\"`, or `\"edit\"` with `editedContent`. A form may send its properties one by one, \
                 as `edit/cents=4200`; what a form sends is typed by the `contentSchema`.",
            )
            .any_body(BODIES)
            .idempotent()
            .pages()
            .ok::<ResumedBody>("Resumed. With `Idempotency-Replayed: true`, by the same call before this one.")
            .codes(&codes),
            resume,
        )
        .add(
            Endpoint::new(
                Verb::Any,
                "/workflow-runs/{id}/waitpoints/{waitpoint}/sync",
                LINK,
                "Resume a run, and get what it says next",
            )
            .alias(&["/flow-runs/{id}/waitpoints/{waitpoint}/sync"])
            .about(
                "The answer is the reply of the next `respond` step or webhook, or the run's output. After `?wait=` \
                 (30 s if absent) it is 202 with the run's URL. By its link only where the webhook step has \
                 `allowSync`, and then without the run's output or why it failed.",
            )
            .any_body(BODIES)
            .query::<SyncQuery>()
            .idempotent()
            .speaks()
            .plain(StatusCode::OK, &["application/json", "text/plain"], "What the run said.")
            .answer::<crate::shape::run::StartedBody>(StatusCode::ACCEPTED, "Resumed; it has said nothing yet.")
            .codes(&codes)
            .codes(&[Code::RunFailed, Code::RunCancelled, Code::SyncNotAllowed]),
            resume_sync,
        )
        .add(
            Endpoint::new(
                Verb::Get,
                "/workflow-runs/{id}/waitpoints/{waitpoint}/confirm",
                LINK,
                "A page that asks before it resumes",
            )
            .alias(&["/flow-runs/{id}/waitpoints/{waitpoint}/confirm"])
            .pages()
            .plain(StatusCode::OK, HTML, "The page: the question, or what was decided.")
            .codes(&codes),
            show_page,
        )
        .add(
            Endpoint::new(
                Verb::Post,
                "/workflow-runs/{id}/waitpoints/{waitpoint}/confirm",
                LINK,
                "What the page sends",
            )
            .alias(&["/flow-runs/{id}/waitpoints/{waitpoint}/confirm"])
            .any_body(&["application/x-www-form-urlencoded"])
            .pages()
            .empty(StatusCode::SEE_OTHER, "Done; the page shows the outcome.")
            .codes(&codes),
            confirmed,
        )
}

/// A wait that was ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Resumed")]
struct ResumedBody {
    #[schemars(with = "String")]
    run_id: RunId,
    #[schemars(with = "String")]
    waitpoint_id: WaitpointId,
    /// PENDING where an approval needs more votes.
    #[schemars(schema_with = "words::wait_status")]
    status: WaitStatus,
    /// Under `/flow-runs`.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    as_flow_run: Option<AsFlowRun>,
}

/// What a call came to.
struct Resumed {
    body: ResumedBody,
    /// The same call had come before; this is the answer that it got.
    is_repeat: bool,
}

async fn resume(
    State(app): State<Shared>,
    ids: Ids,
    key: IdempotencyKey,
    caller: Option<axum::Extension<Caller>>,
    call: Call,
) -> Result<Response, Problem> {
    let visit = Visit::open(&app, caller.map(|caller| caller.0), &ids, &call).await?;
    if !visit.resolves(&call) {
        if wants_page(&call.headers) {
            return Ok(page_of(&app, &visit, &call, None).await);
        }
        return Err(visit.read_only());
    }
    if wants_page(&call.headers) && call.method == Method::GET {
        let done = visit.resume(&app, &call, &[], key.only()).await;
        return Ok(page_of(&app, &visit, &call, done.err()).await);
    }
    let Resumed { body, is_repeat } = visit.resume(&app, &call, &[], key.only()).await?;
    Ok(marked(Answer::ok(body).into_response(), is_repeat))
}

async fn resume_sync(
    State(app): State<Shared>,
    ids: Ids,
    key: IdempotencyKey,
    caller: Option<axum::Extension<Caller>>,
    call: Call,
) -> Result<Response, Problem> {
    let wait = sync_wait(&call)?;
    let visit = Visit::open(&app, caller.map(|caller| caller.0), &ids, &call).await?;
    if !visit.resolves(&call) {
        return Err(visit.read_only());
    }
    let shown = if visit.link.is_none() { Shown::All } else { Shown::WhatItSays };
    if shown == Shown::WhatItSays && !visit.allow_sync {
        let detail =
            "this link resumes the run, and does not show what the run says; call it without `/sync`";
        return Err(Problem::new(Code::SyncNotAllowed, detail));
    }
    let command = visit.command(&call, &[WAIT]).await?;
    let asked = app.command_and_listen(&visit.caller, visit.run, command, key.only()).await;
    let (reply, listener) = asked.map_err(|problem| visit.told(problem))?;
    let answer = answer_of(&app, visit.run, listener, wait, shown).await?;
    Ok(marked(answer, matches!(reply, Reply::Repeated(_))))
}

/// Says of an answer that it was given before, to the same call.
fn marked(mut answer: Response, is_repeat: bool) -> Response {
    if is_repeat {
        answer.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    answer
}

async fn show_page(
    State(app): State<Shared>,
    ids: Ids,
    caller: Option<axum::Extension<Caller>>,
    call: Call,
) -> Response {
    match Visit::open(&app, caller.map(|caller| caller.0), &ids, &call).await {
        Ok(visit) => page_of(&app, &visit, &call, None).await,
        Err(problem) => confirm::refused(&problem).into_response(),
    }
}

async fn confirmed(
    State(app): State<Shared>,
    ids: Ids,
    caller: Option<axum::Extension<Caller>>,
    call: Call,
) -> Response {
    let visit = match Visit::open(&app, caller.map(|caller| caller.0), &ids, &call).await {
        Ok(visit) => visit,
        Err(problem) => return confirm::refused(&problem).into_response(),
    };
    match visit.resume(&app, &call, &[], None).await {
        // Shown by a GET, so that loading the page again sends nothing again.
        Ok(_) => Redirect::to(&visit.page_url(&app, &call)).into_response(),
        Err(problem) => page_of(&app, &visit, &call, Some(problem)).await,
    }
}

/// The page as the waitpoint is now; with the reason why a call was refused.
async fn page_of(app: &App, visit: &Visit, call: &Call, refused: Option<Problem>) -> Response {
    match visit.body(app).await {
        Ok(body) => {
            let action = visit.page_url(app, call);
            let asked =
                confirm::ConfirmPage { workflow: &visit.workflow, action: &action, typed: &call.body };
            confirm::page(&body, asked, refused.as_ref()).into_response()
        }
        Err(problem) => confirm::refused(&problem).into_response(),
    }
}

fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.contains("text/html")
}

impl Visit {
    async fn resume(
        &self,
        app: &App,
        call: &Call,
        own: &[&str],
        key: Option<String>,
    ) -> Result<Resumed, Problem> {
        let command = self.command(call, own).await?;
        let vote = if let Command::Vote(vote) = &command { Some(vote.clone()) } else { None };
        let run_id = self.run;
        let reply = match app.command(&self.caller, self.run, command, key).await {
            Ok(reply) => reply,
            Err(problem) => {
                // Who clicks twice has decided once, and is told the same.
                if let Some(vote) = vote
                    && let Some(status) = self.voted_before(app, &vote).await?
                {
                    let (waitpoint_id, as_flow_run) = (self.waitpoint()?, self.as_flow_run(call));
                    let body = ResumedBody { run_id, waitpoint_id, status, as_flow_run };
                    return Ok(Resumed { body, is_repeat: true });
                }
                return Err(self.told(problem));
            }
        };
        let waitpoint_id = match waitpoint_of(&reply) {
            Some(id) => id,
            None => self.waitpoint()?,
        };
        let is_vote_open = matches!(reply, Reply::Voted { resolved: false, .. });
        let status = if is_vote_open { WaitStatus::Pending } else { WaitStatus::Completed };
        let as_flow_run = self.as_flow_run(call);
        let body = ResumedBody { run_id, waitpoint_id, status, as_flow_run };
        Ok(Resumed { body, is_repeat: matches!(reply, Reply::Repeated(_)) })
    }

    fn as_flow_run(&self, call: &Call) -> Option<AsFlowRun> {
        let kind = self.kind.unwrap_or(Kind::Webhook);
        let as_flow_run = AsFlowRun { flow_run_id: Some(self.run), kind, resume_date_time: self.resume_at };
        call.is_of_flow_run.then_some(as_flow_run)
    }

    /// Whether the visitor has cast this very vote before: the status of the approval since.
    async fn voted_before(&self, app: &App, vote: &Vote) -> Result<Option<WaitStatus>, Problem> {
        let run = app.run(&self.caller, self.run).await?;
        let Some(waitpoint) = run.waitpoint(vote.number) else { return Ok(None) };
        let ListensFor::Approval(request) = &waitpoint.listens_for else { return Ok(None) };
        let is_same = |cast: &ApprovalVote| {
            let is_visitor = cast.by == self.caller.actor && cast.link == vote.link;
            is_visitor && cast.decision == vote.decision && cast.comment == vote.comment
        };
        // Who has a link for nobody in particular may be another person, whose vote would still be needed.
        let is_anyone = vote.link.as_ref().is_some_and(|link| link.for_anyone);
        let is_answered = match waitpoint.status {
            WaitStatus::Pending => !is_anyone,
            WaitStatus::Completed => true,
            WaitStatus::TimedOut | WaitStatus::Cancelled => false,
        };
        let was_cast = vote.decision != Decision::Edit && request.decisions.iter().any(is_same);
        Ok(Some(waitpoint.status).filter(|_| is_answered && was_cast))
    }

    /// Whether the call may end the wait: reading a URL does not, unless it was made for that (R7).
    fn resolves(&self, call: &Call) -> bool {
        match call.method {
            Method::HEAD => false,
            Method::GET => self.allows_get(),
            _ => true,
        }
    }

    fn read_only(&self) -> Problem {
        let detail = "a GET or HEAD resumes nothing here: send a POST with the body that the run should get, or create \
                      the wait with `allowGet: true` if a GET is all that the caller can send";
        Problem::new(Code::ReadOnly, detail)
    }

    /// What a refused visitor is told.
    fn told(&self, problem: Problem) -> Problem {
        // What was decided on an approval, those who were asked may know.
        let may_know = self.link.is_none() || self.kind == Some(Kind::Approval);
        let problem = self.as_shown(problem);
        if may_know { problem } else { problem.for_link_holder(&self.caller.actor) }
    }

    /// What the call asks for: that the wait ends, or a vote on an approval.
    async fn command(&self, call: &Call, own: &[&str]) -> Result<Command, Problem> {
        if let Some(asked) = &self.approval {
            return self.vote(call, asked).await;
        }
        let via = if call.method == Method::GET { Via::Read } else { Via::Write };
        let payload = call.payload(own, &self.keep_headers).into();
        Ok(Command::ResumeWaitpoint(ResumeWaitpoint { target: self.target.clone(), payload, via }))
    }

    async fn vote(&self, call: &Call, asked: &ApprovalRequest) -> Result<Command, Problem> {
        let body = &call.body;
        if self.link.is_none() {
            self.caller.need(&[Scope::Approve])?;
        }
        let number = self.waitpoint()?.number;
        let decision = match body.get("decision").and_then(Value::as_str) {
            Some("approve") => Decision::Approve,
            Some("reject") => Decision::Reject,
            Some("edit") => Decision::Edit,
            Some(_) | None => {
                let detail = "/decision: an approval takes `approve`, `reject` or `edit`";
                return Err(Problem::malformed("/decision", detail));
            }
        };
        let comment = body.get("comment").and_then(Value::as_str).filter(|comment| !comment.is_empty());
        let comment = comment.map(|comment| comment.chars().take(limits::DESCRIPTION_CHARS).collect());
        let edited = match decision {
            Decision::Edit => edits::edited(body, call.is_form(), asked)?,
            // A page sends its fields with every button.
            Decision::Approve | Decision::Reject if call.is_form() => None,
            Decision::Approve | Decision::Reject => body.get(edits::WHOLE).cloned(),
        };
        let edited_content = edited.map(Into::into);
        let content_digest = body.get("contentDigest").and_then(Value::as_str).map(str::to_owned);
        let (scopes, link) = (self.caller.scopes_to_decide(), self.link.as_ref().map(Link::voted_by));
        Ok(Command::Vote(Vote { number, decision, edited_content, comment, content_digest, scopes, link }))
    }
}
