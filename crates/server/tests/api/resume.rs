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
    let (run, _, url) = waiting(&host).await;
    let sync = url.replace("?token=", "/sync?token=");
    for url in [&url, &sync] {
        assert_eq!(call(&host, Method::HEAD, url, "").await.status, 405);
        // A machine that can only GET hears at once that this is not how it goes on, and what would be.
        let refused = call(&host, Method::GET, url, "").await;
        assert_eq!(refused.header("allow"), Some("POST, PUT, PATCH, DELETE"));
        assert!(refused.is_problem(405, "READ_ONLY").text.contains("allowGet"));
    }
    // A browser gets the page that asks, except where the answer would be the run's.
    let html = [("accept", "text/html,*/*;q=0.8")];
    for method in [Method::HEAD, Method::GET] {
        let page = host.raw(method, &url, &html, "".into()).await;
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    }
    host.raw(Method::GET, &sync, &html, "".into()).await.is_problem(405, "READ_ONLY");
    for method in [Method::OPTIONS, Method::TRACE] {
        call(&host, method, &url, "").await.is_problem(405, "METHOD_NOT_ALLOWED");
    }
    assert_eq!(host.run(&run).await["status"], "WAITING");
    assert_eq!(call(&host, Method::PUT, &url, "1").await.status, 200);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn a_get_resumes_where_that_was_asked_for_and_a_head_never_does() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "webhook", "name": "open", "allowGet": true }])).await;
    let url = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    assert_eq!(call(&host, Method::HEAD, &url, "").await.status, 405);
    assert_eq!(host.run(&run).await["status"], "WAITING");
    assert_eq!(call(&host, Method::GET, &url, "").await.json["status"], "COMPLETED");
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
    let again = call(&host, Method::GET, &url, "").await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, Some("true")));
    let other = call(&host, Method::GET, &format!("{url}&paid=no"), "").await;
    other.is_problem(409, "ALREADY_RESOLVED");
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

/// Trap: "A link that several people got lets each read what the first one sent."
#[tokio::test]
async fn who_has_a_link_is_told_that_and_when_it_was_decided_and_never_what_another_caller_sent() {
    let host = Host::start().await;
    let (run, id, url) = waiting(&host).await;
    let headers = [("content-type", "application/json"), ("x-gitlab-token", "theirs-in-a-header")];
    host.raw(Method::POST, &url, &headers, r#"{"secret": "theirs-in-the-body"}"#.into()).await;
    let made = host.post(&format!("/waitpoints/{id}/link"), json!({ "recipient": "ann" })).await;
    let anns = made.json["resumeUrl"].as_str().unwrap().to_owned();
    let html = [("accept", "text/html")];
    for url in [&url, &anns, &url.replace("?token=", "/sync?token=")] {
        for reply in [
            call(&host, Method::POST, url, "{}").await,
            call(&host, Method::GET, url, "").await,
            host.raw(Method::GET, url, &html, "".into()).await,
        ] {
            assert!(!reply.text.contains("theirs-in"), "{}", reply.text);
        }
    }
    let outcome =
        call(&host, Method::POST, &anns, "{}").await.is_problem(409, "ALREADY_RESOLVED").json["outcome"]
            .clone();
    assert_eq!((&outcome["status"], &outcome["resolvedBy"]), (&json!("COMPLETED"), &Value::Null));
    assert!(outcome["resolvedAt"].is_string(), "{outcome}");
    // A key reads it all.
    let by_key = host.post(&format!("/workflow-runs/{run}/waitpoints/{id}"), json!({})).await;
    let payload = &by_key.is_problem(409, "ALREADY_RESOLVED").json["outcome"]["payload"];
    assert_eq!(payload["body"]["secret"], "theirs-in-the-body");
}

/// Seed: "Duplicate callbacks are absorbed." A third party that delivers at least once hears 200 each time.
#[tokio::test]
async fn the_same_call_again_gets_the_first_answer_again_and_only_another_body_is_refused() {
    let host = Host::start().await;
    let (run, _, url) = waiting(&host).await;
    let first = call(&host, Method::POST, &url, r#"{"paid": true, "n": 1}"#).await;
    assert_eq!((first.status, first.header("idempotency-replayed")), (200, None), "{}", first.text);
    // Spelled in another way, it is the same body.
    for body in [r#"{"paid": true, "n": 1}"#, r#"{"n":1,"paid":true}"#] {
        let again = call(&host, Method::POST, &url, body).await;
        assert_eq!(
            (again.status, again.header("idempotency-replayed")),
            (200, Some("true")),
            "{}",
            again.text
        );
        assert_eq!(again.json, first.json);
    }
    call(&host, Method::POST, &url, r#"{"paid": false, "n": 1}"#).await.is_problem(409, "ALREADY_RESOLVED");
    call(&host, Method::POST, &format!("{url}&n=2"), r#"{"paid": true, "n": 1}"#)
        .await
        .is_problem(409, "ALREADY_RESOLVED");
    let history = host.get(&format!("/workflow-runs/{run}/events?limit=500")).await;
    assert_eq!(history.text.matches("WAIT_RESOLVED").count(), 1);
}

/// Standard Webhooks: a message has one `webhook-id`, however often and in whatever dress it is sent.
#[tokio::test]
async fn a_message_with_the_same_webhook_id_is_the_same_call() {
    let host = Host::start().await;
    let (_, _, url) = waiting(&host).await;
    let send = async |id: &'static str, body: &'static str| {
        host.raw(Method::POST, &url, &[("content-type", "application/json"), ("webhook-id", id)], body.into())
            .await
    };
    assert_eq!(send("msg_1", r#"{"attempt": 1}"#).await.status, 200);
    let again = send("msg_1", r#"{"attempt": 2}"#).await;
    assert_eq!((again.status, again.header("idempotency-replayed")), (200, Some("true")), "{}", again.text);
    send("msg_2", r#"{"attempt": 2}"#).await.is_problem(409, "ALREADY_RESOLVED");
}

#[tokio::test]
async fn a_sync_call_that_is_sent_again_gets_what_the_run_said_to_the_first() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "webhook", "name": "one", "saveAs": "first", "allowSync": true },
            { "type": "respond", "name": "say", "status": 201, "body": { "n": "{{ first.body.n }}" } },
            { "type": "webhook", "name": "two" },
        ]))
        .await;
    let wait = host.waitpoint(&run).await;
    let url = wait["resumeUrl"].as_str().unwrap().replace("?token=", "/sync?token=");
    for replayed in [None, Some("true")] {
        let reply = call(&host, Method::POST, &url, r#"{"n": 5}"#).await;
        assert_eq!((reply.status, &reply.json), (201, &json!({ "n": 5 })), "{}", reply.text);
        assert_eq!(reply.header("idempotency-replayed"), replayed);
    }
}

#[tokio::test]
async fn a_person_who_clicks_twice_has_decided_once_and_is_told_the_same() {
    let host = Host::start().await;
    let (run, id) = crate::approvals::asked(&host, json!({ "approvers": ["ann", "bob"], "quorum": 2 })).await;
    let link = async |recipient: &str| {
        let made = host.post(&format!("/waitpoints/{id}/link"), json!({ "recipient": recipient })).await;
        made.json["resumeUrl"].as_str().unwrap().to_owned()
    };
    let (ann, bob) = (link("ann").await, link("bob").await);
    let approve = r#"{"decision": "approve"}"#;
    for (url, status) in [(&ann, "PENDING"), (&bob, "COMPLETED")] {
        for replayed in [None, Some("true")] {
            let reply = call(&host, Method::POST, url, approve).await;
            assert_eq!((reply.status, &reply.json["status"]), (200, &json!(status)), "{}", reply.text);
            assert_eq!(reply.header("idempotency-replayed"), replayed);
        }
    }
    call(&host, Method::POST, &ann, r#"{"decision": "reject"}"#).await.is_problem(409, "ALREADY_RESOLVED");
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
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
    assert_eq!(host.run(&run).await["status"], "WAITING");
}

/// Seed: "resumes on any HTTP call". Uploads, inbound mail, a PDF, a text in an old encoding.
#[tokio::test]
async fn a_body_of_any_type_resumes_and_what_is_no_text_arrives_as_base64_with_its_type() {
    let host = Host::start().await;
    let form = b"--x\r\nContent-Disposition: form-data; name=\"from\"\r\n\r\nann\r\n--x\r\n\
        Content-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\xff\xfe\r\n--x--";
    let photo = json!({ "base64": "//4=", "contentType": "image/png", "filename": "a.png" });
    for (media_type, body, expected) in [
        (Some("image/png"), &b"\xff\xfe"[..], json!({ "base64": "//4=", "contentType": "image/png" })),
        (Some("application/pdf"), b"%PDF", json!({ "base64": "JVBERg==", "contentType": "application/pdf" })),
        (Some("text/plain; charset=iso-8859-1"), b"caf\xe9", json!("caf\u{e9}")),
        (Some("text/plain"), b"caf\xe9", json!({ "base64": "Y2Fm6Q==", "contentType": "text/plain" })),
        (Some("application/xml"), b"<a/>", json!("<a/>")),
        (None, b"\xff", json!({ "base64": "/w==", "contentType": "application/octet-stream" })),
        (Some("multipart/form-data; boundary=x"), form, json!({ "from": "ann", "photo": photo })),
    ] {
        let (run, _, url) = waiting(&host).await;
        let headers: Vec<(&str, &str)> =
            media_type.iter().map(|media_type| ("content-type", *media_type)).collect();
        let reply = host.raw(Method::POST, &url, &headers, body.to_vec().into()).await;
        assert_eq!(reply.status, 200, "{media_type:?}: {}", reply.text);
        assert_eq!(host.run(&run).await["state"]["call"]["body"], expected, "{media_type:?}");
    }
}

#[tokio::test]
async fn a_sync_call_gets_what_the_run_says_next() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "webhook", "name": "one", "saveAs": "first", "allowSync": true },
            { "type": "webhook", "name": "two", "allowSync": true, "responseToSend": { "status": 202, "body": { "n": "{{ first.body.n }}" } } },
            { "type": "respond", "name": "say", "status": 201, "headers": { "x-app-order": "7" }, "body": "bye" },
        ]))
        .await;
    let sync = |wait: &Value| wait["resumeUrl"].as_str().unwrap().replace("?token=", "/sync?token=");
    let first = call(&host, Method::POST, &sync(&host.waitpoint(&run).await), r#"{"n": 5}"#).await;
    assert_eq!((first.status, &first.json), (202, &json!({ "n": 5 })), "{}", first.text);
    let second = call(&host, Method::POST, &sync(&host.waitpoint(&run).await), "").await;
    assert_eq!((second.status, second.text.as_str(), second.header("x-app-order")), (201, "bye", Some("7")));
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
