//! How much one workspace may have.

use abide_server::{Auth, Quotas, Settings};
use hyper::Method;
use serde_json::{Value, json};

use crate::host::{Host, Reply};
use crate::keys::locked_with;

/// A server with a second workspace, its admin's key and that of the first.
async fn shared(quotas: Quotas) -> (Host, String, String) {
    let (host, admin) = locked_with(Settings { auth: Auth::Required, quotas, ..Settings::default() }).await;
    let made = host.post_as(&admin, "/workspaces", json!({ "name": "team" })).await;
    let key = json!({ "name": "bob", "scopes": ["admin"], "workspace": made.json["id"] });
    let bob = host.post_as(&admin, "/keys", key).await.json["secret"].as_str().unwrap().to_owned();
    for key in [&admin, &bob] {
        let steps = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
        let made = host.post_as(key, "/workflow-definitions", json!({ "name": "nap", "steps": steps })).await;
        assert_eq!(made.status, 201, "{}", made.text);
    }
    (host, admin, bob)
}

async fn limit(host: &Host, admin: &str, quotas: Value) -> Reply {
    let body = Some(json!({ "quotas": quotas }));
    host.send(Method::PATCH, "/workspaces/team", &[("x-api-key", admin)], body).await
}

async fn start(host: &Host, key: &str) -> Reply {
    host.post_as(key, "/workflow-runs", json!({ "name": "nap" })).await
}

#[tokio::test]
async fn a_workspace_has_so_many_open_runs_and_another_is_not_touched_by_it() {
    let (host, admin, bob) = shared(Quotas::default()).await;
    assert_eq!(limit(&host, &admin, json!({ "openRuns": 2 })).await.status, 200);
    let first = start(&host, &bob).await;
    assert_eq!((first.status, start(&host, &bob).await.status), (201, 201));
    let refused = start(&host, &bob).await;
    refused.is_problem(429, "QUOTA_EXCEEDED");
    assert_eq!(refused.json["current"], json!({ "quota": "openRuns", "limit": 2, "actual": 3 }));
    for path in ["/triggers/nap", "/triggers/nap/sync?wait=1ms"] {
        host.post_as(&bob, path, json!({})).await.is_problem(429, "QUOTA_EXCEEDED");
    }
    assert_eq!(start(&host, &admin).await.status, 201);
    let path = format!("/workflow-runs/{}/cancel", first.json["id"].as_str().unwrap());
    assert_eq!(host.post_as(&bob, &path, json!({})).await.status, 200);
    assert_eq!(start(&host, &bob).await.status, 201);
}

#[tokio::test]
async fn quotas_are_shown_and_changed_by_admins_of_the_default_workspace_only() {
    let server = Quotas { schedules: Some(7), ..Quotas::default() };
    let (host, admin, bob) = shared(server).await;
    limit(&host, &bob, json!({ "openRuns": 1_000 })).await.is_problem(403, "FORBIDDEN");
    limit(&host, &admin, json!({ "runs": 1 })).await.is_problem(422, "MALFORMED");
    let (key, none) = ([("x-api-key", admin.as_str())], Some(json!({ "quotas": {} })));
    let unknown = host.send(Method::PATCH, "/workspaces/nobody", &key, none).await;
    unknown.is_problem(404, "UNKNOWN_WORKSPACE");
    let changed = limit(&host, &admin, json!({ "calls": 3 })).await.json;
    assert_eq!((&changed["quotas"]["calls"], &changed["quotas"]["schedules"]), (&json!(3), &json!(7)));
    let seen = host.get_as(&bob, "/workspaces").await.json["data"][0].clone();
    assert_eq!((&seen["quotas"]["calls"], &seen["openRuns"]), (&json!(3), &json!(0)));
    let back = limit(&host, &admin, json!({})).await.json;
    assert_eq!((&back["quotas"]["calls"], &back["quotas"]["schedules"]), (&json!(null), &json!(7)));
}

#[tokio::test]
async fn starts_schedules_and_webhooks_have_their_quotas() {
    let (host, admin, bob) = shared(Quotas::default()).await;
    let none = json!({ "startsPerSecond": 0, "schedules": 1, "webhooks": 0 });
    assert_eq!(limit(&host, &admin, none).await.status, 200);
    let refused = start(&host, &bob).await;
    refused.is_problem(429, "QUOTA_EXCEEDED");
    assert_eq!(refused.header("retry-after"), Some("1"));
    let schedule = |name: &str| json!({ "name": name, "definition": "nap", "every": "1h" });
    let first = host.post_as(&bob, "/schedules", schedule("a")).await;
    assert_eq!(first.status, 201, "{}", first.text);
    host.post_as(&bob, "/schedules", schedule("b")).await.is_problem(429, "QUOTA_EXCEEDED");
    let webhook = json!({ "url": "https://example.com", "events": ["workflow.failed"] });
    host.post_as(&bob, "/webhooks", webhook.clone()).await.is_problem(429, "QUOTA_EXCEEDED");
    assert_eq!(host.post_as(&admin, "/webhooks", webhook).await.status, 201);
}

#[tokio::test]
async fn a_workspace_has_so_many_bytes_and_what_is_under_way_goes_on() {
    let (host, admin, bob) = shared(Quotas::default()).await;
    let steps = json!([{ "type": "external_event", "name": "go", "signalType": "go" }]);
    host.post_as(&bob, "/workflow-definitions", json!({ "name": "order", "steps": steps })).await;
    let order = || json!({ "name": "order", "input": { "noise": noise(20_000) } });
    let run = host.post_as(&bob, "/workflow-runs", order()).await.json["id"].as_str().unwrap().to_owned();
    assert_eq!(limit(&host, &admin, json!({ "storedBytes": 10_000 })).await.status, 200);
    let refused = host.post_as(&bob, "/workflow-runs", order()).await;
    refused.is_problem(429, "QUOTA_EXCEEDED");
    assert_eq!(refused.json["current"]["quota"], "storedBytes");
    let event = json!({ "eventId": "paid", "eventData": 1 });
    host.post_as(&bob, "/events", event.clone()).await.is_problem(429, "QUOTA_EXCEEDED");
    assert_eq!(host.post_as(&admin, "/events", event).await.status, 200, "another workspace is not touched");
    let go = host.post_as(&bob, &format!("/workflow-runs/{run}/resume"), json!({ "signalType": "go" })).await;
    assert_eq!(go.status, 200, "{}", go.text);
    assert_eq!(host.get_as(&bob, &format!("/workflow-runs/{run}")).await.json["status"], "COMPLETED");
    let listed = host.get_as(&admin, "/workspaces").await;
    let team = listed.json["data"].as_array().unwrap().iter().find(|one| one["name"] == "team").unwrap();
    assert!(team["storedBytes"].as_u64().unwrap() > 10_000, "{}", listed.text);
}

/// Text that does not compress.
fn noise(length: usize) -> String {
    let mut random = abide_core::random::Random::new(7);
    (0..length / 16).map(|_| format!("{:016x}", random.draw())).collect()
}
