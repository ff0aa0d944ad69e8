use serde_json::json;

use crate::host::{Host, START};

#[tokio::test]
async fn a_test_clock_stands_still_until_it_is_moved() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "30d" }])).await;
    let clock = host.get("/test/clock").await.json;
    assert_eq!(clock, json!({ "now": START, "nextTimer": "2026-12-15T12:00:00Z", "tasks": 0 }));
}

#[tokio::test]
async fn time_passes_from_timer_to_timer_and_never_back() {
    let host = Host::start().await;
    let steps = json!([
        { "type": "wait", "name": "nap", "duration": "30d" },
        { "type": "wait", "name": "doze", "duration": "1d" },
    ]);
    let run = host.run_of(steps).await;
    let clock = host.post("/test/clock", json!({ "advance": "60d" })).await.json;
    let stops_at_the_first_timer = json!({
        "now": "2026-12-15T12:00:00Z",
        "target": "2027-01-14T12:00:00Z",
        "nextTimer": "2026-12-16T12:00:00Z",
        "tasks": 0,
    });
    assert_eq!(clock, stops_at_the_first_timer);
    let back = host.post("/test/clock", json!({ "to": START })).await.json;
    assert_eq!(back["now"], "2026-12-15T12:00:00Z");
    let clock = host.post("/test/clock", json!({})).await.json;
    assert_eq!(clock, json!({ "now": "2026-12-16T12:00:00Z", "nextTimer": null, "tasks": 0 }));
    assert_eq!(host.get(&format!("/workflow-runs/{run}")).await.json["status"], "COMPLETED");
    let clock = host.post("/test/clock", json!({ "advanceMs": 1500 })).await.json;
    assert_eq!(clock["now"], "2026-12-16T12:00:01.5Z");
}

#[tokio::test]
async fn tasks_that_somebody_could_do_are_counted() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "task", "name": "work", "handler": "h" }])).await;
    assert_eq!(host.get("/test/clock").await.json["tasks"], 1);
    let poll = json!({ "handlers": ["h"], "workerId": "w" });
    let polled = host.post("/tasks/poll", poll).await.json;
    assert_eq!(host.get("/test/clock").await.json["tasks"], 1);
    let task = &polled["tasks"][0];
    let id = task["id"].as_str().unwrap();
    host.post(&format!("/tasks/{id}/complete"), json!({ "leaseToken": task["leaseToken"] })).await;
    assert_eq!(host.get("/test/clock").await.json["tasks"], 0);
}

#[tokio::test]
async fn two_ways_to_say_where_to_are_refused() {
    let host = Host::start().await;
    let reply = host.post("/test/clock", json!({ "to": START, "advance": "1d" })).await;
    assert_eq!((reply.status, &reply.json["code"]), (422, &json!("MALFORMED")));
}
