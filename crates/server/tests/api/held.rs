use hyper::Method;
use serde_json::json;

use crate::host::Host;

#[tokio::test]
async fn a_run_is_held_shown_listed_and_released() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "1h" }])).await;
    let other = host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "1h" }])).await;
    let held = host.post("/held", json!({ "id": run, "reason": "to be looked into" })).await;
    assert_eq!((held.status, &held.json["reason"]), (201, &json!("to be looked into")));

    let shown = host.get(&format!("/workflow-runs/{run}")).await;
    assert_eq!(shown.json["held"]["reason"], "to be looked into");
    assert_eq!(host.get(&format!("/workflow-runs/{other}")).await.json.get("held"), None);
    let list = host.get("/held").await;
    assert_eq!(list.json["data"].as_array().unwrap().len(), 1);
    assert_eq!(list.json["data"][0]["id"], json!(run));
    let ready = host.raw(Method::GET, "/ready", &[], "".into()).await;
    assert_eq!((ready.status, &ready.json["held"]), (200, &json!(1)));
    let refused = host.post(&format!("/workflow-runs/{run}/cancel"), json!({})).await;
    assert_eq!((refused.status, &refused.json["code"]), (409, &json!("HELD")));

    host.pass(2 * 60 * 60 * 1_000).await;
    let status = async |run: &str| host.get(&format!("/workflow-runs/{run}")).await.json["status"].clone();
    assert_eq!(status(&other).await, "COMPLETED");
    assert_eq!(status(&run).await, "WAITING");
    assert_eq!(host.delete(&format!("/held/{run}")).await.status, 204);
    host.engine.clock().settled().await.unwrap();
    assert_eq!(status(&run).await, "COMPLETED");
    assert_eq!(host.get("/held").await.json["data"], json!([]));
    let again = host.delete(&format!("/held/{run}")).await;
    assert_eq!((again.status, &again.json["code"]), (404, &json!("NOT_HELD")));
}

#[tokio::test]
async fn what_is_not_there_cannot_be_held() {
    let host = Host::start().await;
    for id in ["run_00000000000000000000000000", "sched_00000000000000000000000000", "nonsense", ""] {
        let refused = host.post("/held", json!({ "id": id })).await;
        assert_eq!((refused.status, &refused.json["code"]), (404, &json!("UNKNOWN_RUN")), "{id}");
        assert_eq!(host.delete(&format!("/held/{id}")).await.status, 404, "{id}");
    }
    let long = host.post("/held", json!({ "id": "run_0", "reason": "x".repeat(2_000) })).await;
    assert_eq!(long.status, 422);
}
