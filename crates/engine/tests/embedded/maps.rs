//! Maps over many items.

use abide_core::definition::Definition;
use abide_core::status::RunStatus;
use serde_json::{Value, json};

use crate::host::{Host, output};

async fn host(step: Value) -> Host {
    let host = Host::new().await;
    let map = json!({ "name": "each", "type": "map", "items": "input.items", "step": step });
    let checked = Definition::from_value(json!({ "name": "many", "steps": [map] })).unwrap();
    host.engine.default_workspace().definitions().deploy_checked(checked).await.unwrap();
    host
}

#[tokio::test]
async fn ten_thousand_items_that_sleep_a_second_are_done_after_a_second() {
    let host = host(json!({ "type": "wait", "duration": "1s" })).await;
    let begun = host.now();
    let items: Vec<u32> = (0..10_000).collect();
    let run = host.engine.start("many", json!({ "items": items })).await.unwrap();
    let ended = host.end_of(run).await;
    assert_eq!(ended.status, RunStatus::Completed, "{:?}", ended.error);
    assert_eq!(output(&ended).as_array().map(Vec::len), Some(10_000));
    assert_eq!(host.now().as_millisecond() - begun.as_millisecond(), 1_000);
}

#[tokio::test]
async fn each_item_may_wait_for_its_own_signal_and_the_results_are_in_order() {
    let host = host(json!({ "type": "wait_for_event", "eventId": "done-{{ item }}" })).await;
    let run = host.engine.start("many", json!({ "items": ["a", "b", "c"] })).await.unwrap();
    for name in ["c", "a", "b"] {
        let event = abide_engine::SendEvent::new(format!("done-{name}")).data(json!(name));
        host.engine.default_workspace().events().send(event).await.unwrap();
    }
    let ended = host.engine.run(run).wait().await.unwrap();
    assert_eq!(output(&ended), json!(["a", "b", "c"]));
}

#[tokio::test]
async fn each_item_may_be_a_run_of_its_own_and_is_cancelled_with_the_run() {
    let host = host(json!({ "type": "workflow", "definition": "nap", "input": "{{ item }}" })).await;
    let nap = json!({ "name": "nap", "steps": [{ "name": "rest", "type": "wait", "duration": "1h" }] });
    let checked = Definition::from_value(nap).unwrap();
    host.engine.default_workspace().definitions().deploy_checked(checked).await.unwrap();
    let run = host.engine.start("many", json!({ "items": [1, 2, 3] })).await.unwrap();
    host.look().await;
    host.engine.run(run).command(abide_core::command::Command::Cancel { reason: None }).await.unwrap();
    let filter = abide_store::RunFilter { statuses: vec![RunStatus::Cancelled], ..Default::default() };
    let page = abide_store::Page { after: None, limit: 10 };
    let cancelled = host.engine.default_workspace().runs().list(filter, page).await.unwrap();
    assert_eq!(cancelled.len(), 4, "the run and its three children");
}
