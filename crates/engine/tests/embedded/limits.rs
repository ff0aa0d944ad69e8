//! Limits on a real store: who has room, who waits, and that nothing of it is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use abide_core::capacity::{Limit, SettingChange};
use abide_core::command::{Command, Steer, Steering};
use abide_core::id::RunId;
use abide_core::id::WorkspaceId;
use abide_core::refusal::Refusal;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_core::waitpoint::Kind;
use abide_engine::{Clock, Error, LimitOrder, StartRun, StartedHow, TaskResult, examine, mend};
use abide_store::{Batch, LimitWrite, Page, Store};
use serde_json::{Value, json};

use crate::host::Host;

/// A workflow that waits for the signal `go` under limits.
fn gate(limits: Value) -> Value {
    json!({ "name": "gate", "limits": limits, "steps": [{ "type": "external_event", "name": "wait", "signalType": "go" }] })
}

async fn host(document: Value) -> Host {
    let host = Host::new().await;
    host.deploy(document).await.unwrap();
    host.echo().await;
    host
}

async fn go(host: &Host, run: RunId) {
    host.engine.run(run).signal("go", json!({})).await.unwrap();
}

/// What the store says of limits.
fn kept(host: &Host) -> Vec<Limit> {
    let page = Page { after: None, limit: 1_000 };
    host.place.reader().limits(abide_core::id::WorkspaceId::DEFAULT, None, &page).unwrap()
}

async fn statuses(host: &Host, runs: &[RunId]) -> Vec<RunStatus> {
    let mut statuses = Vec::new();
    for run in runs {
        statuses.push(host.status(*run).await);
    }
    statuses
}

use RunStatus::{Cancelled, Completed, Failed, Pending, Waiting};

#[tokio::test]
async fn r22_who_finds_no_room_waits_and_gets_it_in_the_order_of_arrival() {
    let host = host(gate(json!([{ "name": "one", "concurrency": 1, "holds": "run" }]))).await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(host.start("gate").await);
    }
    assert_eq!(statuses(&host, &runs).await, [Waiting, Pending, Pending]);
    let wait = host.engine.run(runs[1]).get().await.unwrap();
    let wait = wait.open_waitpoints().next().unwrap();
    assert_eq!(wait.kind, Kind::Capacity);
    assert_eq!(kept(&host).iter().map(|limit| (limit.used, limit.waiting)).collect::<Vec<_>>(), [(1, 2)]);
    go(&host, runs[0]).await;
    assert_eq!(statuses(&host, &runs).await, [Completed, Waiting, Pending]);
    go(&host, runs[1]).await;
    go(&host, runs[2]).await;
    assert_eq!(statuses(&host, &runs).await, [Completed, Completed, Completed]);
    assert!(kept(&host).is_empty(), "what nobody uses is forgotten");
}

#[tokio::test]
async fn r23_keys_do_not_stand_in_each_others_way() {
    let limits = json!([{ "name": "one", "key": "{{ input.account }}", "concurrency": 1, "holds": "run" }]);
    let host = host(gate(limits)).await;
    let mut runs = Vec::new();
    for account in ["a", "a", "b"] {
        runs.push(host.engine.start("gate", json!({ "account": account })).await.unwrap());
    }
    assert_eq!(statuses(&host, &runs).await, [Waiting, Pending, Waiting]);
}

#[tokio::test]
async fn a_run_that_waits_gives_its_room_back_and_queues_again_when_it_goes_on() {
    let document = json!({
        "name": "gate",
        "limits": [{ "name": "one", "concurrency": 1 }],
        "steps": [
            { "type": "external_event", "name": "wait", "signalType": "go" },
            { "type": "task", "name": "work", "handler": "remote" },
        ],
    });
    let host = host(document).await;
    let runs = [host.start("gate").await, host.start("gate").await, host.start("gate").await];
    assert_eq!(statuses(&host, &runs).await, [Waiting, Waiting, Waiting], "nobody that waits is in the way");
    assert!(kept(&host).is_empty());
    go(&host, runs[2]).await;
    go(&host, runs[0]).await;
    assert_eq!(statuses(&host, &runs).await, [Waiting, Waiting, RunStatus::Running]);
    let first = host.engine.run(runs[0]).get().await.unwrap();
    assert_eq!(first.open_waitpoints().next().unwrap().kind, Kind::Capacity);
    host.engine.run(runs[2]).cancel(None).await.unwrap();
    assert_eq!(statuses(&host, &runs).await, [RunStatus::Running, Waiting, Cancelled]);
    for run in runs {
        drop(host.engine.run(run).cancel(None).await);
    }
    assert!(kept(&host).is_empty());
}

#[tokio::test]
async fn one_that_is_full_can_be_refused_skipped_or_replaced() {
    for (when_full, expected) in
        [("skip", [Waiting, Cancelled]), ("replace", [Cancelled, Waiting]), ("queue", [Waiting, Pending])]
    {
        let limits = json!([{ "name": "one", "concurrency": 1, "holds": "run", "whenFull": when_full }]);
        let host = host(gate(limits)).await;
        let runs = [host.start("gate").await, host.start("gate").await];
        assert_eq!(statuses(&host, &runs).await, expected, "{when_full}");
        assert_eq!(kept(&host)[0].used, 1);
    }
    let limits = json!([{ "name": "one", "concurrency": 1, "holds": "run", "whenFull": "refuse" }]);
    let host = host(gate(limits)).await;
    host.start("gate").await;
    let Err(Error::Refused(refusal)) = host.engine.start("gate", json!({})).await else {
        panic!("it is full")
    };
    assert_eq!(refusal.code(), "LIMIT_FULL");
}

#[tokio::test]
async fn starts_beyond_a_rate_are_skipped_refused_or_queued_and_the_answer_says_so() {
    let limits =
        |when_full: &str| json!([{ "name": "calls", "rate": 1, "per": "10s", "whenFull": when_full }]);
    let start = async |host: &Host| host.engine.default_workspace().start_told(StartRun::new("gate")).await;
    let skipping = host(gate(limits("skip"))).await;
    let first = start(&skipping).await.unwrap();
    let second = start(&skipping).await.unwrap();
    assert_eq!((first.how, second.how), (StartedHow::Created, StartedHow::Skipped));
    assert_eq!(statuses(&skipping, &[first.run, second.run]).await, [Waiting, Cancelled]);
    skipping.pass("10s").await;
    assert_eq!(
        start(&skipping).await.unwrap().how,
        StartedHow::Created,
        "what was skipped has used nothing up"
    );

    let refusing = host(gate(limits("refuse"))).await;
    start(&refusing).await.unwrap();
    refusing.pass("4s").await;
    let Err(Error::Refused(Refusal::LimitFull { room_in, .. })) = start(&refusing).await else {
        panic!("the rate is used up")
    };
    assert_eq!(room_in, Some(Millis(6_000)));
    refusing.pass("6s").await;
    assert_eq!(start(&refusing).await.unwrap().how, StartedHow::Created);

    let queueing = host(gate(limits("queue"))).await;
    let runs = [start(&queueing).await.unwrap().run, start(&queueing).await.unwrap().run];
    assert_eq!(statuses(&queueing, &runs).await, [Waiting, Pending]);
    queueing.pass("10s").await;
    assert_eq!(statuses(&queueing, &runs).await, [Waiting, Waiting]);
}

#[tokio::test]
async fn the_latest_of_many_that_replace_each_other_is_left() {
    let limits = json!([{ "name": "one", "concurrency": 1, "holds": "run", "whenFull": "replace" }]);
    let host = host(gate(limits)).await;
    let runs = host.start_many("gate", 20).await;
    let statuses = statuses(&host, &runs).await;
    assert_eq!(statuses.iter().filter(|status| **status == Waiting).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == Cancelled).count(), 19, "{statuses:?}");
}

#[tokio::test]
async fn a_rate_lets_runs_begin_at_exact_instants() {
    let limits = json!([{ "name": "calls", "rate": 2, "per": "1s", "burst": 2 }]);
    let host = host(gate(limits)).await;
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.push(host.start("gate").await);
    }
    assert_eq!(statuses(&host, &runs).await, [Waiting, Waiting, Pending, Pending]);
    host.advance("499ms");
    host.engine.clock().settled().await.unwrap();
    assert_eq!(statuses(&host, &runs).await, [Waiting, Waiting, Pending, Pending]);
    host.advance("1ms");
    host.engine.clock().settled().await.unwrap();
    assert_eq!(statuses(&host, &runs).await, [Waiting, Waiting, Waiting, Pending]);
    let host = host.crash_after("500ms").await;
    host.engine.clock().settled().await.unwrap();
    assert_eq!(statuses(&host, &runs).await, [Waiting, Waiting, Waiting, Waiting]);
    host.advance("6m");
    host.engine.clock().settled().await.unwrap();
    assert!(kept(&host).is_empty(), "a rate that was not used lately is forgotten");
}

#[tokio::test]
async fn who_has_priority_comes_first_and_nobody_waits_for_ever() {
    let document = json!({
        "name": "gate",
        "limits": [{ "name": "one", "concurrency": 1, "holds": "run" }],
        "priority": "{{ input.urgency }}",
        "steps": [{ "type": "external_event", "name": "wait", "signalType": "go" }],
    });
    let host = host(document).await;
    let start = async |urgency: u8| host.engine.start("gate", json!({ "urgency": urgency })).await.unwrap();
    let first = start(0).await;
    let (plain, urgent) = (start(0).await, start(9).await);
    host.advance("9m 1s");
    let late = start(9).await;
    go(&host, first).await;
    assert_eq!(statuses(&host, &[plain, urgent, late]).await, [Pending, Waiting, Pending]);
    go(&host, urgent).await;
    assert_eq!(statuses(&host, &[plain, urgent, late]).await, [Waiting, Completed, Pending]);
}

#[tokio::test]
async fn several_limits_are_taken_together_or_not_at_all() {
    let limits = json!([
        { "name": "account", "key": "{{ input.account }}", "concurrency": 1, "holds": "run" },
        { "name": "all", "scope": "workspace", "concurrency": 2, "holds": "run" },
    ]);
    let host = host(gate(limits)).await;
    let start = async |account: &str| host.engine.start("gate", json!({ "account": account })).await.unwrap();
    let runs = [start("a").await, start("a").await, start("b").await, start("c").await];
    assert_eq!(statuses(&host, &runs).await, [Waiting, Pending, Waiting, Pending]);
    go(&host, runs[2]).await;
    assert_eq!(statuses(&host, &runs).await, [Waiting, Pending, Completed, Waiting], "`a` blocks `a` alone");
    go(&host, runs[0]).await;
    assert_eq!(statuses(&host, &runs).await, [Completed, Waiting, Completed, Waiting]);
    go(&host, runs[1]).await;
    go(&host, runs[3]).await;
    assert!(kept(&host).is_empty());
}

#[tokio::test]
async fn a_wait_for_room_is_steered_like_any_other() {
    let limits = json!([{ "name": "one", "concurrency": 1, "holds": "run", "timeout": "1m" }]);
    let host = host(gate(limits)).await;
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.push(host.start("gate").await);
    }
    let steer = async |run: RunId, steering| {
        host.engine.run(run).command(Command::Steer(Steer::new(1, steering))).await.unwrap();
    };
    steer(runs[2], Steering::Complete { payload: None }).await;
    assert_eq!(statuses(&host, &runs).await, [Waiting, Pending, Waiting, Pending]);
    assert_eq!((kept(&host)[0].used, kept(&host)[0].waiting), (2, 2), "one was let in past the line");
    steer(runs[1], Steering::Cancel).await;
    steer(runs[3], Steering::TimeOut).await;
    assert_eq!(statuses(&host, &runs).await, [Waiting, Cancelled, Waiting, Failed]);
    assert_eq!((kept(&host)[0].used, kept(&host)[0].waiting), (2, 0));
    let late = host.start("gate").await;
    host.advance("1m");
    host.engine.clock().settled().await.unwrap();
    assert_eq!(host.status(late).await, Failed);
    assert_eq!(
        &*host.engine.run(late).get().await.unwrap().error.clone().unwrap().code,
        "CAPACITY_TIMED_OUT"
    );
}

#[tokio::test]
async fn a_crash_leaks_no_room() {
    let limits = json!([{ "name": "two", "concurrency": 2, "holds": "run" }]);
    let mut host = host(gate(limits)).await;
    let mut runs = Vec::new();
    for _ in 0..6 {
        runs.push(host.start("gate").await);
    }
    for run in runs.clone() {
        host = host.crash_after("1s").await;
        go(&host, run).await;
        assert_eq!(host.status(run).await, Completed);
    }
    assert!(kept(&host).is_empty());
}

#[tokio::test]
async fn a_limit_of_a_step_bounds_how_many_handlers_work_at_once() {
    let document = json!({
        "name": "calls",
        "steps": [{
            "type": "map", "name": "each", "items": "input.items",
            "step": { "type": "task", "handler": "call", "limits": [{ "name": "crm", "concurrency": 3 }] },
        }],
    });
    let host = host(document).await;
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = (Arc::clone(&now), Arc::clone(&most));
    let call = move |_: abide_core::task::Task| {
        let (now, most) = seen.clone();
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            now.fetch_sub(1, Ordering::SeqCst);
            TaskResult::complete(json!({}))
        }
    };
    host.engine.handler("call", call).await.unwrap();
    let mut runs = Vec::new();
    for _ in 0..5 {
        let items: Vec<u32> = (0..10).collect();
        runs.push(host.engine.start("calls", json!({ "items": items })).await.unwrap());
    }
    for run in runs {
        assert_eq!(host.engine.run(run).wait().await.unwrap().status, Completed);
    }
    assert_eq!(most.load(Ordering::SeqCst), 3);
    assert!(kept(&host).is_empty());
}

#[tokio::test]
async fn the_attempts_of_a_step_use_its_rate_and_a_step_may_go_on_without_room() {
    let document = json!({
        "name": "calls",
        "steps": [{
            "type": "task", "name": "call", "handler": "flaky", "retry": { "maxAttempts": 3, "backoffMs": 100 },
            "limits": [{ "name": "crm", "rate": 1, "per": "1h" }],
        }],
    });
    let host = host(document).await;
    host.engine.handler("flaky", async |_| TaskResult::fail("no")).await.unwrap();
    let begun = host.now();
    let run = host.start("calls").await;
    assert_eq!(host.end_of(run).await.status, Failed);
    assert!(Millis::between(begun, host.now()) >= Millis(2 * 3_600_000), "three attempts, an hour apart");
    let document = json!({
        "name": "once", "version": "1",
        "steps": [{
            "type": "task", "name": "call", "handler": "echo",
            "limits": [{ "name": "once", "rate": 1, "per": "1h", "timeout": "1m", "onTimeout": "continue" }],
        }],
    });
    host.deploy(document).await.unwrap();
    let runs = [host.start("once").await, host.start("once").await];
    assert_eq!(host.end_of(runs[0]).await.status, Completed);
    let ended = host.end_of(runs[1]).await;
    assert_eq!((ended.status, ended.output), (Completed, Some(json!({ "timeout": true }).into())));
}

#[tokio::test]
async fn a_thousand_runs_over_a_hundred_keys_all_get_their_turn() {
    let document = json!({
        "name": "work",
        "limits": [
            { "name": "account", "key": "{{ input.account }}", "concurrency": 2 },
            { "name": "all", "concurrency": 50 },
        ],
        "steps": [
            { "type": "task", "name": "one", "handler": "echo" },
            { "type": "wait", "name": "rest", "durationMs": 10 },
            { "type": "task", "name": "two", "handler": "echo" },
        ],
    });
    let host = host(document).await;
    let started = host.start_each("work", (0..1_000).map(|index| json!({ "account": index % 100 }))).await;
    for (run, _) in started {
        assert_eq!(host.end_of(run).await.status, Completed);
    }
    assert!(kept(&host).is_empty(), "{:?}", kept(&host));
}

/// Sets something for the limit `name` that workflows share.
async fn set(host: &Host, key: Option<&str>, change: SettingChange) {
    let order = LimitOrder { workflow: None, name: "crm".into(), key: key.map(Into::into), change };
    host.engine.workspace(WorkspaceId::DEFAULT).limits().set(order, Actor::new("anna")).await.unwrap();
    host.engine.clock().settled().await.unwrap();
}

fn concurrency(most: Option<u32>) -> SettingChange {
    SettingChange { concurrency: Some(most), ..SettingChange::default() }
}

fn paused(paused: bool) -> SettingChange {
    SettingChange { paused: Some(paused), ..SettingChange::default() }
}

#[tokio::test]
async fn a_limit_is_raised_lowered_paused_and_resumed_at_run_time() {
    let limits = json!([{ "name": "crm", "scope": "workspace", "concurrency": 1, "holds": "run" }]);
    let host = host(gate(limits)).await;
    let mut runs = Vec::new();
    for _ in 0..5 {
        runs.push(host.start("gate").await);
    }
    set(&host, None, concurrency(Some(3))).await;
    assert_eq!(statuses(&host, &runs).await, [Waiting, Waiting, Waiting, Pending, Pending], "raised");
    set(&host, None, concurrency(Some(2))).await;
    assert_eq!(
        statuses(&host, &runs).await,
        [Waiting, Waiting, Waiting, Pending, Pending],
        "nobody is evicted"
    );
    go(&host, runs[0]).await;
    assert_eq!(host.status(runs[3]).await, Pending, "two have room");
    set(&host, None, paused(true)).await;
    go(&host, runs[1]).await;
    assert_eq!(host.status(runs[3]).await, Pending, "nobody is let in");
    let host = host.crash_after("1s").await;
    go(&host, runs[2]).await;
    assert_eq!(statuses(&host, &runs[3..]).await, [Pending, Pending], "it is paused after a restart, too");
    let late = host.start("gate").await;
    assert_eq!(host.status(late).await, Pending);
    set(&host, None, paused(false)).await;
    assert_eq!(statuses(&host, &runs[3..]).await, [Waiting, Waiting]);
    set(&host, None, concurrency(None)).await;
    go(&host, runs[3]).await;
    assert_eq!(host.status(late).await, Pending, "as the definition says again");
    go(&host, runs[4]).await;
    assert_eq!(host.status(late).await, Waiting);
    go(&host, late).await;
    assert!(kept(&host).is_empty());
    assert!(host.engine.workspace(WorkspaceId::DEFAULT).limits().settings(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_set_for_one_key_stands_above_what_is_set_for_all() {
    let limits = json!([{
        "name": "crm", "scope": "workspace", "key": "{{ input.account }}", "concurrency": 1, "holds": "run",
    }]);
    let host = host(gate(limits)).await;
    set(&host, None, concurrency(Some(2))).await;
    set(&host, Some("big"), concurrency(Some(3))).await;
    let start = async |account: &str| host.engine.start("gate", json!({ "account": account })).await.unwrap();
    let mut runs = Vec::new();
    for account in ["big", "big", "big", "big", "small", "small", "small"] {
        runs.push(start(account).await);
    }
    assert_eq!(
        statuses(&host, &runs).await,
        [Waiting, Waiting, Waiting, Pending, Waiting, Waiting, Pending],
        "keys that are made later heed it"
    );
    set(&host, Some("small"), paused(true)).await;
    go(&host, runs[4]).await;
    go(&host, runs[0]).await;
    assert_eq!((host.status(runs[3]).await, host.status(runs[6]).await), (Waiting, Pending));
}

#[tokio::test]
async fn r23_one_that_needs_two_limits_that_are_always_full_is_not_passed_over_for_ever() {
    let limit = |name: &str| json!({ "name": name, "scope": "workspace", "concurrency": 1, "holds": "run" });
    let step = json!([{ "type": "external_event", "name": "wait", "signalType": "go" }]);
    let host = Host::new().await;
    for (name, limits) in [("a", vec!["A"]), ("b", vec!["B"]), ("both", vec!["A", "B"])] {
        let limits: Vec<Value> = limits.into_iter().map(limit).collect();
        host.deploy(json!({ "name": name, "limits": limits, "steps": step })).await.unwrap();
    }
    let mut runs = [vec![host.start("a").await], vec![host.start("b").await]];
    let both = host.start("both").await;
    let mut rounds = 0;
    while host.status(both).await != Waiting {
        // Somebody always waits for the room that is given back.
        for (workflow, runs) in ["a", "b"].into_iter().zip(&mut runs) {
            runs.push(host.start(workflow).await);
            if host.status(runs[0]).await == Waiting {
                go(&host, runs.remove(0)).await;
            }
        }
        rounds += 1;
        assert!(rounds < 10, "it is passed over for ever: {:?}", kept(&host));
    }
    assert!(rounds >= 4, "it keeps nothing at first");
    go(&host, both).await;
    for run in runs.concat() {
        go(&host, run).await;
        assert_eq!(host.status(run).await, Completed);
    }
    assert!(kept(&host).is_empty(), "{:?}", kept(&host));
}

#[tokio::test]
async fn the_doctor_finds_room_that_leaked_and_waiters_that_were_lost_and_mends_both() {
    let host = host(gate(json!([{ "name": "one", "concurrency": 1, "holds": "run" }]))).await;
    let runs = [host.start("gate").await, host.start("gate").await];
    let Host { place, clock, engine } = host;
    engine.shut_down().await.unwrap();
    let mut store = place.open();
    let page = Page { after: None, limit: 10 };
    let limit = store.limits(WorkspaceId::DEFAULT, None, &page).unwrap().remove(0);
    let wrong = Limit { used: 2, waiting: 0, version: limit.version + 1, ..limit.clone() };
    let write = LimitWrite { based_on: limit.version, limit: &wrong, removed: false };
    store.commit(&Batch { limits: vec![write], ..Batch::default() }).unwrap();
    let found = |store: &mut dyn Store| -> Vec<String> {
        let findings = examine(store, &mut |_| true).unwrap().1;
        findings.into_iter().map(|finding| finding.what).filter(|what| what.contains("limit")).collect()
    };
    assert_eq!(found(&mut *store), ["limit `one`: 2 have room and 0 wait, and runs say 1 and 1"]);
    assert_eq!(mend(&mut *store, clock.now()).unwrap().limits, 1);
    assert!(found(&mut *store).is_empty());
    let mended = store.limits(WorkspaceId::DEFAULT, None, &page).unwrap().remove(0);
    assert_eq!((mended.used, mended.waiting, mended.holders[0].run), (1, 1, runs[0]));
}
