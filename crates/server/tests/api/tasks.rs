use serde_json::{Value, json};

use crate::host::{Host, until};

fn work(more: Value) -> Value {
    let mut step =
        json!({ "type": "task", "name": "work", "handler": "h", "config": { "c": 1 }, "saveAs": "result" });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([step])
}

async fn poll(host: &Host, worker: &str) -> Value {
    let polled =
        host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": worker, "waitMs": 0 })).await;
    assert_eq!(polled.status, 200, "{}", polled.text);
    polled.json["tasks"][0].clone()
}

async fn report(host: &Host, task: &Value, verb: &str, mut body: Value) -> crate::host::Reply {
    body["leaseToken"] = task["leaseToken"].clone();
    host.post(&format!("/tasks/{}/{verb}", task["id"].as_str().unwrap()), body).await
}

#[tokio::test]
async fn a_task_is_polled_and_completed() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({ "input": { "n": "{{ 1 + 1 }}" } }))).await;
    let task = poll(&host, "w1").await;
    assert_eq!(
        (&task["runId"], &task["stepName"], &task["handler"]),
        (&json!(run), &json!("work"), &json!("h"))
    );
    assert_eq!(
        (&task["input"]["n"], &task["config"]["c"], &task["attempt"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!((&task["checkpoint"], &task["journal"]), (&json!(null), &json!([])));
    assert_eq!(host.get("/workers").await.json["data"][0]["id"], "w1");
    assert_eq!(host.run(&run).await["steps"][0]["worker"], "w1");
    assert_eq!(report(&host, &task, "complete", json!({ "output": { "ok": true } })).await.status, 200);
    let run = host.run(&run).await;
    assert_eq!((&run["status"], &run["state"]["result"]["ok"]), (&json!("COMPLETED"), &json!(true)));
}

#[tokio::test]
async fn a_poll_waits_for_a_task_and_is_answered_when_there_is_one() {
    let host = Host::start().await;
    host.deploy(json!({ "name": "flow", "version": "1", "steps": work(json!({})) })).await;
    let poll =
        host.post("/tasks/poll", json!({ "handlers": ["other", "h"], "workerId": "w", "maxTasks": 10 }));
    let start = async {
        until(|| async { !host.get("/workers").await.json["data"].as_array().unwrap().is_empty() }).await;
        host.start_run("flow", json!({})).await
    };
    let (polled, run) = tokio::join!(poll, start);
    assert_eq!(polled.json["tasks"][0]["runId"], run.as_str(), "{}", polled.text);
    let none = host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": "w", "waitMs": 1 })).await;
    assert_eq!((none.status, &none.json["tasks"]), (200, &json!([])));
}

#[tokio::test]
async fn r12_a_worker_that_lost_its_lease_is_told_to_stop() {
    let host = Host::start().await;
    host.run_of(work(json!({}))).await;
    let lost = poll(&host, "w1").await;
    host.pass(60_000).await;
    let again = poll(&host, "w2").await;
    assert_eq!((&again["id"], &again["attempt"]), (&lost["id"], &json!(1)));
    assert_ne!(again["leaseToken"], lost["leaseToken"]);
    report(&host, &lost, "complete", json!({})).await.is_problem(409, "STALE_LEASE");
    report(&host, &lost, "heartbeat", json!({})).await.is_problem(409, "STALE_LEASE");
    assert_eq!(report(&host, &again, "complete", json!({})).await.status, 200);
}

#[tokio::test]
async fn a_heartbeat_keeps_the_lease_and_a_checkpoint_is_handed_back() {
    let host = Host::start().await;
    host.run_of(work(json!({}))).await;
    let task = poll(&host, "w1").await;
    host.pass(40_000).await;
    assert_eq!(report(&host, &task, "checkpoint", json!({ "checkpoint": { "page": 3 } })).await.status, 200);
    host.pass(40_000).await;
    assert_eq!(report(&host, &task, "heartbeat", json!({})).await.status, 200);
    let entries = json!({ "entries": [{ "name": "charge", "result": 5 }] });
    assert_eq!(report(&host, &task, "checkpoint", entries).await.status, 200);
    assert_eq!(report(&host, &task, "release", json!({})).await.status, 200);
    let again = poll(&host, "w2").await;
    assert_eq!((&again["checkpoint"]["page"], &again["journal"][0]["result"]), (&json!(3), &json!(5)));
}

#[tokio::test]
async fn a_worker_pauses_with_a_checkpoint_and_another_one_goes_on() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({}))).await;
    let task = poll(&host, "w1").await;
    let paused =
        report(&host, &task, "pause", json!({ "name": "rate", "duration": "2m", "checkpoint": [1] })).await;
    assert!(paused.json["waitpointId"].as_str().unwrap().starts_with("wp_"), "{}", paused.text);
    assert_eq!(host.run(&run).await["steps"][0]["status"], "RUNNING");
    assert_eq!(poll(&host, "w2").await, Value::Null);
    host.pass(120_000).await;
    let again = poll(&host, "w2").await;
    assert_eq!((&again["checkpoint"], &again["attempt"]), (&json!([1]), &json!(1)));
    report(&host, &task, "complete", json!({})).await.is_problem(409, "STALE_LEASE");
    assert_eq!(report(&host, &again, "complete", json!({})).await.status, 200);
}

#[tokio::test]
async fn a_failure_says_whether_and_when_to_try_again() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({}))).await;
    let task = poll(&host, "w").await;
    let failed = json!({ "message": "busy", "code": "BUSY", "retryAfterMs": 5000 });
    assert_eq!(report(&host, &task, "fail", failed).await.status, 200);
    assert_eq!(host.run(&run).await["waitingFor"][0]["kind"], "RETRY");
    host.pass(5_000).await;
    let task = poll(&host, "w").await;
    assert_eq!(task["attempt"], 2);
    let failed = json!({ "message": "no", "retryable": false });
    assert_eq!(report(&host, &task, "fail", failed).await.status, 200);
    let run = host.run(&run).await;
    assert_eq!((&run["status"], &run["error"]["message"]), (&json!("FAILED"), &json!("no")));
}

#[tokio::test]
async fn durable_code_waits_for_several_things_at_once() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({}))).await;
    let task = poll(&host, "w").await;
    let waits = json!([
        { "type": "sleep", "name": "nap", "duration": "1h" },
        { "type": "signal", "name": "go", "signalType": "go" },
        { "type": "event", "name": "paid", "eventId": "paid", "match": "event.n == 1" },
        { "type": "until", "name": "noon", "at": "2026-11-15T13:00:00Z" },
        { "type": "approval", "name": "ok", "content": "x", "approvers": ["ann"] },
    ]);
    let body = json!({ "waits": waits, "wake": "any", "entries": [{ "name": "first", "result": 1 }] });
    let suspended = report(&host, &task, "suspend", body).await;
    assert_eq!(suspended.status, 200, "{}", suspended.text);
    assert_eq!(host.run(&run).await["status"], "WAITING");
    host.post(&format!("/workflow-runs/{run}/resume"), json!({ "signalType": "go", "payload": 7 })).await;
    let again = poll(&host, "w").await;
    let journal = again["journal"].as_array().unwrap();
    let of = |name: &str| journal.iter().find(|entry| entry["name"] == name).unwrap();
    assert_eq!(of("first")["result"], 1);
    assert_eq!((&of("go")["wait"]["status"], &of("go")["wait"]["payload"]), (&json!("COMPLETED"), &json!(7)));
    assert_eq!(of("nap")["wait"]["status"], "CANCELLED");
}

#[tokio::test]
async fn many_reports_have_an_answer_each() {
    let host = Host::start().await;
    host.run_of(work(json!({}))).await;
    for _ in 0..2 {
        host.start_run("flow", json!({})).await;
    }
    let polled = host.post("/tasks/poll", json!({ "handlers": ["h"], "workerId": "w", "maxTasks": 3 })).await;
    let lease = |index: usize| polled.json["tasks"][index]["leaseToken"].clone();
    let reports = json!({ "reports": [
        { "type": "complete", "leaseToken": lease(0), "output": 1 },
        { "type": "complete", "leaseToken": "forged" },
        { "type": "fail", "leaseToken": lease(1), "message": "no", "retryable": false },
        { "type": "heartbeat", "leaseToken": lease(2) },
        { "type": "complete", "leaseToken": lease(0), "output": 2 },
    ] });
    let reply = host.post("/tasks/report", reports).await;
    let ok: Vec<_> = reply.json["results"].as_array().unwrap().iter().map(|result| &result["ok"]).collect();
    assert_eq!(
        ok,
        [&json!(true), &json!(false), &json!(true), &json!(true), &json!(false)],
        "{}",
        reply.text
    );
    assert_eq!(reply.json["results"][1]["problem"]["code"], "BAD_LEASE");
    let wrong = json!({ "reports": [{ "type": "compete", "leaseToken": "x" }] });
    assert_eq!(
        host.post("/tasks/report", wrong).await.is_problem(422, "MALFORMED").json["problems"][0]["nearest"],
        "complete"
    );
}

#[tokio::test]
async fn a_lease_is_good_for_its_own_task_only() {
    let host = Host::start().await;
    host.run_of(work(json!({}))).await;
    host.start_run("flow", json!({})).await;
    let (one, other) = (poll(&host, "w").await, poll(&host, "w").await);
    let path = format!("/tasks/{}/complete", one["id"].as_str().unwrap());
    host.post(&path, json!({ "leaseToken": other["leaseToken"] })).await.is_problem(401, "BAD_LEASE");
    host.post(&path, json!({ "leaseToken": "" })).await.is_problem(401, "BAD_LEASE");
    host.post("/tasks/nothing/complete", json!({ "leaseToken": "" })).await.is_problem(404, "UNKNOWN_TASK");
    assert_eq!(report(&host, &one, "complete", json!({})).await.status, 200);
}
