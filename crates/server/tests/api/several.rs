//! Steps that wait for several things at once, over HTTP.

use serde_json::{Value, json};

use crate::host::Host;

fn outcome(waits: Value) -> Value {
    json!([{ "type": "wait_any", "name": "outcome", "waits": waits, "timeout": "1d", "onTimeout": "continue" }])
}

fn usual() -> Value {
    outcome(json!({
        "call": { "type": "webhook", "keepHeaders": ["x-order"] },
        "late": { "type": "wait", "duration": "10s" },
        "paid": { "type": "wait_for_event", "eventId": "paid" },
        "stop": { "type": "external_event", "signalType": "stop" },
    }))
}

async fn waits_of(host: &Host, run: &str) -> Vec<Value> {
    let listed = host.get(&format!("/waitpoints?runId={run}")).await;
    let mut waits = listed.json["data"].as_array().unwrap().clone();
    waits.sort_by_key(|wait| wait["name"].as_str().unwrap().to_owned());
    waits
}

async fn one(host: &Host, run: &str, name: &str) -> Value {
    waits_of(host, run).await.into_iter().find(|wait| wait["name"] == name).unwrap()
}

#[tokio::test]
async fn each_of_several_waits_is_listed_by_its_name_and_shown_with_its_step() {
    let host = Host::start().await;
    let run = host.run_of(usual()).await;
    let shown: Vec<String> = waits_of(&host, &run)
        .await
        .iter()
        .map(|wait| format!("{} {} {}", wait["name"], wait["kind"], wait["call"]).replace('"', ""))
        .collect();
    assert_eq!(
        shown,
        [
            "$deadline DELAY null",
            "call WEBHOOK call",
            "late DELAY late",
            "paid EVENT paid",
            "stop SIGNAL stop"
        ]
    );
    let listed = host.get("/waitpoints?signalType=stop&status=PENDING").await;
    assert_eq!(listed.json["data"][0]["stepName"], "outcome");
    let step = host.run(&run).await["steps"][0].clone();
    assert_eq!((&step["type"], &step["status"]), (&json!("wait_any"), &json!("WAITING")));
    let members: Vec<&Value> =
        step["journal"].as_array().unwrap().iter().map(|member| &member["name"]).collect();
    assert_eq!(members, ["call", "late", "paid", "stop"]);
    let said = host.get(&format!("/workflow-runs/{run}/events")).await.text;
    assert!(said.contains("the first that comes ends it, until"), "{said}");
}

#[tokio::test]
async fn the_link_of_one_of_several_waits_ends_it_and_is_refused_when_another_was_first() {
    let host = Host::start().await;
    let run = host.run_of(usual()).await;
    let call = one(&host, &run, "call").await;
    let id = call["id"].as_str().unwrap().to_owned();
    let path = format!("/workflow-runs/{run}/waitpoints/{id}");
    let resumed = host.send(hyper::Method::POST, &path, &[("x-order", "o-7")], Some(json!({ "n": 1 }))).await;
    assert!(resumed.status < 300, "{}", resumed.text);
    let output = host.run(&run).await["output"].clone();
    assert_eq!((&output["first"], &output["results"]["call"]["body"]), (&json!("call"), &json!({ "n": 1 })));
    assert_eq!(output["results"]["call"]["headers"]["x-order"], "o-7");

    let run = host.run_of(usual()).await;
    let id = one(&host, &run, "call").await["id"].as_str().unwrap().to_owned();
    host.post(&format!("/workflow-runs/{run}/resume"), json!({ "signalType": "stop", "payload": 1 })).await;
    let late = host.post(&format!("/workflow-runs/{run}/waitpoints/{id}"), json!({})).await;
    late.is_problem(410, "WAITPOINT_CANCELLED");
    assert_eq!(host.run(&run).await["output"], json!({ "first": "stop", "results": { "stop": 1 } }));
}

#[tokio::test]
async fn each_of_several_waits_and_their_deadline_is_steered_over_http() {
    let host = Host::start().await;
    let run = host.run_of(usual()).await;
    let id = |wait: &Value| wait["id"].as_str().unwrap().to_owned();
    let late = id(&one(&host, &run, "late").await);
    let moved =
        host.patch(&format!("/waitpoints/{late}"), json!({ "resumeAt": "2026-11-15T12:01:00Z" })).await;
    assert_eq!(moved.status, 200, "{}", moved.text);
    host.pass(30_000).await;
    assert_eq!(host.run(&run).await["status"], "WAITING");
    host.pass(30_000).await;
    assert_eq!(host.run(&run).await["output"]["first"], "late");

    let run = host.run_of(usual()).await;
    let paid = id(&one(&host, &run, "paid").await);
    let woken = host.post(&format!("/waitpoints/{paid}/complete"), json!({ "payload": { "n": 1 } })).await;
    assert_eq!(woken.status, 200, "{}", woken.text);
    assert_eq!(host.run(&run).await["output"], json!({ "first": "paid", "results": { "paid": { "n": 1 } } }));

    let run = host.run_of(usual()).await;
    let deadline = id(&one(&host, &run, "$deadline").await);
    host.post(&format!("/waitpoints/{deadline}/timeout"), json!({})).await;
    assert_eq!(host.run(&run).await["output"], json!({ "timeout": true, "results": {} }));
}
