use serde_json::json;

use crate::host::Host;

fn paid() -> serde_json::Value {
    json!([{ "type": "wait_for_event", "name": "pay", "eventId": "order.paid", "match": "event.order == input.order", "timeoutMs": 60_000 }])
}

#[tokio::test]
async fn an_event_wakes_those_who_wait_for_it_and_says_whom() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": paid() })).await;
    let mine = host.start_run("flow", json!({ "order": 7 })).await;
    let other = host.start_run("flow", json!({ "order": 8 })).await;
    let waiters = host.get("/events/order.paid/waiters").await;
    assert_eq!(waiters.json["data"].as_array().unwrap().len(), 2, "{}", waiters.text);
    let event =
        |dry_run: bool| json!({ "eventId": "order.paid", "eventData": { "order": 7 }, "dryRun": dry_run });
    let dry = host.post("/events", event(true)).await;
    assert_eq!(
        (&dry.json["id"], &dry.json["waiters"][0]["runId"]),
        (&json!(null), &json!(mine)),
        "{}",
        dry.text
    );
    assert_eq!(host.run(&mine).await["status"], "WAITING");
    let sent = host.post("/events", event(false)).await;
    assert_eq!(sent.json["waiters"].as_array().unwrap().len(), 1);
    assert_eq!(host.run(&mine).await["status"], "COMPLETED");
    assert_eq!(host.run(&other).await["status"], "WAITING");
    let listed = host.get("/events?eventId=order.paid").await;
    assert_eq!(listed.json["data"][0]["id"], sent.json["id"]);
    assert_eq!(listed.json["data"][0]["eventData"], json!({ "order": 7 }));
}

#[tokio::test]
async fn r05_an_event_sent_before_the_wait_is_not_lost() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "wait", "name": "nap", "durationMs": 1000 },
            { "type": "wait_for_event", "name": "pay", "eventId": "paid", "timeoutMs": 60_000 },
        ]))
        .await;
    assert_eq!(
        host.post("/events", json!({ "eventId": "paid", "eventData": 5 })).await.json["waiters"],
        json!([])
    );
    host.pass(1_000).await;
    let run = host.run(&run).await;
    assert_eq!((&run["status"], &run["output"]), (&json!("COMPLETED"), &json!(5)));
}

#[tokio::test]
async fn an_event_may_be_for_one_run_or_for_one_waiter() {
    let host = Host::start().await;
    let steps = json!([{ "type": "wait_for_event", "name": "pay", "eventId": "paid", "timeoutMs": 60_000 }]);
    let first = host.run_of(steps).await;
    let second = host.start_run("flow", json!({})).await;
    let third = host.start_run("flow", json!({})).await;
    let one = host.post("/events", json!({ "eventId": "paid", "workflowRunId": second })).await;
    assert_eq!(one.json["waiters"][0]["runId"], second.as_str());
    let one = host.post("/events", json!({ "eventId": "paid", "delivery": "one" })).await;
    assert_eq!(one.json["waiters"].as_array().unwrap().len(), 1);
    assert_eq!(one.json["waiters"][0]["runId"], first.as_str());
    assert_eq!(host.run(&third).await["status"], "WAITING");
    host.post("/events", json!({ "eventId": "paid", "workflowRunId": "run_x" }))
        .await
        .is_problem(404, "UNKNOWN_RUN");
    host.post("/events", json!({ "eventId": "", "eventData": 1 })).await.is_problem(422, "MALFORMED");
    host.post("/events", json!({ "eventId": "a\u{0}b" })).await.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn r14_an_event_with_a_key_is_sent_once() {
    let host = Host::start().await;
    let event = |n: u32| json!({ "eventId": "paid", "eventData": n, "idempotencyKey": "k" });
    let first = host.post("/events", event(1)).await;
    assert_eq!(host.post("/events", event(1)).await.json["id"], first.json["id"]);
    host.post("/events", event(2)).await.is_problem(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(host.get("/events").await.json["data"].as_array().unwrap().len(), 1);
}
