//! One event and all who wait for it: ten branches of every run. Small by default; `ABIDE_HERD_RUNS=10000` is the full size, and
//! `ABIDE_HERD_P99_MS=100` also judges how long a probe had to wait beside it.

use std::time::{Duration, Instant};

use abide_core::definition::document::Workflow;
use abide_core::history::Change;
use abide_core::status::{RunStatus, WaitStatus};
use abide_engine::SendEvent;
use serde_json::json;
use tokio::sync::watch;

use crate::host::Host;

const BRANCHES: usize = 10;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

fn branches() -> Workflow {
    (0..BRANCHES).fold(Workflow::new("branches"), |workflow, number| {
        workflow.wait_for_event(format!("branch-{number}"), "x").at_once()
    })
}

/// Upstash: every waiter of an event is notified. F13: of several branches of one run only one was.
#[tokio::test(flavor = "multi_thread")]
async fn r05b_one_event_wakes_every_branch_of_every_run_once_and_holds_nobody_up() {
    let host = Host::with(branches()).await;
    host.engine.deploy(Workflow::new("probe").task("echo", "echo")).await.unwrap();
    let count = usize::try_from(setting("ABIDE_HERD_RUNS").unwrap_or(30)).unwrap();
    let runs = host.start_many("branches", count).await;
    let (over, is_over) = watch::channel(false);
    let probe = tokio::spawn({
        let engine = host.engine.clone();
        async move {
            let mut took = Vec::new();
            while !*is_over.borrow() {
                let begun = Instant::now();
                engine.start("probe", json!({})).await.unwrap();
                took.push(begun.elapsed());
            }
            took
        }
    });
    let begun = Instant::now();
    let event = SendEvent::new("x").data(json!({ "n": 1 }));
    let sent = host.engine.default_workspace().events().send(event).await.unwrap();
    for run in &runs {
        assert_eq!(host.engine.run(*run).wait().await.unwrap().status, RunStatus::Completed);
    }
    let all = begun.elapsed();
    over.send_replace(true);
    let mut took: Vec<Duration> = probe.await.unwrap();
    took.sort();
    let p99 = took[(took.len() - 1) * 99 / 100];
    println!("{count} runs, {} waits woken in {all:?}; {} probes, p99 {p99:?}", count * BRANCHES, took.len());
    for run in runs {
        let seen = host.engine.run(run).get().await.unwrap();
        let ended = seen.waitpoints().filter(|wait| {
            wait.status == WaitStatus::Completed && wait.event.map(|event| event.id) == sent.id
        });
        assert_eq!(ended.count(), BRANCHES);
        let stored = host.engine.run(run).history().await.unwrap().unwrap();
        let matched =
            stored.history.iter().filter(|record| matches!(record.change, Change::EventMatched { .. }));
        assert_eq!(matched.count(), BRANCHES, "none twice");
    }
    if let Some(most) = setting("ABIDE_HERD_P99_MS") {
        assert!(p99 <= Duration::from_millis(most), "a probe waited {p99:?}");
    }
}
