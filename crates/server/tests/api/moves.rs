use serde_json::{Value, json};

use crate::host::Host;

fn signal(name: &str, signal_type: &str) -> Value {
    json!({ "type": "external_event", "name": name, "signalType": signal_type })
}

fn nap(name: &str) -> Value {
    json!({ "type": "wait", "name": name, "duration": "1h" })
}

fn flow(version: &str, steps: Value) -> Value {
    json!({ "name": "flow", "version": version, "steps": steps })
}

/// A run of the first version that has had its signal and naps.
async fn napping(host: &Host) -> String {
    let run = host.start_run("flow", json!({})).await;
    let path = format!("/workflow-runs/{run}/resume");
    host.post(&path, json!({ "signalType": "go", "payload": {} })).await;
    run
}

#[tokio::test]
async fn a_run_is_moved_to_another_version_where_it_fits() {
    let host = Host::start().await;
    host.deploy(flow("1", json!([signal("a", "go"), nap("nap")]))).await;
    let run = napping(&host).await;
    host.deploy(flow("2", json!([signal("a", "go"), nap("nap"), signal("more", "x")]))).await;
    host.deploy(flow("3", json!([nap("nap")]))).await;
    let path = format!("/workflow-runs/{run}/move");

    let dry = host.post(&path, json!({ "version": "2", "dryRun": true })).await;
    assert_eq!(
        (dry.status, &dry.json["changed"], &dry.json["from"]),
        (200, &json!(false), &json!("1")),
        "{}",
        dry.text
    );
    let stranded = host.post(&path, json!({ "version": "3", "dryRun": true })).await;
    stranded.is_problem(409, "RUN_DOES_NOT_FIT");
    let misfit = &stranded.json["current"]["misfits"][0];
    assert_eq!((&misfit["code"], &misfit["step"]), (&json!("STEP_MISSING"), &json!("a")));
    assert_eq!(host.get(&format!("/workflow-runs/{run}")).await.json["definition"]["version"], "1");

    let moved = host.post(&path, json!({ "version": "2" })).await;
    assert_eq!(
        (moved.status, &moved.json["changed"], &moved.json["status"]),
        (200, &json!(true), &json!("WAITING"))
    );
    let again = host.post(&path, json!({ "version": "2" })).await;
    assert_eq!((again.status, &again.json["changed"]), (200, &json!(false)));
    host.post(&path, json!({ "version": "9" })).await.is_problem(404, "UNKNOWN_DEFINITION");

    host.pass(3_600_000).await;
    let shown = host.get(&format!("/workflow-runs/{run}")).await;
    assert_eq!(shown.json["steps"][2]["status"], "WAITING", "{}", shown.text);
    let listed = host.get("/workflow-runs?definition=flow&version=2").await;
    assert_eq!(listed.json["data"][0]["id"], run.as_str());
}

#[tokio::test]
async fn a_history_names_the_steps_of_the_version_that_each_record_is_of() {
    let host = Host::start().await;
    host.deploy(flow("1", json!([signal("a", "go"), nap("nap"), signal("old", "x")]))).await;
    let run = napping(&host).await;
    host.deploy(flow("2", json!([signal("a", "go"), nap("nap"), signal("new", "x")]))).await;
    host.post(&format!("/workflow-runs/{run}/move"), json!({ "version": "2" })).await;
    host.pass(3_600_000).await;
    host.post(&format!("/workflow-runs/{run}/move"), json!({ "version": "1" }))
        .await
        .is_problem(409, "RUN_DOES_NOT_FIT");
    let path = format!("/workflow-runs/{run}/events");
    let whole = host.get(&format!("{path}?limit=500")).await;
    let records = whole.json["data"].as_array().unwrap().clone();
    let names: Vec<&str> = records.iter().filter_map(|record| record["stepName"].as_str()).collect();
    assert!(names.contains(&"new") && !names.contains(&"old"), "{names:?}");
    assert!(records.iter().any(|record| record["type"] == "WORKFLOW_MOVED"), "{}", whole.text);

    // The same, record by record, and from the middle.
    let mut paged: Vec<Value> = Vec::new();
    let mut next = format!("{path}?limit=1");
    loop {
        let page = host.get(&next).await;
        paged.extend(page.json["data"].as_array().unwrap().iter().cloned());
        let Some(cursor) = page.json["nextCursor"].as_str() else { break };
        next = format!("{path}?limit=1&cursor={cursor}");
    }
    assert_eq!(paged, records);
    for after in 1..records.len() {
        let rest = host.get(&format!("{path}?limit=500&after={after}")).await;
        assert_eq!(rest.json["data"].as_array().unwrap()[..], records[after..]);
    }
}

#[tokio::test]
async fn runs_are_moved_by_a_filter_and_a_dry_run_says_which_fit() {
    let host = Host::start().await;
    host.deploy(flow("1", json!([signal("a", "go"), nap("nap")]))).await;
    let naps = [napping(&host).await, napping(&host).await];
    let waits = host.start_run("flow", json!({})).await;
    host.deploy(flow("2", json!([signal("a", "other"), nap("nap")]))).await;
    let body = |dry_run: bool| json!({ "action": "move", "version": "2", "dryRun": dry_run, "filter": { "definition": "flow", "version": "1" } });
    for dry_run in [true, false] {
        let done = host.post("/workflow-runs/bulk", body(dry_run)).await;
        let counts = (&done.json["matched"], &done.json["done"], &done.json["refused"]);
        assert_eq!(counts, (&json!(3), &json!(2), &json!(1)), "{}", done.text);
        let refusal = &done.json["refusals"][0];
        assert_eq!(
            (&refusal["runId"], &refusal["problem"]["code"]),
            (&json!(waits), &json!("RUN_DOES_NOT_FIT"))
        );
    }
    for run in naps {
        assert_eq!(host.get(&format!("/workflow-runs/{run}")).await.json["definition"]["version"], "2");
    }
    let nameless = json!({ "action": "move", "version": "2", "filter": {} });
    host.post("/workflow-runs/bulk", nameless).await.is_problem(422, "MALFORMED");
    let stray = json!({ "action": "pause", "version": "2", "filter": {} });
    host.post("/workflow-runs/bulk", stray).await.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn a_new_version_is_checked_against_the_runs_that_wait() {
    let host = Host::start().await;
    host.deploy(flow("1", json!([signal("a", "go"), nap("nap")]))).await;
    let naps = [napping(&host).await, napping(&host).await];
    host.start_run("flow", json!({})).await;
    let path = "/workflow-definitions/check-runs";
    let new = flow("2", json!([signal("a", "go"), signal("check", "ok"), nap("nap")]));
    let checked = host.post(path, new.clone()).await;
    assert_eq!((checked.status, &checked.json["valid"]), (200, &json!(true)), "{}", checked.text);
    let counts = (&checked.json["lookedAt"], &checked.json["fit"], &checked.json["stranded"]);
    assert_eq!(counts, (&json!(3), &json!(1), &json!(2)), "{}", checked.text);
    let stranded = &checked.json["groups"][0];
    assert_eq!((&stranded["runs"], &stranded["waitingAt"]), (&json!(2), &json!(["nap"])));
    assert_eq!(stranded["misfits"][0]["code"], "STEP_NOT_DONE");
    assert!(stranded["examples"].as_array().unwrap().contains(&json!(naps[0])));
    assert_eq!(checked.json["nextCursor"], Value::Null);
    assert_eq!(host.get("/workflow-definitions/flow?version=2").await.status, 404, "nothing is stored");

    let mut seen = 0;
    let mut next = format!("{path}?limit=2");
    loop {
        let page = host.post(&next, new.clone()).await;
        seen += page.json["lookedAt"].as_u64().unwrap();
        let Some(cursor) = page.json["nextCursor"].as_str() else { break };
        next = format!("{path}?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, 3);
    let none = host.post(&format!("{path}?from=7"), new).await;
    assert_eq!(none.json["lookedAt"], 0);
    let bad = host.post(path, json!({ "name": "flow" })).await;
    assert_eq!((bad.status, &bad.json["valid"]), (200, &json!(false)));
}
