//! Outgoing webhooks: what is told, how it is signed, and what is done when nobody listens.

use std::collections::BTreeSet;

use hyper::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::host::{Host, Reply};
use crate::receiver::Receiver;

const EVERYTHING: [&str; 6] = [
    "workflow.completed",
    "workflow.failed",
    "workflow.cancelled",
    "approval.requested",
    "approval.decided",
    "wait.overdue",
];

/// Receivers compare the time with their own clock.
async fn host_of_today() -> Host {
    let host = Host::start().await;
    host.clock.set(Timestamp::now());
    host
}

async fn subscribe(host: &Host, receiver: &Receiver, events: Value) -> (String, String) {
    let reply = host.post("/webhooks", json!({ "url": receiver.url(), "events": events })).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    let text = |key: &str| reply.json[key].as_str().unwrap().to_owned();
    (text("id"), text("secret"))
}

async fn deliveries(host: &Host, webhook: &str) -> Vec<Value> {
    let reply = host.get(&format!("/webhooks/{webhook}/deliveries")).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.json["data"].as_array().unwrap().clone()
}

async fn end_one(host: &Host) -> String {
    host.run_of(json!([{ "type": "respond", "name": "say", "body": "hello" }])).await
}

/// Time passes until the next attempt, which is made.
async fn next_attempt(host: &Host) {
    let next = host.engine.told().await.unwrap().expect("another attempt follows");
    host.clock.set(next);
    host.engine.told().await.unwrap();
}

#[tokio::test]
async fn an_end_is_told_signed_so_that_the_published_library_verifies_it() {
    let (host, receiver) = (host_of_today().await, Receiver::start().await);
    let (webhook, secret) = subscribe(&host, &receiver, json!(["workflow.completed"])).await;
    let run = end_one(&host).await;
    host.engine.told().await.unwrap();
    let calls = receiver.take();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].is_signed(&secret));
    assert!(!calls[0].is_signed("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    let told = calls[0].json();
    assert_eq!((&told["type"], &told["data"]["runId"]), (&json!("workflow.completed"), &json!(run)));
    assert_eq!(told["data"]["output"], host.run(&run).await["output"]);
    let listed = deliveries(&host, &webhook).await;
    assert_eq!((&listed[0]["status"], &listed[0]["runId"]), (&json!("DELIVERED"), &json!(run)));
    assert_eq!(listed[0]["id"], json!(calls[0].id()));
    let attempt = &listed[0]["attempts"][0];
    assert_eq!((&attempt["status"], &attempt["response"]), (&json!(200), &json!("thank you")));
    assert_eq!(host.engine.told().await.unwrap(), None, "nothing is left to do");
    host.stop().await;
}

#[tokio::test]
async fn each_topic_is_told_with_what_it_is_about() {
    let (host, receiver) = (Host::start().await, Receiver::start().await);
    subscribe(&host, &receiver, json!(EVERYTHING)).await;
    host.deploy(json!({ "name": "review", "version": "1", "steps": [
        { "type": "external_event", "name": "write", "signalType": "write", "saveAs": "draft", "timeout": "1h" },
        { "type": "approval", "name": "ok", "contentKey": "draft", "prompt": "Send it?", "timeout": "1d" },
    ] }))
    .await;
    let [decided, late, cancelled] = [
        host.start_run("review", json!({})).await,
        host.start_run("review", json!({})).await,
        host.start_run("review", json!({})).await,
    ];
    let draft = json!({ "signalType": "write", "payload": "text" });
    assert_eq!(host.post(&format!("/workflow-runs/{decided}/resume"), draft).await.status, 200);
    let asked = host.waitpoint(&decided).await["id"].as_str().unwrap().to_owned();
    let decide = format!("/approval-requests/{asked}/decide");
    assert_eq!(host.post(&decide, json!({ "decision": "approve", "comment": "fine" })).await.status, 200);
    assert_eq!(host.post(&format!("/workflow-runs/{cancelled}/cancel"), json!({})).await.status, 200);
    host.pass(3_600_000).await;
    host.engine.told().await.unwrap();
    let mut told: Vec<Value> = receiver.take().iter().map(|call| call.json()).collect();
    told.sort_by_key(|told| told["type"].as_str().unwrap().to_owned());
    let of = |topic: &str| {
        let found: Vec<&Value> = told.iter().filter(|told| told["type"] == topic).collect();
        assert_eq!(found.len(), 1, "{topic}: {told:#?}");
        found[0]["data"].clone()
    };
    let requested = of("approval.requested");
    assert_eq!((&requested["waitpointId"], &requested["content"]), (&json!(asked), &json!("text")));
    assert_eq!((&requested["prompt"], &requested["reason"]), (&json!("Send it?"), &json!("requested")));
    let link = requested["links"][0]["resumeUrl"].as_str().unwrap();
    assert!(link.contains(&asked) && link.contains("token="), "{requested}");
    assert_eq!(
        (&requested["links"][0]["recipient"], requested["links"].as_array().map(Vec::len)),
        (&Value::Null, Some(1))
    );
    let outcome = of("approval.decided");
    assert_eq!((&outcome["decision"], &outcome["votes"][0]["by"]), (&json!("approve"), &json!("local")));
    assert_eq!(of("workflow.completed")["runId"], json!(decided));
    assert_eq!(of("workflow.cancelled")["runId"], json!(cancelled));
    let overdue = of("wait.overdue");
    assert_eq!((&overdue["runId"], &overdue["listensFor"]), (&json!(late), &json!("write")));
    assert_eq!((&overdue["kind"], &overdue["stepName"]), (&json!("SIGNAL"), &json!("write")));
    assert_eq!(of("workflow.failed")["error"]["code"], "WAIT_TIMED_OUT");
    host.stop().await;
}

#[tokio::test]
async fn a_receiver_that_fails_for_a_minute_gets_everything_afterwards() {
    let (host, receiver) = (host_of_today().await, Receiver::start().await);
    let (webhook, secret) = subscribe(&host, &receiver, json!(["workflow.completed"])).await;
    receiver.answer(503);
    let begun = host.engine.now();
    let mut ids = BTreeSet::new();
    for _ in 0..20 {
        end_one(&host).await;
        host.engine.told().await.unwrap();
        ids.extend(receiver.take().iter().map(|call| call.id()));
    }
    assert_eq!(ids.len(), 20);
    let minute = begun + SignedDuration::from_mins(1);
    while host.engine.told().await.unwrap().is_some_and(|next| next < minute) {
        next_attempt(&host).await;
    }
    let shown = host.get(&format!("/webhooks/{webhook}")).await.json;
    assert_eq!((&shown["status"], &shown["failingSince"]), (&json!("FAILING"), &json!(begun)));
    assert!(deliveries(&host, &webhook).await.iter().all(|one| one["attempts"][0]["status"] == 503));
    receiver.take();
    receiver.answer(204);
    let mut received = BTreeSet::new();
    while received.len() < 20 {
        next_attempt(&host).await;
        for call in receiver.take() {
            assert!(call.is_signed(&secret));
            assert!(received.insert(call.id()), "what was received is not sent again");
        }
    }
    assert_eq!(received, ids, "the same ids, so that a receiver knows what it has seen");
    assert_eq!(host.engine.told().await.unwrap(), None);
    assert_eq!(host.get(&format!("/webhooks/{webhook}")).await.json["status"], "ENABLED");
    host.stop().await;
}

#[tokio::test]
async fn after_days_without_an_answer_a_webhook_is_disabled_and_says_so() {
    let (host, receiver) = (Host::start().await, Receiver::start().await);
    let (webhook, _) = subscribe(&host, &receiver, json!(["workflow.completed"])).await;
    receiver.answer(500);
    // The first is given up after four days; the second is still tried when the time of the webhook is over.
    for _ in 0..2 {
        end_one(&host).await;
        while host.engine.told().await.unwrap().is_some() {
            next_attempt(&host).await;
        }
    }
    let path = format!("/webhooks/{webhook}");
    let shown = host.get(&path).await.json;
    assert_eq!(shown["status"], "DISABLED", "{shown}");
    assert!(shown["disabledReason"].as_str().unwrap().starts_with("every attempt has failed since"));
    let kept = deliveries(&host, &webhook).await;
    assert!(kept.iter().all(|one| one["nextAttemptAt"].is_null()), "{kept:#?}");
    end_one(&host).await;
    assert_eq!(deliveries(&host, &webhook).await.len(), kept.len(), "a disabled one is told nothing");
    // Enabled again, it gets what was kept; and what had failed, when somebody says so.
    receiver.answer(200);
    receiver.take();
    assert_eq!(host.post(&format!("{path}/enable"), json!({})).await.json["status"], "ENABLED");
    assert_eq!(host.post(&format!("{path}/replay"), json!({})).await.json["replayed"], 1);
    host.engine.told().await.unwrap();
    assert_eq!(receiver.take().len(), kept.len());
    assert!(deliveries(&host, &webhook).await.iter().all(|one| one["status"] == "DELIVERED"));
    host.stop().await;
}

#[tokio::test]
async fn who_says_gone_is_told_nothing_more() {
    let (host, receiver) = (Host::start().await, Receiver::start().await);
    let (webhook, _) = subscribe(&host, &receiver, json!(["workflow.completed"])).await;
    receiver.answer(410);
    end_one(&host).await;
    host.engine.told().await.unwrap();
    let shown = host.get(&format!("/webhooks/{webhook}")).await.json;
    assert_eq!(
        (&shown["status"], &shown["disabledReason"]),
        (&json!("DISABLED"), &json!("it answered 410 Gone"))
    );
    host.stop().await;
}

#[tokio::test]
async fn while_a_secret_changes_both_verify_and_afterwards_only_the_new_one() {
    let (host, receiver) = (host_of_today().await, Receiver::start().await);
    let (webhook, old) = subscribe(&host, &receiver, json!(["workflow.completed"])).await;
    let rotate = format!("/webhooks/{webhook}/rotate-secret");
    let reply = host.post(&rotate, json!({ "overlapMs": 60_000 })).await;
    let new = reply.json["secret"].as_str().unwrap().to_owned();
    assert_ne!(old, new);
    end_one(&host).await;
    host.engine.told().await.unwrap();
    let call = receiver.take().remove(0);
    assert!(call.is_signed(&old) && call.is_signed(&new));
    host.pass(60_000).await;
    end_one(&host).await;
    host.engine.told().await.unwrap();
    let call = receiver.take().remove(0);
    assert!(!call.is_signed(&old) && call.is_signed(&new));
    for path in [format!("/webhooks/{webhook}"), "/webhooks".to_owned()] {
        assert!(!host.get(&path).await.text.contains("whsec_"), "a secret is shown once");
    }
    host.stop().await;
}

#[tokio::test]
async fn one_delivery_is_replayed_with_its_id_and_a_pending_one_is_not() {
    let (host, receiver) = (Host::start().await, Receiver::start().await);
    let (webhook, _) = subscribe(&host, &receiver, json!(["workflow.completed"])).await;
    end_one(&host).await;
    host.engine.told().await.unwrap();
    let first = receiver.take().remove(0);
    let path = format!("/webhooks/{webhook}/deliveries/{}", first.id());
    assert_eq!(host.post(&format!("{path}/replay"), json!({})).await.json["replayed"], 1);
    host.engine.told().await.unwrap();
    let again = receiver.take().remove(0);
    assert_eq!((again.id(), &again.0.body), (first.id(), &first.0.body));
    let whole = host.get(&path).await.json;
    assert_eq!(
        (whole["attempts"].as_array().unwrap().len(), &whole["body"]["type"]),
        (2, &json!("workflow.completed"))
    );
    receiver.answer(500);
    host.post(&format!("{path}/replay"), json!({})).await;
    host.engine.told().await.unwrap();
    let refused = host.post(&format!("{path}/replay"), json!({})).await;
    refused.is_problem(409, "DELIVERY_PENDING");
    assert_eq!(refused.json["current"]["status"], "PENDING");
    let unknown = format!("/webhooks/{webhook}/deliveries/msg_00000000000000000000000000");
    host.get(&unknown).await.is_problem(404, "UNKNOWN_DELIVERY");
    host.stop().await;
}

#[tokio::test]
async fn a_webhook_is_changed_paused_and_removed() {
    let (host, receiver) = (Host::start().await, Receiver::start().await);
    let (webhook, _) = subscribe(&host, &receiver, json!(["workflow.failed"])).await;
    let path = format!("/webhooks/{webhook}");
    end_one(&host).await;
    host.engine.told().await.unwrap();
    assert_eq!(receiver.take().len(), 0, "it did not want to hear that");
    let changed = host.patch(&path, json!({ "events": ["workflow.completed"], "description": "ops" })).await;
    assert_eq!(
        (&changed.json["events"], &changed.json["description"]),
        (&json!(["workflow.completed"]), &json!("ops"))
    );
    end_one(&host).await;
    host.engine.told().await.unwrap();
    assert_eq!(receiver.take().len(), 1);
    let paused = host.patch(&path, json!({ "enabled": false })).await;
    assert_eq!(
        (&paused.json["status"], &paused.json["disabledReason"]),
        (&json!("DISABLED"), &json!("by local"))
    );
    assert_eq!(host.delete(&path).await.status, 204);
    host.get(&path).await.is_problem(404, "UNKNOWN_WEBHOOK");
    host.delete(&path).await.is_problem(404, "UNKNOWN_WEBHOOK");
    host.stop().await;
}

#[tokio::test]
async fn bad_webhooks_are_refused_and_it_is_said_why() {
    let host = Host::start().await;
    let make = async |body: Value| -> Reply { host.post("/webhooks", body).await };
    for (url, words) in [
        ("ftp://example.com", "only `http` and `https`"),
        ("http://10.0.0.1/x", "private"),
        ("http://169.254.169.254/latest", "metadata"),
        ("http://user:secret@example.com", "a user or a password"),
        ("not a url", "cannot be called"),
    ] {
        let reply = make(json!({ "url": url, "events": ["workflow.failed"] })).await;
        reply.is_problem(422, "MALFORMED");
        assert_eq!(reply.json["pointer"], "/url");
        assert!(reply.json["detail"].as_str().unwrap().contains(words), "{}", reply.text);
    }
    let url = "https://example.com";
    make(json!({ "url": url, "events": [] })).await.is_problem(422, "MALFORMED");
    make(json!({ "url": url, "events": ["workflow.ended"] })).await.is_problem(422, "MALFORMED");
    make(json!({ "url": url })).await.is_problem(422, "MALFORMED");
    for number in 0..100 {
        assert_eq!(make(json!({ "url": url, "events": ["workflow.failed"] })).await.status, 201, "{number}");
    }
    make(json!({ "url": url, "events": ["workflow.failed"] })).await.is_problem(429, "QUOTA_EXCEEDED");
    host.stop().await;
}

#[tokio::test]
async fn webhooks_of_another_workspace_are_unknown_and_are_not_told_of_this_one() {
    let (host, receiver) = (Host::start().await, Receiver::start().await);
    let workspace = host.post("/workspaces", json!({ "name": "other" })).await.json["id"].clone();
    let key = host.post("/keys", json!({ "name": "ops", "scopes": ["admin"], "workspace": workspace })).await;
    let key = key.json["secret"].as_str().unwrap().to_owned();
    let body = json!({ "url": receiver.url(), "events": EVERYTHING });
    let webhook = host.post_as(&key, "/webhooks", body).await.json["id"].as_str().unwrap().to_owned();
    for (method, path) in [
        (Method::GET, format!("/webhooks/{webhook}")),
        (Method::GET, format!("/webhooks/{webhook}/deliveries")),
        (Method::DELETE, format!("/webhooks/{webhook}")),
        (Method::POST, format!("/webhooks/{webhook}/replay")),
    ] {
        host.send(method, &path, &[], None).await.is_problem(404, "UNKNOWN_WEBHOOK");
    }
    assert_eq!(host.get("/webhooks").await.json["data"], json!([]));
    end_one(&host).await;
    assert_eq!(host.engine.told().await.unwrap(), None);
    assert_eq!(receiver.take().len(), 0);
    host.stop().await;
}
