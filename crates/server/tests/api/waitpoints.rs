use abide_core::time::Millis;
use hyper::Method;
use serde_json::{Value, json};

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

async fn polled(host: &Host) -> Value {
    let polled = host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": "w" })).await;
    polled.json["tasks"][0].clone()
}

async fn wait_for(host: &Host, task: &Value, name: &str) {
    let waits = json!([{ "type": "waitpoint", "name": name }]);
    let path = format!("/tasks/{}/suspend", task["id"].as_str().unwrap());
    let suspended = host.post(&path, json!({ "leaseToken": task["leaseToken"], "waits": waits })).await;
    assert_eq!(suspended.status, 200, "{}", suspended.text);
}

/// Seed: `createWaitpoint({type: DELAY, resumeDateTime})`, and the piece is entered again with `executionType: RESUME` and
/// a payload of `{body, headers, queryParams}`.
#[tokio::test]
async fn a_handler_sleeps_by_the_api_alone_and_is_told_why_it_is_entered_again() {
    let host = Host::start().await;
    let run = host.run_of(json!([{ "type": "task", "name": "work", "handler": "h" }])).await;
    let task = polled(&host).await;
    assert_eq!((&task["executionType"], &task["resumePayload"]), (&json!("BEGIN"), &Value::Null));
    let until = "2026-11-15T12:01:00Z";
    let body =
        json!({ "leaseToken": task["leaseToken"], "name": "nap", "type": "DELAY", "resumeDateTime": until });
    let made = host.post("/waitpoints", body.clone()).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!((&made.json["kind"], &made.json["type"]), (&json!("DELAY"), &json!("DELAY")));
    assert_eq!((&made.json["resumeAt"], &made.json["resumeDateTime"]), (&json!(until), &json!(until)));
    assert_eq!((&made.json["runId"], &made.json["flowRunId"]), (&json!(run), &json!(run)));
    assert_eq!(made.json["resumeUrl"], Value::Null, "the clock ends it, and no call");
    assert_eq!(host.post("/waitpoints", body).await.json["id"], made.json["id"]);
    wait_for(&host, &task, "nap").await;
    host.pass(59_999).await;
    assert_eq!(host.run(&run).await["status"], "WAITING");
    host.pass(1).await;
    let again = polled(&host).await;
    let nothing = json!({ "body": {}, "headers": {}, "queryParams": {} });
    assert_eq!((&again["executionType"], &again["resumePayload"]), (&json!("RESUME"), &nothing), "{again}");
    assert_eq!(again["resumedBy"]["name"], "nap");
    let id = made.json["id"].as_str().unwrap();
    assert_eq!(host.get(&format!("/waitpoints/{id}")).await.json["resumePayload"], nothing);
}

/// Seed: respond, then pause. The caller has its answer; the run goes on when somebody calls back.
#[tokio::test]
async fn a_handler_responds_to_the_caller_and_then_waits_for_another_call() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": [{ "type": "task", "name": "work", "handler": "h" }] }))
        .await;
    let calling = host.post("/triggers/flow/sync", json!({ "order": 7 }));
    let working = async {
        let task = loop {
            let task = polled(&host).await;
            if task.is_object() {
                break task;
            }
        };
        let response = json!({ "status": 202, "headers": { "x-app-order": "7" }, "body": { "later": true } });
        let lease = &task["leaseToken"];
        let body = json!({ "leaseToken": lease, "name": "paid", "type": "WEBHOOK", "timeoutMs": 60_000, "responseToSend": response });
        let made = host.post("/waitpoints", body).await;
        assert_eq!(
            (made.status, &made.json["responseToSend"]["status"]),
            (201, &json!(202)),
            "{}",
            made.text
        );
        wait_for(&host, &task, "paid").await;
        made.json["resumeUrl"].as_str().unwrap().to_owned()
    };
    let (answered, url) = tokio::join!(calling, working);
    assert_eq!((answered.status, &answered.json), (202, &json!({ "later": true })), "{}", answered.text);
    assert_eq!(answered.header("x-app-order"), Some("7"));
    let flow_run = url.replace("/workflow-runs/", "/flow-runs/");
    let resumed = host.raw(Method::POST, &flow_run, &[], r#"{"amount": 99}"#.into()).await;
    assert_eq!((resumed.status, &resumed.json["type"]), (200, &json!("WEBHOOK")), "{}", resumed.text);
    assert_eq!(
        (&resumed.json["flowRunId"], &resumed.json["resumeDateTime"]),
        (&resumed.json["runId"], &json!("2026-11-15T12:01:00Z"))
    );
    let again = polled(&host).await;
    assert_eq!(
        (&again["executionType"], &again["resumePayload"]["body"]["amount"]),
        (&json!("RESUME"), &json!(99))
    );
    // Whose words they are not, does not see them.
    let ours = host.raw(Method::POST, &url, &[], r#"{"amount": 99}"#.into()).await;
    assert_eq!((ours.status, &ours.json["flowRunId"]), (200, &Value::Null), "{}", ours.text);
}

#[tokio::test]
async fn fields_that_do_not_go_together_are_refused_with_what_would() {
    let host = Host::start().await;
    host.run_of(json!([{ "type": "task", "name": "work", "handler": "h" }])).await;
    let task = polled(&host).await;
    let until = "2026-11-15T12:01:00Z";
    for (more, pointer) in [
        (json!({ "type": "DELAY" }), "/resumeDateTime"),
        (json!({ "resumeDateTime": until }), "/resumeDateTime"),
        (json!({ "type": "DELAY", "resumeDateTime": until, "timeoutMs": 5 }), "/timeoutMs"),
        (json!({ "type": "DELAY", "resumeDateTime": until, "allowGet": true }), "/allowGet"),
        (json!({ "type": "NAP" }), "/type"),
        (json!({ "responseToSend": { "status": 99 } }), "/responseToSend/status"),
    ] {
        let mut body = json!({ "leaseToken": task["leaseToken"], "name": "n" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let refused = host.post("/waitpoints", body).await;
        assert_eq!(refused.is_problem(422, "MALFORMED").json["pointer"], pointer, "{more}: {}", refused.text);
    }
    let path = format!("/tasks/{}/suspend", task["id"].as_str().unwrap());
    let waits = json!([{ "type": "waitpoint", "name": "never-made" }]);
    let refused = host.post(&path, json!({ "leaseToken": task["leaseToken"], "waits": waits })).await;
    refused.is_problem(422, "MALFORMED");
}

/// Seed: "bounded by a configurable server-side maximum".
#[tokio::test]
async fn no_wait_is_longer_than_the_servers_maximum_wherever_it_comes_from() {
    let host = Host::with_max_wait(Millis::from_days(10)).await;
    let flow = |steps: Value| json!({ "name": "flow", "version": "1", "steps": steps });
    for steps in [
        json!([{ "type": "wait", "name": "nap", "duration": "11d" }]),
        json!([{ "type": "external_event", "name": "e", "signalType": "s", "timeout": "11d" }]),
    ] {
        let refused = host.post("/workflow-definitions", flow(steps)).await;
        assert!(
            refused.is_problem(422, "INVALID_DEFINITION").text.contains("longer than the limit of 10d"),
            "{}",
            refused.text
        );
    }
    host.deploy(flow(json!([{ "type": "wait", "name": "nap", "duration": "{{ input.nap }}" }]))).await;
    let failed = host.start_run("flow", json!({ "nap": "11d" })).await;
    let failed = host.run(&failed).await;
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("FAILED"), &json!("WAIT_TOO_LONG")),
        "{failed}"
    );
    let asleep = host.start_run("flow", json!({ "nap": "10d" })).await;
    let id = host.waitpoint(&asleep).await["id"].as_str().unwrap().to_owned();
    let moved = host.patch(&format!("/waitpoints/{id}"), json!({ "resumeAt": "2026-11-26T12:00:00Z" })).await;
    assert!(moved.is_problem(422, "MALFORMED").text.contains("more than 10d from now"));
    let later = json!({ "name": "flow", "input": { "nap": "1s" }, "runAt": "2026-11-26T12:00:00Z" });
    host.post("/workflow-runs", later).await.is_problem(422, "MALFORMED");

    host.deploy(json!({ "name": "work", "version": "1", "steps": [{ "type": "task", "name": "work", "handler": "h" }] })).await;
    host.start_run("work", json!({})).await;
    let task = polled(&host).await;
    let lease = &task["leaseToken"];
    let delay = json!({ "leaseToken": lease, "name": "n", "type": "DELAY", "resumeDateTime": "2026-11-26T12:00:00Z" });
    let webhook = json!({ "leaseToken": lease, "name": "n", "timeout": "11d" });
    for body in [delay, webhook] {
        host.post("/waitpoints", body).await.is_problem(422, "MALFORMED");
    }
    let path = format!("/tasks/{}/suspend", task["id"].as_str().unwrap());
    let waits = json!([{ "type": "sleep", "name": "nap", "duration": "11d" }]);
    host.post(&path, json!({ "leaseToken": lease, "waits": waits })).await.is_problem(422, "MALFORMED");
}

/// Seed 003: "custom timeouts (no limit)": who needs more than a year says so.
#[tokio::test]
async fn the_servers_maximum_may_be_more_than_a_year() {
    let host = Host::with_max_wait(Millis::from_days(1_000)).await;
    let run = host.run_of(json!([{ "type": "wait", "name": "nap", "duration": "900d" }])).await;
    host.pass(Millis::from_days(899).0).await;
    assert_eq!(host.run(&run).await["status"], "WAITING");
    host.pass(Millis::from_days(1).0).await;
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}
