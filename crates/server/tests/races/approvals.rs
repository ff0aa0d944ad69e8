use serde_json::json;

use crate::arena::{OFTEN, race, waitpoint};
use crate::connection::post;

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
