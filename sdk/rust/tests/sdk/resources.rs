//! Schedules and webhooks, made, steered and removed by the client.

use abide_sdk::testing::TestServer;
use abide_sdk::wire::{
    ChangeSchedule, ChangeWebhook, NewSchedule, NewWebhook, Overlap, RotateSecret, RunFilter, RunStatus,
    RunSummary, WaitpointKind, WebhookEvent, WebhookStatus,
};
use abide_sdk::{Error, Json, ProblemKind, workflow};

use crate::scripted::{Answer, Scripted};

async fn server() -> TestServer {
    let server = crate::server().args(["--allow-address", "127.0.0.1"]).start().await.unwrap();
    server.client.deploy(&workflow("report").sleep("moment", "1m")).await.unwrap();
    server
}

fn is_gone<T>(result: Result<T, Error>) -> bool {
    result.is_err_and(|error| error.problem().is_some_and(|problem| problem.kind() == ProblemKind::NotFound))
}

#[tokio::test]
async fn a_schedule_is_a_wait_of_no_run_and_starts_runs_until_it_is_paused() {
    let server = server().await;
    let schedules = server.client.schedules();
    let made = schedules.create(&NewSchedule::new("hourly", "report").every("1h")).await.unwrap();
    let id = &made.id;
    let wait = server.client.waitpoints().find(&made.waitpoint_id.unwrap()).await.unwrap();
    assert_eq!(
        (wait.kind, wait.run_id, wait.schedule_id.as_ref()),
        (WaitpointKind::Schedule, None, Some(id))
    );

    server.advance("1h").await.unwrap();
    let last = schedules.find(id).await.unwrap().last_run_id.unwrap();
    assert_eq!(server.client.runs().find(&last).await.unwrap().definition.name, "report");

    let change = ChangeSchedule::default().overlap(Overlap::Allow);
    assert_eq!(schedules.change(id, &change).await.unwrap().overlap, Overlap::Allow);
    let once = server.client.keyed("once");
    let first = once.schedules().trigger(id).await.unwrap();
    assert_eq!(first.outcome, "started");
    assert_eq!(once.schedules().trigger(id).await.unwrap(), first);

    assert_eq!(schedules.pause(id).await.unwrap().next_at, None);
    assert!(schedules.unpause(id).await.unwrap().next_at.is_some());
    let all = schedules.list().all().await.unwrap();
    assert_eq!(all.iter().map(|schedule| schedule.name.as_str()).collect::<Vec<_>>(), ["hourly"]);
    schedules.remove(id).await.unwrap();
    assert!(is_gone(schedules.find(id).await));
}

#[tokio::test]
async fn a_list_is_read_by_its_pages_or_whole() {
    let server = server().await;
    for _ in 0..5 {
        server.client.start("report", Json::Null).await.unwrap();
    }
    let waiting = RunFilter::default().definition("report").status([RunStatus::Waiting]);
    let list = server.client.runs().list(&waiting).limit(2);
    let first = list.page().await.unwrap();
    let second = list.clone().cursor(first.next_cursor.unwrap()).page().await.unwrap();
    let ids = |runs: &[RunSummary]| runs.iter().map(|run| run.id.clone()).collect::<Vec<_>>();
    let pages = [ids(&first.data), ids(&second.data)].concat();
    let whole = ids(&list.all().await.unwrap());
    assert_eq!((pages.len(), whole.len()), (4, 5));
    assert_eq!(whole[..4], pages);
}

#[tokio::test]
async fn a_webhook_is_told_of_a_run_and_told_again_under_the_same_id() {
    let server = server().await;
    let webhooks = server.client.webhooks();
    let receiver = Scripted::new(&[Answer::Yes("")]).await;
    let told = || {
        let asked = receiver.asked.lock().unwrap();
        asked.iter().map(|asked| asked.headers["webhook-id"].clone()).collect::<Vec<_>>()
    };
    let url = format!("{}/", receiver.url);
    let made = webhooks.create(&NewWebhook::new(&url, [WebhookEvent::WorkflowCancelled])).await.unwrap();
    let id = &made.id;

    let run = server.client.start("report", Json::Null).await.unwrap();
    run.cancel(None).await.unwrap();
    while told().is_empty() {
        tokio::task::yield_now().await;
    }
    let delivery_id = told()[0].clone();
    let delivery = webhooks.find_delivery(id, &delivery_id).await.unwrap();
    assert_eq!((delivery.event, delivery.run_id.as_str()), (WebhookEvent::WorkflowCancelled, run.id()));
    let deliveries = webhooks.deliveries(id, None).all().await.unwrap();
    assert_eq!(deliveries.iter().map(|delivery| &delivery.id).collect::<Vec<_>>(), [&delivery_id]);

    // Until the first answer is on record, there is nothing to send again.
    while webhooks.replay(id, &delivery_id).await.unwrap().replayed == 0 {}
    while told().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(told()[1], delivery_id);
    assert_eq!(webhooks.replay_failed(id).await.unwrap().replayed, 0);

    let rotated = webhooks.rotate_secret(id, &RotateSecret::default().overlap_ms(1_000)).await.unwrap();
    assert_ne!(rotated.secret, made.secret);
    let disabled = webhooks.change(id, &ChangeWebhook::default().enabled(false)).await.unwrap();
    assert_eq!(disabled.status, WebhookStatus::Disabled);
    assert_eq!(webhooks.enable(id).await.unwrap().status, WebhookStatus::Enabled);
    let all = webhooks.list().all().await.unwrap();
    assert_eq!(all.iter().map(|webhook| webhook.url.as_str()).collect::<Vec<_>>(), [url.as_str()]);
    webhooks.remove(id).await.unwrap();
    assert!(is_gone(webhooks.find(id).await));
}
