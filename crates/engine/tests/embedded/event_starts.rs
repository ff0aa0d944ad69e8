//! Runs that events start.

use abide_core::definition::Definition;
use abide_core::event_start::EventStartOutcome;
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_engine::stored::{Page, RunFilter};
use abide_engine::{EventSent, SendEvent};
use serde_json::{Value, json};

use crate::host::Host;

async fn deploy(host: &Host, document: Value) {
    let checked = Definition::from_value(document).unwrap();
    host.engine.default_workspace().definitions().deploy_checked(checked).await.unwrap();
}

async fn send(host: &Host, event_id: &str, data: Value) -> EventSent {
    host.engine.default_workspace().events().send(SendEvent::new(event_id).data(data)).await.unwrap()
}

fn started(sent: &EventSent) -> Vec<RunId> {
    let run = |outcome: &EventStartOutcome| match outcome {
        EventStartOutcome::Started(run) => Some(*run),
        EventStartOutcome::Repeated(_)
        | EventStartOutcome::Collected(_)
        | EventStartOutcome::Refused { .. }
        | EventStartOutcome::WouldStart => None,
    };
    sent.starts.iter().filter_map(|start| run(&start.outcome)).collect()
}

fn nap(name: &str, start_on: Value) -> Value {
    json!({ "name": name, "startOn": start_on, "steps": [{ "type": "wait", "name": "nap", "duration": "1h" }] })
}

#[tokio::test]
async fn an_event_starts_a_run_of_each_workflow_that_it_matches_with_the_input_it_gives() {
    let host = Host::new().await;
    let eu = json!([{ "eventId": "changed", "match": "event.region == \"EU\"", "input": { "account": "{{ event.id }}" } }]);
    deploy(&host, nap("eu", eu)).await;
    deploy(&host, nap("all", json!([{ "eventId": "changed" }, { "eventId": "closed" }]))).await;
    let data = json!({ "region": "EU", "id": 7 });
    let sent = send(&host, "changed", data.clone()).await;
    let [all, eu] = started(&sent)[..] else { panic!("{sent:?}") };
    let (all, eu) = (host.engine.run(all).get().await.unwrap(), host.engine.run(eu).get().await.unwrap());
    assert_eq!((all.input.clone(), eu.input.clone()), (data.into(), json!({ "account": 7 }).into()));
    assert_eq!((&*all.definition_ref.name, all.status), ("all", RunStatus::Waiting));
    assert_eq!(all.started_on.as_ref().unwrap().event, sent.id.unwrap());
    assert_eq!(started(&send(&host, "changed", json!({ "region": "US" })).await).len(), 1);
    assert!(send(&host, "other", json!({})).await.starts.is_empty());
}

#[tokio::test]
async fn only_the_newest_version_is_started() {
    let host = Host::new().await;
    deploy(&host, nap("flow", json!([{ "eventId": "a" }, { "eventId": "b" }]))).await;
    let mut second = nap("flow", json!([{ "eventId": "b" }]));
    second["version"] = json!("2");
    deploy(&host, second).await;
    assert!(send(&host, "a", json!({})).await.starts.is_empty());
    let sent = send(&host, "b", json!({})).await;
    assert_eq!((sent.starts.len(), &*sent.starts[0].version), (1, "2"));
}

#[tokio::test]
async fn events_with_the_same_key_start_one_run_and_a_dry_run_none() {
    let host = Host::new().await;
    deploy(&host, nap("flow", json!([{ "eventId": "paid", "idempotencyKey": "{{ event.order }}" }]))).await;
    let dry = SendEvent::new("paid").data(json!({ "order": 1 })).dry_run(true);
    let dry = host.engine.default_workspace().events().send(dry).await.unwrap();
    assert_eq!(dry.starts[0].outcome, EventStartOutcome::WouldStart);
    let first = started(&send(&host, "paid", json!({ "order": 1 })).await)[0];
    let again = send(&host, "paid", json!({ "order": 1, "more": true })).await;
    assert_eq!(again.starts[0].outcome, EventStartOutcome::Repeated(first));
    assert_eq!(started(&send(&host, "paid", json!({ "order": 2 })).await).len(), 1);
}

#[tokio::test]
async fn a_start_that_is_refused_is_told_to_the_sender_and_kept_for_people_to_see() {
    let host = Host::new().await;
    let mut strict = nap("strict", json!([{ "eventId": "paid", "input": { "order": "{{ event.order }}" } }]));
    strict["inputSchema"] = json!({ "properties": { "order": { "type": "integer" } } });
    deploy(&host, strict).await;
    let code = |sent: &EventSent| match &sent.starts[0].outcome {
        EventStartOutcome::Refused { code, .. } => code.to_string(),
        other @ (EventStartOutcome::Started(_)
        | EventStartOutcome::Collected(_)
        | EventStartOutcome::Repeated(_)
        | EventStartOutcome::WouldStart) => format!("{other:?}"),
    };
    assert_eq!(code(&send(&host, "paid", json!({})).await), "MALFORMED");
    let sent = send(&host, "paid", json!({ "order": "seven" })).await;
    assert_eq!(code(&sent), "INVALID_INPUT");
    let events = host.engine.default_workspace().events();
    let (starts, _) = events.starts(Some("paid".to_owned()), None, 10).await.unwrap();
    let refused = starts[0].refused.clone().unwrap();
    assert_eq!((refused.event, &*refused.code), (sent.id.unwrap(), "INVALID_INPUT"));
    assert!(refused.message.contains("order"), "{}", refused.message);
}

#[tokio::test]
async fn an_event_that_starts_more_than_a_round_has_room_for_starts_the_rest_later_each_once() {
    let host = Host::new().await;
    for number in 0..150 {
        deploy(&host, nap(&format!("flow-{number:03}"), json!([{ "eventId": "go" }, { "eventId": "go" }])))
            .await;
    }
    let sent = send(&host, "go", json!({ "n": 1 })).await;
    assert!(sent.delivering && started(&sent).len() < 300, "{}", started(&sent).len());
    host.engine.clock().settled().await.unwrap();
    let page = Page { after: None, limit: 1_000 };
    let runs = host.engine.default_workspace().runs().list(RunFilter::default(), page).await.unwrap();
    let mut of_each = std::collections::BTreeMap::<String, usize>::new();
    for run in &runs {
        *of_each.entry(run.definition.name.to_string()).or_default() += 1;
    }
    assert_eq!((runs.len(), of_each.len()), (300, 150));
    assert!(of_each.values().all(|count| *count == 2), "{of_each:?}");
}

#[tokio::test]
async fn a_workflow_that_starts_itself_by_its_own_events_ends_at_the_limit_of_descendants() {
    let limits = abide_engine::Limits { descendants: 20, ..abide_engine::Limits::default() };
    let host = Host::limited(limits).await;
    let steps = json!([{ "type": "notify", "name": "again", "eventId": "go", "data": {} }]);
    deploy(&host, json!({ "name": "loop", "startOn": [{ "eventId": "go" }], "steps": steps })).await;
    send(&host, "go", json!({})).await;
    host.engine.clock().settled().await.unwrap();
    let page = Page { after: None, limit: 1_000 };
    let runs = host.engine.default_workspace().runs().list(RunFilter::default(), page).await.unwrap();
    assert_eq!(runs.len(), 21);
    let (starts, _) = host.engine.default_workspace().events().starts(None, None, 10).await.unwrap();
    assert_eq!(&*starts[0].refused.clone().unwrap().code, "LIMIT_EXCEEDED");
}

#[tokio::test]
async fn the_event_that_started_a_run_neither_wakes_nor_cancels_it_and_the_next_one_replaces_it() {
    let host = Host::new().await;
    let mine = "event.order == input.order";
    let document = json!({
        "name": "latest", "startOn": [{ "eventId": "changed" }],
        "cancelOn": [{ "eventId": "changed", "match": mine }],
        "steps": [{ "type": "wait_for_event", "name": "next", "eventId": "changed", "match": "event.order == 99" }],
    });
    deploy(&host, document).await;
    let first = started(&send(&host, "changed", json!({ "order": 1 })).await)[0];
    let alone = started(&send(&host, "changed", json!({ "order": 99 })).await)[0];
    assert_eq!(host.status(first).await, RunStatus::Completed);
    assert_eq!(host.status(alone).await, RunStatus::Waiting);
    host.pass("1s").await;
    let second = started(&send(&host, "changed", json!({ "order": 2 })).await)[0];
    let third = started(&send(&host, "changed", json!({ "order": 2 })).await)[0];
    assert_eq!(host.status(second).await, RunStatus::Cancelled);
    assert_eq!(host.status(third).await, RunStatus::Waiting);
}

#[tokio::test]
async fn an_event_for_one_alone_starts_nothing() {
    let host = Host::new().await;
    deploy(&host, nap("flow", json!([{ "eventId": "go" }]))).await;
    let run = started(&send(&host, "go", json!({})).await)[0];
    let events = host.engine.default_workspace().events();
    let one = SendEvent::new("go").fan_out(abide_core::definition::document::FanOut::One);
    for event in [one, SendEvent::new("go").only_to(run)] {
        assert!(events.send(event).await.unwrap().starts.is_empty());
    }
}
