//! Very many timers and waiters at one time.

use std::collections::HashSet;

use abide_core::definition::document::{OnTimeout, Workflow};
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_engine::{SendEvent, TaskResult};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::host::Host;
use crate::watched::Watch;

const STORM: usize = 5_000;

/// All numbers below `STORM`, in an order that is not theirs.
fn shuffled() -> impl Iterator<Item = usize> {
    (0..STORM).map(|index| index * 3_571 % STORM)
}

#[tokio::test]
async fn r04_overdue_timers_fire_in_due_order_and_a_request_waits_for_one_commit_of_them() {
    let host = Host::with(Workflow::new("nap").sleep_until("nap", "{{ input.due }}")).await;
    host.engine.deploy(Workflow::new("probe").signal("wait", "go")).await.unwrap();
    let begun = host.now().as_millisecond() + 60_000;
    let naps = shuffled().map(|index| json!({ "due": begun + index as i64 }));
    let mut sleepers = host.start_each("nap", naps).await;
    sleepers.sort_by_key(|(_, input)| input["due"].as_i64());

    let watch = Watch::default();
    watch.hold();
    let host = host.restart_on(&watch, "30d").await;
    let mut fired: Vec<RunId> = Vec::new();
    let mut asked: Option<JoinHandle<RunId>> = None;
    watch.wait_for_commit();
    while fired.len() < STORM {
        let engine = host.engine.clone();
        let asks = tokio::spawn(async move { engine.start("probe", json!({})).await.unwrap() });
        tokio::task::yield_now().await;
        // Requests are taken in order: once this is answered, the other has been taken.
        host.engine.stats().await.unwrap();
        watch.let_one_through();
        watch.wait_for_commit();
        let mut commit = watch.commits().pop().unwrap();
        if let Some(asked) = asked.replace(asks) {
            let asked = asked.await.unwrap();
            let rode = commit.iter().position(|run| *run == asked);
            commit.remove(rode.expect("it was asked during the last commit"));
        }
        assert!(commit.len() <= STORM / 5, "{} timers in one commit", commit.len());
        fired.extend(commit);
    }
    watch.let_all_through();
    assert!(fired.iter().eq(sleepers.iter().map(|(run, _)| run)));
    assert_eq!(host.engine.stats().await.unwrap().lateness_ms.count(), STORM as u64);
}

#[tokio::test]
async fn those_who_are_due_are_woken_before_what_handlers_report_is_written() {
    const HERD: usize = 4_000;
    let host = Host::with(Workflow::new("nap").sleep("nap", "1h").task("woke", "woke")).await;
    let sleepers = host.start_each("nap", vec![json!({}); HERD]).await;
    let watch = Watch::default();
    watch.hold();
    let host = host.restart_on(&watch, "2h").await;
    host.engine.handler("woke", async |_| TaskResult::complete(Value::Null)).await.unwrap();
    watch.let_all_through();
    for (run, _) in &sleepers {
        assert_eq!(host.engine.run(*run).wait().await.unwrap().status, RunStatus::Completed);
    }
    let mut awake = HashSet::new();
    let (mut commits, mut reports) = (0, 0);
    for run in watch.commits().into_iter().inspect(|_| commits += 1).flatten() {
        if !awake.insert(run) {
            reports += 1;
        }
        if awake.len() == HERD {
            break;
        }
    }
    assert!(reports <= 64 * commits, "{reports} reports in {commits} commits before the last one woke");
}

#[tokio::test]
async fn timers_beyond_those_in_memory_fire_in_their_order_and_on_time() {
    /// More than the alarm clock loads at a time, as items of a few runs.
    const ITEMS: usize = 7_000;
    const RUNS: usize = 3;
    let workflow = Workflow::new("many").map("each", "input.naps", |each| each.sleep("nap", "{{ item }}"));
    let host = Host::with(workflow).await;
    host.engine.deploy(Workflow::new("nap").sleep("nap", "{{ input.for }}")).await.unwrap();
    let naps: Vec<String> = (0..ITEMS).map(|item| format!("{}s", 10 + item % 3)).collect();
    let many = host.start_each("many", vec![json!({ "naps": naps }); RUNS]).await;
    let host = host.restart().await;
    host.look().await;
    let begun = host.now();
    for length in ["5s", "11s", "13s", "2m"] {
        host.clock.set(begun);
        let run = host.engine.start("nap", json!({ "for": length })).await.unwrap();
        assert_eq!(host.end_of(run).await.status, RunStatus::Completed);
        assert_eq!(Millis::between(begun, host.now()), Millis::parse(length).unwrap());
    }
    for (run, _) in many {
        assert_eq!(host.status(run).await, RunStatus::Completed);
    }
    let late = host.engine.stats().await.unwrap().lateness_ms;
    assert_eq!((late.count(), late.max()), ((RUNS * ITEMS) as u64 + 4, 0));
}

#[tokio::test]
async fn a_thousand_waiters_wake_once_each_after_a_restart_and_none_times_out() {
    let workflow = Workflow::new("waits")
        .wait_for_event("wait", "go")
        .timeout("1h")
        .on_timeout(OnTimeout::Continue)
        .sleep("nap", "2h");
    let host = Host::with(workflow).await;
    let runs = host.start_many("waits", 1_000).await;
    let host = host.restart_after("59m 59s 999ms").await;
    let event = SendEvent::new("go").data(json!({ "n": 1 }));
    let woken = host.engine.default_workspace().events().send(event.clone()).await.unwrap().waiters;
    assert!(woken.len() >= 100, "the others are woken in the next moments: {}", woken.len());
    assert_eq!(host.engine.default_workspace().events().send(event).await.unwrap().waiters, []);
    host.pass("1h").await;
    for run in runs {
        let run = host.engine.run(run).get().await.unwrap();
        assert_eq!(run.status, RunStatus::Waiting);
        assert_eq!(run.waitpoint(1).unwrap().resume_payload, Some(json!({ "n": 1 }).into()));
        assert_eq!(run.waitpoints().len(), 2);
    }
}
