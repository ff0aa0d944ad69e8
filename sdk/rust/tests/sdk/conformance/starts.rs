//! Events that start, cancel and restart runs.

use std::time::Duration;

use abide_sdk::testing::TestServer;
use abide_sdk::{Context, Error, Json, wire, workflow};
use futures_util::TryStreamExt;
use serde_json::json;

fn outcomes(sent: &wire::EventSent) -> Vec<Json> {
    sent.started.iter().map(|start| json!(start.outcome)).collect()
}

pub(super) async fn start_on_an_event(server: &TestServer) -> Result<Json, Error> {
    server.worker().handler("sync", |_: Context, input: Json| async move { Ok(input) }).start();
    let on = wire::WorkflowStartOn::new("account.changed").matching("event.region == \"EU\"");
    let on = on.input(json!({"account": "{{ event.id }}"})).idempotency_key("{{ event.id }}");
    server.client.deploy(&workflow("sync").start_on(on).task("work", "sync")).await?;
    let data = json!({"region": "EU", "id": 7});
    let send = wire::SendEvent::new("account.changed").event_data(data.clone());
    let dry = server.client.events().send(&send.clone().dry_run(true)).await?;
    let first = server.client.events().send(&send).await?;
    let again = server.client.events().send(&send).await?;
    let other = server.client.notify("account.changed", json!({"region": "US", "id": 7})).await?;
    let run = first.started[0].run_id.clone().unwrap_or_default();
    Ok(json!({
        "dryRun": outcomes(&dry),
        "first": outcomes(&first),
        "again": outcomes(&again),
        "sameRun": again.started[0].run_id.as_ref() == Some(&run),
        "other": outcomes(&other),
        "output": server.client.runs().wait(&run).await?.output,
    }))
}

pub(super) async fn cancel_on_an_event(server: &TestServer) -> Result<Json, Error> {
    let client = &server.client;
    let mine = "event.id == input.account";
    let moved = wire::WorkflowRestartOn::new("account.moved").matching(mine);
    let flow = workflow("sync")
        .cancel_on(wire::WorkflowCancelOn::new("account.closed").matching(mine))
        .restart_on(moved.input(json!({"account": "{{ event.to }}"})))
        .sleep("nap", Duration::from_secs(3_600));
    client.deploy(&flow).await?;
    let first = client.start("sync", json!({"account": 7})).await?;
    let second = client.start("sync", json!({"account": 8})).await?;
    client.notify("account.closed", json!({"id": 7})).await?;
    let cancelled = [first.get().await?.status, second.get().await?.status];
    client.notify("account.moved", json!({"id": 8, "to": 9})).await?;
    let waiting = wire::RunFilter::default().status([wire::RunStatus::Waiting]);
    let waiting: Vec<_> = client.runs().list(&waiting).items().try_collect().await?;
    let next = client.runs().find(&waiting[0].id).await?.input;
    Ok(json!({"cancelled": cancelled, "restarted": second.get().await?.status, "next": next}))
}
