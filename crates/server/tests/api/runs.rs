use hyper::Method;
use serde_json::json;

use crate::host::Host;

fn nap() -> serde_json::Value {
    json!([{ "type": "wait", "name": "sleep", "durationMs": 60_000 }])
}

#[tokio::test]
async fn a_run_shows_its_steps_and_what_it_waits_for_in_a_sentence() {
    let host = Host::start().await;
    let id = host.run_of(nap()).await;
    let run = host.run(&id).await;
    assert_eq!(run["status"], "WAITING");
    assert_eq!(run["definition"]["name"], "flow");
    assert!(run["definition"]["id"].as_str().unwrap().starts_with("def_"));
    assert_eq!(run["steps"][0]["type"], "wait");
    assert_eq!(run["steps"][0]["status"], "WAITING");
    assert_eq!(run["waitingFor"][0]["kind"], "DELAY");
    assert_eq!(run["waitingFor"][0]["sentence"], "`sleep` waits for the clock: 2026-11-15T12:01:00Z");
    host.pass(60_000).await;
    let run = host.run(&id).await;
    assert_eq!((&run["status"], &run["steps"][0]["status"]), (&json!("COMPLETED"), &json!("COMPLETED")));
    assert_eq!(run["createdBy"], "local");
}

#[tokio::test]
async fn the_short_paths_lead_to_the_same() {
    let host = Host::start().await;
    let id = host.run_of(nap()).await;
    for prefix in ["/api/v1", "/v1"] {
        let reply = host.raw(Method::GET, &format!("{prefix}/workflow-runs/{id}"), &[], "".into()).await;
        assert_eq!(reply.json["id"], id.as_str());
    }
}

#[tokio::test]
async fn a_start_with_a_key_happens_once_and_another_request_under_it_is_refused() {
    let host = Host::start().await;
    host.run_of(nap()).await;
    let start = |input: u32, headers: &'static [(&'static str, &'static str)]| {
        let body = json!({ "name": "flow", "input": input });
        host.send(Method::POST, "/workflow-runs", headers, Some(body))
    };
    let first = start(1, &[("idempotency-key", "k1")]).await;
    let again = start(1, &[("Idempotency-Key", "k1")]).await;
    assert_eq!(first.json["id"], again.json["id"]);
    start(2, &[("idempotency-key", "k1")]).await.is_problem(422, "IDEMPOTENCY_KEY_REUSED");
    let in_body =
        host.post("/workflow-runs", json!({ "name": "flow", "input": 1, "idempotencyKey": "k1" })).await;
    assert_eq!(in_body.json["id"], first.json["id"]);
    let both = json!({ "name": "flow", "input": 1, "idempotencyKey": "k2" });
    let both = host.send(Method::POST, "/workflow-runs", &[("idempotency-key", "k1")], Some(both)).await;
    both.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn a_start_may_wait_for_the_result() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "quick", "version": "1", "output": { "got": "{{ input.n }}" }, "steps": [
        { "type": "condition", "name": "any", "expression": "input.n > 0" , "trueStep": "end" },
    ] }))
    .await;
    let reply = host.post("/workflow-runs?wait=30s", json!({ "name": "quick", "input": { "n": 3 } })).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!((&reply.json["status"], &reply.json["output"]["got"]), (&json!("COMPLETED"), &json!(3)));
    host.deploy(json!({ "name": "slow", "version": "1", "steps": nap() })).await;
    let reply = host.post("/workflow-runs?wait=1ms", json!({ "name": "slow" })).await;
    assert_eq!((reply.status, &reply.json["status"]), (202, &json!("WAITING")));
    host.post("/workflow-runs?wait=1h", json!({ "name": "slow" })).await.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn a_start_may_name_a_definition_an_instant_and_tags() {
    let host = Host::start().await;
    let id = host.deploy(json!({ "name": "flow", "version": "1", "steps": nap() })).await;
    let body = json!({ "definitionId": id, "runAt": "2026-11-15T13:00:00Z", "tags": ["a", "b"] });
    let started = host.post("/workflow-runs", body).await;
    assert_eq!(started.status, 201, "{}", started.text);
    let run = host.run(started.json["id"].as_str().unwrap()).await;
    assert_eq!((&run["status"], &run["tags"]), (&json!("PENDING"), &json!(["a", "b"])));
    assert_eq!(started.header("location"), started.json["url"].as_str());
    host.post("/workflow-runs", json!({ "definitionId": "def_x" }))
        .await
        .is_problem(404, "UNKNOWN_DEFINITION");
    host.post("/workflow-runs", json!({})).await.is_problem(422, "MALFORMED");
    host.post("/workflow-runs", json!({ "name": "nobody" })).await.is_problem(404, "UNKNOWN_DEFINITION");
}

#[tokio::test]
async fn an_unknown_field_is_refused_with_the_nearest_name() {
    let host = Host::start().await;
    host.run_of(nap()).await;
    let reply = host.post("/workflow-runs", json!({ "name": "flow", "inptu": {} })).await;
    reply.is_problem(422, "MALFORMED");
    assert_eq!(reply.json["pointer"], "/inptu");
    assert_eq!(reply.json["problems"][0]["nearest"], "input");
    let reply = host.get("/workflow-runs?stauts=RUNNING").await;
    assert_eq!(reply.is_problem(422, "MALFORMED").json["problems"][0]["nearest"], "status");
}

#[tokio::test]
async fn an_input_that_does_not_fit_its_schema_is_refused_with_its_place() {
    let host = Host::start().await;
    let schema =
        json!({ "type": "object", "required": ["email"], "properties": { "age": { "type": "integer" } } });
    host.deploy(json!({ "name": "flow", "version": "1", "inputSchema": schema, "steps": nap() })).await;
    let reply = host.post("/workflow-runs", json!({ "name": "flow", "input": { "age": "old" } })).await;
    reply.is_problem(422, "INVALID_INPUT");
    let places: Vec<_> = reply.json["problems"].as_array().unwrap().iter().map(|at| &at["pointer"]).collect();
    assert_eq!(places, ["/input", "/input/age"]);
}

#[tokio::test]
async fn runs_are_listed_newest_first_by_what_is_asked_for() {
    let host = Host::start().await;
    let steps = json!([{ "type": "external_event", "name": "ok", "signalType": "go" }]);
    host.deploy(json!({ "name": "listens", "version": "1", "steps": steps })).await;
    let sleeping = host.run_of(nap()).await;
    let listening = host.start_run("listens", json!({})).await;
    let found = |query: &'static str| {
        let host = &host;
        async move {
            let reply = host.get(&format!("/workflow-runs?{query}")).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
            let ids = reply.json["data"]
                .as_array()
                .unwrap()
                .iter()
                .map(|run| run["id"].as_str().unwrap().to_owned());
            ids.collect::<Vec<_>>()
        }
    };
    assert_eq!(found("").await, [listening.clone(), sleeping.clone()]);
    assert_eq!(found("status=WAITING,RUNNING&definition=flow").await, std::slice::from_ref(&sleeping));
    assert_eq!(found("waitsFor=SIGNAL").await, std::slice::from_ref(&listening));
    assert_eq!(found("signalType=go").await, std::slice::from_ref(&listening));
    assert_eq!(found("signalType=stop").await, Vec::<String>::new());
    assert_eq!(found("createdBefore=2026-11-15T12:00:00Z").await, Vec::<String>::new());
    let page = host.get("/workflow-runs?limit=1").await;
    let cursor = page.json["nextCursor"].as_str().unwrap();
    let next = host.get(&format!("/workflow-runs?limit=1&cursor={cursor}")).await;
    assert_eq!(next.json["data"][0]["id"], sleeping.as_str());
    let of_others = host.get(&format!("/waitpoints?cursor={cursor}")).await;
    of_others.is_problem(422, "BAD_CURSOR");
}

#[tokio::test]
async fn a_signal_is_kept_until_the_run_waits_for_it() {
    let host = Host::start().await;
    let id = host
        .run_of(json!([
            { "type": "wait", "name": "nap", "durationMs": 1000 },
            { "type": "external_event", "name": "ok", "signalType": "go", "saveAs": "answer" },
        ]))
        .await;
    let path = format!("/workflow-runs/{id}/resume");
    let kept = host.post(&path, json!({ "signalType": "go", "payload": { "n": 1 } })).await;
    assert_eq!((kept.status, &kept.json["takenBy"]), (200, &json!(null)));
    host.pass(1_000).await;
    let run = host.run(&id).await;
    assert_eq!((&run["status"], &run["state"]["answer"]["n"]), (&json!("COMPLETED"), &json!(1)));
    let late = host.post(&path, json!({ "signalType": "go" })).await;
    assert_eq!(late.is_problem(409, "RUN_ENDED").json["current"]["status"], "COMPLETED");
}

#[tokio::test]
async fn a_run_is_paused_unpaused_cancelled_and_retried() {
    let host = Host::start().await;
    let id = host
        .run_of(json!([{ "type": "task", "name": "work", "handler": "h", "retry": { "maxAttempts": 1 } }]))
        .await;
    let ask = |verb: &'static str| {
        let (host, path) = (&host, format!("/workflow-runs/{id}/{verb}"));
        async move { host.post(&path, json!({})).await }
    };
    let paused = ask("pause").await;
    assert_eq!(
        (paused.status, &paused.json["pausing"], &paused.json["changed"]),
        (200, &json!(true), &json!(true))
    );
    assert_eq!(ask("pause").await.json["changed"], false);
    assert_eq!(ask("unpause").await.json["pausing"], false);
    ask("retry").await.is_problem(409, "RUN_NOT_FAILED");
    let polled = host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": "w" })).await;
    let (task, lease) =
        (polled.json["tasks"][0]["id"].as_str().unwrap(), &polled.json["tasks"][0]["leaseToken"]);
    let failed = json!({ "leaseToken": lease, "message": "no" });
    assert_eq!(host.post(&format!("/tasks/{task}/fail"), failed).await.status, 200);
    assert_eq!(host.run(&id).await["status"], "FAILED");
    assert_eq!(ask("retry").await.json["status"], "RUNNING");
    let cancelled = host.post(&format!("/workflow-runs/{id}/cancel"), json!({ "reason": "enough" })).await;
    assert_eq!(cancelled.json["status"], "CANCELLED");
    ask("pause").await.is_problem(409, "RUN_ENDED");
    let unknown = host.get("/workflow-runs/run_00000000000000000000000000").await;
    unknown.is_problem(404, "UNKNOWN_RUN");
    host.get("/workflow-runs/nonsense").await.is_problem(404, "UNKNOWN_RUN");
}
