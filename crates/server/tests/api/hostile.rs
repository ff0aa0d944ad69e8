use std::time::Duration;

use abide_server::{Limits, Settings};
use hyper::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::host::{Host, until};

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];
const EVENTS: &str = "/api/v1/events";

#[tokio::test]
async fn what_is_not_json_gets_a_clear_answer_and_stores_nothing() {
    let host = Host::start().await;
    let deep = format!(r#"{{"eventId": "e", "eventData": {}1{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    for (body, status, code) in [
        (&b"{"[..], 400, "NOT_JSON"),
        (b"{\"eventId\": \"e\",}", 400, "NOT_JSON"),
        (b"{\"eventId\": \"a\0b\"}", 400, "NOT_JSON"),
        (b"{\"eventId\": \"\xff\xfe\"}", 400, "NOT_JSON"),
        (b"{\"eventId\": \"e\", \"eventData\": 1e999}", 400, "NOT_JSON"),
        (b"[]", 422, "MALFORMED"),
        (b"null", 422, "MALFORMED"),
        (b"\"text\"", 422, "MALFORMED"),
        (b"{\"eventId\": 7}", 422, "MALFORMED"),
        (b"{\"eventId\": null}", 422, "MALFORMED"),
        (b"{\"eventId\": \"e\", \"delivery\": \"some\"}", 422, "MALFORMED"),
        (b"", 422, "MALFORMED"),
        (deep.as_bytes(), 422, "MALFORMED"),
    ] {
        let reply = host.raw(Method::POST, EVENTS, &JSON, body.to_vec().into()).await;
        reply.is_problem(status, code);
    }
    assert_eq!(host.get("/events").await.json["data"], json!([]));
}

#[tokio::test]
async fn an_instant_that_no_standard_writes_is_not_kept() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "1h" }])).await;
    let wait = host.waitpoint(&run).await["id"].as_str().unwrap().to_owned();
    let early = "-009999-01-02T01:59:59Z";
    for past in [early, "0001-01-01T00:00:00Z", "2026-11-15T12:00:00Z"] {
        let key = host.post("/keys", json!({ "name": "k", "scopes": ["read"], "expiresAt": past })).await;
        assert_eq!(key.is_problem(422, "MALFORMED").json["pointer"], "/expiresAt");
    }
    let moved = host.patch(&format!("/waitpoints/{wait}"), json!({ "resumeAt": early })).await;
    assert_eq!(moved.is_problem(422, "MALFORMED").json["pointer"], "/resumeAt");
    let started = host.post("/workflow-runs", json!({ "name": "flow", "runAt": early })).await;
    started.is_problem(422, "MALFORMED");
    let long_ago = json!({ "resumeAt": "0000-01-01T00:00:00Z" });
    assert_eq!(host.patch(&format!("/waitpoints/{wait}"), long_ago).await.status, 200);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let host = Host::start().await;
    let large = format!(r#"{{"eventId": "e", "eventData": "{}"}}"#, "x".repeat(10 << 20));
    host.raw(Method::POST, EVENTS, &JSON, large.into()).await.is_problem(413, "BODY_TOO_LARGE");
    let payload = json!({ "eventId": "e", "eventData": "x".repeat((1 << 20) + 1) });
    host.post("/events", payload).await.is_problem(413, "PAYLOAD_TOO_LARGE");
    let fits = json!({ "eventId": "e", "eventData": "x".repeat((1 << 20) - 2) });
    assert_eq!(host.post("/events", fits).await.status, 200);
    assert_eq!(host.get("/events").await.json["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn too_many_headers_and_too_long_ones_are_refused() {
    let host = Host::start().await;
    let names: Vec<String> = (0..200).map(|index| format!("x-{index}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    host.raw(Method::GET, "/v1/workers", &many, "".into()).await.is_problem(431, "HEADERS_TOO_LARGE");
    let long = "x".repeat(34 << 10);
    host.raw(Method::GET, "/v1/workers", &[("x-long", &long)], "".into())
        .await
        .is_problem(431, "HEADERS_TOO_LARGE");
    let mut flood = TcpStream::connect(host.address).await.unwrap();
    let headers: String = (0..10_000).map(|index| format!("x-{index}: 1\r\n")).collect();
    let request = format!("GET /v1/workers HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    let mut answer = String::new();
    // The server may hang up before it has read everything.
    drop(flood.write_all(request.as_bytes()).await);
    drop(flood.read_to_string(&mut answer).await);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert_eq!(host.get("/workers").await.status, 200);
}

#[tokio::test]
async fn paths_methods_and_queries_that_make_no_sense_get_a_problem() {
    let host = Host::start().await;
    host.raw(Method::GET, "/nowhere", &[], "".into()).await.is_problem(404, "NOT_FOUND");
    host.raw(Method::GET, "/api/v2/workflow-runs", &[], "".into()).await.is_problem(404, "NOT_FOUND");
    let wrong = host.raw(Method::PUT, "/v1/workflow-runs", &[], "".into()).await;
    wrong.is_problem(405, "METHOD_NOT_ALLOWED");
    assert!(wrong.header("allow").unwrap().contains("POST"));
    host.raw(Method::GET, "/v1/workflow-runs/%ff%fe", &[], "".into()).await.is_problem(400, "BAD_REQUEST");
    for query in
        ["limit=0", "limit=501", "limit=-1", "limit=x", "limit=1&limit=2", "createdFrom=soon", "cursor="]
    {
        let reply = host.get(&format!("/workflow-runs?{query}")).await;
        assert_eq!(reply.status, 422, "{query}: {}", reply.text);
    }
    let traversal =
        host.raw(Method::GET, "/v1/workflow-definitions/..%2f..%2fetc%2fpasswd", &[], "".into()).await;
    traversal.is_problem(404, "UNKNOWN_DEFINITION");
}

#[tokio::test]
async fn slow_clients_are_let_go_and_hinder_nobody() {
    let limits = Limits {
        header_time: Duration::from_millis(50),
        body_time: Duration::from_millis(50),
        ..Limits::default()
    };
    let host = Host::with(Settings { limits, ..Settings::default() }).await;
    let mut slow_head = TcpStream::connect(host.address).await.unwrap();
    slow_head.write_all(b"GET /health HTTP/1.1\r\nhost: loc").await.unwrap();
    let mut slow_body = TcpStream::connect(host.address).await.unwrap();
    let head = "POST /v1/events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    slow_body.write_all(head.as_bytes()).await.unwrap();
    // Also somebody honest is let go where the machine takes too long for one try.
    until(async || {
        let mut honest = TcpStream::connect(host.address).await.unwrap();
        let asked = b"GET /v1/workflow-runs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        let mut answer = String::new();
        let sent = honest.write_all(asked).await;
        sent.is_ok() && honest.read_to_string(&mut answer).await.is_ok() && answer.starts_with("HTTP/1.1 200")
    })
    .await;
    let mut answer = String::new();
    slow_head.read_to_string(&mut answer).await.unwrap();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    let mut answer = String::new();
    slow_body.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("BODY_TIMEOUT"), "{answer}");
}

#[tokio::test]
async fn where_all_have_keys_connections_over_the_limit_are_told_to_come_back() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let host = Host::with(Settings { limits, ..Settings::default() }).await;
    let feed = async || host.open(Method::GET, "/v1/feed", &[], "".into()).await;
    let _held = [feed().await, feed().await];
    let mut third = TcpStream::connect(host.address).await.unwrap();
    let mut answer = String::new();
    third.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: 1"), "{answer}");
}

#[tokio::test]
async fn a_thousand_idle_polls_and_streams_do_not_hold_up_the_others() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "webhook", "name": "sign" }])).await;
    let path = format!("/api/v1/workflow-runs/{run}/events");
    let mut idle = Vec::new();
    for _ in 0..500 {
        idle.push(host.open(Method::GET, &path, &[("accept", "text/event-stream")], "".into()).await);
    }
    let mut polls = Vec::new();
    for index in 0..500 {
        let mut poll = TcpStream::connect(host.address).await.unwrap();
        let body = format!(r#"{{"handlers": ["h"], "workerId": "w{index}"}}"#);
        let length = body.len();
        let request = format!(
            "POST /v1/tasks/poll HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        poll.write_all(request.as_bytes()).await.unwrap();
        polls.push(poll);
    }
    for _ in 0..20 {
        assert_eq!(host.get("/workflow-runs").await.status, 200);
    }
    let figures = host.raw(Method::GET, "/metrics", &[], "".into()).await.text;
    let open = figures.lines().find_map(|line| line.strip_prefix("abide_http_connections ")).unwrap();
    assert!(
        open.parse::<usize>().unwrap() >= 1_000,
        "others were answered while they waited, not after: {open}"
    );
    drop((idle, polls));
}
