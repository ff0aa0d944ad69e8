//! `onFailure` and `onCancel`, and calls that the engine makes for a worker, as they are seen over HTTP.

use serde_json::{Value, json};

use crate::host::{Host, until};
use crate::receiver::Receiver;

fn order() -> Value {
    json!({
        "name": "order", "version": "2",
        "steps": [{"type": "task", "name": "pay", "handler": "pay", "retry": {"maxAttempts": 1}}],
        "onFailure": {"handler": "tell-ops", "config": {"channel": "#{{ input.run.name }}"}},
        "onCancel": {"handler": "release"},
    })
}

async fn polled(host: &Host, handler: &str) -> Value {
    let poll = json!({"handlers": [handler], "workerId": "w", "waitMs": 300_000});
    host.post("/tasks/poll", poll).await.json["tasks"][0].clone()
}

async fn report(host: &Host, task: &Value, how: &str, mut body: Value) {
    body["leaseToken"] = task["leaseToken"].clone();
    let reply = host.post(&format!("/tasks/{}/{how}", task["id"].as_str().unwrap()), body).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
}

#[tokio::test]
async fn a_failed_run_names_the_run_that_handles_it_and_that_one_names_its_parent() {
    let host = Host::start().await;
    host.deploy(order()).await;
    let run = host.start_run("order", json!({"n": 7})).await;
    let task = polled(&host, "pay").await;
    report(&host, &task, "fail", json!({"message": "declined", "code": "DECLINED", "retryable": false}))
        .await;
    let failed = host.run(&run).await;
    assert_eq!(failed["status"], "FAILED");
    let hook = failed["handledBy"].as_str().unwrap().to_owned();
    let called = polled(&host, "tell-ops").await;
    assert_eq!((&called["runId"], &called["config"]), (&json!(hook), &json!({"channel": "#order"})));
    assert_eq!((&called["input"]["run"]["id"], &called["input"]["input"]), (&json!(run), &json!({"n": 7})));
    assert_eq!(called["input"]["error"]["code"], "DECLINED");
    let shown = host.run(&hook).await;
    assert_eq!(
        (&shown["parentRunId"], &shown["definition"]["name"]),
        (&json!(run), &json!("$onFailure/order"))
    );
    assert_eq!(shown["definition"]["version"], "2");
    report(&host, &called, "complete", json!({"output": "told"})).await;
    assert_eq!(host.run(&hook).await["status"], "COMPLETED");
    let history = host.get(&format!("/workflow-runs/{run}/events")).await.json;
    let last = history["data"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["type"], &last["handledBy"]), (&json!("WORKFLOW_FAILED"), &json!(hook)));
    assert_eq!(host.get(&format!("/workflow-runs/{hook}/events")).await.status, 200);
}

#[tokio::test]
async fn what_hooks_are_made_of_is_no_workflow_of_its_own() {
    let host = Host::start().await;
    host.deploy(order()).await;
    let listed = host.get("/workflow-definitions").await.json;
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    host.post("/workflow-runs", json!({"name": "$onFailure/order"}))
        .await
        .is_problem(404, "UNKNOWN_DEFINITION");
    host.post("/workflow-runs", json!({"name": "$http"})).await.is_problem(404, "UNKNOWN_DEFINITION");
    let bad = json!({"name": "w", "steps": [{"type": "task", "name": "a", "handler": "h"}], "onFailure": {}});
    let reply = host.post("/workflow-definitions", bad).await;
    assert!(
        reply
            .is_problem(422, "INVALID_DEFINITION")
            .text
            .contains("/onFailure: the field `handler` is missing"),
        "{}",
        reply.text
    );
    host.start_run("order", json!({})).await;
    let task = polled(&host, "pay").await;
    let child = json!({"type": "child", "name": "c", "workflow": "$http", "input": {"url": "http://x", "sign": true}});
    let body = json!({"leaseToken": task["leaseToken"], "waits": [child]});
    let reply = host.post(&format!("/tasks/{}/suspend", task["id"].as_str().unwrap()), body).await;
    reply.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn a_cancelled_run_calls_on_cancel_with_who_and_why() {
    let host = Host::start().await;
    host.deploy(order()).await;
    let run = host.start_run("order", json!({})).await;
    let cancelled =
        host.post(&format!("/workflow-runs/{run}/cancel"), json!({"reason": "ordered twice"})).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.text);
    let called = polled(&host, "release").await;
    assert_eq!(called["input"]["reason"], "ordered twice");
    assert_eq!(host.run(&run).await["handledBy"], called["runId"]);
}

#[tokio::test]
async fn a_worker_asks_for_a_call_lets_go_and_is_handed_the_answer() {
    let (host, receiver) = (Host::start().await, Receiver::start().await);
    let run = host.run_of(json!([{"type": "task", "name": "desk", "handler": "desk"}])).await;
    let task = polled(&host, "desk").await;
    receiver.answer(503);
    let call = json!({
        "type": "http", "name": "rate", "asked": "http POST", "url": receiver.url(), "method": "POST",
        "headers": {"x-a": "1"}, "body": {"n": 7}, "timeout": "5s", "failOn": ["5xx"],
        "retry": {"maxAttempts": 2, "backoffMs": 100},
    });
    report(&host, &task, "suspend", json!({"waits": [call]})).await;
    let child = host.run(&run).await["waitingFor"][0]["childRunId"].as_str().unwrap().to_owned();
    until(async || host.run(&child).await["status"] == "WAITING").await;
    assert_eq!(host.run(&child).await["definition"]["name"], "$http");
    receiver.answer(200);
    host.pass(1_000).await;
    let again = polled(&host, "desk").await;
    let wait = &again["journal"][0]["wait"];
    assert_eq!((&again["journal"][0]["name"], &wait["kind"]), (&json!("rate"), &json!("CHILD")));
    assert_eq!(
        (&wait["payload"]["status"], &wait["payload"]["output"]["status"]),
        (&json!("COMPLETED"), &json!(200))
    );
    let calls = receiver.take();
    assert_eq!((calls.len(), calls[1].json()), (2, json!({"n": 7})));
    report(&host, &again, "complete", json!({"output": wait["payload"]["output"]["body"]})).await;
    assert_eq!(host.run(&run).await["output"], "thank you");
}

#[tokio::test]
async fn a_call_that_cannot_be_made_is_refused_with_its_place() {
    let host = Host::start().await;
    host.run_of(json!([{"type": "task", "name": "desk", "handler": "desk"}])).await;
    let task = polled(&host, "desk").await;
    let path = format!("/tasks/{}/suspend", task["id"].as_str().unwrap());
    for bad in [
        json!({"url": "/here"}),
        json!({"url": "https://x", "retry": {"maxAttempts": 100}}),
        json!({"url": "https://x", "failOn": ["6xx"]}),
        json!({"url": "https://x", "sign": true}),
        json!({"url": "https://x", "timeout": "soon"}),
    ] {
        let mut wait = json!({"type": "http", "name": "rate"});
        wait.as_object_mut().unwrap().extend(bad.as_object().unwrap().clone());
        let body = json!({"leaseToken": task["leaseToken"], "waits": [wait]});
        let reply = host.post(&path, body).await;
        assert_eq!((reply.status, &reply.json["code"]), (422, &json!("MALFORMED")), "{bad} {}", reply.text);
    }
}
