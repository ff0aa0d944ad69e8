//! Many runs with one request.

use abide_server::{Auth, Quotas, Settings};
use hyper::Method;
use serde_json::{Value, json};

use crate::host::Host;
use crate::keys::locked_with;

/// A server with a workflow that takes an order number and naps.
async fn napping() -> Host {
    let host = Host::start().await;
    let schema =
        json!({ "type": "object", "required": ["order"], "properties": { "order": { "type": "integer" } } });
    let steps = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
    let body = json!({ "name": "nap", "inputSchema": schema, "steps": steps });
    assert_eq!(host.post("/workflow-definitions", body).await.status, 201);
    host
}

fn outcomes(answer: &Value) -> Vec<&str> {
    answer["results"].as_array().unwrap().iter().map(|it| it["outcome"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn each_of_many_starts_has_its_own_answer_in_its_place() {
    let host = napping().await;
    let id = host.get("/workflow-definitions").await.json["data"][0]["id"].clone();
    let body = json!({ "runs": [
        { "name": "nap", "input": { "order": 1 }, "idempotencyKey": "one", "tags": ["many"] },
        { "name": "nap", "input": { "order": "two" } },
        { "name": "nothing", "input": {} },
        { "name": "nap", "input": { "order": 1 }, "idempotencyKey": "one", "tags": ["many"] },
        { "definitionId": id, "input": { "order": 5 } },
        { "name": "nap", "input": { "order": 6 }, "idempotencyKey": "one" },
        { "definitionId": id, "name": "nap" },
    ] });
    let answer = host.post("/workflow-runs/batch", body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let done = &answer.json;
    let expected = ["created", "refused", "refused", "repeated", "created", "refused", "refused"];
    assert_eq!(outcomes(done), expected, "{}", answer.text);
    assert_eq!((&done["created"], &done["repeated"], &done["refused"]), (&json!(2), &json!(1), &json!(4)));
    assert_eq!(done["results"][0]["id"], done["results"][3]["id"]);
    let problem = |index: usize| done["results"][index]["problem"]["code"].as_str().unwrap();
    assert_eq!(
        [1, 2, 5, 6].map(problem),
        ["INVALID_INPUT", "UNKNOWN_DEFINITION", "IDEMPOTENCY_KEY_REUSED", "MALFORMED"]
    );
    assert!(done["results"].as_array().unwrap().iter().enumerate().all(|(n, it)| it["index"] == n));
    let seen = host.get(&format!("/workflow-runs/{}", done["results"][0]["id"].as_str().unwrap())).await;
    assert_eq!((&seen.json["status"], &seen.json["input"]), (&json!("WAITING"), &json!({ "order": 1 })));
    assert_eq!(host.get("/workflow-runs").await.json["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_same_batch_again_under_one_key_starts_nothing_twice() {
    let host = napping().await;
    let runs: Vec<Value> =
        (0..600).map(|order| json!({ "name": "nap", "input": { "order": order } })).collect();
    let send = || {
        let body = Some(json!({ "runs": runs.clone() }));
        host.send(Method::POST, "/workflow-runs/batch", &[("idempotency-key", "night")], body)
    };
    let (first, again) = (send().await.json, send().await.json);
    assert_eq!((&first["created"], &again["created"]), (&json!(600), &json!(0)));
    assert_eq!(again["repeated"], 600);
    let ids = |answer: &Value| {
        answer["results"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&first), ids(&again));
    assert_eq!(first["results"][599]["url"].as_str().unwrap().rsplit('/').next(), ids(&first)[599].as_str());
}

#[tokio::test]
async fn a_start_of_the_wrong_shape_is_refused_with_its_place_and_hinders_no_other() {
    let host = napping().await;
    let order = json!({ "order": 1 });
    let body = json!({ "runs": [{ "name": "nap", "input": order }, { "nme": "nap" }, 7, { "name": "nap", "input": order }] });
    let answer = host.post("/workflow-runs/batch", body).await;
    assert_eq!(outcomes(&answer.json), ["created", "refused", "refused", "created"], "{}", answer.text);
    let problem = &answer.json["results"][1]["problem"];
    assert_eq!(
        (&problem["code"], &problem["pointer"]),
        (&json!("MALFORMED"), &json!("/nme")),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_batch_of_the_wrong_size_is_refused_whole() {
    let host = napping().await;
    host.post("/workflow-runs/batch", json!({ "runs": [] })).await.is_problem(422, "MALFORMED");
    let many = vec![json!({ "name": "nap" }); 5_001];
    host.post("/workflow-runs/batch", json!({ "runs": many })).await.is_problem(422, "MALFORMED");
    let large = json!({ "name": "nap", "input": "x".repeat(1_000_000) });
    let large = json!({ "runs": vec![large; 9] });
    host.post("/workflow-runs/batch", large).await.is_problem(413, "BODY_TOO_LARGE");
    assert_eq!(host.get("/workflow-runs").await.json["data"], json!([]));
}

#[tokio::test]
async fn quotas_count_every_start_of_a_batch() {
    let quotas = Quotas { open_runs: Some(3), ..Quotas::default() };
    let (host, admin) = locked_with(Settings { auth: Auth::Required, quotas, ..Settings::default() }).await;
    let steps = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
    host.post_as(&admin, "/workflow-definitions", json!({ "name": "nap", "steps": steps })).await;
    let body = json!({ "runs": vec![json!({ "name": "nap" }); 5] });
    let done = host.post_as(&admin, "/workflow-runs/batch", body).await;
    assert_eq!(
        outcomes(&done.json),
        ["created", "created", "created", "refused", "refused"],
        "{}",
        done.text
    );
    assert_eq!(done.json["results"][4]["problem"]["code"], "QUOTA_EXCEEDED");
}

#[tokio::test]
async fn a_start_that_is_collected_skipped_or_refused_is_answered_so() {
    let host = Host::start().await;
    let steps = json!([{ "type": "wait", "name": "nap", "duration": "1h" }]);
    let deploy = async |body: Value| assert_eq!(host.post("/workflow-definitions", body).await.status, 201);
    let debounce = json!({ "quiet": "1h", "collect": true });
    deploy(json!({ "name": "bundle", "debounce": debounce, "steps": steps })).await;
    let throttle =
        |when_full: &str| json!([{ "name": "few", "rate": 1, "per": "1h", "whenFull": when_full }]);
    deploy(json!({ "name": "dropping", "limits": throttle("skip"), "steps": steps })).await;
    deploy(json!({ "name": "refusing", "limits": throttle("refuse"), "steps": steps })).await;

    let first = host.post("/workflow-runs", json!({ "name": "bundle", "input": 1 })).await;
    let second = host.post("/workflow-runs", json!({ "name": "bundle", "input": 2 })).await;
    assert_eq!((first.status, first.json.get("collected")), (201, None));
    assert_eq!(
        (second.status, &second.json["collected"], &second.json["id"]),
        (201, &json!(true), &first.json["id"])
    );
    let triggered = host.post("/triggers/bundle", json!({})).await;
    assert_eq!((triggered.status, &triggered.json["collected"]), (202, &json!(true)));
    let wait = &host.get("/waitpoints?kind=DELAY").await.json["data"][0];
    assert_eq!((&wait["listensFor"]["type"], &wait["listensFor"]["starts"]), (&json!("starts"), &json!(3)));

    let names = ["bundle", "dropping", "dropping", "refusing", "refusing"];
    let body = json!({ "runs": names.map(|name| json!({ "name": name })) });
    let many = host.post("/workflow-runs/batch", body).await.json;
    assert_eq!(outcomes(&many), ["collected", "created", "skipped", "created", "refused"]);
    assert_eq!((&many["collected"], &many["skipped"]), (&json!(1), &json!(1)));
    assert_eq!(many["results"][4]["problem"]["code"], "LIMIT_FULL");
    let skipped = host.post("/workflow-runs", json!({ "name": "dropping" })).await;
    assert_eq!((skipped.status, &skipped.json["skipped"]), (201, &json!(true)));
    let refused = host.post("/workflow-runs", json!({ "name": "refusing" })).await;
    refused.is_problem(429, "LIMIT_FULL");
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() > 3_000, "{}", refused.text);
}
