use hyper::Method;
use serde_json::json;

use crate::host::Host;

#[tokio::test]
async fn waits_of_every_kind_are_listed_by_what_is_asked_for() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "naps", "version": "1", "steps": [{ "type": "wait", "name": "nap", "durationMs": 5000 }] })).await;
    host.deploy(json!({ "name": "signs", "version": "1", "steps": [{ "type": "external_event", "name": "ok", "signalType": "go" }] })).await;
    host.deploy(json!({ "name": "hears", "version": "1", "steps": [{ "type": "wait_for_event", "name": "ev", "eventId": "paid", "match": "event.n > 1", "timeoutMs": 9000 }] })).await;
    let nap = host.start_run("naps", json!({})).await;
    let signal = host.start_run("signs", json!({})).await;
    let event = host.start_run("hears", json!({})).await;
    let runs = |query: &'static str| {
        let host = &host;
        async move {
            let reply = host.get(&format!("/waitpoints?{query}")).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
            let runs = reply.json["data"]
                .as_array()
                .unwrap()
                .iter()
                .map(|wait| wait["runId"].as_str().unwrap().to_owned());
            runs.collect::<Vec<_>>()
        }
    };
    assert_eq!(runs("status=PENDING").await, [nap.clone(), event.clone(), signal.clone()]);
    assert_eq!(runs("kind=DELAY").await, std::slice::from_ref(&nap));
    assert_eq!(runs("eventId=paid").await, std::slice::from_ref(&event));
    assert_eq!(runs("signalType=go").await, std::slice::from_ref(&signal));
    assert_eq!(runs("dueBefore=2026-11-15T12:00:06Z").await, std::slice::from_ref(&nap));
    assert_eq!(runs("dueAfter=2026-11-15T12:00:06Z").await, std::slice::from_ref(&event));
    host.get("/waitpoints?kind=NAP").await.is_problem(422, "MALFORMED");
    host.get("/waitpoints?kind=DELAY&eventId=paid").await.is_problem(422, "MALFORMED");
    let wait = host.waitpoint(&event).await;
    assert_eq!(wait["listensFor"]["eventId"], "paid");
    assert_eq!(wait["listensFor"]["match"], "event.n > 1");
    assert_eq!((&wait["stepName"], &wait["resumeAt"]), (&json!("ev"), &json!("2026-11-15T12:00:09Z")));
}

#[tokio::test]
async fn r09_a_wait_is_moved_woken_timed_out_and_cancelled_with_who_did_it() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [
        { "type": "external_event", "name": "ok", "signalType": "go", "timeoutMs": 5000, "onTimeout": "continue" },
    ] }))
    .await;
    let run = host.start_run("flow", json!({})).await;
    let id = host.waitpoint(&run).await["id"].as_str().unwrap().to_owned();
    let moved = host.patch(&format!("/waitpoints/{id}"), json!({ "resumeAt": "2026-11-16T00:00:00Z" })).await;
    assert_eq!(
        (moved.status, &moved.json["resumeAt"]),
        (200, &json!("2026-11-16T00:00:00Z")),
        "{}",
        moved.text
    );
    host.pass(10_000).await;
    assert_eq!(host.run(&run).await["status"], "WAITING");
    let woken = host.post(&format!("/waitpoints/{id}/complete"), json!({ "payload": { "n": 1 } })).await;
    assert_eq!((&woken.json["status"], &woken.json["resolvedBy"]), (&json!("COMPLETED"), &json!("local")));
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
    host.post(&format!("/waitpoints/{id}/cancel"), json!({})).await.is_problem(409, "ALREADY_RESOLVED");

    for (verb, status) in [("timeout", "TIMED_OUT"), ("cancel", "CANCELLED")] {
        let run = host.start_run("flow", json!({})).await;
        let id = host.waitpoint(&run).await["id"].as_str().unwrap().to_owned();
        let ended = host.post(&format!("/waitpoints/{id}/{verb}"), json!({})).await;
        assert_eq!((ended.status, &ended.json["status"]), (200, &json!(status)), "{}", ended.text);
    }
    let far = host.patch(&format!("/waitpoints/{id}"), json!({ "resumeAt": "2100-01-01T00:00:00Z" })).await;
    assert_eq!(far.status, 409);
    host.get("/waitpoints/wp_00000000000000000000000000_1").await.is_problem(404, "UNKNOWN_WAITPOINT");
    host.get("/waitpoints/wp_x").await.is_problem(404, "UNKNOWN_WAITPOINT");
}

#[tokio::test]
async fn many_waits_are_steered_by_a_filter_and_a_dry_run_only_counts() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "wait", "name": "nap", "durationMs": 60_000 }])).await;
    for _ in 0..9 {
        host.start_run("flow", json!({})).await;
    }
    let body =
        |dry_run: bool| json!({ "action": "complete", "filter": { "kind": "DELAY" }, "dryRun": dry_run });
    let counted = host.post("/waitpoints/bulk", body(true)).await;
    assert_eq!(
        (&counted.json["matched"], &counted.json["done"]),
        (&json!(10), &json!(0)),
        "{}",
        counted.text
    );
    let woken = host.post("/waitpoints/bulk", body(false)).await;
    assert_eq!((&woken.json["matched"], &woken.json["done"]), (&json!(10), &json!(10)), "{}", woken.text);
    let left = host.get("/workflow-runs?status=WAITING").await;
    assert_eq!(left.json["data"], json!([]));
    let missing = host.post("/waitpoints/bulk", json!({ "action": "reschedule", "filter": {} })).await;
    missing.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn a_worker_makes_a_waitpoint_and_the_same_name_gives_the_same_one() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "task", "name": "work", "handler": "h" }])).await;
    let polled = host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": "w" })).await;
    let task = &polled.json["tasks"][0];
    let body = json!({ "leaseToken": task["leaseToken"], "name": "signed", "timeout": "1h" });
    let made = host.post("/waitpoints", body.clone()).await;
    assert_eq!((made.status, &made.json["kind"]), (201, &json!("WEBHOOK")), "{}", made.text);
    assert_eq!(host.post("/waitpoints", body).await.json["id"], made.json["id"]);
    let url = made.json["resumeUrl"].as_str().unwrap();
    assert_eq!(host.raw(Method::POST, url, &[], "\"yes\"".into()).await.status, 200);
    let wait = json!({ "type": "webhook", "name": "signed" });
    let id = task["id"].as_str().unwrap();
    let suspend = json!({ "leaseToken": task["leaseToken"], "waits": [wait] });
    assert_eq!(host.post(&format!("/tasks/{id}/suspend"), suspend).await.status, 200);
    let again = host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": "w" })).await;
    let journal = &again.json["tasks"][0]["journal"][0];
    assert_eq!(
        (&journal["name"], &journal["wait"]["status"]),
        (&json!("signed"), &json!("COMPLETED")),
        "{run}"
    );
    assert_eq!(journal["wait"]["payload"]["body"], "yes");
    let body = json!({ "leaseToken": again.json["tasks"][0]["leaseToken"], "name": "signed" });
    let over = host.post("/waitpoints", body).await;
    assert_eq!((&over.json["status"], &over.json["resumeUrl"]), (&json!("COMPLETED"), &json!(url)));
}
