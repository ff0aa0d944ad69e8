//! Schedules over HTTP: made, steered through their waits, and exactly once each occurrence.

use abide_core::id::ScheduleId;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::host::{Host, Reply};

async fn with_workflow() -> Host {
    let host = Host::start().await;
    host.deploy(json!({ "name": "report", "version": "1",
        "inputSchema": { "type": "object", "required": ["to"] },
        "steps": [{ "type": "external_event", "name": "wait", "signalType": "go" }] }))
        .await;
    host
}

fn plan(fields: Value) -> Value {
    let mut plan =
        json!({ "name": "nightly", "definition": "report", "every": "1h", "input": { "to": "ops" } });
    for (key, value) in fields.as_object().unwrap() {
        plan[key] = value.clone();
    }
    plan
}

async fn make(host: &Host, fields: Value) -> Value {
    let reply = host.post("/schedules", plan(fields)).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    reply.json
}

async fn get(host: &Host, schedule: &Value) -> Value {
    host.get(&format!("/schedules/{}", schedule["id"].as_str().unwrap())).await.json
}

async fn ask(host: &Host, schedule: &Value, verb: &str) -> Reply {
    host.post(&format!("/schedules/{}/{verb}", schedule["id"].as_str().unwrap()), json!({})).await
}

async fn runs(host: &Host) -> Vec<Value> {
    host.get("/workflow-runs").await.json["data"].as_array().unwrap().clone()
}

/// Lets time pass, and what is due be committed.
async fn pass(host: &Host, ms: u64) {
    host.pass(ms).await;
    host.engine.clock().settled().await.unwrap();
}

const HOUR: u64 = 3_600_000;

#[tokio::test]
async fn a_schedule_starts_a_run_each_time_it_comes() {
    let host = with_workflow().await;
    let made = make(&host, json!({ "overlap": "allow", "tags": ["night"] })).await;
    assert_eq!((&made["nextAt"], &made["everyMs"]), (&json!("2026-11-15T13:00:00Z"), &json!(HOUR)));
    assert_eq!((&made["overlap"], &made["catchUp"]), (&json!("allow"), &json!("last")));
    pass(&host, HOUR - 1).await;
    assert_eq!(runs(&host).await.len(), 0, "never early");
    pass(&host, 1).await;
    pass(&host, HOUR).await;
    let started = runs(&host).await;
    assert_eq!(started.len(), 2);
    assert_eq!(started[0]["tags"], json!(["night"]));
    let shown = get(&host, &made).await;
    assert_eq!((&shown["lastRunId"], &shown["nextAt"]), (&started[0]["id"], &json!("2026-11-15T15:00:00Z")));
    let payload = &shown["recent"][0]["resumePayload"];
    assert_eq!((&payload["outcomes"][0]["runId"], &payload["missed"]), (&started[0]["id"], &json!(0)));
    let history = host.get(&format!("/workflow-runs/{}/events", started[0]["id"].as_str().unwrap())).await;
    let created = &history.json["data"][0];
    assert_eq!((&created["by"], &created["scheduled"]["scheduleId"]), (&json!("schedule"), &made["id"]));
    assert_eq!(
        (&created["startedBy"], &created["scheduled"]["occurrence"]),
        (&json!("local"), &json!("2026-11-15T14:00:00Z"))
    );
    host.stop().await;
}

#[tokio::test]
async fn the_wait_of_a_schedule_is_listed_moved_woken_and_cancelled_like_any_other() {
    let host = with_workflow().await;
    let made = make(&host, json!({ "cron": "0 9 * * *", "timezone": "Europe/Berlin", "every": null })).await;
    let listed = host.get("/waitpoints?kind=SCHEDULE&status=PENDING").await.json;
    let wait = &listed["data"][0];
    assert_eq!((&wait["id"], &wait["scheduleId"]), (&made["waitpointId"], &made["id"]));
    assert_eq!((&wait["runId"], &wait["resumeAt"]), (&Value::Null, &json!("2026-11-16T08:00:00Z")));
    let path = format!("/waitpoints/{}", wait["id"].as_str().unwrap());
    let moved = host.patch(&path, json!({ "resumeAt": "2026-11-15T12:30:00Z" })).await;
    assert_eq!((moved.status, &moved.json["resumeAt"]), (200, &json!("2026-11-15T12:30:00Z")));
    pass(&host, HOUR / 2).await;
    assert_eq!(runs(&host).await.len(), 1);
    let next = get(&host, &made).await;
    assert_eq!(next["nextAt"], "2026-11-17T08:00:00Z", "that was the one of tomorrow");
    let path = format!("/waitpoints/{}", next["waitpointId"].as_str().unwrap());
    let cancelled = host.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!((cancelled.status, &cancelled.json["status"]), (200, &json!("CANCELLED")));
    host.post(&format!("{path}/cancel"), json!({})).await.is_problem(410, "WAITPOINT_CANCELLED");
    let next = get(&host, &made).await;
    assert_eq!(next["nextAt"], "2026-11-18T08:00:00Z");
    let path = format!("/waitpoints/{}", next["waitpointId"].as_str().unwrap());
    let woken = host.post(&format!("{path}/complete"), json!({})).await;
    assert_eq!(woken.json["resumePayload"]["outcomes"][0]["outcome"], "skipped", "the first run still waits");
    let again = host.post(&format!("{path}/complete"), json!({})).await;
    again.is_problem(409, "ALREADY_RESOLVED");
    assert_eq!(again.json["outcome"]["resolvedBy"], "local");
    let nobodys = ScheduleId::new(Timestamp::UNIX_EPOCH, 1).waitpoint(1);
    let refused = host.post(&format!("/waitpoints/{nobodys}/cancel"), json!({})).await;
    refused.is_problem(404, "UNKNOWN_WAITPOINT");
    host.stop().await;
}

#[tokio::test]
async fn what_is_queued_starts_when_the_run_before_ends() {
    let host = with_workflow().await;
    let made = make(&host, json!({ "overlap": "queue" })).await;
    for _ in 0..3 {
        pass(&host, HOUR).await;
    }
    assert_eq!((runs(&host).await.len(), &get(&host, &made).await["queued"]), (1, &json!(2)));
    for expected in [2, 3, 3] {
        let last = get(&host, &made).await["lastRunId"].as_str().unwrap().to_owned();
        let go = json!({ "signalType": "go" });
        assert_eq!(host.post(&format!("/workflow-runs/{last}/resume"), go).await.status, 200);
        assert_eq!(runs(&host).await.len(), expected);
    }
    host.stop().await;
}

#[tokio::test]
async fn with_cancel_previous_there_is_one_at_a_time() {
    let host = with_workflow().await;
    make(&host, json!({ "overlap": "cancelPrevious" })).await;
    for _ in 0..3 {
        pass(&host, HOUR).await;
    }
    let statuses: Vec<Value> = runs(&host).await.iter().map(|run| run["status"].clone()).collect();
    assert_eq!(statuses, ["WAITING", "CANCELLED", "CANCELLED"]);
    host.stop().await;
}

#[tokio::test]
async fn what_was_missed_is_made_up_for_as_the_schedule_says() {
    for (catch_up, expected) in [("none", 0), ("last", 1), ("all", 5)] {
        let host = with_workflow().await;
        make(&host, json!({ "overlap": "allow", "catchUp": catch_up })).await;
        pass(&host, 5 * HOUR + HOUR / 2).await;
        assert_eq!(runs(&host).await.len(), expected, "{catch_up}");
        host.stop().await;
    }
}

#[tokio::test]
async fn a_schedule_is_paused_triggered_changed_and_removed() {
    let host = with_workflow().await;
    let made = make(&host, json!({ "overlap": "allow" })).await;
    let paused = ask(&host, &made, "pause").await.json;
    assert_eq!((&paused["paused"], &paused["nextAt"]), (&json!(true), &Value::Null));
    pass(&host, 3 * HOUR).await;
    assert_eq!(runs(&host).await.len(), 0);
    let triggered = ask(&host, &made, "trigger").await.json;
    assert_eq!((&triggered["outcome"], runs(&host).await.len()), (&json!("started"), 1));
    assert_eq!(ask(&host, &made, "unpause").await.json["nextAt"], "2026-11-15T16:00:00Z");
    let path = format!("/schedules/{}", made["id"].as_str().unwrap());
    let changed = host.patch(&path, json!({ "every": "10m", "input": { "to": "dev" } })).await.json;
    assert_eq!(
        (&changed["nextAt"], &changed["input"]["to"]),
        (&json!("2026-11-15T15:10:00Z"), &json!("dev"))
    );
    let trigger = async || {
        let headers = [("idempotency-key", "k")];
        let path = format!("{path}/trigger");
        host.send(hyper::Method::POST, &path, &headers, Some(json!({}))).await.json["runId"].clone()
    };
    assert_eq!(trigger().await, trigger().await, "the same key, the same run");
    assert_eq!(host.delete(&path).await.status, 204);
    host.get(&path).await.is_problem(404, "UNKNOWN_SCHEDULE");
    pass(&host, HOUR).await;
    assert_eq!(runs(&host).await.len(), 2);
    assert_eq!(host.get("/waitpoints?kind=SCHEDULE").await.json["data"], json!([]));
    make(&host, json!({})).await;
    host.stop().await;
}

#[tokio::test]
async fn a_workflow_that_is_gone_wrong_is_told_of_and_the_schedule_goes_on() {
    let host = with_workflow().await;
    let made = make(&host, json!({})).await;
    host.deploy(json!({ "name": "report", "version": "2",
        "inputSchema": { "type": "object", "required": ["from"] },
        "steps": [{ "type": "external_event", "name": "wait", "signalType": "go" }] }))
        .await;
    pass(&host, HOUR).await;
    let shown = get(&host, &made).await;
    let outcome = &shown["recent"][0]["resumePayload"]["outcomes"][0];
    assert_eq!(outcome["outcome"], "invalidInput");
    assert!(outcome["error"].as_str().unwrap().contains("inputSchema"), "{outcome}");
    assert_eq!(shown["nextAt"], "2026-11-15T14:00:00Z");
    host.stop().await;
}

#[tokio::test]
async fn bad_schedules_are_refused_and_it_is_said_why() {
    let host = with_workflow().await;
    make(&host, json!({})).await;
    for (fields, status, code, pointer) in [
        (json!({}), 409, "SCHEDULE_EXISTS", "/name"),
        (json!({ "name": "b", "definition": "unknown" }), 404, "UNKNOWN_DEFINITION", ""),
        (json!({ "name": "b", "every": null }), 422, "MALFORMED", "/cron"),
        (json!({ "name": "b", "cron": "0 9 * * *" }), 422, "MALFORMED", "/every"),
        (json!({ "name": "b", "every": null, "cron": "0 9 31 4 *" }), 422, "MALFORMED", "/cron"),
        (
            json!({ "name": "b", "every": null, "cron": "0 9 * * *", "timezone": "Berlin" }),
            422,
            "MALFORMED",
            "/timezone",
        ),
        (json!({ "name": "b", "every": "10ms" }), 422, "MALFORMED", "/every"),
        (json!({ "name": "b", "every": "400d" }), 422, "MALFORMED", "/every"),
        (json!({ "name": "b", "timezone": "UTC" }), 422, "MALFORMED", "/timezone"),
        (json!({ "name": "b", "input": {} }), 422, "INVALID_INPUT", "/input"),
        (json!({ "name": "b", "overlap": "sometimes" }), 422, "MALFORMED", "/overlap"),
    ] {
        let reply = host.post("/schedules", plan(fields.clone())).await;
        reply.is_problem(status, code);
        assert_eq!(reply.json["pointer"].as_str().unwrap_or_default(), pointer, "{fields}: {}", reply.text);
    }
    host.stop().await;
}
