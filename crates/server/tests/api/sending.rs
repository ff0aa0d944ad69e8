//! Events that the handlers of workers send: with a key that may work and nothing else, as long as the task is theirs.

use serde_json::{Value, json};

use crate::host::{Host, Reply};
use crate::keys::locked;

struct Shop {
    host: Host,
    admin: String,
    worker: String,
}

impl Shop {
    async fn open() -> Shop {
        let (host, admin) = locked().await;
        let worker = key(&host, &admin, json!({ "name": "hand", "scopes": ["worker"] })).await;
        let steps = json!([{ "type": "task", "name": "work", "handler": "h" }]);
        let flow = json!({ "name": "flow", "version": "1", "steps": steps });
        assert_eq!(host.post_as(&admin, "/workflow-definitions", flow).await.status, 201);
        Shop { host, admin, worker }
    }

    async fn start(&self) -> String {
        let run = self.host.post_as(&self.admin, "/workflow-runs", json!({ "name": "flow" })).await;
        run.json["id"].as_str().unwrap_or_else(|| panic!("{}", run.text)).to_owned()
    }

    async fn poll(&self, worker: &str) -> Value {
        let asked = json!({ "handlers": ["h"], "workerId": worker, "waitMs": 0 });
        self.host.post_as(&self.worker, "/tasks/poll", asked).await.json["tasks"][0].clone()
    }

    async fn send(&self, key: &str, more: Value) -> Reply {
        let mut event = json!({ "eventId": "told", "eventData": { "n": 1 } });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.host.post_as(key, "/events", event).await
    }

    async fn complete(&self, task: &Value) {
        let path = format!("/tasks/{}/complete", task["id"].as_str().unwrap());
        let done = self.host.post_as(&self.worker, &path, json!({ "leaseToken": task["leaseToken"] })).await;
        assert_eq!(done.status, 200, "{}", done.text);
    }

    async fn events(&self) -> usize {
        self.host.get_as(&self.admin, "/events").await.json["data"].as_array().unwrap().len()
    }
}

async fn key(host: &Host, admin: &str, asked: Value) -> String {
    let made = host.post_as(admin, "/keys", asked).await;
    made.json["secret"].as_str().unwrap_or_else(|| panic!("{}", made.text)).to_owned()
}

fn lease(task: &Value) -> Value {
    json!({ "leaseToken": task["leaseToken"] })
}

#[tokio::test]
async fn a_workers_key_sends_events_of_the_task_it_has_and_the_run_says_so() {
    let shop = Shop::open().await;
    let run = shop.start().await;
    let task = shop.poll("w1").await;
    let sent = shop.send(&shop.worker, lease(&task)).await;
    assert_eq!((sent.status, shop.events().await), (200, 1), "{}", sent.text);
    let history = shop.host.get_as(&shop.admin, &format!("/workflow-runs/{run}/events")).await.json;
    let records = history["data"].as_array().unwrap();
    let record = records.iter().find(|record| record["type"] == "EVENT_SENT").unwrap();
    assert_eq!(
        (&record["event"], &record["eventId"], &record["stepName"], &record["by"]),
        (&sent.json["id"], &json!("told"), &json!("work"), &json!("hand"))
    );
}

#[tokio::test]
async fn a_workers_key_without_a_lease_sends_nothing() {
    let shop = Shop::open().await;
    shop.start().await;
    let refused = shop.send(&shop.worker, json!({})).await;
    refused.is_problem(403, "FORBIDDEN");
    assert!(refused.json["detail"].as_str().unwrap().contains("`leaseToken`"), "{}", refused.text);
    let task = shop.poll("w1").await;
    let mut only_asks = lease(&task);
    only_asks["dryRun"] = true.into();
    shop.send(&shop.worker, only_asks).await.is_problem(403, "FORBIDDEN");
    shop.send(&shop.worker, json!({ "leaseToken": "AAAA" })).await.is_problem(401, "BAD_LEASE");
    assert_eq!(shop.events().await, 0);
}

#[tokio::test]
async fn r12_a_lease_that_is_over_sends_nothing() {
    let shop = Shop::open().await;
    shop.start().await;
    let lost = shop.poll("w1").await;
    shop.host.pass(60_000).await;
    shop.send(&shop.worker, lease(&lost)).await.is_problem(409, "STALE_LEASE");
    let task = shop.poll("w2").await;
    shop.send(&shop.worker, lease(&lost)).await.is_problem(409, "STALE_LEASE");
    // A token counts for whoever shows it.
    shop.send(&shop.admin, lease(&lost)).await.is_problem(409, "STALE_LEASE");
    shop.complete(&task).await;
    shop.send(&shop.worker, lease(&task)).await.is_problem(409, "RUN_ENDED");
    assert_eq!(shop.events().await, 0);
    assert_eq!(shop.send(&shop.admin, json!({})).await.status, 200);
}

#[tokio::test]
async fn a_lease_of_another_workspace_counts_for_nothing() {
    let shop = Shop::open().await;
    shop.start().await;
    let task = shop.poll("w1").await;
    let team =
        shop.host.post_as(&shop.admin, "/workspaces", json!({ "name": "team" })).await.json["id"].clone();
    let asked = json!({ "name": "foreign", "scopes": ["worker"], "workspace": team });
    let foreign = key(&shop.host, &shop.admin, asked).await;
    shop.send(&foreign, lease(&task)).await.is_problem(401, "BAD_LEASE");
    assert_eq!(shop.events().await, 0);
}

#[tokio::test]
async fn r14_what_was_sent_is_answered_again_when_the_lease_is_over() {
    let shop = Shop::open().await;
    let run = shop.start().await;
    let task = shop.poll("w1").await;
    let mut event = lease(&task);
    event["idempotencyKey"] = "once".into();
    let sent = shop.send(&shop.worker, event.clone()).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    shop.host.pass(60_000).await;
    let again = shop.send(&shop.worker, event.clone()).await;
    assert_eq!((again.status, &again.json), (200, &sent.json), "{}", again.text);
    // The next execution makes the same call.
    let task = shop.poll("w2").await;
    event["leaseToken"] = task["leaseToken"].clone();
    assert_eq!(shop.send(&shop.worker, event.clone()).await.json, sent.json);
    shop.complete(&task).await;
    assert_eq!(shop.send(&shop.worker, event.clone()).await.json, sent.json);
    event["eventData"] = json!({ "n": 2 });
    shop.send(&shop.worker, event.clone()).await.is_problem(422, "IDEMPOTENCY_KEY_REUSED");
    event["idempotencyKey"] = "another".into();
    shop.send(&shop.worker, event).await.is_problem(409, "RUN_ENDED");
    assert_eq!(shop.events().await, 1);
    let history = shop.host.get_as(&shop.admin, &format!("/workflow-runs/{run}/events")).await.text;
    assert_eq!(history.matches("EVENT_SENT").count(), 1, "{history}");
}
