use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::arena::{LESS_OFTEN, Lane, OFTEN, race, waitpoint};
use crate::connection::{Call, get, post};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_an_approval_and_a_rejection_at_once_one_counts() {
    let steps = json!([
        { "type": "external_event", "name": "write", "signalType": "write", "saveAs": "draft" },
        { "type": "approval", "name": "ok", "contentKey": "draft" },
    ]);
    let tally = race(OFTEN, steps, async |lane| {
        let run = lane.start("flow", json!({})).await;
        let draft = json!({ "signalType": "write", "payload": "text" });
        lane.ask(post(format!("/workflow-runs/{run}/resume"), draft)).await.is(200);
        let id = waitpoint(&run, 2);
        let at_the_desk = post(format!("/approval-requests/{id}/decide"), json!({ "decision": "approve" }));
        let by_mail = post(format!("/workflow-runs/{run}/waitpoints/{id}"), json!({ "decision": "reject" }));
        let [yes, no] = lane.at_once([at_the_desk, by_mail]).await;
        let (loser, word) = if yes.status == 200 { (&no, "approve") } else { (&yes, "reject") };
        assert_eq!(yes.status + no.status, 200 + 409, "{yes:?} {no:?}");
        let told = &loser.refused(409, "ALREADY_RESOLVED")["outcome"];
        assert_eq!((&told["waitpointId"], &told["payload"]["decision"]), (&json!(id), &json!(word)));
        let history = lane.history(&run).await;
        assert_eq!(history.one("APPROVAL_DECIDED")["decision"], word);
        assert_eq!(history.count("WAIT_RESOLVED"), 2);
        let end = if word == "approve" { "WORKFLOW_COMPLETED" } else { "WORKFLOW_FAILED" };
        assert_eq!(history.end()["type"], end);
        word
    });
    tally.await.saw(&["approve", "reject"]);
}

const ASK: &str = "/approval-requests";

/// A run that waits for `content` to be approved under these terms, and the request's id.
async fn asked(lane: &mut Lane) -> (String, String) {
    let run = lane.start("flow", json!({})).await;
    let draft = json!({ "signalType": "write", "payload": "text" });
    lane.ask(post(format!("/workflow-runs/{run}/resume"), draft)).await.is(200);
    let id = waitpoint(&run, 2);
    (run, id)
}

fn steps(terms: Value) -> Value {
    let mut approval = json!({ "type": "approval", "name": "ok", "contentKey": "draft" });
    for (key, value) in terms.as_object().unwrap() {
        approval[key] = value.clone();
    }
    json!([{ "type": "external_event", "name": "write", "signalType": "write", "saveAs": "draft" }, approval])
}

fn decide(id: &str, decision: &str) -> Call {
    post(format!("{ASK}/{id}/decide"), json!({ "decision": decision }))
}

/// A link for each of these people.
async fn links<const N: usize>(lane: &mut Lane, id: &str, people: [&str; N]) -> [String; N] {
    let mut links = Vec::new();
    for person in people {
        let made = lane.ask(post(format!("/waitpoints/{id}/link"), json!({ "recipient": person }))).await;
        links.push(made.is(201)["resumeUrl"].as_str().unwrap().to_owned());
    }
    links.try_into().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_approvers_at_once_where_one_is_enough_one_decides_and_the_other_is_told() {
    let tally = race(LESS_OFTEN, steps(json!({ "approvers": ["anna", "ben"] })), async |lane| {
        let (run, id) = asked(lane).await;
        let [anna, ben] = links(lane, &id, ["anna", "ben"]).await;
        let yes = |url: String| post(url, json!({ "decision": "approve" }));
        let [anna, ben] = lane.at_once([yes(anna), yes(ben)]).await;
        assert_eq!(anna.status + ben.status, 200 + 409, "{anna:?} {ben:?}");
        let (loser, winner) = if anna.status == 200 { (&ben, "anna") } else { (&anna, "ben") };
        assert_eq!(loser.refused(409, "ALREADY_RESOLVED")["outcome"]["resolvedBy"], winner);
        let history = lane.history(&run).await;
        assert_eq!(
            (history.count("APPROVAL_DECIDED"), &history.end()["type"]),
            (1, &json!("WORKFLOW_COMPLETED"))
        );
        winner
    });
    tally.await.saw(&["anna", "ben"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_double_click_counts_once() {
    let terms = json!({ "approvers": ["anna", "ben"], "quorum": 2 });
    let tally = race(LESS_OFTEN, steps(terms), async |lane| {
        let (run, id) = asked(lane).await;
        let [anna, ben] = links(lane, &id, ["anna", "ben"]).await;
        let yes = |url: &String| post(url.clone(), json!({ "decision": "approve" }));
        let clicks = lane.at_once([yes(&anna), yes(&anna), yes(&anna)]).await;
        // The same vote again is told the same, and is not another.
        assert!(clicks.iter().all(|click| click.status == 200), "{clicks:?}");
        lane.ask(yes(&ben)).await.is(200);
        let history = lane.history(&run).await;
        assert_eq!(
            (history.count("APPROVAL_DECIDED"), &history.end()["type"]),
            (2, &json!("WORKFLOW_COMPLETED"))
        );
        "once"
    });
    tally.await.saw(&["once"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_of_what_was_edited_meanwhile_does_not_count() {
    let terms = json!({ "approvers": ["anna", "ben"], "quorum": 2 });
    let tally = race(LESS_OFTEN, steps(terms), async |lane| {
        let (run, id) = asked(lane).await;
        let shown = lane.ask(get(format!("{ASK}/{id}"))).await.is(200)["contentDigest"].clone();
        let [anna, ben] = links(lane, &id, ["anna", "ben"]).await;
        let edit =
            post(anna, json!({ "decision": "edit", "editedContent": "better", "contentDigest": shown }));
        let approve = post(ben.clone(), json!({ "decision": "approve", "contentDigest": shown }));
        let [edit, approve] = lane.at_once([edit, approve]).await;
        edit.is(200);
        let first = match approve.status {
            // The edit is a new proposal: what was approved before counts no more.
            200 => "approve",
            _ => {
                let current = approve.refused(409, "CONTENT_CHANGED")["current"]["contentDigest"].clone();
                assert_ne!(current, shown);
                "edit"
            }
        };
        assert_eq!(lane.history(&run).await.count("WORKFLOW_COMPLETED"), 0, "ben has not seen this");
        lane.ask(post(ben, json!({ "decision": "approve" }))).await.is(200);
        let end = lane.history(&run).await;
        assert_eq!(end.end()["output"]["content"], "better");
        first
    });
    tally.await.saw(&["approve", "edit"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_at_the_deadline_comes_in_time_or_is_told_that_it_did_not() {
    let terms = json!({ "timeoutMs": 1_000, "onTimeout": "reject", "onReject": "continue" });
    let tally = race(LESS_OFTEN, steps(terms), async |lane| {
        let (run, id) = asked(lane).await;
        // Half of the trials are at the very deadline, and the others just before it.
        let before = lane.trial % 2 == 0;
        if !before {
            lane.pass(1_000);
        }
        let late = decide(&id, "approve");
        let [reply] = lane.at_once([late]).await;
        lane.pass(1_000);
        lane.settle().await;
        let output = lane.history(&run).await.end()["output"].clone();
        if reply.status == 200 {
            assert_eq!(output["decision"], "approve");
            "in time"
        } else {
            assert_eq!(reply.status, 410, "{reply:?}");
            assert_eq!((&output["decision"], &output["timeout"]), (&json!("reject"), &json!(true)));
            "too late"
        }
    });
    tally.await.saw(&["too late"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_clicks_of_five_people_three_make_the_quorum_and_everyone_is_told() {
    const PEOPLE: [&str; 5] = ["anna", "ben", "cleo", "dora", "emil"];
    let tally = race(20, steps(json!({ "approvers": PEOPLE, "quorum": 3 })), async |lane| {
        let (run, id) = asked(lane).await;
        let links = links(lane, &id, PEOPLE).await;
        let clicks: Vec<Call> =
            (0..50).map(|click| post(links[click % 5].clone(), json!({ "decision": "approve" }))).collect();
        let replies = lane.all_at_once(clicks).await;
        // Ten clicks of each of the three who made the quorum: the first counts, the others are told the same.
        assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 30, "{replies:?}");
        for reply in replies.iter().filter(|reply| reply.status != 200) {
            assert_eq!(reply.status, 409);
            let code = reply.json["code"].as_str().unwrap();
            assert!(["ALREADY_DECIDED", "ALREADY_RESOLVED"].contains(&code), "{reply:?}");
        }
        let history = lane.history(&run).await;
        assert_eq!(history.count("APPROVAL_DECIDED"), 3);
        let votes = history.end()["output"]["votes"].as_array().unwrap().clone();
        let voters: BTreeSet<&str> = votes.iter().map(|vote| vote["by"].as_str().unwrap()).collect();
        assert_eq!(voters.len(), 3, "three different people");
        "three"
    });
    tally.await.saw(&["three"]);
}
