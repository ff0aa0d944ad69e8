use hyper::Method;
use serde_json::{Value, json};

use crate::host::Host;
use crate::scene::{Folder, signal, wait_of};

/// Names that mean something in a path, a query or a pattern.
const NAMES: [&str; 10] = [
    "order.paid.v2",
    "order/paid",
    "100%",
    "a%2Fb",
    "größe bezahlt ✓",
    "a?b#c&d=e",
    "a+b c",
    "..",
    "'; --",
    "*",
];

fn encoded(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[tokio::test]
async fn an_event_from_before_a_restart_is_not_lost_to_a_wait_that_begins_after_it() {
    let folder = Folder::new();
    let host = folder.serve().await;
    let run = host
        .run_of(json!([
            { "type": "wait", "name": "nap", "durationMs": 1000 },
            { "type": "wait_for_event", "name": "pay", "eventId": "paid", "timeoutMs": 60_000 },
        ]))
        .await;
    host.post("/events", json!({ "eventId": "paid", "eventData": 5 })).await;
    host.stop().await;
    let host = folder.serve().await;
    host.pass(1_000).await;
    let run = host.run(&run).await;
    assert_eq!((&run["status"], &run["output"]), (&json!("COMPLETED"), &json!(5)));
}

#[tokio::test]
async fn who_waits_is_not_forgotten_in_a_restart() {
    let folder = Folder::new();
    let host = folder.serve().await;
    let run = host
        .run_of(json!([
            { "type": "wait_for_event", "name": "pay", "eventId": "paid", "timeoutMs": 60_000 },
            { "type": "external_event", "name": "ok", "signalType": "go" },
        ]))
        .await;
    host.stop().await;
    let host = folder.serve().await;
    let sent = host.post("/events", json!({ "eventId": "paid" })).await;
    assert_eq!(sent.json["waiters"][0]["runId"], run.as_str(), "{}", sent.text);
    host.stop().await;
    let host = folder.serve().await;
    assert!(signal(&host, &run, "go", json!({})).await.json["takenBy"].is_string());
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn the_second_wait_does_not_get_the_first_ones_signal_or_event() {
    let host = Host::start().await;
    let wait =
        |name: &str| json!({ "type": "external_event", "name": name, "signalType": "go", "saveAs": name });
    let hear = |name: &str| json!({ "type": "wait_for_event", "name": name, "eventId": "paid", "saveAs": name, "timeoutMs": 60_000 });
    let run = host.run_of(json!([wait("one"), wait("two"), hear("three"), hear("four")])).await;
    for n in 1..=2 {
        assert_eq!(host.run(&run).await["steps"][n - 1]["status"], "WAITING");
        signal(&host, &run, "go", json!({ "n": n })).await;
    }
    for n in 3..=4 {
        assert_eq!(host.run(&run).await["steps"][n - 1]["status"], "WAITING");
        host.post("/events", json!({ "eventId": "paid", "eventData": { "n": n } })).await;
    }
    let state = host.run(&run).await["state"].clone();
    let taken: Vec<_> = ["one", "two", "three", "four"].iter().map(|step| &state[step]["n"]).collect();
    assert_eq!(taken, [&json!(1), &json!(2), &json!(3), &json!(4)]);
}

#[tokio::test]
async fn a_late_callback_of_one_step_is_not_handed_to_the_steps_after_it() {
    let host = Host::start().await;
    let late =
        |name: &str| json!({ "type": "webhook", "name": name, "timeoutMs": 1000, "onTimeout": "continue" });
    let run = host.run_of(json!([late("two"), { "type": "webhook", "name": "three" }])).await;
    let url = wait_of(&host, &run, "two").await["resumeUrl"].as_str().unwrap().to_owned();
    host.pass(1_000).await;
    let by_link = host.raw(Method::POST, &url, &[], "1".into()).await;
    by_link.is_problem(410, "WAITPOINT_TIMED_OUT");
    let by_name = host.post(&format!("/workflow-runs/{run}/waitpoints/two"), json!(1)).await;
    by_name.is_problem(410, "WAITPOINT_TIMED_OUT");
    let run = host.run(&run).await;
    assert_eq!(
        (&run["steps"][0]["output"], &run["steps"][1]["status"]),
        (&json!({ "timeout": true }), &json!("WAITING"))
    );
}

#[tokio::test]
async fn the_timeout_of_one_wait_does_not_end_the_other_waits_of_its_run() {
    let host = Host::start().await;
    let wait = |name: &str, ms: u64| json!({ "type": "wait_for_event", "name": name, "eventId": name, "timeoutMs": ms, "after": [] });
    let run = host.run_of(json!([wait("short", 1_000), wait("long", 60_000)])).await;
    host.pass(1_000).await;
    assert_eq!(host.waitpoint(&run).await["stepName"], "long");
    let sent = host.post("/events", json!({ "eventId": "long", "eventData": 1 })).await;
    assert_eq!(sent.json["waiters"].as_array().unwrap().len(), 1, "{}", sent.text);
    let run = host.run(&run).await;
    assert_eq!((&run["status"], &run["steps"][1]["output"]), (&json!("COMPLETED"), &json!(1)));
}

#[tokio::test]
async fn an_event_after_the_timeout_does_not_overwrite_what_the_timeout_gave() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "wait_for_event", "name": "hear", "eventId": "paid", "timeoutMs": 1_000, "saveAs": "heard" },
            { "type": "webhook", "name": "next" },
        ]))
        .await;
    // The clock is past the deadline, and the timer may not have gone off yet.
    host.clock.advance(abide_core::time::Millis(1_000));
    for _ in 0..2 {
        let sent = host.post("/events", json!({ "eventId": "paid", "eventData": "late" })).await;
        assert_eq!(sent.json["waiters"], json!([]), "{}", sent.text);
    }
    let run = host.run(&run).await;
    assert_eq!(run["steps"][0]["output"], json!({ "timeout": true }));
    assert_eq!(run["steps"][1]["status"], "WAITING");
}

#[tokio::test]
async fn an_event_without_a_body_upsets_nobody() {
    let host = Host::start().await;
    let step = json!({ "type": "wait_for_event", "name": "pay", "eventId": "paid", "timeoutMs": 60_000,
                       "match": "event.order.id == input.order" });
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [step] })).await;
    let run = host.start_run("flow", json!({ "order": "o-1" })).await;
    for data in [json!(null), json!({}), json!([]), json!(""), json!(0), json!({ "order": null })] {
        let sent = host.post("/events", json!({ "eventId": "paid", "eventData": data })).await;
        assert_eq!((sent.status, &sent.json["waiters"]), (200, &json!([])), "{}", sent.text);
    }
    assert_eq!(host.post("/events", json!({ "eventId": "paid" })).await.json["waiters"], json!([]));
    host.raw(Method::POST, "/api/v1/events", &[], "".into()).await.is_problem(422, "MALFORMED");
    let sent =
        host.post("/events", json!({ "eventId": "paid", "eventData": { "order": { "id": "o-1" } } })).await;
    assert_eq!(sent.json["waiters"][0]["runId"], run.as_str());
}

#[tokio::test]
async fn a_signal_without_a_payload_is_not_refused() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "external_event", "name": "ok", "signalType": "go" }])).await;
    let sent = host.post(&format!("/workflow-runs/{run}/resume"), json!({ "signalType": "go" })).await;
    assert_eq!((sent.status, sent.json["takenBy"].is_string()), (200, true), "{}", sent.text);
    assert_eq!(host.run(&run).await["output"], Value::Null);
}

#[tokio::test]
async fn no_name_of_an_event_is_lost_in_an_index_or_a_path() {
    let host = Host::start().await;
    let step = json!({ "type": "wait_for_event", "name": "hear", "eventId": "{{ input.event }}", "timeoutMs": 60_000 });
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [step] })).await;
    let mut runs = Vec::new();
    for name in NAMES {
        runs.push(host.start_run("flow", json!({ "event": name })).await);
    }
    for (name, run) in NAMES.iter().zip(&runs) {
        let waiters = host.get(&format!("/events/{}/waiters", encoded(name))).await;
        let found: Vec<_> =
            waiters.json["data"].as_array().unwrap().iter().map(|wait| &wait["runId"]).collect();
        assert_eq!(found, [&json!(run)], "{name}");
        let listed = host.get(&format!("/waitpoints?eventId={}", encoded(name))).await;
        assert_eq!(listed.json["data"][0]["runId"], run.as_str(), "{name}");
        let sent = host.post("/events", json!({ "eventId": name })).await;
        assert_eq!(sent.json["waiters"].as_array().unwrap().len(), 1, "{name}: {}", sent.text);
        assert_eq!(host.run(run).await["status"], "COMPLETED", "{name}");
        let waiters = host.get(&format!("/events/{}/waiters", encoded(name))).await;
        assert_eq!(waiters.json["data"], json!([]), "{name}");
        let sent = host.get(&format!("/events?eventId={}", encoded(name))).await;
        assert_eq!(sent.json["data"][0]["eventId"], *name, "{name}");
    }
}

#[tokio::test]
async fn no_name_of_a_signal_a_step_or_a_workflow_is_lost_in_a_path() {
    let host = Host::start().await;
    for name in NAMES {
        let steps = json!([
            { "type": "external_event", "name": "listen", "signalType": name },
            { "type": "webhook", "name": name },
        ]);
        host.deploy(json!({ "name": name, "version": "1", "steps": steps })).await;
        let started =
            host.raw(Method::POST, &format!("/api/v1/triggers/{}", encoded(name)), &[], "".into()).await;
        assert_eq!(started.status, 202, "{name}: {}", started.text);
        let run = started.json["id"].as_str().unwrap();
        let listed = host.get(&format!("/waitpoints?signalType={}", encoded(name))).await;
        assert_eq!(listed.json["data"][0]["runId"], run, "{name}");
        assert!(signal(&host, run, name, json!({})).await.json["takenBy"].is_string(), "{name}");
        let resumed =
            host.post(&format!("/workflow-runs/{run}/waitpoints/{}", encoded(name)), json!({})).await;
        assert_eq!(resumed.status, 200, "{name}: {}", resumed.text);
        assert_eq!(host.run(run).await["status"], "COMPLETED", "{name}");
    }
}

#[tokio::test]
async fn the_text_1_does_not_wake_who_waits_for_the_number_1() {
    let host = Host::start().await;
    let step = json!({ "type": "wait_for_event", "name": "pay", "eventId": "paid", "timeoutMs": 60_000,
                       "match": "event.id == input.id" });
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [step] })).await;
    host.start_run("flow", json!({ "id": 1 })).await;
    let sent = async |id: Value| {
        let sent = host.post("/events", json!({ "eventId": "paid", "eventData": { "id": id } })).await;
        sent.json["waiters"].as_array().unwrap().len()
    };
    assert_eq!((sent(json!("1")).await, sent(json!(true)).await, sent(json!(1)).await), (0, 0, 1));
}

#[tokio::test]
async fn a_stream_of_signals_does_not_keep_a_run_from_going_on() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "wait", "name": "nap", "durationMs": 1000 },
            { "type": "wait", "name": "more", "durationMs": 1000 },
        ]))
        .await;
    for _ in 0..2 {
        for n in 0..20 {
            assert_eq!(signal(&host, &run, "noise", json!(n)).await.status, 200);
        }
        host.clock.advance(abide_core::time::Millis(1_000));
        signal(&host, &run, "noise", json!("last")).await;
    }
    host.pass(0).await;
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}
