use abide_server::{Limits, Settings};
use hyper::Method;
use serde_json::json;

use crate::host::Host;
use crate::keys::locked;

#[tokio::test]
async fn every_scope_opens_its_own_doors_and_no_other() {
    let (host, admin) = locked().await;
    let doors = [
        (Method::GET, "/workflow-runs", vec!["read", "run", "admin"]),
        (Method::GET, "/waitpoints", vec!["read", "run", "admin"]),
        (Method::GET, "/approval-requests", vec!["read", "run", "approve", "admin"]),
        (Method::POST, "/workflow-runs", vec!["run", "admin"]),
        // What a worker needs beside its key, `sending` holds down.
        (Method::POST, "/events", vec!["run", "worker", "admin"]),
        (Method::POST, "/tasks/report", vec!["worker", "admin"]),
        (Method::POST, "/approval-requests/wp_x/decide", vec!["approve", "admin"]),
        (Method::POST, "/keys", vec!["admin"]),
        (Method::GET, "/workspaces", vec!["admin"]),
    ];
    for scope in ["read", "run", "worker", "approve", "admin"] {
        let body = json!({ "name": format!("who may {scope}"), "scopes": [scope] });
        let key = host.post_as(&admin, "/keys", body).await.json["secret"].as_str().unwrap().to_owned();
        for (method, path, scopes) in &doors {
            let reply = host.send(method.clone(), path, &[("x-api-key", &key)], None).await;
            assert_eq!(
                reply.status != 403,
                scopes.contains(&scope),
                "{scope} {method} {path}: {}",
                reply.text
            );
        }
    }
}

#[tokio::test]
async fn without_a_key_only_what_says_nothing_is_open() {
    let (host, admin) = locked().await;
    for path in ["/health", "/ready", "/openapi.json", "/docs"] {
        assert_eq!(host.raw(Method::GET, path, &[], "".into()).await.status, 200, "{path}");
    }
    for path in ["/metrics", "/api/v1/workflow-runs", "/v1/workers"] {
        let reply = host.raw(Method::GET, path, &[], "".into()).await;
        reply.is_problem(401, "UNAUTHENTICATED");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    }
    let bearer = format!("Bearer {admin}");
    let reply = host.raw(Method::GET, "/metrics", &[("authorization", &bearer)], "".into()).await;
    assert_eq!(reply.status, 200);
    for wrong in ["Bearer abk_0", "Basic x", "Bearer "] {
        let reply = host.raw(Method::GET, "/v1/workers", &[("authorization", wrong)], "".into()).await;
        reply.is_problem(401, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn every_route_needs_a_key_or_a_token_or_is_known_to_be_open() {
    let (host, _) = locked().await;
    let document = abide_server::openapi();
    let open = ["/", "/health", "/ready", "/openapi.json", "/docs", "/api/v1/session"];
    for (path, methods) in document["paths"].as_object().unwrap() {
        if open.contains(&path.as_str()) {
            continue;
        }
        for method in methods.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let path = path.replace(['{', '}'], "");
            let reply = host.raw(method.clone(), &path, &[], "".into()).await;
            assert_eq!(reply.status, 401, "{method} {path}: {}", reply.text);
        }
    }
}

#[tokio::test]
async fn on_loopback_no_key_is_needed_but_a_wrong_one_is_refused() {
    let host = Host::start().await;
    assert_eq!(host.get("/workflow-runs").await.status, 200);
    host.get_as("abk_wrong", "/workflow-runs").await.is_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_web_page_cannot_drive_a_local_server() {
    let host = Host::start().await;
    let own = format!("http://{}", host.address);
    let send = async |headers: &[(&str, &str)]| host.send(Method::GET, "/workflow-runs", headers, None).await;
    send(&[("host", "evil.example.com")]).await.is_problem(403, "HOST_REFUSED");
    send(&[("host", "127.0.0.1.evil.example.com:22433")]).await.is_problem(403, "HOST_REFUSED");
    send(&[("origin", "https://evil.example.com")]).await.is_problem(403, "ORIGIN_REFUSED");
    send(&[("origin", "null")]).await.is_problem(403, "ORIGIN_REFUSED");
    send(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")])
        .await
        .is_problem(403, "ORIGIN_REFUSED");
    let with_token = "/workflow-runs/run_00000000000000000000000000/cancel?token=anything";
    let sent = host.send(Method::POST, with_token, &[("origin", "https://evil.example.com")], None).await;
    sent.is_problem(403, "ORIGIN_REFUSED");
    assert_eq!(send(&[("origin", &own)]).await.status, 200);
    assert_eq!(send(&[("host", "localhost:22433")]).await.status, 200);
    assert_eq!(send(&[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")]).await.status, 200);
    let form = [("content-type", "text/plain")];
    let simple = host.send(Method::POST, "/events", &form, Some(json!({ "eventId": "e" }))).await;
    simple.is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
}

#[tokio::test]
async fn hosts_and_origins_that_were_allowed_are_let_in() {
    let settings = Settings {
        allow_everyone: true,
        allowed_hosts: vec!["abide.example.com".to_owned()],
        allowed_origins: vec!["https://app.example.com".to_owned()],
        ..Settings::default()
    };
    let host = Host::with(settings).await;
    let named = host.send(Method::GET, "/workflow-runs", &[("host", "abide.example.com")], None).await;
    assert_eq!(named.status, 200);
    let origin = ("origin", "https://app.example.com");
    let page = host.send(Method::GET, "/workflow-runs", &[origin], None).await;
    assert_eq!(page.header("access-control-allow-origin"), Some("https://app.example.com"));
    let preflight = [origin, ("access-control-request-method", "POST")];
    let preflight = host.send(Method::OPTIONS, "/workflow-runs", &preflight, None).await;
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").unwrap().contains("content-type"));
}

#[tokio::test]
async fn too_many_requests_are_told_when_to_come_back() {
    let limits = Limits { requests_per_second: 5, ..Limits::default() };
    let host = Host::with(Settings { limits, ..Settings::default() }).await;
    let mut refused = 0;
    for _ in 0..20 {
        let reply = host.get("/workflow-runs").await;
        if reply.status != 200 {
            reply.is_problem(429, "RATE_LIMITED");
            assert_eq!(reply.header("retry-after"), Some("1"));
            refused += 1;
        }
    }
    assert!(refused > 0);
    assert_eq!(host.raw(Method::GET, "/health", &[], "".into()).await.status, 200);
}
