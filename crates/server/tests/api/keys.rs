use abide_server::{Auth, Settings, first_key};
use hyper::Method;
use serde_json::{Value, json};

use crate::host::Host;

/// A key of the default workspace, made by whoever is at this machine.
pub(crate) async fn key(host: &Host, name: &str, scopes: &[&str]) -> String {
    let made = host.post("/keys", json!({ "name": name, "scopes": scopes })).await;
    assert_eq!(made.status, 201, "{}", made.text);
    made.json["secret"].as_str().unwrap().to_owned()
}

pub(crate) async fn locked() -> (Host, String) {
    locked_with(Settings { auth: Auth::Required, ..Settings::default() }).await
}

pub(crate) async fn locked_with(settings: Settings) -> (Host, String) {
    let host = Host::with(settings).await;
    let admin = first_key(&host.engine).await.unwrap().unwrap();
    (host, admin)
}

#[tokio::test]
async fn a_key_is_shown_once_and_stored_hashed() {
    let host = Host::start().await;
    let made = host.post("/keys", json!({ "name": "ann", "scopes": ["read", "run"] })).await;
    let secret = made.json["secret"].as_str().unwrap();
    assert!(secret.starts_with("abk_") && secret.len() == 68);
    let listed = host.get("/keys").await;
    assert_eq!(listed.json["data"][0]["name"], "ann");
    assert_eq!(listed.json["data"][0]["scopes"], json!(["read", "run"]));
    assert!(!listed.text.contains(secret));
    assert!(secret.starts_with(listed.json["data"][0]["prefix"].as_str().unwrap()));
    host.post("/keys", json!({ "name": "Timer", "scopes": ["read"] })).await.is_problem(422, "MALFORMED");
    host.post("/keys", json!({ "name": "x", "scopes": [] })).await.is_problem(422, "MALFORMED");
    host.post("/keys", json!({ "name": "x", "scopes": ["rule"] })).await.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let (host, admin) = locked().await;
    let made = host.post_as(&admin, "/keys", json!({ "name": "ann", "scopes": ["read"] })).await;
    let secret = made.json["secret"].as_str().unwrap();
    assert_eq!(host.get_as(secret, "/workflow-runs").await.status, 200);
    let path = format!("/keys/{}", made.json["id"].as_str().unwrap());
    assert_eq!(host.send(Method::DELETE, &path, &[("x-api-key", &admin)], None).await.status, 204);
    host.get_as(secret, "/workflow-runs").await.is_problem(401, "UNAUTHENTICATED");
    host.send(Method::DELETE, "/keys/key_x", &[("x-api-key", &admin)], None)
        .await
        .is_problem(404, "UNKNOWN_KEY");
}

#[tokio::test]
async fn a_key_that_has_expired_is_refused() {
    let (host, admin) = locked().await;
    let body = json!({ "name": "ann", "scopes": ["read"], "expiresAt": "2026-11-15T12:00:10Z" });
    let secret = host.post_as(&admin, "/keys", body).await.json["secret"].as_str().unwrap().to_owned();
    assert_eq!(host.get_as(&secret, "/workflow-runs").await.status, 200);
    host.pass(10_000).await;
    host.get_as(&secret, "/workflow-runs").await.is_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn the_first_key_is_made_only_where_there_is_none() {
    let (host, _) = locked().await;
    assert_eq!(first_key(&host.engine).await.unwrap(), None);
}

#[tokio::test]
async fn of_several_that_make_the_first_key_at_once_one_does() {
    let host = Host::with(Settings { auth: Auth::Required, ..Settings::default() }).await;
    let make = || first_key(&host.engine);
    let (a, b, c) = tokio::join!(make(), make(), make());
    let made: Vec<String> = [a, b, c].into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(made.len(), 1);
    let keys = host.get_as(&made[0], "/keys").await.json["data"].as_array().unwrap().clone();
    assert_eq!(keys.iter().filter(|key| key["revokedAt"].is_null()).count(), 1, "{keys:?}");
}

#[tokio::test]
async fn what_is_in_one_workspace_is_unknown_in_every_other() {
    let (host, admin) = locked().await;
    let made = host.post_as(&admin, "/workspaces", json!({ "name": "team" })).await;
    assert_eq!(made.status, 201, "{}", made.text);
    host.post_as(&admin, "/workspaces", json!({ "name": "team" })).await.is_problem(409, "WORKSPACE_EXISTS");
    let workspace = made.json["id"].as_str().unwrap();
    let body = json!({ "name": "bob", "scopes": ["admin"], "workspace": workspace });
    let bob = host.post_as(&admin, "/keys", body).await.json["secret"].as_str().unwrap().to_owned();

    let flow = json!({ "name": "flow", "version": "1", "steps": [{ "type": "webhook", "name": "sign" }] });
    let definition = host.post_as(&admin, "/workflow-definitions", flow.clone()).await;
    let started = host.post_as(&admin, "/workflow-runs", json!({ "name": "flow" })).await;
    let run = started.json["id"].as_str().unwrap();
    let waits = host.get_as(&admin, "/waitpoints").await;
    let wait = waits.json["data"][0]["id"].as_str().unwrap();
    let lists = ["/workflow-runs", "/waitpoints", "/workflow-definitions", "/events", "/workers"];
    for list in lists {
        assert_eq!(host.get_as(&bob, list).await.json["data"], json!([]), "{list}");
    }
    for (path, code) in [
        (format!("/workflow-runs/{run}"), "UNKNOWN_RUN"),
        (format!("/workflow-runs/{run}/events"), "UNKNOWN_RUN"),
        (format!("/waitpoints/{wait}"), "UNKNOWN_WAITPOINT"),
        (format!("/workflow-definitions/{}", definition.json["id"].as_str().unwrap()), "UNKNOWN_DEFINITION"),
        ("/workflow-definitions/flow".to_owned(), "UNKNOWN_DEFINITION"),
        (format!("/workflow-runs/{run}/waitpoints/{wait}"), "UNKNOWN_RUN"),
    ] {
        host.get_as(&bob, &path).await.is_problem(404, code);
    }
    for (path, body) in [
        (format!("/workflow-runs/{run}/cancel"), json!({})),
        (format!("/workflow-runs/{run}/resume"), json!({ "signalType": "go" })),
        (format!("/waitpoints/{wait}/complete"), json!({})),
        (format!("/approval-requests/{wait}/decide"), json!({ "decision": "approve" })),
        (format!("/workflow-runs/{run}/waitpoints/{wait}"), json!({})),
        ("/events".to_owned(), json!({ "eventId": "e", "workflowRunId": run })),
    ] {
        let reply = host.post_as(&bob, &path, body).await;
        assert_eq!(reply.is_problem(404, "UNKNOWN_RUN").json["current"], Value::Null);
    }
    host.post_as(&bob, "/workspaces", json!({ "name": "mine" })).await.is_problem(403, "FORBIDDEN");
    host.post_as(&bob, "/link-secrets", json!({})).await.is_problem(403, "FORBIDDEN");
    let body = json!({ "name": "x", "scopes": ["admin"], "workspace": "ws_0" });
    host.post_as(&bob, "/keys", body).await.is_problem(404, "UNKNOWN_WORKSPACE");
    assert_eq!(host.get_as(&bob, "/workspaces").await.json["data"].as_array().unwrap().len(), 1);
    assert_eq!(host.post_as(&bob, "/workflow-definitions", flow).await.status, 201);
    assert_eq!(host.get_as(&admin, &format!("/workflow-runs/{run}")).await.json["status"], "WAITING");
}
