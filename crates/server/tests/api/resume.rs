use hyper::Method;
use serde_json::{Value, json};

use crate::host::Host;

fn sign() -> Value {
    json!([{ "type": "webhook", "name": "sign", "timeoutMs": 60_000, "saveAs": "call" }])
}

/// A run that waits on its resume URL.
async fn waiting(host: &Host) -> (String, String, String) {
    let run = host.run_of(sign()).await;
    let wait = host.waitpoint(&run).await;
    let (id, url) = (wait["id"].as_str().unwrap().to_owned(), wait["resumeUrl"].as_str().unwrap().to_owned());
    (run, id, url)
}

async fn call(host: &Host, method: Method, url: &str, body: &'static str) -> crate::host::Reply {
    host.raw(method, url, &[("content-type", "application/json")], body.into()).await
}

#[tokio::test]
async fn a_call_resumes_the_run_with_body_headers_and_query_but_no_secrets() {
    let host = Host::start().await;
    let (run, id, url) = waiting(&host).await;
    let headers = [
        ("content-type", "application/json"),
        ("authorization", "Bearer theirs"),
        ("cookie", "session=theirs"),
        ("x-signature", "abc"),
    ];
    let reply = host.raw(Method::POST, &format!("{url}&order=7"), &headers, r#"{"paid": true}"#.into()).await;
    assert_eq!((reply.status, &reply.json["waitpointId"]), (200, &json!(id)), "{}", reply.text);
    let state = host.run(&run).await["state"]["call"].clone();
    assert_eq!(state["body"], json!({ "paid": true }));
    assert_eq!(state["queryParams"], json!({ "order": "7" }));
    assert_eq!(state["headers"], json!({ "content-type": "application/json" }));
    let history = host.get(&format!("/workflow-runs/{run}/events?limit=500")).await.text;
    let token = url.rsplit("token=").next().unwrap();
    for secret in ["theirs", token] {
        assert!(!history.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn r07_reading_changes_nothing() {
    let host = Host::start().await;
    let (run, id, url) = waiting(&host).await;
    for method in [Method::HEAD, Method::GET, Method::GET] {
        let reply = call(&host, method.clone(), &url, "").await;
        assert_eq!(reply.status, 200, "{method}: {}", reply.text);
    }
    for method in [Method::OPTIONS, Method::TRACE] {
        call(&host, method, &url, "").await.is_problem(405, "METHOD_NOT_ALLOWED");
    }
    let shown = call(&host, Method::GET, &url, "").await;
    assert_eq!((&shown.json["id"], &shown.json["status"]), (&json!(id), &json!("PENDING")));
    assert_eq!(shown.json["resumeUrl"], Value::Null);
    assert_eq!(host.run(&run).await["status"], "WAITING");
    assert_eq!(call(&host, Method::PUT, &url, "1").await.status, 200);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn a_get_resumes_where_that_was_asked_for_and_a_head_never_does() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "webhook", "name": "open", "allowGet": true }])).await;
    let url = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    assert_eq!(call(&host, Method::HEAD, &url, "").await.status, 200);
    assert_eq!(host.run(&run).await["status"], "WAITING");
    assert_eq!(call(&host, Method::GET, &url, "").await.json["status"], "COMPLETED");
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
    call(&host, Method::GET, &url, "").await.is_problem(409, "ALREADY_RESOLVED");
}

#[tokio::test]
async fn r02_the_second_caller_is_told_that_there_was_a_first() {
    let host = Host::start().await;
    let (_, id, url) = waiting(&host).await;
    assert_eq!(call(&host, Method::POST, &url, r#"{"n": 1}"#).await.status, 200);
    let late = call(&host, Method::POST, &url, r#"{"n": 2}"#).await;
    let outcome = &late.is_problem(409, "ALREADY_RESOLVED").json["outcome"];
    assert_eq!((&outcome["waitpointId"], &outcome["status"]), (&json!(id), &json!("COMPLETED")));
    assert_eq!((&outcome["payload"], &outcome["resolvedBy"]), (&Value::Null, &json!("link")));
    let by_key = host.post(&format!("/waitpoints/{id}/complete"), json!({})).await;
    assert_eq!(by_key.is_problem(409, "ALREADY_RESOLVED").json["outcome"]["payload"]["body"]["n"], 1);
}

#[tokio::test]
async fn a_retried_call_with_its_key_gets_its_answer_again() {
    let host = Host::start().await;
    let (_, _, url) = waiting(&host).await;
    let headers = [("idempotency-key", "once"), ("content-type", "application/json")];
    let first = host.raw(Method::POST, &url, &headers, "1".into()).await;
    let again = host.raw(Method::POST, &url, &headers, "1".into()).await;
    assert_eq!((first.status, again.status), (200, 200), "{}", again.text);
    assert_eq!(first.json, again.json);
    host.raw(Method::POST, &url, &headers, "2".into()).await.is_problem(422, "IDEMPOTENCY_KEY_REUSED");
}

#[tokio::test]
async fn r04_a_call_after_the_deadline_is_refused() {
    let host = Host::start().await;
    let (_, _, url) = waiting(&host).await;
    host.pass(60_000).await;
    let late = call(&host, Method::POST, &url, "").await;
    assert_eq!(late.is_problem(410, "WAITPOINT_TIMED_OUT").json["outcome"]["status"], "TIMED_OUT");
}

#[tokio::test]
async fn a_call_on_a_cancelled_wait_is_gone() {
    let host = Host::start().await;
    let (run, _, url) = waiting(&host).await;
    host.post(&format!("/workflow-runs/{run}/cancel"), json!({})).await;
    call(&host, Method::POST, &url, "").await.is_problem(410, "WAITPOINT_CANCELLED");
}

#[tokio::test]
async fn a_link_leads_to_its_own_wait_only_and_says_nothing_of_others() {
    let host = Host::start().await;
    let (_, _, url) = waiting(&host).await;
    let other = host.start_run("flow", json!({})).await;
    let other = host.waitpoint(&other).await["resumeUrl"].as_str().unwrap().to_owned();
    let token = other.rsplit("token=").next().unwrap();
    let mixed = format!("{}token={token}", url.split("token=").next().unwrap());
    call(&host, Method::POST, &mixed, "").await.is_problem(401, "BAD_LINK");
    call(&host, Method::GET, &mixed, "").await.is_problem(401, "BAD_LINK");
    let unknown = format!(
        "/api/v1/workflow-runs/run_00000000000000000000000000/waitpoints/wp_00000000000000000000000000_1?token={token}"
    );
    call(&host, Method::POST, &unknown, "").await.is_problem(401, "BAD_LINK");
}

#[tokio::test]
async fn a_revoked_link_is_gone_and_the_new_one_works() {
    let host = Host::start().await;
    let (run, id, url) = waiting(&host).await;
    let revoked = host.delete(&format!("/waitpoints/{id}/link")).await;
    let new = revoked.json["resumeUrl"].as_str().unwrap();
    assert_ne!(new, url);
    call(&host, Method::POST, &url, "").await.is_problem(410, "LINK_REVOKED");
    call(&host, Method::GET, &url, "").await.is_problem(410, "LINK_REVOKED");
    assert_eq!(call(&host, Method::POST, new, "").await.status, 200);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn a_rotated_secret_breaks_no_link_that_is_out_there() {
    let host = Host::start().await;
    let (_, _, url) = waiting(&host).await;
    assert_eq!(host.post("/link-secrets", json!({})).await.status, 204);
    let run = host.start_run("flow", json!({})).await;
    let new = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    assert!(new.contains("token=2.") && url.contains("token=1."), "{new} {url}");
    assert_eq!(call(&host, Method::POST, &url, "").await.status, 200);
    assert_eq!(call(&host, Method::POST, &new, "").await.status, 200);
}

#[tokio::test]
async fn a_link_survives_a_restart_of_the_server() {
    use abide_server::Settings;
    use abide_store::sqlite::Sqlite;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("abide.db");
    let host = Host::on(Box::new(Sqlite::open(&file).unwrap()), Settings::default()).await;
    let (run, _, url) = waiting(&host).await;
    let path = url.split_once("/api").unwrap().1.to_owned();
    host.stop().await;
    let host = Host::on(Box::new(Sqlite::open(&file).unwrap()), Settings::default()).await;
    assert_eq!(call(&host, Method::POST, &format!("/api{path}"), "").await.status, 200);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn r05_a_call_by_the_steps_name_may_come_before_the_step() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "wait", "name": "nap", "durationMs": 1000 },
            { "type": "webhook", "name": "sign", "saveAs": "call" },
        ]))
        .await;
    let early = host.post(&format!("/flow-runs/{run}/waitpoints/sign"), json!({ "early": true })).await;
    assert_eq!(early.status, 200, "{}", early.text);
    host.pass(1_000).await;
    let run = host.run(&run).await;
    assert_eq!((&run["status"], &run["state"]["call"]["body"]["early"]), (&json!("COMPLETED"), &json!(true)));
    let id = run["id"].as_str().unwrap();
    let unknown = host.post(&format!("/workflow-runs/{id}/waitpoints/sing"), json!({})).await;
    assert!(unknown.is_problem(404, "UNKNOWN_STEP").text.contains("did you mean `sign`?"));
}

#[tokio::test]
async fn forms_and_text_are_read_as_what_they_are() {
    let host = Host::start().await;
    for (media_type, body, expected) in [
        ("application/x-www-form-urlencoded", "a=1&b=x+y&b=z", json!({ "a": "1", "b": ["x y", "z"] })),
        ("text/plain", "hello", json!("hello")),
        ("application/vnd.api+json", "[1]", json!([1])),
    ] {
        let (run, _, url) = waiting(&host).await;
        let reply = host.raw(Method::POST, &url, &[("content-type", media_type)], body.into()).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(host.run(&run).await["state"]["call"]["body"], expected, "{media_type}");
    }
    let (run, _, url) = waiting(&host).await;
    call(&host, Method::POST, &url, "{").await.is_problem(400, "NOT_JSON");
    let bytes = host.raw(Method::POST, &url, &[("content-type", "image/png")], vec![0xff, 0xfe].into()).await;
    bytes.is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
    assert_eq!(host.run(&run).await["status"], "WAITING");
}

#[tokio::test]
async fn a_sync_call_gets_what_the_run_says_next() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "webhook", "name": "one", "saveAs": "first", "allowSync": true },
            { "type": "webhook", "name": "two", "allowSync": true, "responseToSend": { "status": 202, "body": { "n": "{{ first.body.n }}" } } },
            { "type": "respond", "name": "say", "status": 201, "headers": { "x-order": "7" }, "body": "bye" },
        ]))
        .await;
    let sync = |wait: &Value| wait["resumeUrl"].as_str().unwrap().replace("?token=", "/sync?token=");
    let first = call(&host, Method::POST, &sync(&host.waitpoint(&run).await), r#"{"n": 5}"#).await;
    assert_eq!((first.status, &first.json), (202, &json!({ "n": 5 })), "{}", first.text);
    let second = call(&host, Method::POST, &sync(&host.waitpoint(&run).await), "").await;
    assert_eq!((second.status, second.text.as_str(), second.header("x-order")), (201, "bye", Some("7")));
}

#[tokio::test]
async fn a_sync_call_gets_the_output_or_the_failure_at_once_or_a_place_to_ask_later() {
    let host = Host::start().await;
    // With a key.
    let sync = |wait: &Value| {
        let (run, id) = (wait["runId"].as_str().unwrap(), wait["id"].as_str().unwrap());
        format!("/api/v1/workflow-runs/{run}/waitpoints/{id}/sync")
    };
    let run = host.run_of(sign()).await;
    let url = sync(&host.waitpoint(&run).await);
    let output = call(&host, Method::POST, &url, r#"{"n": 5}"#).await;
    assert_eq!((output.status, &output.json["body"]["n"]), (200, &json!(5)), "{}", output.text);

    host.deploy(json!({ "name": "fails", "version": "1", "steps": [
        { "type": "webhook", "name": "sign" },
        { "type": "condition", "name": "bad", "expression": "1 / input.zero > 0", "trueStep": "end" },
    ] }))
    .await;
    let run = host.start_run("fails", json!({ "zero": 0 })).await;
    let failed = call(&host, Method::POST, &sync(&host.waitpoint(&run).await), "").await;
    assert_eq!(failed.is_problem(424, "RUN_FAILED").json["current"]["status"], "FAILED");

    host.deploy(json!({ "name": "slow", "version": "1", "steps": [
        { "type": "webhook", "name": "sign" }, { "type": "wait", "name": "nap", "duration": "1h" },
    ] }))
    .await;
    let run = host.start_run("slow", json!({})).await;
    let url = format!("{}?wait=1ms", sync(&host.waitpoint(&run).await));
    let later = call(&host, Method::POST, &url, "").await;
    assert_eq!((later.status, &later.json["id"]), (202, &json!(run)), "{}", later.text);
    let sign = host.get(&format!("/waitpoints?runId={run}&kind=WEBHOOK")).await;
    assert_eq!(sign.json["data"][0]["resumePayload"]["queryParams"], json!({}));
}

#[tokio::test]
async fn only_headers_that_are_asked_for_are_kept() {
    let host = Host::start().await;
    let mut steps = sign();
    steps[0]["keepHeaders"] = json!(["X-Github-Event", "x-gitlab-token"]);
    let run = host.run_of(steps).await;
    let url = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    let headers = [
        ("content-type", "application/json"),
        ("webhook-id", "msg_1"),
        ("x-github-event", "push"),
        ("x-gitlab-token", "asked for"),
        ("x-vault-token", "secret"),
        ("cf-access-jwt-assertion", "secret"),
        ("api-key", "secret"),
        ("authorization", "Bearer secret"),
    ];
    assert_eq!(host.raw(Method::POST, &url, &headers, "1".into()).await.status, 200);
    let kept = host.run(&run).await["state"]["call"]["headers"].clone();
    let expected = json!({ "content-type": "application/json", "webhook-id": "msg_1", "x-github-event": "push", "x-gitlab-token": "asked for" });
    assert_eq!(kept, expected);
    for never in ["authorization", "Cookie", "X-API-Key", "no header"] {
        let mut steps = sign();
        steps[0]["keepHeaders"] = json!([never]);
        let flow = json!({ "name": "keeps", "version": "1", "steps": steps });
        let refused = host.post("/workflow-definitions", flow).await;
        let pointer = &refused.is_problem(422, "INVALID_DEFINITION").json["problems"][0]["pointer"];
        assert_eq!(pointer, "/steps/0/keepHeaders/0", "{never}");
    }
}

#[tokio::test]
async fn a_link_holder_sees_nothing_that_is_not_theirs() {
    let host = Host::start().await;
    let run = host
        .run_of(
            json!([{ "type": "webhook", "name": "sign", "responseToSend": { "body": "to the starter" } }]),
        )
        .await;
    let url = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    assert_eq!(call(&host, Method::POST, &url, r#"{"ssn": "123-45-6789"}"#).await.status, 200);
    let again = call(&host, Method::POST, &url, "2").await;
    assert_eq!(again.is_problem(409, "ALREADY_RESOLVED").json["outcome"].get("payload"), None);
    assert_eq!(again.json["outcome"]["status"], "COMPLETED");
    let shown = call(&host, Method::GET, &url, "").await;
    let page = host.raw(Method::GET, &url, &[("accept", "text/html")], "".into()).await;
    for reply in [again, shown, page] {
        assert!(!reply.text.contains("123-45") && !reply.text.contains("to the starter"), "{}", reply.text);
    }
    let id = host.get(&format!("/waitpoints?runId={run}")).await.json["data"][0]["id"].clone();
    let by_key = host.get(&format!("/waitpoints/{}", id.as_str().unwrap())).await;
    assert_eq!(by_key.json["resumePayload"]["body"], json!({ "ssn": "123-45-6789" }));
}

#[tokio::test]
async fn a_link_waits_for_what_the_run_says_only_where_the_step_allows_it() {
    let host = Host::start().await;
    let sync = |url: &str| url.replace("?token=", "/sync?token=");
    let started = async |steps: serde_json::Value, version: &str| {
        host.deploy(json!({ "name": "says", "version": version, "output": { "secret": "123-45-6789" }, "steps": steps })).await;
        let run = host.start_run("says", json!({})).await;
        (host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned(), run)
    };
    let hook = |more: Value| {
        let mut hook = json!({ "type": "webhook", "name": "sign" });
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hook
    };
    let (url, run) = started(json!([hook(json!({}))]), "1").await;
    call(&host, Method::POST, &sync(&url), "1").await.is_problem(403, "SYNC_NOT_ALLOWED");
    assert_eq!(host.run(&run).await["status"], "WAITING");
    // With a key, all of it is there.
    let id = host.waitpoint(&run).await["id"].as_str().unwrap().to_owned();
    let all = host.post(&format!("/workflow-runs/{run}/waitpoints/{id}/sync"), json!(1)).await;
    assert_eq!(all.json, json!({ "secret": "123-45-6789" }));
    let allowed = hook(json!({ "allowSync": true }));
    let (url, _) = started(json!([allowed]), "2").await;
    let ended = call(&host, Method::POST, &sync(&url), "1").await;
    assert_eq!((ended.status, &ended.json), (200, &json!({ "status": "COMPLETED" })), "{}", ended.text);
    let says = json!({ "type": "respond", "name": "say", "body": "thank you" });
    let (url, _) = started(json!([allowed, says]), "3").await;
    assert_eq!(call(&host, Method::POST, &sync(&url), "1").await.text, "thank you");
    let fails = json!({ "type": "http", "name": "call", "url": "http://10.0.0.1/internal", "retry": { "maxAttempts": 1 } });
    let (url, _) = started(json!([allowed, fails]), "4").await;
    let failed = call(&host, Method::POST, &sync(&url), "1").await;
    failed.is_problem(424, "RUN_FAILED");
    assert!(
        !failed.text.contains("10.0.0.1") && failed.json["current"]["error"].is_null(),
        "{}",
        failed.text
    );
}
