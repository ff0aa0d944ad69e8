use serde_json::{Value, json};

use crate::host::Host;
use crate::keys::locked;

fn count(overview: &Value, list: &str, name: &str, what: &str) -> u64 {
    let found = overview[list].as_array().unwrap().iter().find(|one| one[name] == what);
    found.unwrap()["count"].as_u64().unwrap()
}

/// A run of one step, of a workflow of its own.
async fn run(host: &Host, name: &str, step: Value) -> String {
    host.deploy(json!({ "name": name, "version": "1", "steps": [step] })).await;
    host.start_run(name, json!({})).await
}

#[tokio::test]
async fn the_overview_counts_runs_and_waits_and_names_what_has_waited_longest() {
    let host = Host::start().await;
    let nap = json!({ "type": "wait", "name": "nap", "duration": "1h" });
    let oldest = run(&host, "nap", nap.clone()).await;
    host.pass(1000).await;
    run(&host, "nap", nap).await;
    run(&host, "idle", json!({ "type": "external_event", "name": "poke", "signalType": "poke" })).await;
    let overview = host.get("/overview").await.json;
    assert_eq!(count(&overview, "runs", "status", "WAITING"), 3);
    assert_eq!(count(&overview, "runs", "status", "COMPLETED"), 0);
    assert_eq!(count(&overview, "waits", "kind", "DELAY"), 2);
    assert_eq!(count(&overview, "waits", "kind", "SIGNAL"), 1);
    assert_eq!(overview["oldest"][0]["runId"], oldest.as_str());
    assert_eq!(overview["overdue"], json!({ "count": 0, "more": false }));
    assert_eq!(overview["activity"]["everyMs"], 10_000);
    host.pass(3_600_000).await;
    let later = host.get("/overview").await.json;
    assert_eq!(count(&later, "runs", "status", "COMPLETED"), 2);
    assert_eq!(count(&later, "waits", "kind", "DELAY"), 0);
}

#[tokio::test]
async fn wake_ups_are_counted_in_the_bucket_of_their_instant() {
    let host = Host::start().await;
    for duration in ["10m", "11m", "50m", "2h"] {
        run(&host, duration, json!({ "type": "wait", "name": "nap", "duration": duration })).await;
    }
    let signal = json!({ "type": "external_event", "name": "poke", "signalType": "poke", "timeout": "50m" });
    run(&host, "idle", signal).await;
    let asked = "/wake-ups?from=2026-11-15T12:00:00Z&until=2026-11-15T13:00:00Z&buckets=6";
    let found = host.get(asked).await.json;
    let figures = |name: &str| -> Vec<u64> {
        found["buckets"].as_array().unwrap().iter().map(|bucket| bucket[name].as_u64().unwrap()).collect()
    };
    assert_eq!(figures("byTime"), [0, 2, 0, 0, 0, 1]);
    assert_eq!(figures("deadlines"), [0, 0, 0, 0, 0, 1]);
    assert_eq!(found["buckets"][1]["from"], "2026-11-15T12:10:00Z");
    let backwards = "/wake-ups?from=2026-11-15T13:00:00Z&until=2026-11-15T12:00:00Z";
    host.get(backwards).await.is_problem(422, "MALFORMED");
    host.get("/wake-ups?from=2026-11-15T13:00:00Z").await.is_problem(422, "MALFORMED");
}

#[tokio::test]
async fn nobody_sees_figures_of_another_workspace() {
    let (host, admin) = locked().await;
    let elsewhere = host.post_as(&admin, "/workspaces", json!({ "name": "other" })).await.json["id"].clone();
    let made = json!({ "name": "ann", "scopes": ["read"], "workspace": elsewhere });
    let key = host.post_as(&admin, "/keys", made).await.json["secret"].as_str().unwrap().to_owned();
    let nap = json!({ "name": "nap", "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }] });
    host.post_as(&admin, "/workflow-definitions", nap).await;
    host.post_as(&admin, "/workflow-runs", json!({ "name": "nap" })).await;
    let own = host.get_as(&admin, "/overview").await.json;
    assert_eq!(count(&own, "runs", "status", "WAITING"), 1);
    let other = host.get_as(&key, "/overview").await.json;
    assert_eq!(count(&other, "runs", "status", "WAITING"), 0);
    assert_eq!(other["oldest"], json!([]));
}
