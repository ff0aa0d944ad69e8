use abide_server::Settings;
use hyper::Method;
use serde_json::{Value, json};

use crate::host::{Host, Reply};
use crate::keys::locked;

async fn sign_in(host: &Host, key: &str) -> (Reply, String) {
    let own = format!("http://{}", host.address);
    let reply = host.send(Method::POST, "/session", &[("origin", &own)], Some(json!({ "key": key }))).await;
    let cookie =
        reply.header("set-cookie").unwrap_or_default().split(';').next().unwrap_or_default().to_owned();
    (reply, cookie)
}

async fn key(host: &Host, admin: &str, name: &str, scopes: &[&str]) -> (String, String) {
    let made = host.post_as(admin, "/keys", json!({ "name": name, "scopes": scopes })).await.json;
    (made["secret"].as_str().unwrap().to_owned(), made["id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn who_signs_in_is_the_key_and_may_what_it_may() {
    let (host, admin) = locked().await;
    let (secret, _) = key(&host, &admin, "looker", &["read"]).await;
    let nobody = host.get("/session").await;
    assert_eq!(
        nobody.json,
        json!({ "caller": null, "signedIn": false, "keysNeeded": true, "paused": false, "development": false, "testClock": true })
    );
    let (reply, cookie) = sign_in(&host, &secret).await;
    assert_eq!(reply.json["caller"]["name"], "looker");
    assert_eq!(reply.json["caller"]["scopes"], json!(["read"]));
    let set = reply.header("set-cookie").unwrap();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict") && set.contains("Path=/;"), "{set}");
    assert!(!set.contains(&secret), "the key itself is not in it");
    let with = [("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin")];
    assert_eq!(host.send(Method::GET, "/workflow-runs", &with, None).await.status, 200);
    assert_eq!(host.send(Method::GET, "/session", &with, None).await.json["signedIn"], json!(true));
    let start = json!({ "name": "x" });
    host.send(Method::POST, "/workflow-runs", &with, Some(start)).await.is_problem(403, "FORBIDDEN");
    let out = host.send(Method::DELETE, "/session", &with, None).await;
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
}

#[tokio::test]
async fn a_wrong_key_signs_nobody_in() {
    let (host, _) = locked().await;
    let (reply, cookie) = sign_in(&host, "abk_wrong").await;
    reply.is_problem(401, "UNAUTHENTICATED");
    assert_eq!(cookie, "");
}

#[tokio::test]
async fn a_session_ends_with_its_key_and_with_its_week_and_cannot_be_made_up() {
    let (host, admin) = locked().await;
    let (secret, id) = key(&host, &admin, "short", &["read"]).await;
    let (_, cookie) = sign_in(&host, &secret).await;
    let status = async |cookie: &str| {
        host.send(Method::GET, "/workflow-runs", &[("cookie", cookie)], None).await.status
    };
    assert_eq!(status(&cookie).await, 200);
    let mut forged = cookie.clone();
    forged.pop();
    forged.push(if cookie.ends_with('A') { 'B' } else { 'A' });
    for wrong in [&forged, "abide_session=", "abide_session=x.y", "other=1"] {
        assert_eq!(status(wrong).await, 401, "{wrong}");
    }
    host.pass(7 * 24 * 3_600_000 + 1).await;
    assert_eq!(status(&cookie).await, 401, "after a week");
    let (_, fresh) = sign_in(&host, &secret).await;
    assert_eq!(status(&fresh).await, 200);
    host.send(Method::DELETE, &format!("/keys/{id}"), &[("x-api-key", &admin)], None).await;
    assert_eq!(status(&fresh).await, 401, "the key was revoked");
}

#[tokio::test]
async fn a_session_counts_only_for_pages_of_this_server() {
    let settings =
        Settings { allowed_origins: vec!["http://localhost:3000".to_owned()], ..Settings::default() };
    let host = Host::with(settings).await;
    let made = host.post("/keys", json!({ "name": "ann", "scopes": ["run"] })).await.json;
    let (_, cookie) = sign_in(&host, made["secret"].as_str().unwrap()).await;
    let own = format!("http://{}", host.address);
    let send = async |headers: &[(&str, &str)]| -> Reply {
        let headers: Vec<_> = headers.iter().copied().chain([("cookie", cookie.as_str())]).collect();
        host.send(Method::POST, "/events", &headers, Some(json!({ "eventId": "e" }))).await
    };
    assert_eq!(send(&[("origin", &own)]).await.status, 200);
    assert_eq!(send(&[("sec-fetch-site", "same-origin")]).await.status, 200);
    // A page that may use the API has a key of its own.
    send(&[("origin", "http://localhost:3000")]).await.is_problem(403, "ORIGIN_REFUSED");
    send(&[("origin", "http://evil.example.com")]).await.is_problem(403, "ORIGIN_REFUSED");
    send(&[("sec-fetch-site", "same-site")]).await.is_problem(403, "ORIGIN_REFUSED");
    send(&[]).await.is_problem(403, "ORIGIN_REFUSED");
    let elsewhere = [("origin", "http://evil.example.com")];
    let signed = host.send(Method::POST, "/session", &elsewhere, Some(json!({ "key": "abk_1" }))).await;
    signed.is_problem(403, "ORIGIN_REFUSED");
}

#[tokio::test]
async fn on_loopback_whoever_is_there_needs_no_session() {
    let host = Host::start().await;
    let session = host.get("/session").await.json;
    assert_eq!((&session["caller"]["name"], &session["keysNeeded"]), (&json!("local"), &Value::Bool(false)));
}
