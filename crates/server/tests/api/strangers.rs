//! Callers without a key: they cost little, and keep nobody out.

use std::time::Duration;

use abide_server::{Auth, Limits, Settings};
use hyper::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::host::{Host, until};
use crate::keys::{locked, locked_with};

async fn limited(limits: Limits) -> Host {
    Host::with(Settings { limits, ..Settings::default() }).await
}

/// What is answered to a request of which the body never comes.
async fn answer_without_body(host: &Host, path: &str) -> String {
    let mut caller = TcpStream::connect(host.address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n"
    );
    caller.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let read = caller.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

#[tokio::test]
async fn the_token_of_a_link_is_checked_before_the_body_is_read() {
    let (host, _) = locked().await;
    let run = "run_00000000000000000000000000";
    for path in [
        format!("/v1/workflow-runs/{run}/waitpoints/sign?token=1.0.AAAA"),
        format!("/v1/workflow-runs/{run}/waitpoints/sign/sync?token=x"),
        format!("/v1/flow-runs/{run}/waitpoints/wp_{run}_1?token=1.0.AAAA"),
        format!("/v1/workflow-runs/{run}/waitpoints/sign/confirm?token=1.0.AAAA"),
    ] {
        let answer = answer_without_body(&host, &path).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{path}: {answer}");
        assert!(!answer.contains("BODY_TIMEOUT"), "{path}: {answer}");
    }
    for path in ["/v1/workflow-runs", "/v1/tasks/report", "/v1/triggers/flow"] {
        let answer = answer_without_body(&host, path).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_link_that_counts_is_still_a_way_in() {
    let (host, admin) = locked().await;
    let flow = json!({ "name": "flow", "steps": [{ "type": "webhook", "name": "sign" }] });
    assert_eq!(host.post_as(&admin, "/workflow-definitions", flow).await.status, 201);
    let run = host.post_as(&admin, "/workflow-runs", json!({ "name": "flow" })).await.json["id"].clone();
    let waits = host.get_as(&admin, &format!("/waitpoints?runId={}", run.as_str().unwrap())).await;
    let url = waits.json["data"][0]["resumeUrl"].as_str().unwrap().to_owned();
    let sent = host.send(Method::POST, &url, &[], Some(json!({ "by": "post" }))).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
}

#[tokio::test]
async fn a_sign_in_is_small() {
    let (host, _) = locked().await;
    let large = json!({ "key": "x".repeat(5_000) });
    host.post("/session", large).await.is_problem(413, "BODY_TOO_LARGE");
    host.post("/session", json!({ "key": "abk_wrong" })).await.is_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_let_go() {
    let host = limited(Limits { write_time: Duration::from_millis(50), ..Limits::default() }).await;
    let asked = "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(60);
    let mut deaf = TcpStream::connect(host.address).await.unwrap();
    deaf.write_all(asked.as_bytes()).await.unwrap();
    until(async || {
        let figures = host.raw(Method::GET, "/metrics", &[], "".into()).await.text;
        figures.lines().any(|line| line == "abide_http_connections 1")
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_has_grown_old_is_closed_after_its_answer() {
    let host = limited(Limits { connection_age: Duration::ZERO, ..Limits::default() }).await;
    let mut kept = TcpStream::connect(host.address).await.unwrap();
    kept.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    kept.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_crowd_without_keys_keeps_nobody_out() {
    let host = limited(Limits { connections: 4, ..Limits::default() }).await;
    let mut crowd = Vec::new();
    for _ in 0..10 {
        crowd.push(TcpStream::connect(host.address).await.unwrap());
        assert_eq!(host.get("/workflow-runs").await.status, 200);
    }
    let mut nothing = String::new();
    assert!(crowd[0].read_to_string(&mut nothing).await.is_ok_and(|read| read == 0));
}

#[tokio::test]
async fn an_address_has_so_many_connections_without_a_key_and_any_number_with_one() {
    let host = limited(Limits { connections_per_address: 2, ..Limits::default() }).await;
    let mut feeds = Vec::new();
    for _ in 0..5 {
        feeds.push(host.open(Method::GET, "/v1/feed", &[], "".into()).await);
    }
    assert!(feeds.iter().all(|feed| feed.status() == 200));
    let mut silent = Vec::new();
    for _ in 0..3 {
        silent.push(TcpStream::connect(host.address).await.unwrap());
    }
    let mut nothing = String::new();
    assert!(silent[0].read_to_string(&mut nothing).await.is_ok_and(|read| read == 0));
    assert_eq!(host.get("/workflow-runs").await.status, 200);
}

#[tokio::test]
async fn what_strangers_send_is_bounded_for_all_of_them_together() {
    let host = limited(Limits { stranger_bytes: 64 << 10, ..Limits::default() }).await;
    let long = format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx-long: {}", "x".repeat(20 << 10));
    let mut senders = Vec::new();
    for _ in 0..10 {
        let mut sender = TcpStream::connect(host.address).await.unwrap();
        sender.write_all(long.as_bytes()).await.unwrap();
        senders.push(sender);
    }
    // Three of them are as much as all may have.
    let is_let_go = |sender: &TcpStream| match sender.try_read(&mut [0; 16]) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    };
    until(async || {
        // Whether it can be read is noticed when the runtime has its turn.
        let _ = tokio::time::timeout(Duration::from_millis(1), senders[0].readable()).await;
        senders.iter().filter(|sender| is_let_go(sender)).count() >= 7
    })
    .await;
    assert_eq!(host.raw(Method::GET, "/health", &[], "".into()).await.status, 200);
}

#[tokio::test]
async fn guesses_are_limited_and_a_key_that_is_one_is_let_in_all_the_same() {
    let limits = Limits { guesses_per_second: 1, ..Limits::default() };
    let (host, admin) = locked_with(Settings { auth: Auth::Required, limits, ..Settings::default() }).await;
    let body = json!({ "name": "quiet", "scopes": ["read"] });
    let quiet = host.post_as(&admin, "/keys", body).await.json["secret"].as_str().unwrap().to_owned();
    loop {
        let guess = host.get_as("abk_guess", "/workers").await;
        if guess.status == 429 {
            guess.is_problem(429, "RATE_LIMITED");
            break;
        }
        guess.is_problem(401, "UNAUTHENTICATED");
    }
    for key in [&quiet, &admin] {
        assert_eq!(host.get_as(key, "/workers").await.status, 200);
    }
}

#[tokio::test]
async fn only_a_trusted_proxy_says_whom_it_is_limited_for() {
    let limits = Limits { requests_per_second: 2, ..Limits::default() };
    let settings = Settings { auth: Auth::Required, limits, ..Settings::default() };
    let trusting = Settings { trusted_proxies: vec!["127.0.0.1".parse().unwrap()], ..settings.clone() };
    for (settings, others_are_limited) in [(settings, true), (trusting, false)] {
        let (host, _) = locked_with(settings).await;
        let ask = async |client: &str| {
            host.send(Method::GET, "/workers", &[("x-forwarded-for", client)], None).await.status
        };
        while ask("192.0.2.1").await != 429 {}
        assert_eq!(ask("192.0.2.2").await == 429, others_are_limited);
    }
}

#[tokio::test]
async fn without_keys_nobody_comes_through_a_proxy() {
    let host = Host::start().await;
    for name in ["x-forwarded-for", "forwarded", "via", "x-real-ip", "x-forwarded-host", "cf-connecting-ip"] {
        let reply = host.send(Method::GET, "/workflow-runs", &[(name, "192.0.2.1")], None).await;
        reply.is_problem(403, "PROXY_REFUSED");
    }
    let key = json!({ "name": "mine", "scopes": ["admin"] });
    let key = host.post("/keys", key).await.json["secret"].as_str().unwrap().to_owned();
    let named = [("x-forwarded-for", "192.0.2.1"), ("x-api-key", key.as_str())];
    assert_eq!(host.send(Method::GET, "/workflow-runs", &named, None).await.status, 200);
    let everyone = Host::with(Settings { allow_everyone: true, ..Settings::default() }).await;
    let proxied = everyone.send(Method::GET, "/workflow-runs", &[("via", "1.1 proxy")], None).await;
    assert_eq!(proxied.status, 200);
}

#[tokio::test]
async fn a_request_is_for_one_host() {
    let host = Host::start().await;
    let answer = async |head: &str| {
        let mut caller = TcpStream::connect(host.address).await.unwrap();
        caller.write_all(format!("GET {head}connection: close\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        caller.read_to_string(&mut answer).await.unwrap();
        answer
    };
    for head in [
        "/health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example.com\r\n",
        "/health HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n",
        "http://localhost/health HTTP/1.1\r\nhost: other.localhost\r\n",
    ] {
        let answer = answer(head).await;
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("BAD_REQUEST"), "{head}: {answer}");
    }
    let whole = answer("http://localhost/health HTTP/1.1\r\nhost: localhost\r\n").await;
    assert!(whole.starts_with("HTTP/1.1 200"), "{whole}");
}
