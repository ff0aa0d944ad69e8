//! Resume URLs of one waitpoint: made for one person, and revoked.

use abide_core::id::WaitpointId;
use abide_core::refusal::Refusal;
use abide_core::waitpoint::Kind;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::Shared;
use crate::audit::{Noted, noted};
use crate::caller::{Caller, check_actor};
use crate::links::Wanted;
use crate::problem::Problem;
use crate::request::{Body, Id, Name, length};
use crate::shape::Answer;
use crate::shape::waitpoint::WaitpointBody;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "MakeLink")]
pub(super) struct LinkBody {
    /// Whom it is for; anyone if absent.
    recipient: Option<Name>,
    /// How long the link is valid; as long as its waitpoint if absent.
    expires_in_ms: Option<u64>,
    /// `expiresInMs` as text: `2d 4h`.
    expires_in: Option<String>,
}

/// A resume URL.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Link")]
pub(super) struct LinkMade {
    resume_url: String,
    /// The URL of a page where a person confirms.
    confirm_url: String,
    /// Null: with its waitpoint.
    expires_at: Option<Timestamp>,
}

pub(super) async fn make_link(
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

pub(super) async fn revoke_links(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WaitpointId>,
) -> Result<Answer<WaitpointBody>, Problem> {
    app.waitpoint_body(&caller, id).await?;
    app.engine.workspace(caller.workspace).waitpoints().revoke_links(id).await?;
    app.waitpoint_body(&caller, id).await.map(Answer::ok)
}
