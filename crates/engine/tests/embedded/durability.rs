use abide_core::definition::document::Workflow;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_engine::Engine;
use jiff::ToSpan;
use serde_json::json;

use crate::host::{Host, Place, output};

#[tokio::test]
async fn a_sleeping_run_goes_on_after_a_restart() {
    let host = Host::with(Workflow::new("nap").sleep("nap", 30.days()).task("work", "echo")).await;
    let run = host.start("nap").await;
    let host = host.restart().await;
    host.echo().await;
    assert_eq!(output(&host.end_of(run).await), json!({ "echo": {} }));
}

#[tokio::test]
async fn r04_what_came_due_while_nobody_ran_fires_at_once() {
    let host = Host::with(Workflow::new("nap").sleep("nap", "{{ input.for }}").task("work", "echo")).await;
    let mut runs = Vec::new();
    for length in ["3h", "1h", "2h"] {
        runs.push(host.engine.start("nap", json!({ "for": length })).await.unwrap());
    }
    let host = host.restart_after("10d").await;
    host.echo().await;
    for run in runs {
        assert_eq!(host.end_of(run).await.status, RunStatus::Completed);
    }
    let lateness = host.engine.stats().await.unwrap().lateness_ms;
    let hours = |count: u64| count * 3_600_000;
    assert_eq!((lateness.count(), lateness.max()), (3, hours(10 * 24 - 1)));
}

#[tokio::test]
async fn a_task_that_was_at_work_is_done_again_after_a_restart_as_the_same_attempt() {
    let host = Host::with(Workflow::new("w").task("work", "late")).await;
    host.engine.handler("late", async |_| std::future::pending().await).await.unwrap();
    let run = host.start("w").await;
    let host = host.restart().await;
    let attempt = async |task: abide_core::task::Task| json!(task.attempt).into();
    host.engine.handler("late", attempt).await.unwrap();
    assert_eq!(output(&host.engine.run(run).wait().await.unwrap()), json!(1));
}

#[tokio::test]
async fn what_the_file_holds_is_what_replaying_it_gives() {
    let host =
        Host::with(Workflow::new("w").task("a", "echo").sleep("nap", 1.hour()).task("b", "echo")).await;
    let run = host.start("w").await;
    host.end_of(run).await;
    let live = host.engine.run(run).get().await.unwrap();
    let definition = std::sync::Arc::clone(&live.definition);
    host.engine.clone().shut_down().await.unwrap();
    let stored = host.place.open().load(run).unwrap().unwrap();
    let replayed = Run::replay(definition, &stored.history).unwrap();
    assert_eq!(replayed.snapshot(), live.snapshot());
}

#[tokio::test]
async fn a_second_engine_on_the_same_file_is_refused() {
    let host = Host::on_a_file().await;
    let Place::File(directory) = &host.place else { panic!("it is a file") };
    let refused = Engine::open(directory.path().join("abide.db")).await.unwrap_err();
    assert!(refused.to_string().contains("in use by another process"), "{refused}");
}

#[tokio::test]
async fn an_engine_that_was_shut_down_leaves_no_log_to_be_folded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("abide.db");
    for _ in 0..20 {
        let engine = Engine::open(&path).await.unwrap();
        engine.deploy(Workflow::new("nap").sleep("nap", 30.days())).await.unwrap();
        engine.start("nap", json!({})).await.unwrap();
        engine.shut_down().await.unwrap();
        assert!(!path.with_file_name("abide.db-wal").exists());
    }
}
