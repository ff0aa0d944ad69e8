//! Code that changes under runs: journals to try it on, steps that are skipped, tasks that are pinned to a build.

use serde_json::{Value, json};

use crate::host::{Host, Reply};
use crate::keys::locked;

fn work(more: Value) -> Value {
    let mut step = json!({ "type": "task", "name": "work", "handler": "h", "config": { "c": 1 } });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([step])
}

async fn poll(host: &Host, build: &str) -> Value {
    let body = json!({ "handlers": ["h"], "workerId": "w", "buildId": build, "waitMs": 0 });
    host.post("/tasks/poll", body).await.json["tasks"][0].clone()
}

async fn report(host: &Host, task: &Value, verb: &str, mut body: Value) {
    body["leaseToken"] = task["leaseToken"].clone();
    let reply = host.post(&format!("/tasks/{}/{verb}", task["id"].as_str().unwrap()), body).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
}

async fn suspend(host: &Host, task: &Value) {
    let waits = json!([
        { "type": "sleep", "name": "nap", "duration": "1h" },
        { "type": "signal", "name": "go", "signalType": "go" },
    ]);
    let entries = json!([{ "name": "order", "result": { "id": 7 } }]);
    report(host, task, "suspend", json!({ "waits": waits, "wake": "each", "entries": entries })).await;
}

/// A run whose code, of the build `new`, does not fit what was recorded.
async fn mismatched(host: &Host, more: Value) -> String {
    let run = host.run_of(work(more)).await;
    suspend(host, &poll(host, "old").await).await;
    host.pass(3_600_000).await;
    let task = poll(host, "new").await;
    let mismatch = json!({ "recorded": "`order`", "found": "`bill`" });
    report(host, &task, "fail", json!({ "message": "", "mismatch": mismatch })).await;
    run
}

async fn journals(host: &Host, query: &str) -> Vec<Value> {
    let reply = host.get(&format!("/tasks/journals{query}")).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.json["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn an_exported_journal_is_what_a_worker_is_given_when_the_wait_ends() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({ "input": { "n": "{{ 1 + 1 }}" } }))).await;
    let [ready] = &journals(&host, "").await[..] else { panic!("a task that is ready is one of them") };
    assert_eq!((&ready["runId"], &ready["journal"]), (&json!(run), &json!([])));
    suspend(&host, &poll(&host, "b1").await).await;
    let [exported] = &journals(&host, "").await[..] else { panic!() };
    assert_eq!(exported["journal"][2]["wait"]["status"], "PENDING");
    host.post(&format!("/workflow-runs/{run}/resume"), json!({ "signalType": "go", "payload": 7 })).await;
    let given = poll(&host, "b1").await;
    for field in ["runId", "handler", "attempt", "input", "state", "config", "checkpoint"] {
        assert_eq!(exported[field], given[field], "{field}");
    }
    let mut ended = exported["journal"].clone();
    let go = ended.as_array_mut().unwrap().iter_mut().find(|entry| entry["name"] == "go").unwrap();
    go["wait"]["status"] = json!("COMPLETED");
    go["wait"]["payload"] = json!(7);
    assert_eq!(ended, given["journal"]);
    let [out] = &journals(&host, "").await[..] else { panic!("one that a worker has is one of them") };
    assert_eq!(out["journal"], given["journal"]);
    assert_eq!(
        (&out["workflow"], &out["version"], &out["step"]),
        (&json!("flow"), &json!("1"), &json!("work"))
    );
    report(&host, &given, "complete", json!({})).await;
    assert_eq!(journals(&host, "").await, Vec::<Value>::new());
}

#[tokio::test]
async fn journals_are_narrowed_by_handler_and_workflow_and_come_page_by_page() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({}))).await;
    for (query, found) in [
        ("?handler=h", 1),
        ("?handler=other", 0),
        ("?workflow=flow", 1),
        ("?workflow=other", 0),
        ("?handler=h&workflow=flow", 1),
    ] {
        assert_eq!(journals(&host, query).await.len(), found, "{query}");
    }
    for _ in 0..250 {
        host.start_run("flow", json!({})).await;
    }
    let first = host.get("/tasks/journals").await.json;
    assert_eq!(first["data"].as_array().unwrap().len(), 200);
    let cursor = first["nextCursor"].as_str().unwrap();
    let rest = host.get(&format!("/tasks/journals?cursor={cursor}")).await.json;
    let rest_runs = rest["data"].as_array().unwrap();
    assert_eq!((rest_runs.len(), &rest["nextCursor"]), (51, &Value::Null));
    assert_eq!(rest_runs[50]["runId"], json!(run));
    host.get("/tasks/journals?cursor=nothing").await.is_problem(422, "BAD_CURSOR");
}

#[tokio::test]
async fn journals_of_another_workspace_are_not_seen() {
    let (host, admin) = locked().await;
    let made = host.post_as(&admin, "/workspaces", json!({ "name": "team" })).await;
    let key = async |scope: &str, workspace: &Value| {
        let key = json!({ "name": "bob", "scopes": [scope], "workspace": workspace });
        host.post_as(&admin, "/keys", key).await.json["secret"].as_str().unwrap().to_owned()
    };
    let flow = json!({ "name": "flow", "steps": work(json!({})) });
    host.post_as(&admin, "/workflow-definitions", flow).await;
    host.post_as(&admin, "/workflow-runs", json!({ "name": "flow" })).await;
    let seen = async |key: &str| host.get_as(key, "/tasks/journals").await.json["data"].clone();
    assert_eq!(seen(&key("read", &made.json["id"]).await).await, json!([]));
    assert_eq!(seen(&admin).await.as_array().unwrap().len(), 1);
    let worker = key("worker", &Value::Null).await;
    host.get_as(&worker, "/tasks/journals").await.is_problem(403, "FORBIDDEN");
}

#[tokio::test]
async fn an_operator_skips_a_step_that_waits_for_other_code() {
    let host = Host::start().await;
    let run = mismatched(&host, json!({ "saveAs": "paid" })).await;
    let wait = host.get("/waitpoints?kind=CODE&status=PENDING").await.json["data"][0].clone();
    let path = format!("/waitpoints/{}/skip", wait["id"].as_str().unwrap());
    let other = host.get("/waitpoints?kind=SIGNAL").await.json["data"][0]["id"].clone();
    let refused: Reply = host.post(&format!("/waitpoints/{}/skip", other.as_str().unwrap()), json!({})).await;
    refused.is_problem(409, "WRONG_WAITPOINT_KIND");
    let skipped = host.post(&path, json!({ "output": { "by": "hand" }, "reason": "paid by hand" })).await;
    assert_eq!((skipped.status, &skipped.json["status"]), (200, &json!("COMPLETED")), "{}", skipped.text);
    assert_eq!(skipped.json["resumePayload"], json!({ "skipped": true, "reason": "paid by hand" }));
    let run = host.run(&run).await;
    assert_eq!((&run["status"], &run["state"]["paid"]), (&json!("COMPLETED"), &json!({ "by": "hand" })));
    assert_eq!(host.get("/waitpoints?status=PENDING").await.json["data"], json!([]));
    host.post(&path, json!({})).await.is_problem(409, "ALREADY_RESOLVED");
}

#[tokio::test]
async fn many_steps_that_wait_for_other_code_are_skipped_by_a_filter() {
    let host = Host::start().await;
    let run = mismatched(&host, json!({})).await;
    let skip = |dry_run: bool| json!({ "action": "skip", "filter": { "kind": "CODE" }, "dryRun": dry_run });
    let counted = host.post("/waitpoints/bulk", skip(true)).await.json;
    assert_eq!((&counted["matched"], &counted["done"]), (&json!(1), &json!(0)));
    assert_eq!(host.run(&run).await["status"], "WAITING");
    assert_eq!(host.post("/waitpoints/bulk", skip(false)).await.json["done"], 1);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
    let stray = json!({ "action": "cancel", "filter": {}, "reason": "x" });
    host.post("/waitpoints/bulk", stray).await.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn a_run_says_which_build_its_pinned_task_waits_for() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({ "pinToBuild": true }))).await;
    let first = poll(&host, "b1").await;
    let history = host.get(&format!("/workflow-runs/{run}/events")).await.text;
    assert!(history.contains("TASK_PINNED"), "{history}");
    suspend(&host, &first).await;
    // Long enough for the worker not to count as there.
    host.pass(3_600_000).await;
    assert_eq!(poll(&host, "b2").await, Value::Null);
    let waiting = host.run(&run).await["waitingFor"].clone();
    let worker = waiting.as_array().unwrap().iter().find(|waits| waits["kind"] == "WORKER").unwrap();
    let sentence = "`work` waits for a worker of build `b1`, to which it is pinned; the last one was seen at 2026-11-15T12:00:00Z";
    assert_eq!(worker["sentence"], sentence);
    assert_ne!(poll(&host, "b1").await, Value::Null);
}

#[tokio::test]
async fn an_operator_unpins_and_pins_runs_one_or_by_a_filter() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({ "pinToBuild": true }))).await;
    let first = poll(&host, "b1").await;
    report(&host, &first, "release", json!({})).await;
    let path = |verb: &str| format!("/workflow-runs/{run}/{verb}");
    host.post(&path("pin"), json!({})).await.is_problem(422, "MALFORMED");
    let pinned = host.post(&path("pin"), json!({ "build": "b2" })).await;
    assert_eq!((pinned.status, &pinned.json["changed"]), (200, &json!(true)), "{}", pinned.text);
    assert_eq!(poll(&host, "b1").await, Value::Null);
    let second = poll(&host, "b2").await;
    report(&host, &second, "release", json!({})).await;
    let unpin = |dry_run: bool| json!({ "action": "unpin", "filter": { "definition": "flow" }, "handler": "h", "dryRun": dry_run });
    assert_eq!(host.post("/workflow-runs/bulk", unpin(true)).await.json["matched"], 1);
    assert_eq!(poll(&host, "b1").await, Value::Null);
    assert_eq!(host.post("/workflow-runs/bulk", unpin(false)).await.json["done"], 1);
    assert_eq!(host.post(&path("unpin"), json!({})).await.json["changed"], false);
    assert_eq!(poll(&host, "b1").await["runId"], json!(run));
    let stray = json!({ "action": "unpin", "filter": {}, "build": "b1" });
    host.post("/workflow-runs/bulk", stray).await.is_problem(422, "MALFORMED");
    let needed = json!({ "action": "pin", "filter": {} });
    host.post("/workflow-runs/bulk", needed).await.is_problem(422, "MALFORMED");
}
