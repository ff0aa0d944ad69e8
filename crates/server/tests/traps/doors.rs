use hyper::Method;
use serde_json::{Value, json};

use crate::host::{Host, Reply};
use crate::scene::{asked, poll, report, resume_url};

async fn under(key: &str, host: &Host, path: &str, body: Value) -> Reply {
    host.send(Method::POST, path, &[("idempotency-key", key)], Some(body)).await
}

#[tokio::test]
async fn the_same_key_with_another_body_is_not_silently_the_old_request() {
    let host = Host::start().await;
    let hook = |name: &str| json!({ "type": "webhook", "name": name, "timeoutMs": 60_000 });
    let run = host.run_of(json!([hook("one"), hook("two")])).await;
    let (first, second) = (resume_url(&host, &run).await, host.start_run("flow", json!({})).await);
    let (_, approval) = asked(&host, json!({ "quorum": 2 })).await;
    let signal = |n: u32| json!({ "signalType": "go", "payload": n });
    let event = |n: u32| json!({ "eventId": "e", "eventData": n });
    for (path, body, other) in [
        (
            "/workflow-runs".to_owned(),
            json!({ "name": "flow", "input": 1 }),
            json!({ "name": "flow", "input": 2 }),
        ),
        ("/triggers/flow".to_owned(), json!({ "n": 1 }), json!({ "n": 2 })),
        (format!("/workflow-runs/{second}/resume"), signal(1), signal(2)),
        ("/events".to_owned(), event(1), event(2)),
        (first, json!({ "n": 1 }), json!({ "n": 2 })),
        (
            format!("/approval-requests/{approval}/decide"),
            json!({ "decision": "approve" }),
            json!({ "decision": "reject" }),
        ),
    ] {
        let done = under(&path, &host, &path, body.clone()).await;
        assert!(matches!(done.status, 200..=202), "{path}: {}", done.text);
        let again = under(&path, &host, &path, body).await;
        assert_eq!((again.status, &again.json), (done.status, &done.json), "{path}");
        under(&path, &host, &path, other).await.is_problem(422, "IDEMPOTENCY_KEY_REUSED");
    }
}

#[tokio::test]
async fn a_call_that_is_tried_again_through_another_proxy_does_not_start_a_second_run() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "1h" }])).await;
    let key = host.post("/keys", json!({ "name": "caller", "scopes": ["run"] })).await;
    let key = key.json["secret"].as_str().unwrap();
    let mut started = Vec::new();
    for proxy in ["a", "b"] {
        let proxied = [("x-forwarded-for", proxy), ("x-delivery", proxy)];
        let headers = [("idempotency-key", "k"), ("x-api-key", key), proxied[0], proxied[1]];
        let reply = host.send(Method::POST, "/triggers/flow", &headers, Some(json!({ "n": 1 }))).await;
        assert_eq!(reply.status, 202, "{}", reply.text);
        started.push(reply.json["id"].clone());
    }
    assert_eq!(started[0], started[1]);
}

#[tokio::test]
async fn a_key_that_was_used_at_one_door_does_not_answer_at_another() {
    let host = Host::start().await;
    let steps = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
    let run = host.run_of(steps).await;
    let signal = json!({ "signalType": "go" });
    let path = format!("/workflow-runs/{run}/resume");
    assert_eq!(under("k", &host, &path, signal).await.status, 200);
    let cancel = under("k", &host, &format!("/workflow-runs/{run}/cancel"), json!({})).await;
    cancel.is_problem(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(host.run(&run).await["status"], "WAITING");
}

#[tokio::test]
async fn a_refusal_is_not_remembered_under_a_key() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "external_event", "name": "ok", "signalType": "go" }])).await;
    let path = format!("/workflow-runs/{run}/retry");
    under("k", &host, &path, json!({})).await.is_problem(409, "RUN_NOT_FAILED");
    let wait = host.waitpoint(&run).await["id"].as_str().unwrap().to_owned();
    assert_eq!(host.post(&format!("/waitpoints/{wait}/cancel"), json!({})).await.status, 200);
    assert_eq!(host.run(&run).await["status"], "FAILED");
    let retried = under("k", &host, &path, json!({})).await;
    assert_eq!(retried.status, 200, "{}", retried.text);
}

#[tokio::test]
async fn nothing_a_payload_says_steers_the_run() {
    let host = Host::start().await;
    let control = json!({
        "__nextStep": "end", "__end": true, "$wait": 1, "$retry-1": 1, "next": "end", "goto": "end",
        "status": "FAILED", "signal": 7, "waitpoint": 9, "type": "WORKFLOW_CANCELLED", "error": { "code": "X" },
        "decision": "reject", "timeout": true, "leaseToken": "x", "resumeAt": "2020-01-01T00:00:00Z",
    });
    let run = host
        .run_of(json!([
            { "type": "webhook", "name": "hook", "saveAs": "call" },
            { "type": "external_event", "name": "sig", "signalType": "go" },
            { "type": "task", "name": "work", "handler": "h" },
            { "type": "wait_for_event", "name": "hear", "eventId": "e", "timeoutMs": 60_000, "saveAs": "heard" },
            { "type": "webhook", "name": "last" },
        ]))
        .await;
    let at = async || {
        let steps = host.run(&run).await["steps"].as_array().unwrap().clone();
        let done = steps.iter().filter(|step| step["status"] == "COMPLETED").count();
        assert!(steps.iter().all(|step| matches!(
            step["status"].as_str(),
            Some("COMPLETED" | "WAITING" | "RUNNING" | "PENDING")
        )));
        done
    };
    let headers = [("x-next-step", "end"), ("x-status", "FAILED"), ("content-type", "application/json")];
    let url = resume_url(&host, &run).await;
    let url = format!("{url}&__nextStep=end&next=end&status=FAILED");
    assert_eq!(host.raw(Method::POST, &url, &headers, control.to_string().into()).await.status, 200);
    assert_eq!(at().await, 1);
    let sent = host
        .post(&format!("/workflow-runs/{run}/resume"), json!({ "signalType": "go", "payload": control }))
        .await;
    assert_eq!((sent.status, at().await), (200, 2), "{}", sent.text);
    let task = poll(&host, "h").await;
    let done = json!({ "output": control, "stateUpdates": control });
    let done = report(&host, &task, "complete", done).await;
    assert_eq!((done.status, at().await), (200, 3), "{}", done.text);
    host.post("/events", json!({ "eventId": "e", "eventData": control })).await;
    assert_eq!(at().await, 4);
    let run = host.run(&run).await;
    assert_eq!((&run["status"], &run["state"]["__nextStep"]), (&json!("WAITING"), &json!("end")));
}

/// F18, F19: an address has a `state`. It was refused, or failed a step whose call was paid for.
#[tokio::test]
async fn everyday_keys_are_merged_and_hide_no_name_of_expressions() {
    let host = Host::start().await;
    let reads =
        json!({ "state": "{{ state.state }}", "input": "{{ state[\"input\"] }}", "bare": "{{ input.n }}" });
    let steps = json!([
        { "type": "external_event", "name": "sig", "signalType": "go" },
        { "type": "task", "name": "work", "handler": "h" },
        { "type": "task", "name": "read", "handler": "h", "input": reads },
    ]);
    host.deploy(json!({ "name": "flow", "version": "1", "steps": steps })).await;
    let run = host.start_run("flow", json!({ "n": 7 })).await;
    let path = format!("/workflow-runs/{run}/resume");
    let address = json!({ "city": "SF", "state": "CA", "item": 1, "index": 2, "run": 3, "event": 4, "secret": 5, "steps": 6 });
    assert_eq!(host.post(&path, json!({ "signalType": "go", "payload": address })).await.status, 200);
    let task = poll(&host, "h").await;
    let done = report(&host, &task, "complete", json!({ "stateUpdates": { "input": "typed" } })).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert_eq!(poll(&host, "h").await["input"], json!({ "state": "CA", "input": "typed", "bare": 7 }));
}
