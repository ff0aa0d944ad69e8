//! Every operation of the OpenAPI document, with no key, with a key of each single scope, and with keys of another
//! workspace: nobody gets beyond their rights. It is made from the document, so that a new operation is covered by itself.

use std::collections::{BTreeMap, BTreeSet};

use hyper::Method;
use serde_json::{Value, json};

use crate::host::{Host, Reply};
use crate::keys::locked;

/// Stands in everything that the first workspace holds, and in nothing else.
const MARK: &str = "marker-of-the-first-workspace";
const SCOPES: [&str; 6] = ["read", "deploy", "run", "worker", "approve", "admin"];

struct Operation {
    method: Method,
    path: String,
    /// Any one of these is enough; none: it is open to everyone.
    scopes: BTreeSet<String>,
    /// What it answers has no end.
    streams: bool,
}

/// What stands in the paths.
type Ids = BTreeMap<&'static str, String>;

fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Ok(method) = Method::from_bytes(method.to_uppercase().as_bytes()) else { continue };
            let scopes = operation["x-scopes"].as_array().into_iter().flatten();
            let scopes = scopes.map(|scope| scope.as_str().unwrap().to_owned()).collect();
            let only_streams = |response: &Value| {
                let content = response["content"].as_object();
                content.is_some_and(|content| content.keys().all(|kind| kind == "text/event-stream"))
            };
            let streams = only_streams(&operation["responses"]["200"]);
            operations.push(Operation { method, path: path.clone(), scopes, streams });
        }
    }
    operations
}

fn may(scope: &str, operation: &Operation) -> bool {
    let needs = &operation.scopes;
    needs.is_empty()
        || scope == "admin"
        || needs.contains(scope)
        || (needs.contains("read") && matches!(scope, "run" | "deploy"))
}

fn filled(path: &str, ids: &Ids) -> String {
    let mut filled = path.to_owned();
    for (name, id) in ids {
        filled = filled.replace(&format!("{{{name}}}"), id);
    }
    // What is left is the id of whatever the path is about.
    let of = |path: &str| match path {
        path if path.starts_with("/api/v1/workflow-runs") || path.starts_with("/api/v1/flow-runs") => "run",
        path if path.starts_with("/api/v1/waitpoints") || path.starts_with("/api/v1/approval") => "waitpoint",
        path if path.starts_with("/api/v1/workflow-definitions") => "definition",
        path if path.starts_with("/api/v1/schedules") => "schedule",
        path if path.starts_with("/api/v1/webhooks") => "webhook",
        path if path.starts_with("/api/v1/keys") => "key",
        path if path.starts_with("/api/v1/tasks") => "task",
        _ => "other",
    };
    let id = ids.get(of(path)).cloned().unwrap_or_else(|| "1".to_owned());
    while let Some((before, rest)) = filled.clone().split_once('{') {
        let (_, after) = rest.split_once('}').unwrap();
        filled = format!("{before}{id}{after}");
    }
    filled
}

async fn ask(host: &Host, key: Option<&str>, operation: &Operation, ids: &Ids) -> Reply {
    let path = filled(&operation.path, ids);
    let mut headers = vec![("content-type", "application/json")];
    if let Some(key) = key {
        headers.push(("x-api-key", key));
    }
    let body = if matches!(operation.method, Method::GET | Method::DELETE) { "" } else { "{}" };
    host.raw(operation.method.clone(), &path, &headers, body.into()).await
}

/// Something of everything that has an id.
async fn furnish(host: &Host, admin: &str) -> Ids {
    let post = async |path: &str, body: Value| {
        let made = host.post_as(admin, path, body).await;
        assert!(made.status < 300, "{path}: {}", made.text);
        made.json
    };
    let steps = json!([{ "type": "webhook", "name": "sign", "timeout": "9d" }]);
    let flow = json!({ "name": MARK, "version": "1", "description": MARK, "steps": steps });
    let definition = post("/workflow-definitions", flow).await["id"].clone();
    let run = post("/workflow-runs", json!({ "name": MARK, "input": { "x": MARK } })).await["id"].clone();
    let waits = host.get_as(admin, "/waitpoints").await.json;
    let waitpoint = waits["data"][0]["id"].clone();
    let schedule = json!({ "name": MARK, "definition": MARK, "every": "9d" });
    let schedule = post("/schedules", schedule).await["id"].clone();
    let webhook =
        json!({ "url": "https://example.com/hook", "events": ["workflow.failed"], "description": MARK });
    let webhook = post("/webhooks", webhook).await["id"].clone();
    let key = post("/keys", json!({ "name": MARK, "scopes": ["read"] })).await["id"].clone();
    post("/events", json!({ "eventId": MARK, "eventData": { "x": MARK } })).await;
    let text = |value: Value| value.as_str().unwrap().to_owned();
    let mut ids = Ids::new();
    ids.insert("run", text(run));
    ids.insert("waitpoint", text(waitpoint));
    ids.insert("definition", text(definition));
    ids.insert("schedule", text(schedule));
    ids.insert("webhook", text(webhook));
    ids.insert("key", text(key));
    ids.insert("eventId", MARK.to_owned());
    ids
}

#[tokio::test]
async fn no_operation_goes_beyond_the_rights_of_who_asks() {
    let (host, admin) = locked().await;
    let ids = furnish(&host, &admin).await;
    let document = host.raw(Method::GET, "/openapi.json", &[], "".into()).await.json;
    let operations = operations(&document);
    assert!(operations.len() > 60, "{} operations", operations.len());
    let team = host.post_as(&admin, "/workspaces", json!({ "name": "team" })).await.json["id"].clone();
    let key = async |name: &str, scopes: &[&str], workspace: &Value| {
        let body = json!({ "name": name, "scopes": scopes, "workspace": workspace });
        let made = host.post_as(&admin, "/keys", body).await;
        made.json["secret"].as_str().unwrap_or_else(|| panic!("{}", made.text)).to_owned()
    };
    let mut asked = 0;
    for operation in &operations {
        let Operation { method, path, scopes, streams } = operation;
        let nobody = ask(&host, None, operation, &ids).await;
        asked += 1;
        if !scopes.is_empty() {
            assert_eq!(nobody.status, 401, "{method} {path} without a key: {}", nobody.text);
        }
        assert!(!nobody.text.contains(MARK), "{method} {path} shows something to nobody: {}", nobody.text);
        let (method, scopes, path) = (method.clone(), scopes.clone(), format!("{path}?token=1.0.AAAA"));
        let forged = Operation { method, path, scopes, streams: *streams };
        let Operation { method, path, scopes, .. } = &forged;
        let reply = ask(&host, None, &forged, &ids).await;
        asked += 1;
        assert!(scopes.is_empty() || matches!(reply.status, 401 | 404), "{method} {path}: {}", reply.text);
        assert!(!reply.text.contains(MARK), "{method} {path}: {}", reply.text);
    }
    for scope in SCOPES.into_iter().filter(|scope| *scope != "admin") {
        let ours = key(&format!("our {scope}"), &[scope], &json!("ws_0")).await;
        for operation in operations.iter().filter(|operation| !may(scope, operation)) {
            let reply = ask(&host, Some(&ours), operation, &ids).await;
            asked += 1;
            let (method, path) = (&operation.method, &operation.path);
            assert_eq!(reply.status, 403, "{method} {path} with `{scope}`: {}", reply.text);
            assert!(!reply.text.contains(MARK), "{method} {path} with `{scope}`: {}", reply.text);
        }
    }
    for scope in SCOPES {
        let theirs = key(&format!("their {scope}"), &[scope], &team).await;
        for operation in operations.iter().filter(|operation| !(operation.streams && may(scope, operation))) {
            let reply = ask(&host, Some(&theirs), operation, &ids).await;
            asked += 1;
            let (method, path) = (&operation.method, &operation.path);
            assert!(!reply.text.contains(MARK), "{method} {path} shows another workspace: {}", reply.text);
            if !may(scope, operation) {
                assert_eq!(reply.status, 403, "{method} {path} with their `{scope}`: {}", reply.text);
            }
        }
    }
    // All of it is as it was.
    let run = host.get_as(&admin, &format!("/workflow-runs/{}", ids["run"])).await;
    assert_eq!(run.json["status"], "WAITING", "{}", run.text);
    for (path, id) in [("/schedules", "schedule"), ("/webhooks", "webhook")] {
        assert_eq!(host.get_as(&admin, &format!("{path}/{}", ids[id])).await.status, 200, "{path}");
    }
    assert!(asked > 600, "{asked} requests");
}
