use hyper::Method;
use serde_json::{Value, json};

use crate::host::{Host, Reply, until};
use crate::scene::{poll, report, resume_url, text};

/// A workflow that works, and then answers.
async fn working(host: &Host, more: Value) {
    let mut flow = json!({ "name": "flow", "version": "1", "steps": [
        { "type": "task", "name": "work", "handler": "h", "saveAs": "result", "retry": { "maxAttempts": 1 } },
        { "type": "respond", "name": "say", "body": { "result": "{{ result }}", "to": "{{ input.body.from }}" } },
    ] });
    flow.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    host.deploy(flow).await;
}

async fn trigger(host: &Host, from: &str) -> Reply {
    host.post("/triggers/flow/sync?wait=60s", json!({ "from": from })).await
}

/// The one run there is, once it works.
async fn running(host: &Host) -> String {
    let runs =
        async || host.get("/workflow-runs?status=RUNNING").await.json["data"].as_array().unwrap().clone();
    until(async || !runs().await.is_empty()).await;
    text(&runs().await[0]["id"])
}

#[tokio::test]
async fn a_reply_does_not_go_to_another_caller() {
    let host = Host::start().await;
    working(&host, json!({})).await;
    let work = async {
        let mut tasks = Vec::new();
        until(async || {
            host.get("/workflow-runs?status=RUNNING").await.json["data"].as_array().unwrap().len() == 3
        })
        .await;
        for _ in 0..3 {
            tasks.push(poll(&host, "h").await);
        }
        // In the other order than they came.
        for task in tasks.iter().rev() {
            let run = host.run(task["runId"].as_str().unwrap()).await;
            report(&host, task, "complete", json!({ "output": run["input"]["body"]["from"] })).await;
        }
    };
    let (a, b, c, ()) = tokio::join!(trigger(&host, "a"), trigger(&host, "b"), trigger(&host, "c"), work);
    for (reply, from) in [(a, "a"), (b, "b"), (c, "c")] {
        assert_eq!(
            (reply.status, &reply.json),
            (200, &json!({ "result": from, "to": from })),
            "{}",
            reply.text
        );
    }
}

#[tokio::test]
async fn a_reply_that_is_quicker_than_its_listener_is_not_missed() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [
        { "type": "respond", "name": "say", "body": "at once" },
        { "type": "webhook", "name": "hold", "allowSync": true, "responseToSend": { "body": "held" } },
        { "type": "respond", "name": "more", "body": "gone on" },
        { "type": "wait", "name": "nap", "duration": "1h" },
    ] }))
    .await;
    let reply = trigger(&host, "a").await;
    assert_eq!((reply.status, reply.text.as_str()), (200, "at once"));
    let run = text(&host.get("/workflow-runs").await.json["data"][0]["id"]);
    let url = resume_url(&host, &run).await.replace("?token=", "/sync?wait=60s&token=");
    let reply = host.raw(Method::POST, &url, &[], "1".into()).await;
    assert_eq!((reply.status, reply.text.as_str()), (200, "gone on"));
}

#[tokio::test]
async fn a_run_that_fails_does_not_let_its_caller_wait() {
    let host = Host::start().await;
    working(&host, json!({})).await;
    let fail = async {
        running(&host).await;
        let task = poll(&host, "h").await;
        report(&host, &task, "fail", json!({ "message": "no luck", "retryable": false })).await;
    };
    let (reply, ()) = tokio::join!(trigger(&host, "a"), fail);
    assert_eq!(reply.is_problem(424, "RUN_FAILED").json["current"]["error"]["message"], "no luck");
}

#[tokio::test]
async fn a_run_whose_time_is_over_does_not_let_its_caller_wait() {
    let host = Host::start().await;
    working(&host, json!({ "timeoutMs": 5_000 })).await;
    let pass = async {
        running(&host).await;
        host.pass(5_000).await;
    };
    let (reply, ()) = tokio::join!(trigger(&host, "a"), pass);
    reply.is_problem(424, "RUN_FAILED");
}

#[tokio::test]
async fn a_run_that_is_cancelled_does_not_let_its_caller_wait() {
    let host = Host::start().await;
    working(&host, json!({})).await;
    let cancel = async {
        let run = running(&host).await;
        host.post(&format!("/workflow-runs/{run}/cancel"), json!({})).await;
    };
    let (reply, ()) = tokio::join!(trigger(&host, "a"), cancel);
    reply.is_problem(424, "RUN_CANCELLED");
}

#[tokio::test]
async fn a_caller_that_resumed_a_run_is_not_left_waiting_when_it_fails_later() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "webhook", "name": "sign", "allowSync": true },
            { "type": "task", "name": "work", "handler": "h" },
        ]))
        .await;
    let url = resume_url(&host, &run).await.replace("?token=", "/sync?wait=60s&token=");
    let fail = async {
        running(&host).await;
        let task = poll(&host, "h").await;
        report(&host, &task, "fail", json!({ "message": "no luck", "retryable": false })).await;
    };
    let (reply, ()) = tokio::join!(host.raw(Method::POST, &url, &[], "1".into()), fail);
    assert_eq!(reply.is_problem(424, "RUN_FAILED").json["current"]["status"], "FAILED");
}

#[tokio::test]
async fn a_sync_call_that_is_tried_again_does_not_miss_the_reply_that_was_given() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [
        { "type": "respond", "name": "say", "status": 201, "body": { "hello": "{{ input.body.from }}" } },
        { "type": "wait", "name": "nap", "duration": "1h" },
    ] }))
    .await;
    let headers = [("idempotency-key", "k")];
    let ask = async || {
        let body = Some(json!({ "from": "ann" }));
        host.send(Method::POST, "/triggers/flow/sync?wait=50ms", &headers, body).await
    };
    let first = ask().await;
    assert_eq!((first.status, &first.json), (201, &json!({ "hello": "ann" })), "{}", first.text);
    let again = ask().await;
    assert_eq!((again.status, &again.json), (201, &first.json), "{}", again.text);
    assert_eq!(host.get("/workflow-runs").await.json["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_output_that_looks_like_a_reply_is_not_taken_for_one() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "output": "{{ input.body }}", "steps": [
        { "type": "condition", "name": "any", "expression": "true", "trueStep": "end" },
    ] }))
    .await;
    let body = json!({ "status": 302, "headers": { "location": "http://elsewhere.example", "set-cookie": "a=1" }, "body": "<script>" });
    let reply = host.post("/triggers/flow/sync", body.clone()).await;
    assert_eq!((reply.status, &reply.json), (200, &body));
    assert_eq!((reply.header("location"), reply.header("set-cookie")), (None, None));
    assert_eq!(reply.header("content-type"), Some("application/json"));
}
