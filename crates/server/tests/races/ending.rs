use serde_json::json;

use crate::arena::{LESS_OFTEN, OFTEN, race};
use crate::connection::post;
use crate::history::ended_as;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_against_the_last_resume_ends_the_run_once() {
    let tally = race(OFTEN, json!([{ "type": "webhook", "name": "sign" }]), async |lane| {
        let run = lane.start("flow", json!({})).await;
        let call = post(format!("/workflow-runs/{run}/waitpoints/sign"), json!(1));
        let cancel = post(format!("/workflow-runs/{run}/cancel"), json!({ "reason": "enough" }));
        let [called, cancelled] = lane.at_once([call, cancel]).await;
        let history = lane.history(&run).await;
        if called.status == 200 {
            assert_eq!(cancelled.refused(409, "RUN_ENDED")["current"]["status"], "COMPLETED");
            ended_as(&history, "WORKFLOW_COMPLETED", "COMPLETED");
            "resumed"
        } else {
            assert_eq!(called.refused(410, "WAITPOINT_CANCELLED")["outcome"]["status"], "CANCELLED");
            assert_eq!(cancelled.is(200)["status"], "CANCELLED");
            ended_as(&history, "WORKFLOW_CANCELLED", "CANCELLED");
            "cancelled"
        }
    });
    tally.await.saw(&["resumed", "cancelled"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_cancels_at_once_one_is_recorded() {
    race(LESS_OFTEN, json!([{ "type": "wait", "name": "nap", "duration": "1h" }]), async |lane| {
        let run = lane.start("flow", json!({})).await;
        let cancel = |reason: &str| post(format!("/workflow-runs/{run}/cancel"), json!({ "reason": reason }));
        let [a, b] = lane.at_once([cancel("a"), cancel("b")]).await;
        let (winner, loser, reason) = if a.json["changed"] == true { (&a, &b, "a") } else { (&b, &a, "b") };
        assert_eq!(
            (winner.is(200)["status"].as_str(), &winner.json["changed"]),
            (Some("CANCELLED"), &json!(true))
        );
        let status =
            if loser.status == 200 { &loser.json["status"] } else { &loser.json["current"]["status"] };
        assert_eq!((status, &loser.json["changed"] == true), (&json!("CANCELLED"), false), "{loser:?}");
        let history = lane.history(&run).await;
        ended_as(&history, "WORKFLOW_CANCELLED", "CANCELLED");
        assert_eq!(history.end()["reason"], reason);
        reason
    })
    .await
    .saw(&["a", "b"]);
}
