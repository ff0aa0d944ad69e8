//! Links: one token is one visitor, for as long as it was made for, and no longer than anybody wants.

use hyper::Method;
use serde_json::{Value, json};

use crate::approvals::asked;
use crate::host::{Host, Reply};
use crate::keys::{key, locked};

async fn link(host: &Host, id: &str, body: Value) -> String {
    let made = host.post(&format!("/waitpoints/{id}/link"), body).await;
    assert_eq!(made.status, 201, "{}", made.text);
    made.json["resumeUrl"].as_str().unwrap().to_owned()
}

async fn approve(host: &Host, url: &str) -> Reply {
    host.post(url, json!({ "decision": "approve" })).await
}

async fn waiting(host: &Host) -> (String, String) {
    let run = host.run_of(json!([{ "type": "webhook", "name": "sign", "timeout": "10d" }])).await;
    let wait = host.waitpoint(&run).await;
    (run, wait["id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn one_link_votes_once_however_it_is_spelled() {
    let host = Host::start().await;
    let (run, id) = asked(&host, json!({ "quorum": 2 })).await;
    let url = link(&host, &id, json!({})).await;
    assert_eq!(approve(&host, &url).await.status, 200);
    let (path, token) = url.split_once("?token=").unwrap();
    for spelled in [format!("{token}."), format!("{token}.."), format!("+{token}"), format!("0{token}")] {
        let spelled: String = form_urlencoded::byte_serialize(spelled.as_bytes()).collect();
        approve(&host, &format!("{path}?token={spelled}")).await.is_problem(401, "BAD_LINK");
    }
    approve(&host, &url).await.is_problem(409, "ALREADY_DECIDED");
    assert_eq!(host.run(&run).await["status"], "WAITING");
}

#[tokio::test]
async fn a_dot_after_a_link_for_anyone_makes_nobody_else_of_its_holder() {
    let host = Host::start().await;
    let (run, id) = asked(&host, json!({ "allowSelfApproval": false })).await;
    let url = link(&host, &id, json!({})).await;
    approve(&host, &url).await.is_problem(403, "SELF_APPROVAL");
    approve(&host, &format!("{url}.")).await.is_problem(401, "BAD_LINK");
    let nameless = host.post(&format!("/waitpoints/{id}/link"), json!({ "recipient": "" })).await;
    nameless.is_problem(422, "MALFORMED");
    assert_eq!(host.run(&run).await["status"], "WAITING");
}

#[tokio::test]
async fn who_made_a_link_stands_with_the_vote_that_came_by_it() {
    let host = Host::start().await;
    let (_, id) = asked(&host, json!({ "quorum": 3 })).await;
    let root = key(&host, "root", &["admin"]).await;
    for body in [json!({ "recipient": "ann" }), json!({})] {
        let made = host.post_as(&root, &format!("/waitpoints/{id}/link"), body).await;
        assert_eq!(approve(&host, made.json["resumeUrl"].as_str().unwrap()).await.status, 200);
    }
    let votes = host.get(&format!("/approval-requests/{id}")).await.json["decisions"].clone();
    let by = |for_anyone| json!({ "madeBy": "root", "forAnyone": for_anyone });
    assert_eq!((&votes[0]["by"], &votes[0]["link"]), (&json!("ann"), &by(false)));
    assert_eq!((&votes[1]["by"], &votes[1]["link"]), (&json!("link"), &by(true)));
}

#[tokio::test]
async fn a_link_is_good_for_as_long_as_it_was_made_for() {
    let host = Host::start().await;
    let (run, id) = waiting(&host).await;
    let brief = link(&host, &id, json!({ "expiresIn": "1h" })).await;
    let lasting = link(&host, &id, json!({})).await;
    let made = host.post(&format!("/waitpoints/{id}/link"), json!({ "expiresInMs": 60_000 })).await;
    assert_eq!(made.json["expiresAt"], "2026-11-15T12:01:00Z", "{}", made.text);
    host.post(&format!("/waitpoints/{id}/link"), json!({ "expiresIn": "soon" }))
        .await
        .is_problem(422, "MALFORMED");
    host.pass(3_599_000).await;
    host.get(&brief).await.is_problem(405, "READ_ONLY");
    host.pass(1_000).await;
    host.get(&brief).await.is_problem(410, "LINK_EXPIRED");
    host.post(&brief, json!({})).await.is_problem(410, "LINK_EXPIRED");
    host.post(&brief.replace("?", "/sync?"), json!({})).await.is_problem(410, "LINK_EXPIRED");
    assert_eq!(host.post(&lasting, json!({})).await.status, 200);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn all_links_of_a_workspace_are_revoked_at_once_and_of_no_other() {
    let host = Host::start().await;
    let (run, id) = waiting(&host).await;
    let old = link(&host, &id, json!({ "recipient": "ann" })).await;
    let shown = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    let team = host.post("/workspaces", json!({ "name": "team" })).await.json["id"].clone();
    let body = json!({ "name": "bob", "scopes": ["admin"], "workspace": team });
    let bob = host.post("/keys", body).await.json["secret"].as_str().unwrap().to_owned();
    let revoke = async |key: &str| host.send(Method::DELETE, "/links", &[("x-api-key", key)], None).await;
    assert_eq!(revoke(&bob).await.status, 204);
    host.get(&old).await.is_problem(405, "READ_ONLY");
    let runner = key(&host, "runner", &["run"]).await;
    revoke(&runner).await.is_problem(403, "FORBIDDEN");
    assert_eq!(host.delete("/links").await.status, 204);
    for url in [&old, &shown] {
        host.get(url).await.is_problem(410, "LINK_REVOKED");
        host.post(url, json!({})).await.is_problem(410, "LINK_REVOKED");
    }
    let fresh = host.waitpoint(&run).await["resumeUrl"].as_str().unwrap().to_owned();
    assert_eq!(host.post(&fresh, json!({})).await.status, 200);
}

#[tokio::test]
async fn a_link_secret_that_leaked_is_retired_with_all_that_it_signed() {
    let (host, admin) = locked().await;
    let flow = json!({ "name": "flow", "version": "1", "steps": [{ "type": "webhook", "name": "sign" }] });
    host.post_as(&admin, "/workflow-definitions", flow).await;
    let run = host.post_as(&admin, "/workflow-runs", json!({ "name": "flow" })).await.json["id"].clone();
    let url = async || {
        let waits = host.get_as(&admin, "/waitpoints").await.json;
        waits["data"][0]["resumeUrl"].as_str().unwrap().to_owned()
    };
    let first = url().await;
    assert_eq!(host.post_as(&admin, "/link-secrets", json!({})).await.status, 204);
    let second = url().await;
    let listed = host.get_as(&admin, "/link-secrets").await;
    let ids: Vec<&Value> =
        listed.json["data"].as_array().unwrap().iter().map(|secret| &secret["id"]).collect();
    assert_eq!((ids, &listed.json["data"][1]["signs"]), (vec![&json!(1), &json!(2)], &json!(true)));
    let retire = async |id: &str| {
        host.send(Method::DELETE, &format!("/link-secrets/{id}"), &[("x-api-key", &admin)], None).await
    };
    assert_eq!(retire("1").await.status, 204);
    host.get(&first).await.is_problem(401, "BAD_LINK");
    host.get(&second).await.is_problem(405, "READ_ONLY");
    // The one that signs is replaced.
    assert_eq!(retire("2").await.status, 204);
    host.get(&second).await.is_problem(401, "BAD_LINK");
    for unknown in ["1", "2", "x", "-1"] {
        retire(unknown).await.is_problem(404, "UNKNOWN_LINK_SECRET");
    }
    let third = url().await;
    assert_eq!(host.post(&third, json!({})).await.status, 200);
    assert_eq!(
        host.get_as(&admin, &format!("/workflow-runs/{}", run.as_str().unwrap())).await.json["status"],
        "COMPLETED"
    );
}

#[tokio::test]
async fn who_may_only_run_does_not_decide_by_steering() {
    let host = Host::start().await;
    let terms = json!({ "timeout": "7d", "onTimeout": "approve", "approvers": ["ann", "ben"], "quorum": 2, "allowSelfApproval": false });
    let (run, id) = asked(&host, terms).await;
    let runner = key(&host, "runner", &["run"]).await;
    let timeout = format!("/waitpoints/{id}/timeout");
    host.post_as(&runner, &timeout, json!({})).await.is_problem(403, "MAY_NOT_DECIDE");
    host.post_as(&runner, &format!("/waitpoints/{id}/cancel"), json!({}))
        .await
        .is_problem(403, "MAY_NOT_DECIDE");
    let wait = format!("/waitpoints/{id}");
    for at in ["2020-01-01T00:00:00Z", "2026-11-15T12:00:01Z"] {
        let headers = [("x-api-key", runner.as_str())];
        let moved = host.send(Method::PATCH, &wait, &headers, Some(json!({ "resumeAt": at }))).await;
        moved.is_problem(403, "MAY_NOT_DECIDE");
    }
    for (action, more) in [
        ("timeout", json!({})),
        ("cancel", json!({})),
        ("reschedule", json!({ "resumeAt": "2020-01-01T00:00:00Z" })),
    ] {
        let mut body = json!({ "action": action, "filter": { "kind": "APPROVAL" } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let done = host.post_as(&runner, "/waitpoints/bulk", body).await;
        assert_eq!((&done.json["done"], &done.json["refused"]), (&json!(0), &json!(1)), "{}", done.text);
        assert_eq!(done.json["refusals"][0]["problem"]["code"], "MAY_NOT_DECIDE");
    }
    let ann = key(&host, "ann", &["run", "approve"]).await;
    let refused = host.post_as(&ann, &timeout, json!({})).await;
    assert_eq!(
        refused.is_problem(409, "QUORUM_NOT_REACHED").json["current"],
        json!({ "approvals": 1, "quorum": 2 })
    );
    let cleo = key(&host, "cleo", &["run", "approve"]).await;
    host.post_as(&cleo, &timeout, json!({})).await.is_problem(403, "NOT_AN_APPROVER");
    let ben = key(&host, "ben", &["approve"]).await;
    let decide = format!("/approval-requests/{id}/decide");
    assert_eq!(host.post_as(&ben, &decide, json!({ "decision": "approve" })).await.status, 200);
    assert_eq!(host.post_as(&ann, &timeout, json!({})).await.status, 200);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
    let history = host.get(&format!("/workflow-runs/{run}/events")).await.json;
    let decided =
        history["data"].as_array().unwrap().iter().filter(|record| record["type"] == "APPROVAL_DECIDED");
    assert_eq!(decided.map(|record| record["by"].as_str().unwrap()).collect::<Vec<_>>(), ["ben", "ann"]);
}
