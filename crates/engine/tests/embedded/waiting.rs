use abide_core::command::{Command, Steer, Steering};
use abide_core::definition::document::Workflow;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use jiff::ToSpan;
use serde_json::json;

use crate::host::{Host, output};

#[tokio::test]
async fn a_thirty_day_workflow_runs_in_no_time_at_all() {
    let mut campaign = Workflow::new("drip");
    for mail in 0..10 {
        campaign = campaign.task(format!("mail-{mail}"), "echo").sleep(format!("rest-{mail}"), 3.days());
    }
    let host = Host::with(campaign).await;
    let (begun, run) = (host.now(), host.start("drip").await);
    let ended = host.end_of(run).await;
    assert_eq!(ended.status, RunStatus::Completed);
    assert_eq!(Millis::between(begun, host.now()), Millis::from_days(30));
}

#[tokio::test]
async fn a_sleep_does_not_end_a_millisecond_early_and_ends_on_time() {
    let host = Host::with(Workflow::new("nap").sleep("nap", 30.seconds())).await;
    let run = host.start("nap").await;
    host.advance("29s 999ms");
    host.engine.run(run).signal("hello", json!(null)).await.unwrap();
    assert_eq!(host.engine.run(run).get().await.unwrap().status, RunStatus::Waiting);
    host.advance("1ms");
    assert_eq!(host.end_of(run).await.status, RunStatus::Completed);
    assert_eq!(host.engine.stats().await.unwrap().lateness_ms.max(), 0);
}

#[tokio::test]
async fn when_the_clock_goes_back_a_sleep_waits_longer() {
    let host = Host::with(Workflow::new("nap").sleep("nap", 30.seconds())).await;
    let run = host.start("nap").await;
    host.clock.set(Millis(3_600_000).before(host.now()));
    host.advance("31s");
    host.engine.run(run).signal("hello", json!(null)).await.unwrap();
    assert_eq!(host.engine.run(run).get().await.unwrap().status, RunStatus::Waiting);
    assert_eq!(host.end_of(run).await.status, RunStatus::Completed);
}

#[tokio::test]
async fn a_wait_is_moved_and_woken_like_any_other() {
    let host = Host::with(Workflow::new("nap").sleep("nap", 30.days())).await;
    let (first, second) = (host.start("nap").await, host.start("nap").await);
    let resume_at = Millis(1_000).after(host.now());
    let reschedule = Command::Steer(Steer::new(1, Steering::Reschedule { resume_at }));
    host.engine.run(first).command(reschedule).await.unwrap();
    let wake = Command::Steer(Steer::new(1, Steering::Complete { payload: None }));
    host.engine.run(second).command(wake).await.unwrap();
    let begun = host.now();
    assert_eq!(host.engine.run(second).wait().await.unwrap().status, RunStatus::Completed);
    assert_eq!(host.end_of(first).await.status, RunStatus::Completed);
    assert_eq!(Millis::between(begun, host.now()), Millis(1_000));
}

#[tokio::test]
async fn a_run_that_is_parked_meets_its_deadline() {
    let workflow = Workflow::new("parked").run_timeout(1.hour()).signal("never", "never");
    let host = Host::with(workflow).await;
    let run = host.start("parked").await;
    let ended = host.end_of(run).await;
    assert_eq!(ended.status, RunStatus::Failed);
    assert_eq!(&*ended.error.unwrap().code, "RUN_TIMED_OUT");
}

#[tokio::test]
async fn a_thousand_sleepers_due_at_one_instant_all_wake_once() {
    let host = Host::with(Workflow::new("nap").sleep("nap", 1.hour()).task("after", "echo")).await;
    let runs = host.start_many("nap", 1_000).await;
    for run in runs {
        let ended = host.end_of(run).await;
        assert_eq!(ended.status, RunStatus::Completed);
        assert_eq!(output(&ended), json!({ "echo": {} }));
    }
    assert_eq!(host.engine.stats().await.unwrap().lateness_ms.count(), 1_000);
}

#[tokio::test]
async fn a_delayed_start_waits_and_can_be_cancelled() {
    let host = Host::with(Workflow::new("later").task("work", "echo")).await;
    let new = abide_engine::StartRun::new("later").run_at(Millis::from_days(2).after(host.now()));
    let (kept, cancelled) = (
        host.engine.default_workspace().start(new.clone()).await.unwrap(),
        host.engine.default_workspace().start(new).await.unwrap(),
    );
    assert_eq!(host.engine.run(kept).get().await.unwrap().status, RunStatus::Pending);
    host.engine.run(cancelled).command(Command::Cancel { reason: None }).await.unwrap();
    assert_eq!(host.end_of(kept).await.status, RunStatus::Completed);
    assert_eq!(host.engine.run(cancelled).wait().await.unwrap().status, RunStatus::Cancelled);
}

#[tokio::test]
async fn time_that_is_let_pass_stops_at_every_timer_on_the_way() {
    let host = Host::with(Workflow::new("nap").sleep("nap", 1.hour())).await;
    host.engine.deploy(Workflow::new("slow").task("work", "remote").timeout("5h")).await.unwrap();
    host.start("slow").await;
    host.engine
        .default_workspace()
        .tasks()
        .poll(abide_engine::Poll::new("w", ["remote"], std::time::Duration::from_secs(100_000)))
        .await
        .unwrap();
    let (begun, run) = (host.now(), host.start("nap").await);
    assert_eq!(host.end_of(run).await.status, RunStatus::Completed);
    assert_eq!(Millis::between(begun, host.now()), Millis(3_600_000));
}
