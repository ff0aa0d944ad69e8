//! Turns in a line: keys that share a limit are let in one after the other, however many runs each of them has.

use abide_core::id::{LimitId, RunId, WorkspaceId};
use abide_core::status::RunStatus;
use serde_json::{Value, json};

use crate::host::Host;

/// A workflow that holds room under these limits until it is sent `go`.
async fn host(limits: Value) -> Host {
    let host = Host::new().await;
    let step = json!({ "type": "external_event", "name": "wait", "signalType": "go" });
    host.deploy(json!({ "name": "gate", "limits": limits, "steps": [step] })).await.unwrap();
    host
}

async fn start(host: &Host, tenants: &[&'static str]) -> Vec<(&'static str, RunId)> {
    let mut runs = Vec::new();
    for tenant in tenants {
        runs.push((*tenant, host.engine.start("gate", json!({ "tenant": tenant })).await.unwrap()));
    }
    runs
}

/// The tenants in the order in which their runs were let in, each sent `go` when it was.
async fn let_in(host: &Host, mut runs: Vec<(&'static str, RunId)>) -> Vec<&'static str> {
    let mut order = Vec::new();
    while !runs.is_empty() {
        let mut at_work = Vec::new();
        for (place, (_, run)) in runs.iter().enumerate() {
            if host.status(*run).await == RunStatus::Waiting {
                at_work.push(place);
            }
        }
        assert_eq!(at_work.len(), 1, "there is room for one, and somebody has it; so far {order:?}");
        let (tenant, run) = runs.remove(at_work[0]);
        order.push(tenant);
        host.engine.run(run).signal("go", json!({})).await.unwrap();
    }
    order
}

#[tokio::test]
async fn r23_keys_that_share_a_limit_take_turns() {
    let limits = json!([
        { "name": "tenant", "key": "{{ input.tenant }}", "concurrency": 5, "holds": "run" },
        { "name": "machines", "concurrency": 1, "holds": "run" },
    ]);
    let host = host(limits).await;
    let runs = start(&host, &["a", "a", "a", "a", "b", "b", "c"]).await;
    let order = let_in(&host, runs).await;
    let mut first: Vec<&str> = order[1..4].to_vec();
    first.sort_unstable();
    assert_eq!(first, ["a", "b", "c"], "one of each: {order:?}");
    let mut second: Vec<&str> = order[4..6].to_vec();
    second.sort_unstable();
    assert_eq!((second, order[6]), (vec!["a", "b"], "a"), "and then the next of each: {order:?}");
}

#[tokio::test]
async fn r23_a_key_with_a_line_of_its_own_does_not_go_past_those_who_wait_for_what_all_share() {
    let limits = json!([
        { "name": "tenant", "key": "{{ input.tenant }}", "concurrency": 1, "holds": "run" },
        { "name": "machines", "concurrency": 1, "holds": "run" },
    ]);
    let host = host(limits).await;
    let runs = start(&host, &["a", "a", "a", "a", "a", "b"]).await;
    let order = let_in(&host, runs).await;
    let place = order.iter().position(|tenant| *tenant == "b");
    assert!(place.is_some_and(|place| place <= 2), "{order:?}");
}

#[tokio::test]
async fn r23_who_goes_on_takes_turns_by_the_key_that_it_holds() {
    let host = Host::new().await;
    let limits = json!([
        { "name": "tenant", "key": "{{ input.tenant }}", "concurrency": 9, "holds": "run" },
        { "name": "machines", "concurrency": 1 },
    ]);
    let steps = json!([
        { "type": "external_event", "name": "wait", "signalType": "go" },
        { "type": "task", "name": "work", "handler": "nobody-has-it" },
    ]);
    host.deploy(json!({ "name": "gate", "limits": limits, "steps": steps })).await.unwrap();
    let runs = start(&host, &["a", "b"]).await;
    for (_, run) in &runs {
        host.engine.run(*run).signal("go", json!({})).await.unwrap();
    }
    let waiting = host.engine.run(runs[1].1).get().await.unwrap();
    let wait = waiting.open_waitpoints().next().unwrap();
    let request = wait.listens_for.capacity().unwrap();
    assert_eq!(request.asks.iter().map(|ask| &*ask.name).collect::<Vec<_>>(), ["machines"]);
    let held = LimitId::of(WorkspaceId::DEFAULT, Some("gate"), "tenant", "b");
    assert_eq!(request.group_in(0), Some(held));
}
