use abide_server::Settings;
use serde_json::{Value, json};

use crate::host::Host;
use crate::scene::{asked, call, key, signal, text, wait_of};

/// A run that asks two people at once.
async fn two_questions(host: &Host) -> String {
    let write = json!({ "type": "external_event", "name": "write", "signalType": "write", "saveAs": "draft", "after": [] });
    let ask =
        |name: &str| json!({ "type": "approval", "name": name, "contentKey": "draft", "after": ["write"] });
    let run = host.run_of(json!([write, ask("legal"), ask("sales")])).await;
    signal(host, &run, "write", json!("text")).await;
    run
}

#[tokio::test]
async fn one_decision_does_not_release_both_approvals_of_a_run() {
    let host = Host::start().await;
    let run = two_questions(&host).await;
    let (legal, sales) = (wait_of(&host, &run, "legal").await, wait_of(&host, &run, "sales").await);
    assert_ne!(legal["id"], sales["id"]);
    let of_legal = text(&legal["resumeUrl"]);
    let mixed = of_legal.replace(legal["id"].as_str().unwrap(), sales["id"].as_str().unwrap());
    call(&host, &mixed, json!({ "decision": "approve" })).await.is_problem(401, "BAD_LINK");
    assert_eq!(call(&host, &of_legal, json!({ "decision": "approve" })).await.status, 200);
    assert_eq!(host.run(&run).await["status"], "WAITING");
    let path = format!("/approval-requests/{}/decide", text(&sales["id"]));
    assert_eq!(host.post(&path, json!({ "decision": "approve" })).await.json["resolved"], true);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn no_approval_of_parallel_branches_is_skipped() {
    let host = Host::start().await;
    let run = two_questions(&host).await;
    let pending = host.get(&format!("/approval-requests?pending=true&runId={run}")).await;
    let mut steps: Vec<_> =
        pending.json["data"].as_array().unwrap().iter().map(|request| text(&request["stepName"])).collect();
    steps.sort();
    assert_eq!(steps, ["legal", "sales"]);
}

#[tokio::test]
async fn who_may_not_approve_at_one_door_may_not_at_another() {
    let host = Host::with(Settings::default()).await;
    let (run, id) = asked(&host, json!({})).await;
    let runner = key(&host, "runner", &["run", "worker"]).await;
    let approve = json!({ "decision": "approve" });
    let as_runner = async |path: String, body: Value| host.post_as(&runner, &path, body).await;
    as_runner(format!("/approval-requests/{id}/decide"), approve.clone()).await.is_problem(403, "FORBIDDEN");
    for segment in [id.as_str(), "ok"] {
        for door in ["", "/sync", "/confirm"] {
            let path = format!("/workflow-runs/{run}/waitpoints/{segment}{door}");
            assert_eq!(as_runner(path.clone(), approve.clone()).await.status, 403, "{path}");
        }
    }
    let done = as_runner(format!("/waitpoints/{id}/complete"), json!({ "payload": approve })).await;
    done.is_problem(409, "WRONG_WAITPOINT_KIND");
    let all = json!({ "action": "complete", "filter": { "runId": run } });
    assert_eq!(as_runner("/waitpoints/bulk".to_owned(), all).await.json["done"], 0);
    as_runner(format!("/waitpoints/{id}/link"), json!({ "recipient": "ann" }))
        .await
        .is_problem(403, "FORBIDDEN");
    let shown = host.get_as(&runner, &format!("/waitpoints/{id}")).await;
    assert_eq!((shown.status, &shown.json["resumeUrl"]), (200, &Value::Null));
    assert_eq!(host.run(&run).await["status"], "WAITING");
}

#[tokio::test]
async fn nobody_but_the_named_approvers_decides_whatever_the_door() {
    let host = Host::start().await;
    let (run, id) = asked(&host, json!({ "approvers": ["ann"] })).await;
    let mallory = key(&host, "mallory", &["run", "approve"]).await;
    let approve = json!({ "decision": "approve" });
    let edit = json!({ "decision": "edit", "editedContent": "mine" });
    for decision in [approve.clone(), edit] {
        for path in [
            format!("/approval-requests/{id}/decide"),
            format!("/workflow-runs/{run}/waitpoints/{id}"),
            format!("/workflow-runs/{run}/waitpoints/ok"),
            format!("/flow-runs/{run}/waitpoints/{id}/sync"),
        ] {
            let refused = host.post_as(&mallory, &path, decision.clone()).await;
            refused.is_problem(403, "NOT_AN_APPROVER");
        }
    }
    for body in [json!({}), json!({ "recipient": "mallory" })] {
        let made = host.post(&format!("/waitpoints/{id}/link"), body).await;
        let url = text(&made.json["resumeUrl"]);
        call(&host, &url, approve.clone()).await.is_problem(403, "NOT_AN_APPROVER");
        // Who decides is who the link is for, never what the call says.
        let claimed = json!({ "decision": "approve", "by": "ann", "recipient": "ann", "approver": "ann" });
        call(&host, &url, claimed).await.is_problem(403, "NOT_AN_APPROVER");
    }
    assert_eq!(host.run(&run).await["status"], "WAITING");
}

#[tokio::test]
async fn nobody_counts_twice_by_coming_through_two_doors() {
    let host = Host::start().await;
    let (run, id) = asked(&host, json!({ "quorum": 2 })).await;
    let ann = key(&host, "ann", &["approve"]).await;
    let approve = json!({ "decision": "approve" });
    let path = format!("/approval-requests/{id}/decide");
    let first = host.post_as(&ann, &path, approve.clone()).await;
    assert_eq!(
        (&first.json["approvals"], &first.json["resolved"]),
        (&json!(1), &json!(false)),
        "{}",
        first.text
    );
    let made = host.post(&format!("/waitpoints/{id}/link"), json!({ "recipient": "ann" })).await;
    let link = text(&made.json["resumeUrl"]);
    call(&host, &link, approve.clone()).await.is_problem(409, "ALREADY_DECIDED");
    // A link for nobody in particular would be a second voice for everyone who is shown it.
    assert_eq!(host.get_as(&ann, &format!("/approval-requests/{id}")).await.json["resumeUrl"], Value::Null);
    assert_eq!(host.run(&run).await["status"], "WAITING");
}

#[tokio::test]
async fn the_decision_of_one_person_is_not_taken_for_anothers_of_the_same_key() {
    let host = Host::start().await;
    let (run, id) = asked(&host, json!({ "approvers": ["ann", "bob"], "quorum": 2 })).await;
    let path = format!("/approval-requests/{id}/decide");
    // A key that each of them makes of the request.
    let approve = json!({ "decision": "approve", "idempotencyKey": format!("approve-{id}") });
    let mut approvals = Vec::new();
    for name in ["ann", "bob"] {
        let key = key(&host, name, &["approve"]).await;
        for _ in 0..2 {
            let decided = host.post_as(&key, &path, approve.clone()).await;
            assert_eq!(decided.status, 200, "{}", decided.text);
            approvals.push(decided.json["approvals"].clone());
        }
    }
    assert_eq!(approvals, [json!(1), json!(1), json!(2), json!(2)]);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}
