//! Starts that come shortly after each other, on a real store.

use abide_core::command::{Command, Steer, Steering};
use abide_core::definition::limits;
use abide_core::event_start::EventStartOutcome;
use abide_core::history::Change;
use abide_core::id::RunId;
use abide_core::run::Run;
use abide_core::status::RunStatus;
use abide_core::waitpoint::Kind;
use abide_engine::{Error, SendEvent, StartRun, Started, StartedHow};
use serde_json::{Value, json};

use crate::host::Host;

/// A workflow that waits for a signal once it has begun.
fn workflow(debounce: Value) -> Value {
    json!({
        "name": "sync", "debounce": debounce,
        "startOn": [{ "eventId": "changed", "idempotencyKey": "{{ event.n }}" }],
        "steps": [{ "type": "external_event", "name": "wait", "signalType": "go" }],
    })
}

fn collecting() -> Value {
    json!({ "key": "{{ input.account }}", "quiet": "30s", "atMost": "1m", "collect": true, "size": 3 })
}

async fn host(debounce: Value) -> Host {
    let host = Host::new().await;
    host.deploy(workflow(debounce)).await.unwrap();
    host
}

async fn start(host: &Host, account: &str, n: u32) -> Started {
    let start = StartRun::new("sync").input(json!({ "account": account, "n": n }));
    host.engine.default_workspace().start_told(start).await.unwrap()
}

async fn get(host: &Host, run: RunId) -> Run {
    host.engine.run(run).get().await.unwrap()
}

/// The numbers of the starts that a run has begun with.
async fn begun_with(host: &Host, run: RunId) -> Vec<u64> {
    let run = get(host, run).await;
    assert_ne!(run.status, RunStatus::Pending);
    run.input["inputs"].as_array().unwrap().iter().map(|input| input["n"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn starts_of_one_key_are_one_run_that_begins_with_all_inputs_when_it_is_quiet() {
    let host = host(collecting()).await;
    let first = start(&host, "a", 1).await;
    assert_eq!(first.how, StartedHow::Created);
    let other = start(&host, "b", 2).await;
    assert_ne!(other.run, first.run);
    host.pass("20s").await;
    assert_eq!(start(&host, "a", 3).await, Started { run: first.run, how: StartedHow::Collected });
    let run = get(&host, first.run).await;
    assert_eq!(run.status, RunStatus::Pending);
    let wait = run.open_waitpoints().next().unwrap();
    assert_eq!((wait.kind, wait.listens_for.starts().unwrap().starts), (Kind::Delay, 2));
    host.pass("29s").await;
    assert_eq!(host.status(first.run).await, RunStatus::Pending, "it is not quiet for long enough");
    assert_eq!(begun_with(&host, other.run).await, [2]);
    host.pass("1s").await;
    assert_eq!(begun_with(&host, first.run).await, [1, 3]);
    assert_ne!(start(&host, "a", 4).await.run, first.run, "what comes later is another run");
}

#[tokio::test]
async fn a_steady_stream_does_not_put_a_run_off_for_ever() {
    let host = host(json!({ "quiet": "30s", "atMost": "1m" })).await;
    let first = start(&host, "a", 0).await.run;
    for n in 1..6 {
        host.pass("10s").await;
        assert_eq!(start(&host, "a", n).await.run, first);
    }
    host.pass("10s").await;
    let run = get(&host, first).await;
    assert_eq!((run.status, &run.input["n"]), (RunStatus::Waiting, &json!(5)), "the last input wins");
    assert_ne!(start(&host, "a", 7).await.run, first);
}

#[tokio::test]
async fn as_many_inputs_as_are_asked_for_begin_the_run_at_once() {
    let host = host(collecting()).await;
    let starts = (1..=7).map(|n| StartRun::new("sync").input(json!({ "account": "a", "n": n }))).collect();
    let started = host.engine.default_workspace().start_many(starts).await;
    let runs: Vec<RunId> = started.into_iter().map(|started| started.unwrap().run).collect();
    assert_eq!(begun_with(&host, runs[0]).await, [1, 2, 3]);
    assert_eq!(begun_with(&host, runs[3]).await, [4, 5, 6]);
    assert_eq!(host.status(runs[6]).await, RunStatus::Pending);
}

#[tokio::test]
async fn r14_a_start_that_is_asked_for_again_is_collected_once_and_answered_alike() {
    let host = host(collecting()).await;
    let opened = start(&host, "a", 1).await;
    let again =
        StartRun::new("sync").input(json!({ "account": "a", "n": 2 })).idempotency_key("k".to_owned());
    let first = host.engine.default_workspace().start_told(again.clone()).await.unwrap();
    let second = host.engine.default_workspace().start_told(again).await.unwrap();
    assert_eq!((first.run, first.how), (opened.run, StartedHow::Collected));
    assert_eq!((second.run, second.how), (opened.run, StartedHow::Repeated { collected: true }));
    assert!(first.how.is_collected() && second.how.is_collected());
    host.pass("30s").await;
    assert_eq!(begun_with(&host, opened.run).await, [1, 2]);
}

#[tokio::test]
async fn events_are_collected_too_and_each_once() {
    let host = host(collecting()).await;
    let send = async |n: u32| {
        let event = SendEvent::new("changed").data(json!({ "account": "a", "n": n }));
        host.engine.default_workspace().events().send(event).await.unwrap().starts[0].outcome.clone()
    };
    let EventStartOutcome::Started(run) = send(1).await else { panic!("the first one opens a run") };
    assert_eq!(send(2).await, EventStartOutcome::Collected(run));
    assert_eq!(send(2).await, EventStartOutcome::Repeated(run));
    host.pass("30s").await;
    assert_eq!(begun_with(&host, run).await, [1, 2]);
}

#[tokio::test]
async fn r4_what_was_collected_outlives_the_process_and_begins_when_it_is_back() {
    let host = host(collecting()).await;
    let run = start(&host, "a", 1).await.run;
    start(&host, "a", 2).await;
    let host = host.crash_after("1h").await;
    host.look().await;
    assert_eq!(begun_with(&host, run).await, [1, 2]);
}

#[tokio::test]
async fn r4_a_start_after_the_instant_is_another_run_even_if_the_timer_has_not_fired() {
    let host = host(collecting()).await;
    let first = start(&host, "a", 1).await.run;
    let host = host.crash_after("1h").await;
    let second = start(&host, "a", 2).await.run;
    assert_ne!(first, second);
    host.look().await;
    assert_eq!(begun_with(&host, first).await, [1]);
}

#[tokio::test]
async fn r9_the_wait_can_be_moved_woken_and_cancelled() {
    let host = host(collecting()).await;
    let steer = async |run: RunId, steering: Steering| {
        let wait = get(&host, run).await.open_waitpoints().next().unwrap().number;
        let command = Command::Steer(Steer::new(wait, steering));
        host.engine.run(run).command(command).await.unwrap();
    };
    let woken = start(&host, "a", 1).await.run;
    steer(woken, Steering::Complete { payload: None }).await;
    assert_eq!(begun_with(&host, woken).await, [1]);
    let moved = start(&host, "a", 2).await.run;
    assert_ne!(moved, woken);
    let later = "2026-03-01T01:00:00Z".parse().unwrap();
    steer(moved, Steering::Reschedule { resume_at: later }).await;
    host.pass("50m").await;
    assert_eq!(host.status(moved).await, RunStatus::Pending);
    assert_eq!(start(&host, "a", 3).await.run, moved);
    assert_eq!(begun_with(&host, moved).await, [2, 3], "the next start finds the latest instant passed");
    let cancelled = start(&host, "a", 4).await.run;
    steer(cancelled, Steering::Cancel).await;
    assert_eq!(host.status(cancelled).await, RunStatus::Cancelled);
    assert_ne!(start(&host, "a", 5).await.run, cancelled);
}

#[tokio::test]
async fn r16_inputs_that_are_too_large_together_begin_the_run_and_the_next_opens_another() {
    let host = host(json!({ "quiet": "30s", "collect": true })).await;
    let large = "x".repeat(limits::PAYLOAD_BYTES / 2);
    let mut runs = Vec::new();
    for n in 0..3 {
        let start = StartRun::new("sync").input(json!({ "n": n, "text": large }));
        runs.push(host.engine.default_workspace().start(start).await.unwrap());
    }
    assert_eq!(runs.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    assert_eq!(begun_with(&host, runs[0]).await, [0]);
    assert_eq!(host.status(runs[2]).await, RunStatus::Pending);
}

#[tokio::test]
async fn a_key_that_cannot_be_told_is_refused_and_a_start_with_its_own_instant_is_a_run_of_its_own() {
    let host = host(collecting()).await;
    let refused = host.engine.start("sync", json!({ "account": null })).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    let opened = start(&host, "a", 1).await.run;
    let at = "2026-03-01T02:00:00Z".parse::<jiff::Timestamp>().unwrap();
    let own = StartRun::new("sync").input(json!({ "account": "a" })).run_at(at);
    assert_ne!(host.engine.default_workspace().start(own).await.unwrap(), opened);
}

#[tokio::test]
async fn a_start_of_another_version_begins_the_run_that_collects_and_opens_another() {
    let host = host(collecting()).await;
    let first = start(&host, "a", 1).await.run;
    let mut second = workflow(collecting());
    second["version"] = json!("2");
    host.deploy(second).await.unwrap();
    let other = start(&host, "a", 2).await.run;
    assert_ne!(first, other);
    assert_eq!(begun_with(&host, first).await, [1]);
    assert_eq!(&*get(&host, other).await.definition_ref.version, "2");
}

#[tokio::test]
async fn the_history_has_every_start_before_it_is_acknowledged() {
    let host = host(collecting()).await;
    let run = start(&host, "a", 1).await.run;
    start(&host, "a", 2).await;
    let stored = host.place.reader().load(run).unwrap().unwrap();
    let collected = stored.history.iter().filter(|it| matches!(it.change, Change::StartCollected { .. }));
    assert_eq!(collected.count(), 1);
    let kept = host.place.reader().limits(
        abide_core::id::WorkspaceId::DEFAULT,
        Some(abide_core::debounce::DEBOUNCE),
        &abide_store::Page { after: None, limit: 10 },
    );
    assert_eq!(kept.unwrap().iter().map(|limit| limit.used).collect::<Vec<_>>(), [1]);
}
