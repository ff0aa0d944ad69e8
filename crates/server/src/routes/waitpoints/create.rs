//! Waitpoints that the code of a worker makes, to wait for them later.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_core::command::{Command, CreateWaitpoint, Reply, WaitFor};
use abide_core::id::WaitpointId;
use abide_core::waitpoint::{Kind, ListensFor};
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::Shared;
use crate::caller::Caller;
use crate::edits;
use crate::links::Wanted;
use crate::problem::{Code, Problem};
use crate::request::{Body, Name, instant_if_given, length};
use crate::routes::tasks::lease::Lease;
use crate::shape::waitpoint::{AsFlowRun, WaitpointBody};
use crate::shape::{Answer, words};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "CreateWaitpoint")]
pub(super) struct CreateBody {
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
    /// `timeoutMs` as text: `2d 4h`.
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

pub(super) async fn create(
    State(app): State<Shared>,
    caller: Caller,
    Body(mut body): Body<CreateBody>,
) -> Result<Answer<WaitpointBody>, Problem> {
    let wait = body.wait()?;
    let CreateBody { lease_token, name, response_to_send, asked, .. } = body;
    let Lease { run, at, lease_epoch } = app.lease(&caller, &lease_token).await?;
    let response =
        response_to_send.map(|response| serde_json::to_value(response).expect("a reply is JSON").into());
    let (name, asked) = (name.into(), asked.map(Into::into));
    let create = CreateWaitpoint { at, lease_epoch, name, wait, asked, response };
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

pub(in crate::routes) fn waitpoint_of(reply: &Reply) -> Option<WaitpointId> {
    match reply {
        Reply::Waitpoint(id) | Reply::Repeated(id) => Some(*id),
        Reply::Done
        | Reply::Started(_)
        | Reply::Collected(_)
        | Reply::Unchanged
        | Reply::Signalled { .. }
        | Reply::Leased { .. }
        | Reply::EventSent { .. }
        | Reply::Voted { .. } => None,
    }
}
