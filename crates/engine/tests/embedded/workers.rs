use std::time::Duration;

use abide_core::command::{Command, TaskCompleted, TaskHeartbeat, TaskPaused};
use abide_core::definition::document::Workflow;
use abide_core::id::WorkspaceId;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_engine::{Error, Leased};
use serde_json::json;

use crate::host::Host;

const LEASE: Duration = Duration::from_secs(30);

fn completes(leased: &Leased) -> Command {
    let (at, delivery) = (leased.at, leased.task.delivery);
    Command::TaskCompleted(TaskCompleted { at, delivery, output: json!("done").into(), state_updates: None })
}

async fn poll(host: &Host) -> Leased {
    let mut tasks = host.engine.poll("w", &["remote"], 1, LEASE).await.unwrap();
    tasks.pop().unwrap()
}

#[tokio::test]
async fn a_worker_polls_for_a_task_and_completes_it() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let leased = poll(&host).await;
    assert_eq!((leased.task.run_id, leased.task.step_name.as_str()), (run, "work"));
    host.engine.command(run, completes(&leased)).await.unwrap();
    assert_eq!(host.engine.wait(run).await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_poller_that_came_first_gets_the_task_as_soon_as_it_is_there() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let engine = host.engine.clone();
    let polls = tokio::spawn(async move { engine.poll("w", &["other", "remote"], 5, LEASE).await });
    tokio::task::yield_now().await;
    let run = host.start("w").await;
    let tasks = polls.await.unwrap().unwrap();
    assert_eq!(tasks.iter().map(|leased| leased.task.run_id).collect::<Vec<_>>(), [run]);
}

#[tokio::test]
async fn r12_a_lost_worker_costs_no_attempt_and_is_fenced_off() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let lost = poll(&host).await;
    host.advance("31s");
    let found = poll(&host).await;
    assert_eq!((found.task.attempt, found.task.delivery), (1, lost.task.delivery + 1));
    let refused = host.engine.command(run, completes(&lost)).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(refusal) if refusal.code() == "STALE_LEASE"));
    host.engine.command(run, completes(&found)).await.unwrap();
    assert_eq!(host.engine.wait(run).await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_heartbeat_keeps_the_lease() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let leased = poll(&host).await;
    for _ in 0..3 {
        host.advance("20s");
        let (at, delivery) = (leased.at, leased.task.delivery);
        let beat = TaskHeartbeat { at, delivery, checkpoint: None, entries: Vec::new() };
        host.engine.command(run, Command::TaskHeartbeat(beat)).await.unwrap();
    }
    host.engine.command(run, completes(&leased)).await.unwrap();
    assert_eq!(host.engine.wait(run).await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_worker_pauses_with_a_checkpoint_and_another_goes_on() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let run = host.start("w").await;
    let first = poll(&host).await;
    let pause = TaskPaused {
        at: first.at,
        delivery: first.task.delivery,
        name: "rest".into(),
        duration: Millis(60_000),
        checkpoint: Some(json!({ "page": 3 }).into()),
    };
    host.engine.command(run, Command::TaskPaused(pause)).await.unwrap();
    assert_eq!(host.engine.get(run).await.unwrap().status, RunStatus::Running);
    host.advance("1m");
    let second = poll(&host).await;
    assert_eq!(second.task.checkpoint.as_ref().map(|value| value["page"].clone()), Some(json!(3)));
    assert_eq!(second.task.attempt, 1);
}

#[tokio::test]
async fn tasks_are_taken_from_each_definition_in_turn() {
    let host = Host::with(Workflow::new("busy").task("work", "remote")).await;
    host.engine.deploy(Workflow::new("quiet").task("work", "remote")).await.unwrap();
    for _ in 0..10 {
        host.start("busy").await;
    }
    let quiet = host.start("quiet").await;
    let first_two = host.engine.poll("w", &["remote"], 2, LEASE).await.unwrap();
    assert!(first_two.iter().any(|leased| leased.task.run_id == quiet));
}

#[tokio::test]
async fn what_a_poller_that_has_gone_would_have_been_given_goes_to_the_next() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    for patience in 0..200 {
        let run = host.start("w").await;
        // It gives up sooner or later between asking and being answered.
        tokio::select! {
            biased;
            () = async { for _ in 0..patience * 10 { tokio::task::yield_now().await } } => {}
            tasks = host.engine.poll("gone", &["remote"], 1, LEASE) => {
                host.engine.command(run, completes(&tasks.unwrap()[0])).await.unwrap();
                continue;
            }
        }
        let leased = poll(&host).await;
        assert_eq!((leased.task.run_id, leased.task.attempt), (run, 1));
        host.engine.command(run, completes(&leased)).await.unwrap();
    }
}

#[tokio::test]
async fn a_claim_takes_what_is_ready_and_does_not_wait() {
    let host = Host::with(Workflow::new("w").task("work", "remote")).await;
    let claim = async || {
        host.engine.claim_in(WorkspaceId::DEFAULT, "w", vec!["remote".into()], 10, LEASE).await.unwrap()
    };
    assert!(claim().await.is_empty());
    let run = host.start("w").await;
    assert_eq!(claim().await[0].task.run_id, run);
}
