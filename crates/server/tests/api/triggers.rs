use hyper::Method;
use serde_json::json;

use crate::host::Host;

#[tokio::test]
async fn a_call_starts_a_run_with_what_was_sent() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "hook", "version": "1", "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }] })).await;
    let headers = [("content-type", "application/json"), ("x-event", "paid"), ("cookie", "secret=1")];
    let reply = host.raw(Method::POST, "/api/v1/triggers/hook?a=1", &headers, r#"{"n": 1}"#.into()).await;
    assert_eq!(reply.status, 202, "{}", reply.text);
    let input = host.run(reply.json["id"].as_str().unwrap()).await["input"].clone();
    assert_eq!(
        (&input["method"], &input["body"]["n"], &input["queryParams"]["a"]),
        (&json!("POST"), &json!(1), &json!("1"))
    );
    assert_eq!((&input["headers"]["x-event"], &input["headers"]["cookie"]), (&json!(null), &json!(null)));
    assert_eq!(host.raw(Method::GET, "/v1/triggers/hook", &[], "".into()).await.status, 202);
    let head = host.raw(Method::HEAD, "/v1/triggers/hook", &[], "".into()).await;
    assert_eq!(head.status, 405);
    assert_eq!(host.get("/workflow-runs").await.json["data"].as_array().unwrap().len(), 2);
    host.post("/triggers/nobody", json!({})).await.is_problem(404, "UNKNOWN_DEFINITION");
}

#[tokio::test]
async fn a_sync_call_is_answered_by_respond_and_the_run_goes_on() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "hook", "version": "1", "steps": [
        { "type": "respond", "name": "hello", "status": 201, "body": { "hello": "{{ input.body.name }}" } },
        { "type": "wait", "name": "nap", "duration": "1h" },
    ] }))
    .await;
    let reply = host.post("/triggers/hook/sync", json!({ "name": "Ann" })).await;
    assert_eq!((reply.status, &reply.json), (201, &json!({ "hello": "Ann" })), "{}", reply.text);
    assert_eq!(host.get("/workflow-runs?status=WAITING").await.json["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_sync_call_is_answered_by_the_reply_of_a_webhook_at_once() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "hook", "version": "1", "steps": [
        { "type": "webhook", "name": "sign", "responseToSend": { "body": "sign here" } },
    ] }))
    .await;
    let reply = host.post("/triggers/hook/sync", json!({})).await;
    assert_eq!((reply.status, reply.text.as_str()), (200, "sign here"));
}

#[tokio::test]
async fn a_sync_call_that_takes_too_long_is_told_where_to_ask() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "hook", "version": "1", "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }] })).await;
    let reply = host.post("/triggers/hook/sync?wait=1ms", json!({})).await;
    assert_eq!(reply.status, 202, "{}", reply.text);
    assert_eq!(host.get(reply.header("location").unwrap()).await.json["status"], "WAITING");
    host.post("/triggers/hook/sync?wait=soon", json!({})).await.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn a_page_of_another_site_starts_nothing() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "hook", "version": "1", "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }] })).await;
    let headers = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    host.raw(Method::GET, "/v1/triggers/hook", &headers, "".into()).await.is_problem(403, "ORIGIN_REFUSED");
    assert_eq!(host.get("/workflow-runs").await.json["data"], json!([]));
}
