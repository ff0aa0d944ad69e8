//! What several tests begin with.

use abide_server::Settings;
use abide_store::sqlite::Sqlite;
use hyper::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::{Host, Reply};

/// A server whose store outlives it.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) async fn serve(&self) -> Host {
        Host::on(Box::new(Sqlite::open(self.0.path().join("abide.db")).unwrap()), Settings::default()).await
    }
}

/// A call from outside, with a JSON body.
pub(crate) async fn call(host: &Host, url: &str, body: Value) -> Reply {
    host.raw(Method::POST, url, &[("content-type", "application/json")], body.to_string().into()).await
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The URL of the one open wait of a run.
pub(crate) async fn resume_url(host: &Host, run: &str) -> String {
    text(&host.waitpoint(run).await["resumeUrl"])
}

/// The same link at another address: the server's after a restart.
pub(crate) fn path_of(url: &str) -> String {
    format!("/api{}", url.split_once("/api").unwrap().1)
}

/// The open wait of a step.
pub(crate) async fn wait_of(host: &Host, run: &str, step: &str) -> Value {
    let waits = host.get(&format!("/waitpoints?runId={run}&status=PENDING")).await;
    let found = waits.json["data"].as_array().unwrap().iter().find(|wait| wait["stepName"] == step);
    found.unwrap_or_else(|| panic!("{step} does not wait: {}", waits.text)).clone()
}

pub(crate) async fn signal(host: &Host, run: &str, signal_type: &str, payload: Value) -> Reply {
    let body = json!({ "signalType": signal_type, "payload": payload });
    host.post(&format!("/workflow-runs/{run}/resume"), body).await
}

/// The next task of a handler, or null.
pub(crate) async fn poll(host: &Host, handler: &str) -> Value {
    let body = json!({ "handlers": [handler], "workerId": "w", "waitMs": 0 });
    host.post("/tasks/poll", body).await.json["tasks"][0].clone()
}

pub(crate) async fn report(host: &Host, task: &Value, verb: &str, mut body: Value) -> Reply {
    body["leaseToken"] = task["leaseToken"].clone();
    host.post(&format!("/tasks/{}/{verb}", text(&task["id"])), body).await
}

/// A run that asks for approval of a text, and the id of the request.
pub(crate) async fn asked(host: &Host, more: Value) -> (String, String) {
    let mut step = json!({ "type": "approval", "name": "ok", "contentKey": "draft" });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let write =
        json!({ "type": "external_event", "name": "write", "signalType": "write", "saveAs": "draft" });
    host.deploy(json!({ "name": "asks", "version": "1", "steps": [write, step] })).await;
    let run = host.start_run("asks", json!({})).await;
    assert_eq!(signal(host, &run, "write", json!("text")).await.status, 200);
    let id = text(&host.waitpoint(&run).await["id"]);
    (run, id)
}

pub(crate) async fn key(host: &Host, name: &str, scopes: &[&str]) -> String {
    let made = host.post("/keys", json!({ "name": name, "scopes": scopes })).await;
    assert_eq!(made.status, 201, "{}", made.text);
    text(&made.json["secret"])
}

/// All that anybody can read of a run.
pub(crate) async fn all_of(host: &Host, run: &str) -> String {
    let mut all = String::new();
    for path in [
        format!("/workflow-runs/{run}"),
        format!("/workflow-runs/{run}/events?limit=500"),
        format!("/waitpoints?runId={run}"),
    ] {
        let reply = host.get(&path).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        all.push_str(&reply.text);
    }
    all
}
