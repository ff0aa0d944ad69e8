use serde_json::{Value, json};

use crate::host::Host;
use crate::scene::{Folder, poll, report, signal};

fn work(more: Value) -> Value {
    let mut step = json!({ "type": "task", "name": "work", "handler": "h" });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([step])
}

#[tokio::test]
async fn pauses_and_lost_workers_are_not_attempts_and_a_pause_does_not_overwrite_the_checkpoint() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({ "retry": { "maxAttempts": 1 } }))).await;
    let task = poll(&host, "h").await;
    let saved = report(&host, &task, "checkpoint", json!({ "checkpoint": { "page": 7 } })).await;
    assert_eq!(saved.status, 200, "{}", saved.text);
    report(&host, &task, "pause", json!({ "name": "rest", "duration": "1h" })).await;
    host.pass(3_600_000).await;
    let task = poll(&host, "h").await;
    assert_eq!((&task["attempt"], &task["checkpoint"]), (&json!(1), &json!({ "page": 7 })));
    // This one is never heard of again.
    host.pass(60_000).await;
    let task = poll(&host, "h").await;
    assert_eq!((&task["attempt"], &task["checkpoint"]), (&json!(1), &json!({ "page": 7 })));
    report(&host, &task, "pause", json!({ "name": "again", "duration": "1h", "checkpoint": { "page": 8 } }))
        .await;
    host.pass(3_600_000).await;
    let task = poll(&host, "h").await;
    assert_eq!((&task["attempt"], &task["checkpoint"]), (&json!(1), &json!({ "page": 8 })));
    assert_eq!(report(&host, &task, "complete", json!({})).await.status, 200);
    assert_eq!(host.run(&run).await["status"], "COMPLETED");
}

#[tokio::test]
async fn a_pause_is_not_begun_again_by_a_report_that_is_sent_twice() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({}))).await;
    let task = poll(&host, "h").await;
    let pause = json!({ "name": "rest", "duration": "1h" });
    assert_eq!(report(&host, &task, "pause", pause.clone()).await.status, 200);
    host.pass(1_800_000).await;
    assert_eq!(report(&host, &task, "pause", pause).await.status, 409);
    let waits = host.get(&format!("/waitpoints?runId={run}&kind=PAUSE")).await;
    assert_eq!(waits.json["data"].as_array().unwrap().len(), 1);
    host.pass(1_800_000).await;
    assert_eq!(poll(&host, "h").await["attempt"], 1);
}

#[tokio::test]
async fn the_time_limit_of_a_step_does_not_run_on_through_a_pause() {
    let host = Host::start().await;
    host.run_of(work(json!({ "timeoutMs": 600_000 }))).await;
    let task = poll(&host, "h").await;
    assert_eq!(task["deadline"], "2026-11-15T12:10:00Z");
    report(&host, &task, "pause", json!({ "name": "rest", "duration": "5h" })).await;
    host.pass(5 * 3_600_000).await;
    let task = poll(&host, "h").await;
    assert_eq!((&task["attempt"], &task["deadline"]), (&json!(1), &json!("2026-11-15T17:10:00Z")));
}

#[tokio::test]
async fn a_run_whose_worker_died_is_not_running_for_ever_and_can_be_cancelled() {
    let host = Host::start().await;
    let run = host.run_of(work(json!({}))).await;
    let dead = poll(&host, "h").await;
    let cancelled = host.post(&format!("/workflow-runs/{run}/cancel"), json!({})).await;
    assert_eq!(cancelled.json["status"], "CANCELLED", "{}", cancelled.text);
    for (verb, body) in [
        ("heartbeat", json!({})),
        ("checkpoint", json!({ "checkpoint": 1 })),
        ("pause", json!({ "name": "rest", "duration": "1h" })),
        ("fail", json!({ "message": "no" })),
        ("complete", json!({ "output": 1 })),
    ] {
        let late = report(&host, &dead, verb, body).await;
        assert_eq!(late.status, 409, "{verb}: {}", late.text);
    }
    host.pass(60_000).await;
    assert_eq!(poll(&host, "h").await, Value::Null);
    let other = host.start_run("flow", json!({})).await;
    poll(&host, "h").await;
    host.pass(60_000).await;
    let again = poll(&host, "h").await;
    assert_eq!((&again["runId"], &again["attempt"]), (&json!(other), &json!(1)));
}

#[tokio::test]
async fn a_cancel_is_not_undone_by_what_the_run_slept_for() {
    let host = Host::start().await;
    let run = host
        .run_of(json!([
            { "type": "wait", "name": "nap", "durationMs": 1000 },
            { "type": "task", "name": "work", "handler": "h" },
        ]))
        .await;
    host.post(&format!("/workflow-runs/{run}/cancel"), json!({})).await;
    host.pass(1_000).await;
    assert_eq!(
        signal(&host, &run, "go", json!({})).await.is_problem(409, "RUN_ENDED").json["current"]["status"],
        "CANCELLED"
    );
    let shown = host.run(&run).await;
    assert_eq!((&shown["status"], &shown["waitingFor"]), (&json!("CANCELLED"), &json!([])));
    assert_eq!(poll(&host, "h").await, Value::Null);
}

#[tokio::test]
async fn a_restart_does_not_begin_a_run_again() {
    let folder = Folder::new();
    let host = folder.serve().await;
    let step = |name: &str| json!({ "type": "task", "name": name, "handler": name });
    let nap = |name: &str| json!({ "type": "wait", "name": name, "durationMs": 1000 });
    let run = host.run_of(json!([step("a"), nap("one"), step("b"), nap("two"), step("c")])).await;
    let task = poll(&host, "a").await;
    assert_eq!(report(&host, &task, "complete", json!({ "output": 1 })).await.status, 200);
    host.stop().await;
    let host = folder.serve().await;
    host.pass(1_000).await;
    assert_eq!(poll(&host, "a").await, Value::Null);
    // Its worker has not noticed anything: it still has the task, and nobody else gets it.
    let task = poll(&host, "b").await;
    host.stop().await;
    let host = folder.serve().await;
    assert_eq!(poll(&host, "b").await, Value::Null);
    assert_eq!(report(&host, &task, "complete", json!({ "output": 2 })).await.status, 200);
    host.pass(2_000).await;
    let task = poll(&host, "c").await;
    assert_eq!(report(&host, &task, "complete", json!({ "output": 3 })).await.status, 200);
    let ended = host.run(&run).await;
    assert_eq!((&ended["status"], &ended["output"]), (&json!("COMPLETED"), &json!(3)));
}

#[tokio::test]
async fn a_child_is_not_started_again_by_what_its_parent_goes_through() {
    let folder = Folder::new();
    let host = folder.serve().await;
    let steps =
        json!([{ "type": "external_event", "name": "listen", "signalType": "go", "saveAs": "heard" }]);
    host.deploy(json!({ "name": "child", "version": "1", "steps": steps })).await;
    let retry = json!({ "maxAttempts": 5, "backoffMs": 100 });
    let parent = host
        .run_of(json!([{ "type": "workflow", "name": "ask", "definition": "child", "retry": retry }]))
        .await;
    for verb in ["pause", "unpause", "pause", "unpause"] {
        let done = host.post(&format!("/workflow-runs/{parent}/{verb}"), json!({})).await;
        assert_eq!(done.status, 200, "{}", done.text);
        host.pass(5_000).await;
    }
    host.stop().await;
    let host = folder.serve().await;
    host.pass(60_000).await;
    let children = host.get("/workflow-runs?definition=child").await.json["data"].as_array().unwrap().clone();
    assert_eq!(children.len(), 1, "{children:?}");
    signal(&host, children[0]["id"].as_str().unwrap(), "go", json!({ "n": 1 })).await;
    assert_eq!(host.run(&parent).await["status"], "COMPLETED");
    assert_eq!(host.get("/workflow-runs?definition=child").await.json["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_branch_that_was_not_taken_does_not_run_after_the_other() {
    let host = Host::start().await;
    let task = |name: &str, next: Value| {
        let mut step = json!({ "type": "task", "name": name, "handler": name });
        step.as_object_mut().unwrap().extend(next.as_object().unwrap().clone());
        step
    };
    let choose = json!({ "type": "condition", "name": "choose", "expression": "input.yes",
                         "trueStep": "approve", "falseStep": "reject" });
    let in_order = json!([choose, task("approve", json!({ "next": "end" })), task("reject", json!({}))]);
    let mut rooted = choose.clone();
    rooted["after"] = json!([]);
    let after = || json!({ "after": ["choose"] });
    let as_graph = json!([rooted, task("approve", after()), task("reject", after())]);
    for (version, steps) in [("1", in_order), ("2", as_graph)] {
        host.deploy(json!({ "name": "flow", "version": version, "steps": steps })).await;
        for (yes, taken, other) in [(true, "approve", "reject"), (false, "reject", "approve")] {
            let run = host.start_run("flow", json!({ "yes": yes })).await;
            let task = poll(&host, taken).await;
            assert_eq!(task["runId"], run.as_str(), "{version} {yes}");
            assert_eq!(report(&host, &task, "complete", json!({})).await.status, 200);
            assert_eq!(poll(&host, other).await, Value::Null, "{version} {yes}");
            let run = host.run(&run).await;
            let skipped = run["steps"].as_array().unwrap().iter().find(|step| step["name"] == other).unwrap();
            assert_eq!((&run["status"], &skipped["status"]), (&json!("COMPLETED"), &json!("SKIPPED")));
        }
    }
}

#[tokio::test]
async fn an_input_is_not_let_through_because_its_top_level_keys_are_there() {
    let host = Host::start().await;
    let customer = json!({ "type": "object", "required": ["email"], "additionalProperties": false,
                           "properties": { "email": { "type": "string" } } });
    let schema =
        json!({ "type": "object", "required": ["customer"], "properties": { "customer": customer } });
    host.deploy(json!({ "name": "flow", "version": "1", "inputSchema": schema, "steps": work(json!({})) }))
        .await;
    for input in [
        json!({ "customer": {} }),
        json!({ "customer": { "email": 1 } }),
        json!({ "customer": { "email": "a", "x": 1 } }),
    ] {
        let refused = host.post("/workflow-runs", json!({ "name": "flow", "input": input })).await;
        refused.is_problem(422, "INVALID_INPUT");
    }
    host.post("/triggers/flow", json!({ "customer": { "email": "a" } }))
        .await
        .is_problem(422, "INVALID_INPUT");
    assert_eq!(host.get("/workflow-runs").await.json["data"], json!([]));
}
