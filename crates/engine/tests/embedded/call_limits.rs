//! Limits of durable calls: room is asked for by a wait of the handler, and given back with the call's result, however the
//! handler, its worker or its run ends.

use std::time::Duration;

use abide_core::capacity::Policy;
use abide_core::command::{
    CallLimit, Command, Steer, Steering, TaskCompleted, TaskFailed, TaskHeartbeat, TaskSuspended, WaitFor,
    WaitSpec,
};
use abide_core::definition::LimitScope;
use abide_core::history::{Failure, JournalResult, WakeOn};
use abide_core::id::{RunId, WorkspaceId};
use abide_core::json::Json;
use abide_core::retry::RetryPolicy;
use abide_core::status::RunStatus::{self, Cancelled, Completed, Failed, Running, Waiting};
use abide_core::task::JournalItem;
use abide_core::waitpoint::Kind;
use abide_engine::{Leased, Poll};
use abide_store::Page;
use serde_json::json;

use crate::host::Host;

const LEASE: Duration = Duration::from_secs(30);

async fn host() -> Host {
    let host = Host::new().await;
    let step = json!({ "name": "work", "type": "task", "handler": "remote", "retry": { "maxAttempts": 2 } });
    host.deploy(json!({ "name": "w", "steps": [step] })).await.unwrap();
    host
}

fn room() -> WaitFor {
    let policy = Policy { concurrency: Some(1), rate: None };
    let limit = CallLimit { name: "crm".into(), key: "a".into(), scope: LimitScope::Workspace, policy };
    WaitFor::Capacity { call: "call".into(), limit, timeout: None }
}

async fn poll(host: &Host) -> Leased {
    let poll = Poll::new("w", ["remote"], LEASE);
    host.engine.default_workspace().tasks().poll(poll).await.unwrap().pop().unwrap()
}

async fn suspend(host: &Host, leased: &Leased, name: &str, wait: WaitFor) {
    let (at, lease_epoch) = (leased.at, leased.task.lease_epoch);
    let suspended = TaskSuspended {
        at,
        lease_epoch,
        entries: Vec::new(),
        waits: vec![WaitSpec::new(name, wait)],
        wake: WakeOn::All,
        checkpoint: None,
        cancels: Vec::new(),
    };
    host.engine.run(leased.task.run_id).command(Command::TaskSuspended(suspended)).await.unwrap();
}

/// Runs whose handlers have asked for room, one after the other.
async fn asking<const N: usize>(host: &Host) -> [RunId; N] {
    let mut runs = [RunId(0); N];
    for run in &mut runs {
        *run = host.start("w").await;
    }
    let mut tasks = Vec::new();
    for _ in runs {
        tasks.push(poll(host).await);
    }
    for run in runs {
        let leased = tasks.iter().find(|leased| leased.task.run_id == run).unwrap();
        suspend(host, leased, "call#room", room()).await;
    }
    runs
}

async fn fails(host: &Host, leased: &Leased) {
    let (at, lease_epoch) = (leased.at, leased.task.lease_epoch);
    let failed = TaskFailed {
        at,
        lease_epoch,
        message: "it went wrong".to_owned(),
        code: None,
        retryable: true,
        retry_after: None,
        detail: None,
        mismatch: None,
    };
    host.engine.run(leased.task.run_id).command(Command::TaskFailed(failed)).await.unwrap();
}

/// How many have room, and how many wait for it.
fn kept(host: &Host) -> Vec<(u32, u64)> {
    let page = Page { after: None, limit: 10 };
    let limits = host.place.reader().limits(WorkspaceId::DEFAULT, Some("crm"), &page).unwrap();
    limits.iter().map(|limit| (limit.used, limit.waiting)).collect()
}

fn names(leased: &Leased) -> Vec<String> {
    leased.task.journal.iter().map(|JournalItem { name, .. }| name.to_string()).collect()
}

async fn statuses(host: &Host, runs: [RunId; 2]) -> [RunStatus; 2] {
    [host.status(runs[0]).await, host.status(runs[1]).await]
}

#[tokio::test]
async fn r22_a_call_has_room_until_its_result_is_recorded_and_no_longer() {
    let host = host().await;
    let runs = asking::<2>(&host).await;
    assert_eq!((statuses(&host, runs).await, kept(&host)), ([Running, Waiting], vec![(1, 1)]));
    let wait = host.engine.run(runs[1]).get().await.unwrap();
    let wait = wait.open_waitpoints().next().unwrap();
    assert_eq!((wait.kind, wait.call().map(|call| &**call)), (Kind::Capacity, Some("call")));
    let leased = poll(&host).await;
    assert_eq!((leased.task.run_id, names(&leased)), (runs[0], vec!["call#room".to_owned()]));
    let (at, lease_epoch) = (leased.at, leased.task.lease_epoch);
    let entries = vec![JournalResult { name: "call".into(), result: json!(1).into() }];
    let beat =
        TaskHeartbeat { at, lease_epoch, checkpoint: None, entries, calls: Vec::new(), cancels: Vec::new() };
    host.engine.run(runs[0]).command(Command::TaskHeartbeat(beat)).await.unwrap();
    assert_eq!((statuses(&host, runs).await, kept(&host)), ([Running, Running], vec![(1, 0)]));
    let output: Json = json!(1).into();
    let done = TaskCompleted { at, lease_epoch, output, state_updates: None };
    host.engine.run(runs[0]).command(Command::TaskCompleted(done)).await.unwrap();
    assert_eq!((statuses(&host, runs).await, kept(&host)), ([Completed, Running], vec![(1, 0)]));
}

#[tokio::test]
async fn no_room_leaks_when_a_run_is_cancelled_or_its_handler_fails() {
    let host = host().await;
    let runs = asking::<2>(&host).await;
    host.engine.run(runs[0]).cancel(None).await.unwrap();
    assert_eq!((statuses(&host, runs).await, kept(&host)), ([Cancelled, Running], vec![(1, 0)]));
    fails(&host, &poll(&host).await).await;
    assert!(kept(&host).is_empty(), "what is tried again asks again");
    host.pass("10s").await;
    let again = poll(&host).await;
    assert_eq!((again.task.attempt, names(&again)), (2, Vec::new()));
    suspend(&host, &again, "call#room", room()).await;
    let granted = poll(&host).await;
    assert_eq!(granted.task.attempt, 2, "to get room is no progress");
    fails(&host, &granted).await;
    assert_eq!((host.status(runs[1]).await, kept(&host)), (Failed, Vec::new()));
}

#[tokio::test]
async fn a_worker_that_dies_leaves_the_room_with_the_call() {
    let host = host().await;
    let [run] = asking(&host).await;
    let lost = poll(&host).await;
    host.advance("31s");
    let found = poll(&host).await;
    assert_eq!((found.task.run_id, names(&found), kept(&host)), (run, names(&lost), vec![(1, 0)]));
    let host = host.crash_after("0s").await;
    assert_eq!(kept(&host), [(1, 0)]);
    host.engine.run(run).cancel(None).await.unwrap();
    assert!(kept(&host).is_empty());
}

#[tokio::test]
async fn a_call_that_waits_for_its_next_attempt_gives_its_room_to_another() {
    let host = host().await;
    let runs = asking::<2>(&host).await;
    let leased = poll(&host).await;
    let policy = RetryPolicy { max_attempts: 3, ..RetryPolicy::default() };
    let error = Failure::new("TASK_FAILED", "not yet");
    let back_off = WaitFor::Retry { call: "call".into(), attempt: 1, policy, retry_after: None, error };
    suspend(&host, &leased, "call#retry-1", back_off).await;
    assert_eq!((statuses(&host, runs).await, kept(&host)), ([Waiting, Running], vec![(1, 0)]));
}

#[tokio::test]
async fn r9_a_wait_of_a_call_can_be_let_in_past_the_line_and_cancelled() {
    let host = host().await;
    let runs = asking::<2>(&host).await;
    let steer = async |run: RunId, steering: Steering| {
        let number = host.engine.run(run).get().await.unwrap().open_waitpoints().next().unwrap().number;
        host.engine.run(run).command(Command::Steer(Steer::new(number, steering))).await.unwrap();
    };
    steer(runs[1], Steering::Complete { payload: None }).await;
    assert_eq!((statuses(&host, runs).await, kept(&host)), ([Running, Running], vec![(2, 0)]));
    let third = host.start("w").await;
    let mut leased = poll(&host).await;
    while leased.task.run_id != third {
        leased = poll(&host).await;
    }
    suspend(&host, &leased, "call#room", room()).await;
    assert_eq!(kept(&host), [(2, 1)]);
    steer(third, Steering::Cancel).await;
    assert_eq!(kept(&host), [(2, 0)]);
    for run in runs {
        host.engine.run(run).cancel(None).await.unwrap();
    }
    assert!(kept(&host).is_empty());
}

#[tokio::test]
async fn a_limit_that_the_run_has_itself_is_refused() {
    let host = Host::new().await;
    let step = json!({ "name": "work", "type": "task", "handler": "remote" });
    let limits = json!([{ "name": "crm", "concurrency": 1 }]);
    host.deploy(json!({ "name": "w", "limits": limits, "steps": [step] })).await.unwrap();
    host.start("w").await;
    let leased = poll(&host).await;
    let (at, lease_epoch) = (leased.at, leased.task.lease_epoch);
    let suspended = TaskSuspended {
        at,
        lease_epoch,
        entries: Vec::new(),
        waits: vec![WaitSpec::new("call#room", room())],
        wake: WakeOn::All,
        checkpoint: None,
        cancels: Vec::new(),
    };
    let refused = host.engine.run(leased.task.run_id).command(Command::TaskSuspended(suspended)).await;
    assert!(refused.unwrap_err().to_string().contains("would wait for itself"));
}

/// A race between two calls: the one that had room first ended the wait of the other, which took room afterwards and kept it.
#[tokio::test]
async fn r22_a_call_that_lost_a_race_before_it_asked_has_no_room_and_leaves_nobodys_line() {
    let host = host().await;
    let of = |key: &str| {
        let policy = Policy { concurrency: Some(1), rate: None };
        let limit = CallLimit { name: "crm".into(), key: key.into(), scope: LimitScope::Workspace, policy };
        WaitFor::Capacity { call: key.into(), limit, timeout: None }
    };
    let mut tasks = Vec::new();
    for _ in 0..3 {
        host.start("w").await;
    }
    for _ in 0..3 {
        tasks.push(poll(&host).await);
    }
    suspend(&host, &tasks[0], "b#room", of("b")).await;
    suspend(&host, &tasks[1], "b#room", of("b")).await;
    let race = TaskSuspended {
        at: tasks[2].at,
        lease_epoch: tasks[2].task.lease_epoch,
        entries: Vec::new(),
        waits: ["a", "b", "c"].map(|key| WaitSpec::new(format!("{key}#room"), of(key))).into(),
        wake: WakeOn::Any,
        checkpoint: None,
        cancels: Vec::new(),
    };
    host.engine.run(tasks[2].task.run_id).command(Command::TaskSuspended(race)).await.unwrap();
    assert_eq!(kept(&host), [(1, 0), (1, 1)], "under `a`, and under `b`; under `c` nothing");
}
