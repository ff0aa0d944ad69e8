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
    let others: Vec<_> = open.into_iter().filter(|run| *run != runs[0]).collect();
    let [next] = others[..] else { panic!("one takes its place, and not {others:?}") };
    let next = host.engine.run(next).get().await.unwrap();
    assert_eq!((next.input.clone(), next.parent.unwrap().run_id), (json!({ "account": 9 }).into(), runs[2]));
    host.pass("1h").await;
    assert_eq!(host.status(runs[0]).await, RunStatus::Completed);
    assert!(send("closed", json!({ "id": 0 })).await.waiters.is_empty());
}

#[tokio::test]
async fn a_run_that_takes_the_place_of_another_is_not_ended_by_the_same_event() {
    let host = Host::new().await;
    host.deploy(json!({
        "name": "sync",
        "restartOn": [{ "eventId": "renamed" }],
        "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }],
    }))
    .await
    .unwrap();
    let first = host.engine.start("sync", json!({})).await.unwrap();
    let send = || host.engine.default_workspace().events().send(SendEvent::new("renamed"));
    let sent = send().await.unwrap();
    assert_eq!(sent.waiters.iter().map(|wait| wait.run).collect::<Vec<_>>(), [first]);
    host.engine.clock().settled().await.unwrap();
    let all =
        host.engine.default_workspace().runs().ids(RunFilter::default(), Page { after: None, limit: 10 });
    let others: Vec<_> = all.await.unwrap().into_iter().filter(|run| *run != first).collect();
    let [second] = others[..] else { panic!("one takes its place, and not {others:?}") };
    let run = host.engine.run(second).get().await.unwrap();
    assert_eq!((run.status, run.started_on.as_ref().unwrap().event), (RunStatus::Waiting, sent.id.unwrap()));
    // Another one of the same instant ends it.
    assert_eq!(send().await.unwrap().waiters.iter().map(|wait| wait.run).collect::<Vec<_>>(), [second]);
}
