//! Sentences of the systems that abide unites, and what they mean here.

use serde_json::{Value, json};

use crate::host::Host;

fn branch(name: &str, after: &[&str]) -> Value {
    json!({ "type": "wait_for_event", "name": name, "eventId": "x", "after": after })
}

/// Upstash: "all workflows waiting for the event are notified". F13: of two branches of one run only one was.
#[tokio::test]
async fn one_event_wakes_every_branch_of_a_run_and_says_that_it_is_kept() {
    let host = Host::start().await;
    let steps = json!([branch("a", &[]), branch("b", &[]), branch("later", &["a"])]);
    let run = host.run_of(steps).await;
    let sent = host.post("/events", json!({ "eventId": "x", "eventData": 1 })).await;
    assert_eq!(sent.json["waiters"].as_array().unwrap().len(), 2, "{}", sent.text);
    assert_eq!((&sent.json["stored"], &sent.json["keptFor"]), (&json!(true), &json!("everyone")));
    let seen = host.run(&run).await;
    let statuses: Vec<&Value> =
        seen["steps"].as_array().unwrap().iter().map(|step| &step["status"]).collect();
    assert_eq!(statuses, ["COMPLETED", "COMPLETED", "WAITING"]);
    let again = host.post("/events", json!({ "eventId": "x", "eventData": 2, "workflowRunId": run })).await;
    assert_eq!((&again.json["keptFor"], &host.run(&run).await["status"]), (&json!(run), &json!("COMPLETED")));
    let dry = host.post("/events", json!({ "eventId": "x", "dryRun": true })).await;
    assert_eq!((&dry.json["stored"], &dry.json["keptFor"]), (&json!(false), &json!(null)));
}

/// F20: a run that slept takes an old broadcast, and its output did not say how old it is.
#[tokio::test]
async fn an_event_taken_by_looking_back_is_seen_to_be_old() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "wait", "name": "sleep", "duration": "20d" },
            { "type": "wait_for_event", "name": "price", "eventId": "price-changed" },
        ]))
        .await;
    let sent = host.post("/events", json!({ "eventId": "price-changed", "eventData": { "cents": 5 } })).await;
    host.pass(20 * 86_400_000).await;
    let seen = host.run(&run).await;
    let step = &seen["steps"][1];
    assert_eq!((&step["output"], &step["event"]["id"]), (&json!({ "cents": 5 }), &sent.json["id"]));
    assert_eq!(step["event"]["receivedAt"], "2026-11-15T12:00:00Z");
    let waitpoint = step["waits"][0]["waitpointId"].as_str().unwrap();
    let waitpoint = host.get(&format!("/waitpoints/{waitpoint}")).await;
    assert_eq!(waitpoint.json["event"], step["event"]);
}

/// D12: "no waiters, retry" made a second event. With a key it is one, and the answer says that it was kept.
#[tokio::test]
async fn check_and_retry_with_a_key_does_not_double_an_event() {
    let host = Host::start().await;
    let wait = |name: &str| json!({ "type": "wait_for_event", "name": name, "eventId": "x" });
    let nap = json!({ "type": "wait", "name": "nap", "durationMs": 1000 });
    let run = host.run_of(json!([nap, wait("first"), wait("second")])).await;
    let event = json!({ "eventId": "x", "idempotencyKey": "k" });
    let sent = host.post("/events", event.clone()).await;
    assert_eq!((&sent.json["waiters"], &sent.json["stored"]), (&json!([]), &json!(true)));
    host.pass(1_000).await;
    assert_eq!(host.post("/events", event).await.json, sent.json);
    let seen = host.run(&run).await;
    assert_eq!(
        (&seen["steps"][1]["status"], &seen["steps"][2]["status"]),
        (&json!("COMPLETED"), &json!("WAITING"))
    );
}

/// DagNats: a sleeping step has its `wakeAt`. E04: only the waitpoint had it.
#[tokio::test]
async fn a_step_that_sleeps_or_has_slept_says_until_when() {
    let host = Host::start().await;
    let nap = json!({ "type": "wait", "name": "nap", "durationMs": 60_000.0 });
    let run = host.run_of(json!([nap, { "type": "external_event", "name": "s", "signalType": "go" }])).await;
    for _ in 0..2 {
        assert_eq!(host.run(&run).await["steps"][0]["wakeAt"], "2026-11-15T12:01:00Z");
        host.pass(60_000).await;
    }
}

/// B31: a task whose handler nobody has was RUNNING with an empty `waitingFor`, for ever.
#[tokio::test]
async fn a_task_that_nobody_handles_says_so() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "task", "name": "work", "handler": "print" }])).await;
    let waits = host.run(&run).await["waitingFor"].clone();
    assert_eq!((&waits[0]["kind"], &waits[0]["stepName"]), (&json!("WORKER"), &json!("work")));
    let sentence = "`work` waits for a worker: none has handler `print` since 2026-11-15T12:00:00Z";
    assert_eq!(waits[0]["sentence"], sentence);
    host.post("/tasks/poll", json!({ "handlers": ["print"], "maxTasks": 1, "workerId": "w" })).await;
    assert_eq!(host.run(&run).await["waitingFor"], json!([]));
}

/// F22: a poll loop had to count its names up.
#[tokio::test]
async fn a_worker_may_pause_in_a_loop_under_one_name() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "task", "name": "work", "handler": "h" }])).await;
    for _ in 0..3 {
        let polled =
            host.post("/tasks/poll", json!({ "handlers": ["h"], "maxTasks": 1, "workerId": "w" })).await;
        let task = &polled.json["tasks"][0];
        let pause = json!({ "leaseToken": task["leaseToken"], "name": "poll-again", "durationMs": 1000 });
        let paused = host.post(&format!("/tasks/{}/pause", task["id"].as_str().unwrap()), pause).await;
        assert_eq!(paused.status, 200, "{}", paused.text);
        host.pass(1_000).await;
    }
    assert_eq!(host.run(&run).await["steps"][0]["waits"].as_array().unwrap().len(), 3);
}

/// F37: `+25:59` was taken for an offset.
#[tokio::test]
async fn an_offset_of_more_than_a_day_is_refused() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "wait", "name": "nap", "durationMs": 1 }])).await;
    let at = |at: &str| json!({ "name": "flow", "runAt": at });
    host.post("/workflow-runs", at("2026-12-01T09:00:00+25:59")).await.is_problem(422, "MALFORMED");
    assert_eq!(host.post("/workflow-runs", at("2026-12-01T09:00:00+05:30")).await.status, 201);
}
