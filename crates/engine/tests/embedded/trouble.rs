//! A store that cannot be read or written for a moment. What was asked is told so; what the engine does by itself
//! is done when the store is back.

use std::time::Duration;

use abide_core::command::{Command, TaskCompleted};
use abide_core::definition::document::Workflow;
use abide_core::status::RunStatus;
use abide_engine::Error;
use serde_json::json;

use crate::host::Host;
use crate::watched::Watch;

const LEASE: Duration = Duration::from_secs(30);

async fn watched(workflow: Workflow) -> (Host, Watch) {
    let watch = Watch::default();
    let host = Host::with(workflow).await.restart_on(&watch, "0s").await;
    (host, watch)
}

fn nap(length: &str) -> Workflow {
    Workflow::new("nap").sleep("nap", length).task("after", "echo")
}

#[tokio::test]
async fn r11_a_start_that_could_not_be_committed_is_told_so_and_leaves_no_trace() {
    let (host, watch) = watched(nap("1h")).await;
    watch.fail_commits(1);
    assert!(matches!(host.engine.start("nap", json!({})).await, Err(Error::Store(_))));
    host.pass("1h").await;
    let stats = host.engine.stats().await.unwrap();
    assert_eq!((stats.records, stats.lateness_ms.count(), stats.runs_in_memory), (0, 0, 0));
}

#[tokio::test]
async fn a_command_that_could_not_be_committed_can_be_sent_again() {
    let (host, watch) = watched(Workflow::new("waits").signal("wait", "go")).await;
    let run = host.start("waits").await;
    watch.fail_commits(1);
    assert!(matches!(host.engine.signal(run, "go", json!(1)).await, Err(Error::Store(_))));
    assert_eq!(host.status(run).await, RunStatus::Waiting);
    host.engine.signal(run, "go", json!(2)).await.unwrap();
    assert_eq!(host.status(run).await, RunStatus::Completed);
}

#[tokio::test]
async fn a_timer_whose_commit_failed_fires_when_the_store_is_back() {
    let (host, watch) = watched(nap("1h")).await;
    host.echo().await;
    let run = host.start("nap").await;
    watch.fail_commits(3);
    host.pass("1h").await;
    assert_eq!(host.engine.wait(run).await.unwrap().status, RunStatus::Completed);
    assert_eq!(host.engine.stats().await.unwrap().lateness_ms.count(), 1);
}

#[tokio::test]
async fn a_task_of_a_poll_whose_commit_failed_goes_to_the_next_poll() {
    let (host, watch) = watched(Workflow::new("work").task("work", "remote")).await;
    let run = host.start("work").await;
    watch.fail_commits(1);
    assert!(matches!(host.engine.poll("w", &["remote"], 1, LEASE).await, Err(Error::Store(_))));
    host.pass("31s").await;
    let leased = host.engine.poll("w", &["remote"], 1, LEASE).await.unwrap().pop().unwrap();
    let (at, delivery) = (leased.at, leased.task.delivery);
    let done = TaskCompleted { at, delivery, output: json!(1).into(), state_updates: None };
    host.engine.command(run, Command::TaskCompleted(done)).await.unwrap();
}
