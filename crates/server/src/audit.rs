//! Notes of control actions: who did what, from where. An entry is written when the action is done and before its answer
//! leaves, so that whatever was acknowledged is in the log.

use abide_engine::stored::AuditNote;
use axum::extract::Request;
use axum::response::Response;
use serde_json::{Value, json};

use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Verb;
use crate::guard::{RequestId, peer};

/// Every control action, and what the log calls it. Starts, signals, events, decisions and reports of workers are in the
/// histories of their runs, and not here.
const ACTIONS: [(Verb, &str, &str); 37] = [
    (Verb::Post, "/keys", "key.made"),
    (Verb::Delete, "/keys/{id}", "key.revoked"),
    (Verb::Post, "/workspaces", "workspace.made"),
    (Verb::Patch, "/workspaces/{workspace}", "workspace.changed"),
    (Verb::Get, "/signing-key", "signing-key.shown"),
    (Verb::Get, "/backup", "backup.taken"),
    (Verb::Post, "/waitpoints/{id}/link", "link.made"),
    (Verb::Delete, "/waitpoints/{id}/link", "links.revoked"),
    (Verb::Delete, "/links", "links.revoked"),
    (Verb::Post, "/link-secrets", "link-secret.made"),
    (Verb::Delete, "/link-secrets/{id}", "link-secret.retired"),
    (Verb::Post, "/webhooks", "webhook.made"),
    (Verb::Patch, "/webhooks/{id}", "webhook.changed"),
    (Verb::Delete, "/webhooks/{id}", "webhook.removed"),
    (Verb::Post, "/webhooks/{id}/enable", "webhook.enabled"),
    (Verb::Post, "/webhooks/{id}/rotate-secret", "webhook.secret-changed"),
    (Verb::Post, "/workflow-definitions", "definition.stored"),
    (Verb::Post, "/schedules", "schedule.made"),
    (Verb::Patch, "/schedules/{id}", "schedule.changed"),
    (Verb::Delete, "/schedules/{id}", "schedule.removed"),
    (Verb::Post, "/schedules/{id}/pause", "schedule.paused"),
    (Verb::Post, "/schedules/{id}/unpause", "schedule.unpaused"),
    (Verb::Put, "/limits/{name}", "limit.set"),
    (Verb::Patch, "/waitpoints/{id}", "wait.rescheduled"),
    (Verb::Post, "/waitpoints/{id}/complete", "wait.completed"),
    (Verb::Post, "/waitpoints/{id}/skip", "wait.skipped"),
    (Verb::Post, "/waitpoints/{id}/timeout", "wait.timed-out"),
    (Verb::Post, "/waitpoints/{id}/cancel", "wait.cancelled"),
    (Verb::Post, "/waitpoints/bulk", "waits.steered"),
    (Verb::Post, "/workflow-runs/{id}/cancel", "run.cancelled"),
    (Verb::Post, "/workflow-runs/{id}/pause", "run.paused"),
    (Verb::Post, "/workflow-runs/{id}/unpause", "run.unpaused"),
    (Verb::Post, "/workflow-runs/{id}/retry", "run.retried"),
    (Verb::Post, "/workflow-runs/{id}/pin", "run.pinned"),
    (Verb::Post, "/workflow-runs/{id}/unpin", "run.unpinned"),
    (Verb::Post, "/workflow-runs/{id}/move", "run.moved"),
    (Verb::Post, "/workflow-runs/bulk", "runs.commanded"),
];

/// What the log calls what a route does, if that is a control action.
pub(crate) fn action(verb: Verb, path: &str) -> Option<&'static str> {
    ACTIONS.iter().find(|(known, at, _)| *known == verb && *at == path).map(|(_, _, action)| *action)
}

/// What else is worth knowing of an action; its handler adds it to the answer. Never a secret.
#[derive(Clone, Debug)]
pub(crate) struct AuditDetail(pub(crate) Value);

/// An action under way.
pub(crate) struct Auditing {
    action: &'static str,
    caller: Caller,
    address: String,
    request_id: Option<String>,
    /// The path alone: a query may hold a token.
    target: String,
}

impl Auditing {
    /// `None` where nobody in particular asks, who has no right to any of these actions.
    pub(crate) fn begin(action: &'static str, request: &Request) -> Option<Auditing> {
        let extensions = request.extensions();
        let request_id = extensions.get::<RequestId>().and_then(|RequestId(id)| id.to_str().ok());
        Some(Auditing {
            action,
            caller: extensions.get::<Caller>()?.clone(),
            address: peer(request).ip().to_string(),
            request_id: request_id.map(str::to_owned),
            target: request.uri().path().to_owned(),
        })
    }

    /// What was refused is not noted: nothing was done.
    pub(crate) fn note(self, app: &App, response: &Response) -> Option<AuditNote> {
        if !response.status().is_success() {
            return None;
        }
        let Auditing { action, caller, address, request_id, target } = self;
        let detail = response.extensions().get::<AuditDetail>().map(|AuditDetail(detail)| detail.clone());
        Some(AuditNote {
            at: app.engine.now(),
            workspace: caller.workspace,
            by: caller.actor.to_string(),
            key: caller.key.map(|key| key.to_string()),
            address: Some(address),
            request_id,
            action: action.to_owned(),
            target,
            detail: detail.unwrap_or(Value::Null),
        })
    }
}

/// Writes it down. If that cannot be, the server's own log says so: the action was done.
pub(crate) async fn append(app: &App, note: AuditNote) {
    let (action, by) = (note.action.clone(), note.by.clone());
    if let Err(error) = app.engine.admin().append_audit(note).await {
        tracing::error!(%error, action, by, "a control action is not in the audit log");
    }
}

/// An answer, with what the audit log says beside it.
pub(crate) type Noted<T> = (axum::Extension<AuditDetail>, T);

pub(crate) fn noted<T>(detail: Value, answer: T) -> Noted<T> {
    (axum::Extension(AuditDetail(detail)), answer)
}

/// The id of what was made, and what it is called.
pub(crate) fn made(id: &impl ToString, name: &str) -> Value {
    json!({ "id": id.to_string(), "name": name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_a_route() {
        let routes = crate::routes::all();
        for (verb, path, action) in ACTIONS {
            let is_it = |endpoint: &crate::endpoint::Endpoint| endpoint.verb == verb && endpoint.path == path;
            assert!(routes.endpoints().any(|(_, endpoint)| is_it(endpoint)), "{action}: {path}");
        }
    }
}
