//! Triggers: a call from outside starts a run, and may wait for what it says.

use std::sync::Arc;

use abide_core::history::DefinitionRef;
use abide_engine::StartRun;
use abide_engine::stored::{Page, Scope};
use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::Value;

use super::resume::{self, Shown, answer_of};
use super::runs::started;
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::{Access, is_from_another_site, is_meant};
use crate::problem::{Code, Problem};
use crate::request::call::Call;
use crate::request::{Id, IdempotencyKey};
use crate::shape::run::StartedBody;

const BODIES: &[&str] = &["application/json", "application/x-www-form-urlencoded", "text/plain"];

pub(super) fn routes() -> Group {
    let trigger = |path, summary| {
        Endpoint::new(Verb::Any, path, Access::Key(&[Scope::Run]), summary)
            .any_body(BODIES)
            .idempotent()
            .answer::<StartedBody>(StatusCode::ACCEPTED, "Started.")
            .codes(&[
                Code::UnknownDefinition,
                Code::InvalidInput,
                Code::PayloadTooLarge,
                Code::LimitExceeded,
                Code::QuotaExceeded,
                Code::MethodNotAllowed,
                Code::Malformed,
            ])
    };
    Group::new("triggers", "Calls that start a run of a workflow's newest version.")
        .add(
            trigger("/triggers/{definition}", "Start a run with a call")
                .about("The run's input is `{method, body, headers, queryParams}`. Of the headers, those are kept that the workflow's \
                     `keepHeaders` names, and a few that hold no secret."),
            start,
        )
        .add(
            trigger("/triggers/{definition}/sync", "Start a run with a call, and get what it says first")
                .about(
                    "The answer is the reply of the first `respond` step or webhook, or the run's output. After `?wait=` \
                     (30 s if absent) it is 202 with the run's URL.",
                )
                .query::<resume::SyncQuery>()
                .speaks()
                .plain(StatusCode::OK, &["application/json", "text/plain"], "What the run said.")
                .codes(&[Code::RunFailed, Code::RunCancelled]),
            start_sync,
        )
}

async fn start(
    State(app): State<Shared>,
    caller: Caller,
    Id(workflow): Id<String>,
    key: IdempotencyKey,
    call: Call,
) -> Result<Response, Problem> {
    let keep = app.trigger_headers(&caller, &workflow).await?;
    let start = start_by(&caller, workflow, key, &call, &[], &keep)?;
    app.may_start(caller.workspace).await?;
    let run = app.engine.workspace(caller.workspace).start_told(start).await?;
    Ok(started(&app, StatusCode::ACCEPTED, run.run, run.how))
}

async fn start_sync(
    State(app): State<Shared>,
    caller: Caller,
    Id(workflow): Id<String>,
    key: IdempotencyKey,
    call: Call,
) -> Result<Response, Problem> {
    let wait = resume::sync_wait(&call)?;
    let keep = app.trigger_headers(&caller, &workflow).await?;
    let start = start_by(&caller, workflow, key, &call, &[resume::WAIT], &keep)?;
    app.may_start(caller.workspace).await?;
    let (run, listener) = app.engine.workspace(caller.workspace).start_and_listen(start).await?;
    answer_of(&app, run, listener, wait, Shown::All).await
}

impl App {
    /// The headers that the newest version of a workflow keeps of a call that starts it.
    async fn trigger_headers(&self, caller: &Caller, workflow: &str) -> Result<Vec<Arc<str>>, Problem> {
        let definitions = self.engine.workspace(caller.workspace).definitions();
        let newest = definitions.list(Some(workflow.to_owned()), Page { after: None, limit: 1 });
        // Whether there is one is found out when the run is started.
        let Some(newest) = newest.await?.into_iter().next() else { return Ok(Vec::new()) };
        let newest = DefinitionRef { name: newest.name.into(), version: newest.version.into() };
        let found = definitions.of_run(&newest).await?;
        Ok(found.definition.keep_headers.clone())
    }
}

fn start_by(
    caller: &Caller,
    workflow: String,
    key: IdempotencyKey,
    call: &Call,
    own: &[&str],
    keep: &[Arc<str>],
) -> Result<StartRun, Problem> {
    if call.method == Method::HEAD {
        let detail = "HEAD starts nothing; send a POST";
        return Err(Problem::new(Code::MethodNotAllowed, detail));
    }
    // A link that somebody follows from another page comes with a GET, and so does a picture in it.
    let is_unmeant = call.method == Method::GET && caller.key.is_none() && !is_meant(&call.headers);
    if is_unmeant || is_from_another_site(&call.headers) {
        return Err(Problem::new(Code::OriginRefused, "a page of another site may not start runs"));
    }
    let mut input = call.payload(own, keep);
    input["method"] = Value::from(call.method.as_str());
    // A call that is tried again comes with other headers.
    let mut asked = input.clone();
    asked["headers"].take();
    let start = StartRun::new(workflow).input(input).idempotency_key(key.only()).compared_by(asked);
    Ok(start.by(caller.actor.clone()).traceparent(caller.traceparent))
}
