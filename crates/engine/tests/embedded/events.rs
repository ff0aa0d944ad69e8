use abide_core::definition::document::{FanOut, Workflow};
use abide_core::status::RunStatus;
use abide_engine::{Error, SendEvent, StartRun};
use jiff::ToSpan;
use serde_json::{Value, json};

use crate::host::{Host, output};

fn event(event_id: &str, data: Value) -> SendEvent {
    SendEvent::new(event_id.to_owned()).data(data)
}

fn waits_for(event_id: &str) -> Workflow {
    Workflow::new("waits").wait_for_event("wait", event_id)
}

#[tokio::test]
async fn r05_an_event_after_the_wait_wakes_it() {
    let host = Host::with(waits_for("paid")).await;
    let run = host.start("waits").await;
    let notified =
        host.engine.default_workspace().events().send(event("paid", json!({ "n": 1 }))).await.unwrap();
    assert_eq!(notified.waiters.len(), 1);
    assert_eq!(output(&host.engine.run(run).wait().await.unwrap()), json!({ "n": 1 }));
}

#[tokio::test]
async fn r05_an_event_between_start_and_wait_is_seen_by_the_wait() {
    let workflow = Workflow::new("waits").sleep("nap", 1.hour()).wait_for_event("wait", "paid");
    let host = Host::with(workflow).await;
    let run = host.start("waits").await;
    assert!(
        host.engine
            .default_workspace()
            .events()
            .send(event("paid", json!({ "n": 2 })))
            .await
            .unwrap()
            .waiters
            .is_empty()
    );
    assert_eq!(output(&host.end_of(run).await), json!({ "n": 2 }));
}

#[tokio::test]
async fn r05_an_event_from_before_the_run_is_not_seen_unless_lookback_says_so() {
    let host = Host::with(waits_for("paid")).await;
    host.engine.deploy(waits_for("paid").version("2").lookback(1.hour())).await.unwrap();
    host.engine.default_workspace().events().send(event("paid", json!({ "n": 3 }))).await.unwrap();
    host.advance("1m");
    let looks_back = host.start("waits").await;
    let new = StartRun::new("waits").version("1".to_owned());
    let does_not = host.engine.default_workspace().start(new).await.unwrap();
    assert_eq!(output(&host.engine.run(looks_back).wait().await.unwrap()), json!({ "n": 3 }));
    assert_eq!(host.engine.run(does_not).get().await.unwrap().status, RunStatus::Waiting);
}

#[tokio::test]
async fn only_events_that_match_wake_a_wait() {
    let workflow = waits_for("paid").matching("event.order == input.order");
    let host = Host::with(workflow).await;
    let run = host.engine.start("waits", json!({ "order": 7 })).await.unwrap();
    assert!(
        host.engine
            .default_workspace()
            .events()
            .send(event("paid", json!({ "order": 8 })))
            .await
            .unwrap()
            .waiters
            .is_empty()
    );
    assert!(
        host.engine
            .default_workspace()
            .events()
            .send(event("paid", json!(null)))
            .await
            .unwrap()
            .waiters
            .is_empty()
    );
    assert_eq!(
        host.engine
            .default_workspace()
            .events()
            .send(event("paid", json!({ "order": 7 })))
            .await
            .unwrap()
            .waiters
            .len(),
        1
    );
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_dry_run_says_whom_it_would_wake_and_wakes_nobody() {
    let host = Host::with(waits_for("paid")).await;
    let run = host.start("waits").await;
    let dry = event("paid", json!({})).dry_run(true);
    let would = host.engine.default_workspace().events().send(dry).await.unwrap();
    assert_eq!((would.id, would.waiters.len()), (None, 1));
    assert_eq!(host.engine.run(run).get().await.unwrap().status, RunStatus::Waiting);
    assert_eq!(
        host.engine.default_workspace().events().send(event("paid", json!({}))).await.unwrap().waiters,
        would.waiters
    );
}

#[tokio::test]
async fn an_event_for_one_wakes_the_one_that_has_waited_longest() {
    let host = Host::with(waits_for("job")).await;
    let (first, second) = (host.start("waits").await, host.start("waits").await);
    let for_one = event("job", json!({})).fan_out(FanOut::One);
    assert_eq!(host.engine.default_workspace().events().send(for_one).await.unwrap().waiters.len(), 1);
    assert_eq!(host.engine.run(first).wait().await.unwrap().status, RunStatus::Completed);
    assert_eq!(host.engine.run(second).get().await.unwrap().status, RunStatus::Waiting);
}

#[tokio::test]
async fn a_thousand_waiters_are_woken_by_one_event_in_a_few_commits() {
    let host = Host::with(waits_for("go")).await;
    let runs = host.start_many("waits", 1_000).await;
    let before = host.engine.stats().await.unwrap().commits;
    let notified = host.engine.default_workspace().events().send(event("go", json!({}))).await.unwrap();
    assert!(notified.delivering && notified.waiters.len() >= 100, "{}", notified.waiters.len());
    for run in runs {
        assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
    }
    assert!(host.engine.stats().await.unwrap().commits <= before + 8);
}

#[tokio::test]
async fn r14_the_same_key_gives_the_same_answer_and_another_body_is_refused() {
    let host = Host::with(waits_for("paid")).await;
    let run = host.start("waits").await;
    let keyed = |n: u64| event("paid", json!({ "n": n })).idempotency_key("k".to_owned());
    let first = host.engine.default_workspace().events().send(keyed(1)).await.unwrap();
    assert_eq!(host.engine.default_workspace().events().send(keyed(1)).await.unwrap(), first);
    let refused = host.engine.default_workspace().events().send(keyed(2)).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(refusal) if refusal.code() == "IDEMPOTENCY_KEY_REUSED"));
    assert_eq!(output(&host.engine.run(run).wait().await.unwrap()), json!({ "n": 1 }));
}

#[tokio::test]
async fn a_notify_step_wakes_another_run() {
    let host = Host::with(waits_for("made")).await;
    host.engine
        .deploy(Workflow::new("makes").notify("tell", "made").data(json!({ "by": "a step" })))
        .await
        .unwrap();
    let (waits, makes) = (host.start("waits").await, host.start("makes").await);
    assert_eq!(host.engine.run(makes).wait().await.unwrap().status, RunStatus::Completed);
    assert_eq!(output(&host.engine.run(waits).wait().await.unwrap()), json!({ "by": "a step" }));
}

#[tokio::test]
async fn an_event_is_not_missed_because_the_clock_went_back() {
    let host = Host::with(Workflow::new("waits").wait_for_event("wait", "paid")).await;
    let run = host.start("waits").await;
    host.clock.set(abide_core::time::Millis(500).before(host.now()));
    let event = SendEvent::new("paid");
    assert_eq!(host.engine.default_workspace().events().send(event).await.unwrap().waiters.len(), 1);
    assert_eq!(host.status(run).await, RunStatus::Completed);
}

/// Of more events than one page of one instant, those after the page were taken for gone, and reached nobody.
#[tokio::test]
async fn r04_every_event_of_one_instant_reaches_whom_it_is_for_however_many_there_are() {
    const ORDERS: usize = 300;
    let host = Host::with(waits_for("paid").matching("event.order == input.order")).await;
    let mut runs = Vec::new();
    for order in 0..ORDERS {
        runs.push(host.engine.start("waits", json!({ "order": order })).await.unwrap());
    }
    // Those who wait are more than are compared with an event at once: the rest of each is for later rounds.
    let mut sent = tokio::task::JoinSet::new();
    for order in 0..ORDERS {
        let engine = host.engine.clone();
        let paid = event("paid", json!({ "order": order }));
        sent.spawn(async move { engine.default_workspace().events().send(paid).await });
    }
    sent.join_all().await.into_iter().for_each(|sent| drop(sent.unwrap()));
    host.engine.clock().settled().await.unwrap();
    for run in runs {
        assert_eq!(host.status(run).await, RunStatus::Completed);
    }
}
