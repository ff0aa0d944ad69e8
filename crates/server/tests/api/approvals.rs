use abide_server::Settings;
use hyper::Method;
use serde_json::{Value, json};

use crate::host::Host;
use crate::keys::key;

/// A run that asks for approval, and the request.
pub(crate) async fn asked(host: &Host, more: Value) -> (String, String) {
    let mut step = json!({ "type": "approval", "name": "ok", "contentKey": "draft", "prompt": "Send?" });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let steps = json!([{ "type": "task", "name": "write", "handler": "h", "saveAs": "draft" }, step]);
    let run = host.run_of(steps).await;
    let polled = host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": "w" })).await;
    let task = &polled.json["tasks"][0];
    let path = format!("/tasks/{}/complete", task["id"].as_str().unwrap());
    host.post(&path, json!({ "leaseToken": task["leaseToken"], "output": { "text": "hello" } })).await;
    let id = host.waitpoint(&run).await["id"].as_str().unwrap().to_owned();
    (run, id)
}

#[tokio::test]
async fn a_request_shows_what_is_asked_and_takes_one_decision() {
    let host = Host::start().await;
    let (run, id) = asked(&host, json!({})).await;
    let listed = host.get("/approval-requests?pending=true").await;
    let request = &listed.json["data"][0];
    assert_eq!((&request["id"], &request["prompt"]), (&json!(id), &json!("Send?")), "{}", listed.text);
    assert_eq!((&request["content"]["text"], &request["quorum"]), (&json!("hello"), &json!(1)));
    let path = format!("/approval-requests/{id}/decide");
    let decided = host.post(&path, json!({ "decision": "approve", "comment": "good" })).await;
    assert_eq!((decided.status, &decided.json["resolved"]), (200, &json!(true)), "{}", decided.text);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
    let again = host.post(&path, json!({ "decision": "reject" })).await;
    assert_eq!(again.is_problem(409, "ALREADY_RESOLVED").json["outcome"]["resolvedBy"], "local");
    assert_eq!(host.get("/approval-requests?pending=true").await.json["data"], json!([]));
    assert_eq!(host.get("/approval-requests?pending=false").await.json["data"][0]["id"], id.as_str());
}

#[tokio::test]
async fn an_edit_replaces_what_was_shown() {
    let host = Host::start().await;
    let (_, id) = asked(&host, json!({})).await;
    let path = format!("/approval-requests/{id}/decide");
    host.post(&path, json!({ "decision": "edit" })).await.is_problem(422, "MALFORMED");
    let edited = host.post(&path, json!({ "decision": "edit", "editedContent": { "text": "hi" } })).await;
    assert_eq!(edited.status, 200, "{}", edited.text);
    host.post(&path, json!({ "decision": "maybe" })).await.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn only_those_who_are_named_decide_and_each_of_them_once() {
    let host = Host::with(Settings::default()).await;
    let (run, id) = asked(&host, json!({ "approvers": ["ann", "bob"], "quorum": 2 })).await;
    let path = format!("/approval-requests/{id}/decide");
    let approve = json!({ "decision": "approve" });
    host.post(&path, approve.clone()).await.is_problem(403, "NOT_AN_APPROVER");
    let (ann, bob) = (key(&host, "ann", &["approve"]).await, key(&host, "bob", &["approve"]).await);
    let first = host.post_as(&ann, &path, approve.clone()).await;
    assert_eq!(
        (&first.json["approvals"], &first.json["resolved"]),
        (&json!(1), &json!(false)),
        "{}",
        first.text
    );
    host.post_as(&ann, &path, approve.clone()).await.is_problem(409, "ALREADY_DECIDED");
    assert_eq!(host.post_as(&bob, &path, approve).await.json["resolved"], true);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn a_link_for_one_person_decides_under_that_name_and_a_link_for_nobody_is_not_given_out() {
    let host = Host::start().await;
    let (run, id) = asked(&host, json!({ "approvers": ["ann"] })).await;
    assert_eq!(host.waitpoint(&run).await["resumeUrl"], Value::Null);
    let link = async |recipient: &str| {
        let made = host.post(&format!("/waitpoints/{id}/link"), json!({ "recipient": recipient })).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.json["resumeUrl"].as_str().unwrap().to_owned()
    };
    let approve = async |url: &str| {
        let headers = [("content-type", "application/json")];
        host.raw(Method::POST, url, &headers, r#"{"decision": "approve"}"#.into()).await
    };
    approve(&link("bob").await).await.is_problem(403, "NOT_AN_APPROVER");
    assert_eq!(approve(&link("ann").await).await.status, 200);
    let wait = host.get(&format!("/waitpoints/{id}")).await;
    assert_eq!(wait.json["resolvedBy"], "ann");
}
