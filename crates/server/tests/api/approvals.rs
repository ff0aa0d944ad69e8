use abide_server::Settings;
use hyper::Method;
use serde_json::{Value, json};

use crate::host::Host;
use crate::keys::key;
use crate::receiver::Receiver;

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
async fn where_nobody_is_named_every_key_that_may_approve_decides_and_whoever_has_a_link() {
    let host = Host::with(Settings::default()).await;
    let (runner, bob) = (key(&host, "runner", &["run"]).await, key(&host, "bob", &["approve"]).await);
    let approve = json!({ "decision": "approve" });
    let (run, id) = asked(&host, json!({})).await;
    let path = format!("/approval-requests/{id}/decide");
    host.post_as(&runner, &path, approve.clone()).await.is_problem(403, "FORBIDDEN");
    assert_eq!(host.post_as(&bob, &path, approve.clone()).await.json["resolved"], true);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
    let (run, _) = asked(&host, json!({})).await;
    let url = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    let headers = [("content-type", "application/json")];
    assert_eq!(host.raw(Method::POST, &url, &headers, approve.to_string().into()).await.status, 200);
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

/// A request under these terms, of a run that somebody started.
async fn review(host: &Host, fields: Value, starter: Option<&str>) -> String {
    let mut approval = json!({ "type": "approval", "name": "ok", "contentKey": "draft" });
    for (key, value) in fields.as_object().unwrap() {
        approval[key] = value.clone();
    }
    let write =
        json!({ "type": "external_event", "name": "write", "signalType": "write", "saveAs": "draft" });
    host.deploy(json!({ "name": "review", "version": "1", "steps": [write, approval] })).await;
    let start = json!({ "name": "review", "input": {} });
    let started = match starter {
        Some(key) => host.post_as(key, "/workflow-runs", start).await,
        None => host.post("/workflow-runs", start).await,
    };
    let run = started.json["id"].as_str().unwrap().to_owned();
    let draft = json!({ "signalType": "write", "payload": "text" });
    assert_eq!(host.post(&format!("/workflow-runs/{run}/resume"), draft).await.status, 200);
    let open = host.get(&format!("/approval-requests?runId={run}&pending=true")).await.json;
    open["data"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn who_started_a_run_cannot_approve_it_on_any_way_where_that_is_forbidden() {
    let host = Host::start().await;
    let anna = key(&host, "anna", &["run", "approve"]).await;
    let ben = key(&host, "ben", &["approve"]).await;
    let id = review(&host, json!({ "allowSelfApproval": false }), Some(&anna)).await;
    let approve = json!({ "decision": "approve" });
    let decide = format!("/approval-requests/{id}/decide");
    host.post_as(&anna, &decide, approve.clone()).await.is_problem(403, "SELF_APPROVAL");
    let shown = host.get_as(&ben, &format!("/approval-requests/{id}")).await.json;
    assert_eq!((&shown["allowSelfApproval"], &shown["resumeUrl"]), (&json!(false), &Value::Null));
    // A link that is for nobody in particular, and one that is for whoever started it.
    for (body, status, code) in
        [(json!({}), 403, "SELF_APPROVAL"), (json!({ "recipient": "anna" }), 403, "SELF_APPROVAL")]
    {
        let link = host.post(&format!("/waitpoints/{id}/link"), body).await.json["resumeUrl"].clone();
        let link = link.as_str().unwrap().to_owned();
        host.post(&link, approve.clone()).await.is_problem(status, code);
    }
    assert_eq!(host.post_as(&ben, &decide, approve).await.status, 200);
    host.stop().await;
}

#[tokio::test]
async fn a_scope_among_the_approvers_lets_every_key_with_it_decide() {
    let host = Host::start().await;
    let id = review(&host, json!({ "approvers": ["scope:admin"] }), None).await;
    let ben = key(&host, "ben", &["approve"]).await;
    let root = key(&host, "root", &["admin"]).await;
    let decide = format!("/approval-requests/{id}/decide");
    host.post_as(&ben, &decide, json!({ "decision": "approve" })).await.is_problem(403, "NOT_AN_APPROVER");
    assert_eq!(host.post_as(&root, &decide, json!({ "decision": "approve" })).await.status, 200);
    for name in ["scope:admin", "Scope:approve"] {
        let refused = host.post("/keys", json!({ "name": name, "scopes": ["approve"] })).await;
        refused.is_problem(422, "MALFORMED");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_decision_is_bound_to_what_was_shown_and_so_is_the_page() {
    let host = Host::start().await;
    let id = review(&host, json!({ "quorum": 2 }), None).await;
    let shown = host.get(&format!("/approval-requests/{id}")).await.json;
    let digest = shown["contentDigest"].as_str().unwrap().to_owned();
    let link = host.post(&format!("/waitpoints/{id}/link"), json!({ "recipient": "zoe" })).await.json;
    let page = host.get(link["confirmUrl"].as_str().unwrap()).await;
    assert!(page.text.contains(&format!("name=\"contentDigest\" value=\"{digest}\"")), "{}", page.text);
    let decide = format!("/approval-requests/{id}/decide");
    let edit = json!({ "decision": "edit", "editedContent": "other", "contentDigest": digest });
    assert_eq!(host.post(&decide, edit).await.status, 200);
    let stale = json!({ "decision": "approve", "contentDigest": digest });
    let refused = host.post(link["resumeUrl"].as_str().unwrap(), stale).await;
    refused.is_problem(409, "CONTENT_CHANGED");
    let now = refused.json["current"]["contentDigest"].clone();
    let fresh = json!({ "decision": "approve", "contentDigest": now });
    assert_eq!(host.post(link["resumeUrl"].as_str().unwrap(), fresh).await.status, 200);
    host.stop().await;
}

#[tokio::test]
async fn reminders_and_escalations_are_told_to_webhooks() {
    let (host, receiver) = (Host::start().await, Receiver::start().await);
    let webhook = json!({ "url": receiver.url(), "events": ["approval.requested"] });
    assert_eq!(host.post("/webhooks", webhook).await.status, 201);
    let fields =
        json!({ "approvers": ["anna"], "remindAfter": ["1h"], "escalateAfter": "2h", "escalateTo": ["zoe"] });
    let id = review(&host, fields, None).await;
    for _ in 0..2 {
        host.pass(3_600_000).await;
        host.engine.clock().settled().await.unwrap();
    }
    host.engine.told().await.unwrap();
    let mut told: Vec<Value> = receiver.take().iter().map(|call| call.json()["data"].clone()).collect();
    told.sort_by_key(|data| {
        ["requested", "reminder", "escalation"].iter().position(|word| data["reason"] == *word)
    });
    let reasons: Vec<&Value> = told.iter().map(|data| &data["reason"]).collect();
    assert_eq!(reasons, ["requested", "reminder", "escalation"]);
    assert_eq!((&told[2]["approvers"], &told[2]["waitpointId"]), (&json!(["anna", "zoe"]), &json!(id)));
    let link = host.post(&format!("/waitpoints/{id}/link"), json!({ "recipient": "zoe" })).await.json;
    let done = host.post(link["resumeUrl"].as_str().unwrap(), json!({ "decision": "approve" })).await;
    assert_eq!(done.status, 200, "{}", done.text);
    host.stop().await;
}

const REFUND: &str =
    r#"{"type": "object", "required": ["cents"], "properties": {"cents": {"type": "integer"}}}"#;

#[tokio::test]
async fn an_edit_that_does_not_fit_the_schema_is_refused_with_its_place() {
    let host = Host::start().await;
    let schema: Value = serde_json::from_str(REFUND).unwrap();
    let (run, id) = asked(&host, json!({ "contentSchema": schema })).await;
    assert_eq!(host.get(&format!("/approval-requests/{id}")).await.json["contentSchema"], schema);
    let path = format!("/approval-requests/{id}/decide");
    for (content, place) in
        [(json!("lots"), "/editedContent"), (json!({ "cents": "lots" }), "/editedContent/cents")]
    {
        let refused = host.post(&path, json!({ "decision": "edit", "editedContent": content })).await;
        assert_eq!(refused.is_problem(422, "INVALID_CONTENT").json["problems"][0]["pointer"], place);
    }
    let edited = host.post(&path, json!({ "decision": "edit", "editedContent": { "cents": 1 } })).await;
    assert_eq!(edited.status, 200, "{}", edited.text);
    assert_eq!(host.run(&run).await["state"]["draft"], json!({ "cents": 1 }));
}

#[tokio::test]
async fn a_worker_asks_people_and_is_given_their_links_before_it_waits() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "task", "name": "t", "handler": "h" }])).await;
    let polled = host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": "w" })).await;
    let task = polled.json["tasks"][0].clone();
    let ask = |approval: Value| {
        let token = &task["leaseToken"];
        json!({ "leaseToken": token, "name": "review", "type": "APPROVAL", "asked": "x", "approval": approval })
    };
    let schema = json!({ "contentSchema": { "type": "nonsense" } });
    host.post("/waitpoints", ask(schema)).await.is_problem(422, "MALFORMED");
    let made =
        host.post("/waitpoints", ask(json!({ "approvers": ["ana", "scope:admin"], "content": 1 }))).await;
    assert_eq!((made.status, made.json["links"].as_array().map(Vec::len)), (201, Some(1)), "{}", made.text);
    assert_eq!(made.json["links"][0]["recipient"], "ana");
    let link = made.json["links"][0]["resumeUrl"].as_str().unwrap();
    let path = &link[link.find("/workflow-runs").unwrap()..];
    let decided = host.post(path, json!({ "decision": "approve" })).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let wait = json!({ "type": "approval", "name": "review", "asked": "x" });
    let suspend = json!({ "leaseToken": task["leaseToken"], "waits": [wait] });
    host.post(&format!("/tasks/{}/suspend", task["id"].as_str().unwrap()), suspend).await;
    let again = host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": "w" })).await;
    let journal = &again.json["tasks"][0]["journal"][0]["wait"];
    assert_eq!(journal["payload"]["votes"][0]["by"], "ana", "{}", again.text);
    assert_eq!(host.run(&run).await["status"], "RUNNING");
}
