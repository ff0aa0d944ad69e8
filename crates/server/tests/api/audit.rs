//! The audit log: every control action, who did it, from where.

use hyper::Method;
use serde_json::{Value, json};

use crate::approvals::asked;
use crate::host::Host;
use crate::keys::key;

async fn actions(host: &Host) -> Vec<Value> {
    let mut listed = Vec::new();
    let mut path = "/audit?limit=5".to_owned();
    loop {
        let page = host.get(&path).await.json;
        listed.extend(page["data"].as_array().unwrap().clone());
        match page["nextCursor"].as_str() {
            Some(cursor) => path = format!("/audit?limit=5&cursor={cursor}"),
            None => return listed,
        }
    }
}

#[tokio::test]
async fn control_actions_are_noted_with_who_when_and_from_where() {
    let host = Host::start().await;
    let root = key(&host, "root", &["admin"]).await;
    let (run, id) = asked(&host, json!({ "timeout": "7d" })).await;
    let headers =
        [("x-api-key", root.as_str()), ("x-request-id", "mine-1"), ("content-type", "application/json")];
    let made = host
        .raw(
            Method::POST,
            &host.url(&format!("/waitpoints/{id}/link")),
            &headers,
            r#"{"recipient": "ann"}"#.into(),
        )
        .await;
    assert_eq!(made.status, 201, "{}", made.text);
    let later = json!({ "resumeAt": "2026-11-30T12:00:00Z" });
    let moved =
        host.send(Method::PATCH, &format!("/waitpoints/{id}"), &[("x-api-key", &root)], Some(later)).await;
    assert_eq!(moved.status, 200, "{}", moved.text);
    assert_eq!(host.post_as(&root, &format!("/workflow-runs/{run}/cancel"), json!({})).await.status, 200);
    host.post_as(&root, "/keys", json!({ "name": "x", "scopes": [] })).await.is_problem(422, "MALFORMED");
    host.post_as(&root, &format!("/workflow-runs/{run}/retry"), json!({}))
        .await
        .is_problem(409, "RUN_NOT_FAILED");
    let bulk = json!({ "action": "cancel", "filter": {}, "dryRun": true });
    host.post_as(&root, "/workflow-runs/bulk", bulk).await;
    let listed = actions(&host).await;
    let names: Vec<&str> = listed.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    let expected =
        ["runs.commanded", "run.cancelled", "wait.rescheduled", "link.made", "definition.stored", "key.made"];
    assert_eq!(names, expected, "what was refused is not noted");
    let link = &listed[3];
    assert_eq!(
        (&link["by"], &link["address"], &link["requestId"]),
        (&json!("root"), &json!("127.0.0.1"), &json!("mine-1"))
    );
    assert_eq!(link["detail"], json!({ "recipient": "ann", "expiresAt": null }));
    assert_eq!(
        (&link["at"], &link["target"]),
        (&json!("2026-11-15T12:00:00Z"), &json!(format!("/api/v1/waitpoints/{id}/link")))
    );
    assert_eq!(listed[5]["detail"]["scopes"], json!(["admin"]));
    let text = Value::from(listed.clone()).to_string();
    assert!(!text.contains(&root) && !text.contains("token="), "{text}");
    let verified = host.get("/audit/verify").await;
    assert_eq!(
        (&verified.json["whole"], &verified.json["entries"]),
        (&json!(true), &json!(6)),
        "{}",
        verified.text
    );
    assert_eq!(verified.json["last"], listed[0]["hash"]);
}

#[tokio::test]
async fn the_log_of_a_workspace_is_for_its_admins() {
    let host = Host::start().await;
    let team = host.post("/workspaces", json!({ "name": "team" })).await.json["id"].clone();
    let body = json!({ "name": "bob", "scopes": ["admin"], "workspace": team });
    let bob = host.post("/keys", body).await.json["secret"].as_str().unwrap().to_owned();
    assert_eq!(host.post_as(&bob, "/keys", json!({ "name": "bee", "scopes": ["read"] })).await.status, 201);
    let theirs = host.get_as(&bob, "/audit").await.json;
    assert_eq!(theirs["data"].as_array().unwrap().len(), 1, "{theirs}");
    assert_eq!(theirs["data"][0]["by"], "bob");
    host.get_as(&bob, "/audit/verify").await.is_problem(403, "FORBIDDEN");
    assert_eq!(actions(&host).await.len(), 3, "the default workspace sees all of it");
    let reader = key(&host, "reader", &["read", "run", "deploy", "approve", "worker"]).await;
    host.get_as(&reader, "/audit").await.is_problem(403, "FORBIDDEN");
}
