use hyper::Method;
use serde_json::json;

use crate::host::Host;
use crate::scene::{all_of, asked, key, poll, report, resume_url};

const SECRETS: [(&str, &str); 5] = [
    ("cookie", "session=sesame"),
    ("proxy-authorization", "Basic sesame"),
    ("x-auth-token", "sesame"),
    ("x-csrf-token", "sesame"),
    ("content-type", "application/x-www-form-urlencoded"),
];

#[tokio::test]
async fn cookies_and_keys_of_a_caller_do_not_stand_in_a_run() {
    let host = Host::start().await;
    let (admin, sesame) = (("authorization", "Bearer sesame"), ("x-api-key", "sesame"));
    for door in ["", "/sync", "/confirm"] {
        let run = host.run_of(json!([{ "type": "webhook", "name": "sign", "allowSync": true }])).await;
        let url = resume_url(&host, &run).await.replace("?token=", &format!("{door}?token="));
        let headers = [&SECRETS[..], &[admin, sesame]].concat();
        let reply = host.raw(Method::POST, &url, &headers, "a=1".into()).await;
        assert!(matches!(reply.status, 200 | 303), "{door}: {}", reply.text);
        assert!(!all_of(&host, &run).await.contains("sesame"), "{door}");
    }
    let key = key(&host, "hook", &["run"]).await;
    for (door, own) in
        [("hook", ("x-api-key", key.clone())), ("hook", ("authorization", format!("Bearer {key}")))]
    {
        host.deploy(json!({ "name": door, "version": "1", "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }] })).await;
        let headers = [&SECRETS[..], &[(own.0, own.1.as_str())]].concat();
        let reply = host.raw(Method::POST, "/api/v1/triggers/hook", &headers, "a=1".into()).await;
        assert_eq!(reply.status, 202, "{}", reply.text);
        let all = all_of(&host, reply.json["id"].as_str().unwrap()).await;
        assert!(!all.contains("sesame") && !all.contains(&key), "{all}");
    }
}

#[tokio::test]
async fn the_token_of_a_link_does_not_stand_in_a_run() {
    let host = Host::start().await;
    let keep = json!(["referer", "x-original-uri", "x-forwarded-uri", "x-event"]);
    let run = host.run_of(json!([{ "type": "webhook", "name": "sign", "keepHeaders": keep }])).await;
    let url = resume_url(&host, &run).await;
    let token = url.rsplit("token=").next().unwrap();
    let page = url.replace("?token=", "/confirm?token=");
    // A browser says which page the form was on; a proxy, which URL was asked for.
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("referer", page.as_str()),
        ("x-original-uri", page.as_str()),
        ("x-forwarded-uri", page.as_str()),
        ("x-event", "kept"),
    ];
    let sent = host.raw(Method::POST, &page, &headers, "confirmed=true".into()).await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    let payload = host.run(&run).await["output"].clone();
    assert_eq!(payload["headers"]["x-event"], "kept");
    let ended = host.get(&format!("/waitpoints?runId={run}")).await;
    assert!(ended.json["data"][0]["resumeUrl"].is_null());
    assert!(!all_of(&host, &run).await.contains(token), "{payload}");
}

#[tokio::test]
async fn the_token_of_an_approvals_link_does_not_stand_in_its_history() {
    let host = Host::start().await;
    let (run, _) = asked(&host, json!({})).await;
    let url = resume_url(&host, &run).await;
    let token = url.rsplit("token=").next().unwrap();
    let headers = [("content-type", "application/json"), ("referer", url.as_str())];
    let body = json!({ "decision": "approve", "comment": "fine" }).to_string();
    assert_eq!(host.raw(Method::POST, &url, &headers, body.into()).await.status, 200);
    assert!(!all_of(&host, &run).await.contains(token));
}

#[tokio::test]
async fn a_lease_token_does_not_stand_in_a_history() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "task", "name": "work", "handler": "h" }])).await;
    let task = poll(&host, "h").await;
    let done = report(&host, &task, "complete", json!({ "output": 1 })).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert!(!all_of(&host, &run).await.contains(task["leaseToken"].as_str().unwrap()));
}
