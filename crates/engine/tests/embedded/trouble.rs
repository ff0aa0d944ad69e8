//! A disk that cannot be written to: nothing is acknowledged, nothing is lost, and all goes on when it ends.

use std::time::Duration;

use abide_core::command::{Command, TaskCompleted};
use abide_core::definition::document::Workflow;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_engine::{Engine, Error, Options, Poll, SettableClock, TaskResult};
use abide_store::sqlite::Sqlite;
use jiff::ToSpan;
use serde_json::json;
use tokio::sync::mpsc;

use crate::host::output;
use crate::watched::Watch;

const LEASE: Duration = Duration::from_secs(30);

async fn engine() -> (Engine, Watch) {
    engine_with(Options::default()).await
}

/// An engine whose time is what a test says.
async fn engine_by_clock() -> (Engine, Watch, SettableClock) {
    let clock = SettableClock::new("2026-03-01T00:00:00Z".parse().unwrap());
    let (engine, watch) = engine_with(Options { clock: Some(clock.clone()), ..Options::default() }).await;
    (engine, watch, clock)
}

async fn engine_with(options: Options) -> (Engine, Watch) {
    let watch = Watch::default();
    let store = watch.store(Box::new(Sqlite::open_in_memory().unwrap()));
    let engine = Engine::open_with(store, options).await.unwrap();
    let echo = async |task: abide_core::task::Task| TaskResult::complete(json!({ "echo": task.input }));
    engine.handler("echo", echo).await.unwrap();
    (engine, watch)
}

fn is_the_trouble(error: &Error) -> bool {
    matches!(error, Error::Store(_)) && error.to_string().contains("the disk is full")
}

#[tokio::test]
async fn a_request_that_cannot_be_stored_is_refused_with_the_reason_and_works_afterwards() {
    let (engine, watch) = engine().await;
    engine.deploy(Workflow::new("w").task("a", "echo")).await.unwrap();
    watch.fill_disk(true);
    let refused = engine.start("w", json!({})).await.unwrap_err();
    assert!(is_the_trouble(&refused), "{refused}");
    watch.fill_disk(false);
    let run = engine.start("w", json!({})).await.unwrap();
    assert_eq!(engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn what_was_refused_is_not_there() {
    let (engine, watch) = engine().await;
    engine.deploy(Workflow::new("w").external_event("go", "go").task("a", "echo")).await.unwrap();
    let run = engine.start("w", json!({})).await.unwrap();
    watch.fill_disk(true);
    assert!(is_the_trouble(&engine.run(run).signal("go", json!(1)).await.unwrap_err()));
    let before = engine.run(run).get().await.unwrap();
    watch.fill_disk(false);
    assert_eq!((before.status, before.mailbox().count()), (RunStatus::Waiting, 0));
    engine.run(run).signal("go", json!(2)).await.unwrap();
    let after = engine.run(run).wait().await.unwrap();
    assert_eq!(after.status, RunStatus::Completed);
    let run = engine.run(run).get().await.unwrap();
    assert_eq!(*run.state["go"], json!(2));
}

#[tokio::test]
async fn a_timer_that_comes_due_in_the_middle_of_it_fires_afterwards() {
    let (engine, watch, clock) = engine_by_clock().await;
    engine.deploy(Workflow::new("nap").sleep("nap", 1.hour())).await.unwrap();
    let run = engine.start("nap", json!({})).await.unwrap();
    watch.fill_disk(true);
    clock.advance(Millis::parse("1h").unwrap());
    // The timer is due, and is tried in the same round.
    assert!(is_the_trouble(&engine.start("nap", json!({})).await.unwrap_err()));
    watch.fill_disk(false);
    engine.clock().settled().await.unwrap();
    assert_eq!(engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn what_a_handler_did_is_reported_when_it_can_be_written() {
    let (engine, watch) = engine().await;
    let (began, mut beginnings) = mpsc::unbounded_channel();
    let (go_on, gates) = tokio::sync::watch::channel(false);
    let work = move |_| {
        let (began, mut gates) = (began.clone(), gates.clone());
        async move {
            began.send(()).unwrap();
            gates.wait_for(|open| *open).await.unwrap();
            TaskResult::complete(json!("done"))
        }
    };
    engine.handler("work", work).await.unwrap();
    engine.deploy(Workflow::new("w").task("a", "work")).await.unwrap();
    let run = engine.start("w", json!({})).await.unwrap();
    beginnings.recv().await.unwrap();
    watch.fill_disk(true);
    go_on.send(true).unwrap();
    while engine.start("w", json!({})).await.is_ok() {}
    watch.fill_disk(false);
    let ended = engine.run(run).wait().await.unwrap();
    assert_eq!(output(&ended), json!("done"));
    assert!(beginnings.try_recv().is_err(), "it was done once");
}

#[tokio::test]
async fn a_task_that_could_not_be_leased_is_there_for_the_next_poll() {
    let (engine, watch) = engine().await;
    engine.deploy(Workflow::new("w").task("a", "remote")).await.unwrap();
    let run = engine.start("w", json!({})).await.unwrap();
    watch.fill_disk(true);
    let refused =
        engine.default_workspace().tasks().poll(Poll::new("w", ["remote"], LEASE)).await.unwrap_err();
    assert!(is_the_trouble(&refused), "{refused}");
    watch.fill_disk(false);
    let leased = engine
        .default_workspace()
        .tasks()
        .poll(Poll::new("w", ["remote"], LEASE))
        .await
        .unwrap()
        .pop()
        .unwrap();
    let (at, lease_epoch) = (leased.at, leased.task.lease_epoch);
    let done = TaskCompleted { at, lease_epoch, output: json!("done").into(), state_updates: None };
    engine.run(run).command(Command::TaskCompleted(done)).await.unwrap();
    assert_eq!(engine.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_lease_that_ends_in_the_middle_of_it_is_lost_afterwards() {
    let (engine, watch, clock) = engine_by_clock().await;
    engine.deploy(Workflow::new("w").task("a", "remote")).await.unwrap();
    engine.start("w", json!({})).await.unwrap();
    let first = engine
        .default_workspace()
        .tasks()
        .poll(Poll::new("w", ["remote"], LEASE))
        .await
        .unwrap()
        .pop()
        .unwrap();
    watch.fill_disk(true);
    clock.set(first.leased_until + Duration::from_secs(1));
    assert!(is_the_trouble(&engine.start("w", json!({})).await.unwrap_err()));
    watch.fill_disk(false);
    engine.clock().settled().await.unwrap();
    let second = engine
        .default_workspace()
        .tasks()
        .poll(Poll::new("w", ["remote"], LEASE))
        .await
        .unwrap()
        .pop()
        .unwrap();
    assert_eq!(second.task.attempt, 1, "a lost lease is not an attempt");
    assert!(second.task.lease_epoch > first.task.lease_epoch);
}

#[tokio::test]
async fn a_notify_step_in_the_middle_of_it_is_done_afterwards() {
    let (engine, watch) = engine().await;
    engine.deploy(Workflow::new("waits").wait_for_event("w", "there")).await.unwrap();
    engine.deploy(Workflow::new("says").task("a", "gate").notify("n", "there")).await.unwrap();
    let (go_on, gates) = tokio::sync::watch::channel(false);
    let gate = move |_| {
        let mut gates = gates.clone();
        async move {
            gates.wait_for(|open| *open).await.unwrap();
            TaskResult::complete(json!(null))
        }
    };
    engine.handler("gate", gate).await.unwrap();
    let waits = engine.start("waits", json!({})).await.unwrap();
    engine.start("says", json!({})).await.unwrap();
    watch.fill_disk(true);
    go_on.send(true).unwrap();
    while engine.start("waits", json!({})).await.is_ok() {}
    watch.fill_disk(false);
    assert_eq!(engine.run(waits).wait().await.unwrap().status, RunStatus::Completed);
}
