//! Steps that wait for several things at once, on a real store.

use abide_core::definition::document::Workflow;
use abide_core::status::{RunStatus, WaitStatus};
use abide_core::waitpoint::{Kind, ListensFor};
use abide_engine::SendEvent;
use jiff::ToSpan;
use serde_json::json;

use crate::host::{Host, output};

fn race() -> Workflow {
    Workflow::new("race")
        .wait_any("outcome", |waits| {
            waits.wait_for_event("paid", "paid").signal("stop", "stop").sleep("late", 72.hours())
        })
        .goto("stop", "other")
        .task("next", "echo")
        .input(json!("next"))
        .next("end")
        .task("other", "echo")
        .input(json!("other"))
}

#[tokio::test]
async fn several_waits_outlive_a_crash_and_the_first_of_them_wins() {
    let host = Host::with(race()).await;
    let (stopped, late) = (host.start("race").await, host.start("race").await);
    let host = host.crash_after("1h").await;
    host.echo().await;
    host.engine.run(stopped).signal("stop", json!(1)).await.unwrap();
    assert_eq!(output(&host.engine.run(stopped).wait().await.unwrap()), json!({ "echo": "other" }));
    let host = host.crash_after("100h").await;
    host.echo().await;
    let ended = host.engine.run(late).wait().await.unwrap();
    assert_eq!((ended.status, output(&ended)), (RunStatus::Completed, json!({ "echo": "next" })));
}

#[tokio::test]
async fn what_was_sent_before_the_step_wins_over_an_instant_that_is_past() {
    let workflow = Workflow::new("race").task("first", "echo").wait_any("outcome", |waits| {
        waits.sleep_until("a", "2020-01-01T00:00:00Z").wait_for_event("b", "paid").wait_for_event("c", "paid")
    });
    let host = Host::new().await;
    host.engine.deploy(workflow).await.unwrap();
    let run = host.start("race").await;
    host.engine.default_workspace().events().send(SendEvent::new("paid").data(json!(7))).await.unwrap();
    host.echo().await;
    let ended = host.engine.run(run).wait().await.unwrap();
    assert_eq!(output(&ended), json!({ "first": "b", "results": { "b": 7 } }));
}

#[tokio::test]
async fn after_a_long_absence_the_earliest_of_several_timers_wins() {
    let workflow = Workflow::new("race")
        .wait_any("outcome", |waits| waits.sleep("a", 3.hours()).sleep("b", 1.hour()).sleep("c", 2.hours()));
    let host = Host::with(workflow.timeout("4h")).await;
    let run = host.start("race").await;
    let host = host.crash_after("30h").await;
    host.look().await;
    let ended = host.engine.run(run).wait().await.unwrap();
    assert_eq!(output(&ended), json!({ "first": "b", "results": { "b": null } }));
}

#[tokio::test]
async fn a_child_that_loses_is_cancelled_and_none_of_the_waits_is_left() {
    let workflow = Workflow::new("race")
        .wait_any("outcome", |waits| waits.child("child", "sleeper").signal("stop", "stop"));
    let host = Host::with(workflow).await;
    host.engine.deploy(Workflow::new("sleeper").sleep("long", 30.days())).await.unwrap();
    let run = host.start("race").await;
    let waiting = host.engine.run(run).get().await.unwrap();
    let child = waiting.open_waitpoints().find_map(|wait| {
        if let ListensFor::Child { run_id } = wait.listens_for { Some(run_id) } else { None }
    });
    let child = child.unwrap();
    assert_eq!(host.status(child).await, RunStatus::Waiting);
    host.engine.run(run).signal("stop", json!(1)).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
    host.look().await;
    assert_eq!(host.status(child).await, RunStatus::Cancelled);
    let ended = host.engine.run(run).get().await.unwrap();
    assert_eq!(ended.open_waitpoints().count(), 0);
    let lost: Vec<Kind> = ended
        .waitpoints()
        .filter(|wait| wait.status == WaitStatus::Cancelled)
        .map(|wait| wait.kind)
        .collect();
    assert_eq!(lost, [Kind::Child]);
}

#[tokio::test]
async fn one_event_wakes_all_of_several_waits_that_are_for_it() {
    let workflow = Workflow::new("all").wait_all("outcome", |waits| {
        waits.wait_for_event("a", "paid").wait_for_event("b", "paid").wait_for_event("c", "other")
    });
    let host = Host::with(workflow).await;
    let run = host.start("all").await;
    host.engine.default_workspace().events().send(SendEvent::new("paid").data(json!(1))).await.unwrap();
    assert_eq!(host.status(run).await, RunStatus::Waiting);
    host.engine.default_workspace().events().send(SendEvent::new("other").data(json!(2))).await.unwrap();
    let ended = host.engine.run(run).wait().await.unwrap();
    assert_eq!(output(&ended), json!({ "first": "a", "results": { "a": 1, "b": 1, "c": 2 } }));
}
