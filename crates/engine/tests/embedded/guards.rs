//! Events that cancel or restart a run.

use abide_core::status::RunStatus;
use abide_engine::SendEvent;
use abide_engine::stored::{Page, RunFilter};
use serde_json::json;

use crate::host::Host;

#[tokio::test]
async fn an_event_cancels_the_runs_that_it_matches_and_starts_others_in_their_place_after_a_restart_too() {
    let host = Host::new().await;
    let document = json!({
        "name": "sync",
        "cancelOn": [{ "eventId": "closed", "match": "event.id == input.account" }],
        "restartOn": [{ "eventId": "moved", "match": "event.id == input.account", "input": { "account": "{{ event.to }}" } }],
        "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }],
    });
    host.deploy(document).await.unwrap();
    let mut runs = Vec::new();
    for account in 0..3 {
        runs.push(host.engine.start("sync", json!({ "account": account })).await.unwrap());
    }
    let host = host.restart().await;
    let send = |event: &'static str, data| {
        let event = SendEvent::new(event).data(data);
        let engine = host.engine.clone();
        async move { engine.default_workspace().events().send(event).await.unwrap() }
    };
    let sent = send("closed", json!({ "id": 1 })).await;
    assert_eq!(sent.waiters.iter().map(|wait| wait.run).collect::<Vec<_>>(), [runs[1]]);
    assert_eq!(host.status(runs[1]).await, RunStatus::Cancelled);
    send("moved", json!({ "id": 2, "to": 9 })).await;
    assert_eq!(host.status(runs[2]).await, RunStatus::Cancelled);
    host.engine.clock().settled().await.unwrap();
    let page = Page { after: None, limit: 10 };
    let open = RunFilter { statuses: vec![RunStatus::Waiting], ..RunFilter::default() };
    let open = host.engine.default_workspace().runs().ids(open, page).await.unwrap();
    assert_eq!((open.len(), open[1]), (2, runs[0]));
    let next = host.engine.run(open[0]).get().await.unwrap();
    assert_eq!((next.input.clone(), next.parent.unwrap().run_id), (json!({ "account": 9 }).into(), runs[2]));
    host.pass("1h").await;
    assert_eq!(host.status(runs[0]).await, RunStatus::Completed);
    assert!(send("closed", json!({ "id": 0 })).await.waiters.is_empty());
}
