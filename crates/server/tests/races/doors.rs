use serde_json::{Value, json};

use crate::arena::{LESS_OFTEN, race};
use crate::connection::{get, post};
use crate::history::ended_as;

const KEY: &str = "idempotency-key";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_starts_at_once_under_one_key_are_one_run() {
    race(LESS_OFTEN, json!([{ "type": "wait", "name": "nap", "duration": "1h" }]), async |lane| {
        let key = format!("start-{}", lane.trial);
        let tag = format!("t{}", lane.trial);
        let start = |input: u32| {
            post("/workflow-runs", json!({ "name": "flow", "input": input, "tags": [tag] })).header(KEY, &key)
        };
        let [a, b, other] = lane.at_once([start(1), start(1), start(2)]).await;
        let winner = if other.status == 201 {
            for refused in [&a, &b] {
                refused.refused(422, "IDEMPOTENCY_KEY_REUSED");
            }
            "other"
        } else {
            other.refused(422, "IDEMPOTENCY_KEY_REUSED");
            assert_eq!(a.is(201)["id"], b.is(201)["id"]);
            "same"
        };
        let runs = lane.ask(get(format!("/workflow-runs?tag={tag}"))).await;
        assert_eq!(runs.is(200)["data"].as_array().unwrap().len(), 1);
        winner
    })
    .await
    .saw(&["same", "other"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_resumes_at_once_under_one_key_get_one_answer() {
    race(LESS_OFTEN, json!([{ "type": "webhook", "name": "sign" }]), async |lane| {
        let (run, url) = lane.start_with_link().await;
        let call = || post(url.clone(), json!({ "n": 1 })).header(KEY, "once");
        let [a, b] = lane.at_once([call(), call()]).await;
        assert_eq!(a.is(200), b.is(200));
        let history = lane.history(&run).await;
        ended_as(&history, "WORKFLOW_COMPLETED", "COMPLETED");
        "both"
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_sync_caller_gets_its_own_answer() {
    let steps = json!([
        { "type": "respond", "name": "say", "status": 201, "body": { "n": "{{ input.body.n }}" } },
        { "type": "wait", "name": "nap", "duration": "1h" },
    ]);
    race(LESS_OFTEN, steps, async |lane| {
        let trial = lane.trial;
        let call = |place: usize| post("/triggers/flow/sync", json!({ "n": trial * 10 + place }));
        let replies = lane.at_once([call(0), call(1), call(2), call(3)]).await;
        let said: Vec<&Value> = replies.iter().map(|reply| &reply.is(201)["n"]).collect();
        assert_eq!(json!(said), json!([trial * 10, trial * 10 + 1, trial * 10 + 2, trial * 10 + 3]));
        "each"
    })
    .await;
}
