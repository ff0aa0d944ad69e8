//! Runs that events start.

use serde_json::{Value, json};

use crate::host::Host;

async fn deployed(start_on: Value) -> Host {
    let host = Host::start().await;
    let schema = json!({ "properties": { "account": { "type": "integer" } } });
    let steps = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
    let body = json!({ "name": "sync", "startOn": start_on, "inputSchema": schema, "steps": steps });
    let made = host.post("/workflow-definitions", body).await;
    assert_eq!(made.status, 201, "{}", made.text);
    host
}

#[tokio::test]
async fn an_event_says_what_it_started_and_a_dry_run_what_it_would() {
    let input = json!({ "account": "{{ event.id }}" });
    let host = deployed(
        json!([{ "eventId": "account.changed", "match": "event.region == \"EU\"", "input": input }]),
    )
    .await;
    let send = |data: Value, dry_run: bool| {
        host.post("/events", json!({ "eventId": "account.changed", "eventData": data, "dryRun": dry_run }))
    };
    let dry = send(json!({ "region": "EU", "id": 7 }), true).await.json;
    assert_eq!(dry["started"], json!([{ "workflow": "sync", "version": "1", "outcome": "wouldStart" }]));
    let sent = send(json!({ "region": "EU", "id": 7 }), false).await.json;
    assert_eq!(sent["started"][0]["outcome"], "started", "{sent}");
    let run =
        host.get(&format!("/workflow-runs/{}", sent["started"][0]["runId"].as_str().unwrap())).await.json;
    assert_eq!((&run["input"], &run["status"]), (&json!({ "account": 7 }), &json!("WAITING")));
    assert_eq!(run["startedOn"], json!({ "event": sent["id"], "eventId": "account.changed" }));
    assert_eq!(send(json!({ "region": "US", "id": 7 }), false).await.json["started"], json!([]));
    let refused = send(json!({ "region": "EU", "id": "seven" }), false).await.json;
    assert_eq!(refused["started"][0]["outcome"], "refused", "{refused}");
    assert_eq!(refused["started"][0]["problem"]["code"], "INVALID_INPUT");
    let listed = host.get("/events/starts?eventId=account.changed").await.json;
    let start = &listed["data"][0];
    assert_eq!((&start["workflow"], &start["match"]), (&json!("sync"), &json!("event.region == \"EU\"")));
    assert_eq!(
        (&start["lastRefused"]["event"], &start["lastRefused"]["code"]),
        (&refused["id"], &json!("INVALID_INPUT"))
    );
    assert_eq!(host.get("/events/starts?eventId=nothing").await.json["data"], json!([]));
}

#[tokio::test]
async fn the_same_event_again_under_its_key_is_answered_with_what_it_started() {
    let host = deployed(json!([{ "eventId": "go", "idempotencyKey": "k" }])).await;
    let body = json!({ "eventId": "go", "idempotencyKey": "event-1" });
    let (first, again) =
        (host.post("/events", body.clone()).await.json, host.post("/events", body).await.json);
    assert_eq!((&first["id"], &first["started"]), (&again["id"], &again["started"]));
    let other = host.post("/events", json!({ "eventId": "go" })).await.json;
    assert_eq!(other["started"][0]["outcome"], "repeated");
    assert_eq!(other["started"][0]["runId"], first["started"][0]["runId"]);
    assert_eq!(host.get("/workflow-runs").await.json["data"].as_array().unwrap().len(), 1);
}
