//! The audit log: what was done to the server, and by whom.

use abide_core::id::WorkspaceId;
use abide_engine::stored::{AuditEntry, AuditHash, AuditNote, Page, Scope, Verified};
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{PageQuery, page_size};
use crate::app::Shared;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::problem::{Code, Problem};
use crate::request::{Query, cursor};
use crate::shape::{Answer, List, words};

const ADMIN: Access = Access::Key(&[Scope::Admin]);
const LIST: &str = "audit";

pub(super) fn routes() -> Group {
    Group::new(
        "audit",
        "Who did what to the server: keys, links, webhooks, definitions, steering. Append-only.",
    )
    .add(
        Endpoint::new(Verb::Get, "/audit", ADMIN, "List control actions, the last one first")
            .about("Of the workspace; from the default workspace, of all.")
            .query::<PageQuery>()
            .ok::<List<EntryBody>>("A page.")
            .codes(&[Code::BadCursor]),
        list,
    )
    .add(
        Endpoint::new(Verb::Get, "/audit/verify", ADMIN, "Follow the chain of hashes of the audit log")
            .about("Only from the default workspace. Keep `last`: a log that was cut off has another.")
            .ok::<VerifiedBody>("Whether all of it is as it was written."),
        verify,
    )
}

/// A control action.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditEntry")]
struct EntryBody {
    /// From 1 on, over all workspaces.
    number: u64,
    at: Timestamp,
    #[schemars(with = "String")]
    workspace: WorkspaceId,
    /// The name of the key.
    by: String,
    /// The key's id; absent where no key was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Where the request came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// Such as `key.made`.
    action: String,
    /// The path of the request.
    target: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schemars(schema_with = "words::any")]
    detail: Value,
    /// Of this entry and of the one before.
    hash: String,
}

impl From<AuditEntry> for EntryBody {
    fn from(entry: AuditEntry) -> EntryBody {
        let AuditEntry { number, note, hash } = entry;
        let AuditNote { at, workspace, by, key, address, request_id, action, target, detail } = note;
        let hash = digits(&hash);
        EntryBody { number, at, workspace, by, key, address, request_id, action, target, detail, hash }
    }
}

fn digits(hash: &AuditHash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Query(PageQuery { cursor, limit }): Query<PageQuery>,
) -> Result<Answer<List<EntryBody>>, Problem> {
    let page = Page { after: cursor::read::<u64>(LIST, cursor.as_deref())?, limit: page_size(limit) };
    let size = page.limit;
    let workspace = Some(caller.workspace).filter(|workspace| *workspace != WorkspaceId::DEFAULT);
    let entries = app.engine.admin().audit(workspace, page).await?;
    let last = entries.last().filter(|_| entries.len() == size);
    let next_cursor = last.map(|last| cursor::write(LIST, &last.number));
    Ok(Answer::ok(List { data: entries.into_iter().map(EntryBody::from).collect(), next_cursor }))
}

/// Whether the audit log is as it was written.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AuditVerified")]
struct VerifiedBody {
    whole: bool,
    /// How many there are, where it is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
    /// The hash of the last one, where it is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// The first that is not what it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken_at: Option<u64>,
}

async fn verify(State(app): State<Shared>, caller: Caller) -> Result<Answer<VerifiedBody>, Problem> {
    caller.need_default_workspace()?;
    let verified = app.engine.admin().verify_audit().await?;
    Ok(Answer::ok(match verified {
        Verified::Whole { entries, last } => {
            let last = Some(digits(&last));
            VerifiedBody { whole: true, entries: Some(entries), last, broken_at: None }
        }
        Verified::Broken { number } => {
            VerifiedBody { whole: false, entries: None, last: None, broken_at: Some(number) }
        }
    }))
}
