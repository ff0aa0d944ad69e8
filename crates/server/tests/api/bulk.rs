use serde_json::json;

use crate::host::Host;

#[tokio::test]
async fn many_runs_are_cancelled_by_a_filter_and_a_dry_run_only_counts() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "1h" }])).await;
    for _ in 0..4 {
        host.start_run("flow", json!({})).await;
    }
    let body =
        |dry_run: bool| json!({ "action": "cancel", "filter": { "status": ["WAITING"] }, "dryRun": dry_run });
    let counted = host.post("/workflow-runs/bulk", body(true)).await;
    assert_eq!((&counted.json["matched"], &counted.json["done"]), (&json!(5), &json!(0)), "{}", counted.text);
    let page = json!({ "action": "cancel", "filter": { "definition": "flow" }, "limit": 2 });
    let some = host.post("/workflow-runs/bulk", page).await;
    assert_eq!((&some.json["done"], some.json["nextCursor"].is_string()), (&json!(2), true), "{}", some.text);
    let rest = host.post("/workflow-runs/bulk", body(false)).await;
    assert_eq!((&rest.json["matched"], &rest.json["done"]), (&json!(3), &json!(3)));
    let refused = host.post("/workflow-runs/bulk", json!({ "action": "pause", "filter": {} })).await;
    assert_eq!((&refused.json["refused"], &refused.json["done"]), (&json!(5), &json!(0)));
    assert_eq!(refused.json["refusals"][0]["problem"]["code"], "RUN_ENDED");
    host.post("/workflow-runs/bulk", json!({ "action": "cancel" })).await.is_problem(422, "MALFORMED");
}
