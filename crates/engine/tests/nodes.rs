//! Several engines on one database. Each test is about two nodes that know nothing of each other but what is stored.

#![allow(clippy::unwrap_used, reason = "a node that cannot be set up is a failed test")]

#[path = "embedded/watched.rs"]
mod watched;

use std::time::Duration;

use abide_core::command::{Command, LeaseLoss, LeaseLost, PinTasks, TaskCompleted, TaskHeartbeat};
use abide_core::definition::document::Workflow;
use abide_core::id::RunId;
use abide_core::run::Pin;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_engine::{
    Clock, Engine, Error, Leased, Options, Poll, RunReply, SendEvent, SettableClock, StartRun, TaskResult,
};
use abide_store::Store;
use abide_store::cluster::NodeId;
use abide_store::postgres::Postgres;
use abide_store::tasks::WantedTasks;
use abide_testkit::postgres::Server;
use jiff::ToSpan;
use serde_json::{Value, json};
use watched::Watch;

const LEASE: Duration = Duration::from_secs(30);

async fn node(address: &str) -> Engine {
    Engine::open_with(Box::new(Postgres::open(address).unwrap()), Options::default()).await.unwrap()
}

/// Two nodes whose time is what a test says.
async fn two_nodes_by(clock: &SettableClock) -> (Engine, Engine) {
    let address = Server::shared().database();
    let node = async || {
        let options = Options { clock: Some(clock.clone()), ..Options::default() };
        Engine::open_with(Box::new(Postgres::open(&address).unwrap()), options).await.unwrap()
    };
    (node().await, node().await)
}

async fn two_nodes() -> (Engine, Engine) {
    let address = Server::shared().database();
    (node(&address).await, node(&address).await)
}

fn completes(leased: &Leased, output: Value) -> Command {
    let (at, lease_epoch) = (leased.at, leased.task.lease_epoch);
    Command::TaskCompleted(TaskCompleted { at, lease_epoch, output: output.into(), state_updates: None })
}

async fn poll(engine: &Engine) -> Leased {
    engine.default_workspace().tasks().poll(Poll::new("w", ["remote"], LEASE)).await.unwrap().pop().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_polls_one_node_and_reports_to_the_other() {
    let (a, b) = two_nodes().await;
    a.deploy(Workflow::new("w").task("first", "remote").task("second", "remote")).await.unwrap();
    for (here, there) in [(&a, &b), (&b, &a)] {
        let run = here.start("w", json!({})).await.unwrap();
        let first = poll(there).await;
        assert_eq!((first.task.run_id, first.task.step_name.as_str()), (run, "first"));
        here.run(run).command(completes(&first, json!(1))).await.unwrap();
        let refused = there.run(run).command(completes(&first, json!(1))).await.unwrap_err();
        assert!(matches!(&refused, Error::Refused(_)), "{refused}");
        let second = poll(here).await;
        there.run(run).command(completes(&second, json!(2))).await.unwrap();
        assert_eq!(here.run(run).get().await.unwrap().status, RunStatus::Completed);
        assert_eq!(there.run(run).wait().await.unwrap().status, RunStatus::Completed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poller_of_one_node_gets_what_is_started_on_the_other() {
    let (a, b) = two_nodes().await;
    a.deploy(Workflow::new("w").task("work", "remote")).await.unwrap();
    let polls = tokio::spawn({
        let b = b.clone();
        async move { poll(&b).await }
    });
    // It is parked, and has found nothing.
    b.clock().settled().await.unwrap();
    let run = a.start("w", json!({})).await.unwrap();
    assert_eq!(polls.await.unwrap().task.run_id, run);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_to_another_node_keeps_the_lease_and_a_lost_lease_is_noticed_by_any() {
    let clock = SettableClock::new("2026-03-01T00:00:00Z".parse().unwrap());
    let (a, b) = two_nodes_by(&clock).await;
    a.deploy(Workflow::new("w").task("work", "remote")).await.unwrap();
    let run = a.start("w", json!({})).await.unwrap();
    let first = poll(&a).await;
    let beat = || {
        let (at, lease_epoch) = (first.at, first.task.lease_epoch);
        Command::TaskHeartbeat(TaskHeartbeat {
            at,
            lease_epoch,
            checkpoint: None,
            entries: Vec::new(),
            calls: Vec::new(),
            cancels: Vec::new(),
        })
    };
    for _ in 0..3 {
        clock.advance(Millis(20_000));
        b.run(run).command(beat()).await.unwrap();
        a.clock().settled().await.unwrap();
    }
    assert!(clock.now() > first.leased_until);
    assert_eq!(
        a.run(run).get().await.unwrap().task(first.at).unwrap().unwrap().lease_epoch,
        first.task.lease_epoch
    );
    clock.advance(Millis(31_000));
    a.clock().settled().await.unwrap();
    let second = poll(&b).await;
    assert_eq!(second.task.lease_epoch, first.task.lease_epoch + 1);
    assert!(a.run(run).command(beat()).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_a_run_hears_of_its_end_on_another_node() {
    let (a, b) = two_nodes().await;
    a.deploy(Workflow::new("w").signal("wait", "go")).await.unwrap();
    let run = a.start("w", json!({})).await.unwrap();
    let mut follower = b.run(run).follow();
    let waits = tokio::spawn({
        let b = b.clone();
        async move { b.run(run).wait().await.unwrap() }
    });
    b.clock().settled().await.unwrap();
    a.run(run).signal("go", json!("now")).await.unwrap();
    assert_eq!(waits.await.unwrap().status, RunStatus::Completed);
    let version = a.run(run).get().await.unwrap().seq;
    follower.wait_for(|known| *known == version).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_of_one_node_hears_what_the_run_says_on_another() {
    let (a, b) = two_nodes().await;
    let steps = json!({ "name": "w", "version": "1", "steps": [
        { "type": "external_event", "name": "wait", "signalType": "go" },
        { "type": "respond", "name": "say", "status": 200, "body": { "said": "{{ state.wait }}" } },
        { "type": "external_event", "name": "again", "signalType": "go" },
    ] });
    let workflow: Workflow = serde_json::from_value(steps).unwrap();
    a.deploy(workflow).await.unwrap();
    let new = StartRun::new("w").input(json!({}));
    let (run, listener) = a.default_workspace().start_and_listen(new).await.unwrap();
    b.run(run).signal("go", json!("hello")).await.unwrap();
    let RunReply::Response(said) = listener.reply().await.unwrap() else { panic!("it has not ended") };
    assert!(format!("{said:?}").contains("hello"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_two_nodes_decide_about_one_run_at_once_is_decided_one_after_the_other() {
    const EACH: usize = 100;
    let (a, b) = two_nodes().await;
    a.deploy(Workflow::new("w").signal("wait", "never")).await.unwrap();
    let run = a.start("w", json!({})).await.unwrap();
    let send = async |engine: Engine, name: &str| {
        for number in 0..EACH {
            engine.run(run).signal("go", json!([name, number])).await.unwrap();
        }
    };
    tokio::join!(send(a.clone(), "a"), send(b.clone(), "b"));
    let seen = b.run(run).get().await.unwrap();
    let received: Vec<Value> = seen.mailbox().map(|signal| (*signal.payload).clone()).collect();
    assert_eq!(received.len(), 2 * EACH);
    for name in ["a", "b"] {
        let of_one: Vec<Value> = received.iter().filter(|sent| sent[0] == name).cloned().collect();
        assert_eq!(of_one, (0..EACH).map(|number| json!([name, number])).collect::<Vec<_>>());
    }
    assert_eq!(a.run(run).get().await.unwrap().snapshot(), seen.snapshot());
}

#[tokio::test(flavor = "multi_thread")]
async fn r14_one_key_used_on_two_nodes_at_once_starts_one_run() {
    let (a, b) = two_nodes().await;
    a.deploy(Workflow::new("w").signal("wait", "go")).await.unwrap();
    let start = async |engine: &Engine, number: usize| {
        let idempotency_key = Some(number.to_string());
        let new = StartRun::new("w").idempotency_key(idempotency_key);
        engine.default_workspace().start(new).await.unwrap()
    };
    let mut runs = std::collections::BTreeSet::new();
    for number in 0..50 {
        let (one, other) = tokio::join!(start(&a, number), start(&b, number));
        assert_eq!(one, other);
        runs.insert(one);
    }
    let counts = a.admin().count_runs().await.unwrap();
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    assert_eq!((total, runs.len()), (50, 50));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_unique_tag_used_on_two_nodes_at_once_starts_one_run() {
    let (a, b) = two_nodes().await;
    a.deploy(Workflow::new("w").signal("wait", "go")).await.unwrap();
    let start = async |engine: &Engine, number: usize| {
        let new = StartRun::new("w").unique_tag(number.to_string());
        engine.default_workspace().start(new).await.unwrap()
    };
    let mut runs = std::collections::BTreeSet::new();
    for number in 0..50 {
        let (one, other) = tokio::join!(start(&a, number), start(&b, number));
        assert_eq!(one, other);
        runs.insert(one);
    }
    let counts = a.admin().count_runs().await.unwrap();
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    assert_eq!((total, runs.len()), (50, 50));
}

#[tokio::test(flavor = "multi_thread")]
async fn r05_an_event_on_one_node_and_a_wait_begun_on_another_do_not_miss_each_other() {
    let (a, b) = two_nodes().await;
    a.deploy(Workflow::new("w").wait_for_event("hear", "{{ input.event }}")).await.unwrap();
    for trial in 0..100 {
        let event_id = format!("e{trial}");
        let started = a.start("w", json!({ "event": event_id }));
        let event = SendEvent::new(event_id.clone()).data(json!(trial));
        let (run, notified) = tokio::join!(started, b.default_workspace().events().send(event));
        let (run, notified) = (run.unwrap(), notified.unwrap());
        if notified.waiters.is_empty() {
            // It was stored before the run was there, and not since: then it is not for this run.
            let run = a.run(run).get().await.unwrap();
            let page = abide_store::Page { after: None, limit: 1 };
            let stored = a.default_workspace().events().list(Some(event_id), page, usize::MAX).await.unwrap();
            let in_time = stored.events[0].received_at >= run.created_at;
            assert_eq!(run.status == RunStatus::Completed, in_time, "trial {trial}");
        } else {
            assert_eq!(b.run(run).wait().await.unwrap().status, RunStatus::Completed);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_sent_after_a_run_was_started_elsewhere_is_for_it() {
    let (a, b) = two_nodes().await;
    a.deploy(Workflow::new("w").signal("go", "go").wait_for_event("hear", "{{ input.event }}"))
        .await
        .unwrap();
    for trial in 0..50 {
        let (here, there) = if trial % 2 == 0 { (&a, &b) } else { (&b, &a) };
        let event_id = format!("e{trial}");
        let run = here.start("w", json!({ "event": event_id })).await.unwrap();
        there.default_workspace().events().send(SendEvent::new(event_id)).await.unwrap();
        here.run(run).signal("go", json!(1)).await.unwrap();
        assert_eq!(there.run(run).get().await.unwrap().status, RunStatus::Completed, "trial {trial}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stops_leaves_its_timers_and_tasks_to_the_others() {
    let address = Server::shared().database();
    let (a, b) = (node(&address).await, node(&address).await);
    a.deploy(Workflow::new("w").sleep("nap", 1.second()).task("work", "here")).await.unwrap();
    a.deploy(Workflow::new("stuck").task("work", "stuck")).await.unwrap();
    let never = async |_: abide_core::task::Task| std::future::pending::<TaskResult>().await;
    a.handler("stuck", never).await.unwrap();
    let mut runs: Vec<RunId> = Vec::new();
    for _ in 0..20 {
        runs.push(a.start("w", json!({})).await.unwrap());
    }
    runs.push(a.start("stuck", json!({})).await.unwrap());
    a.shut_down().await.unwrap();
    for handler in ["here", "stuck"] {
        let done = async |_: abide_core::task::Task| TaskResult::complete(json!("done"));
        b.handler(handler, done).await.unwrap();
    }
    for run in runs {
        assert_eq!(b.run(run).wait().await.unwrap().status, RunStatus::Completed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_a_node_took_that_is_gone_is_done_by_another() {
    let address = Server::shared().database();
    let node = node(&address).await;
    node.deploy(Workflow::new("w").task("work", "here")).await.unwrap();
    let run = node.start("w", json!({})).await.unwrap();
    // As one that dies when it has taken it.
    let gone = std::thread::spawn(move || {
        let store = Postgres::open(&address).unwrap();
        let now = store.cluster().unwrap().unwrap().heartbeat(NodeId(7)).unwrap().now;
        let wanted = WantedTasks { workspace: None, queue: "here".into(), limit: 9 };
        store.tasks().unwrap().unwrap().take(&[wanted], now + 1.second(), now).unwrap()
    });
    assert_eq!(gone.join().unwrap().len(), 1);
    let done = async |_: abide_core::task::Task| TaskResult::complete(json!("done"));
    node.handler("here", done).await.unwrap();
    assert_eq!(node.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_deployed_on_one_node_is_the_newest_on_the_other_at_once() {
    let (a, b) = two_nodes().await;
    for version in ["1", "2", "3"] {
        a.deploy(Workflow::new("w").version(version).signal("wait", "go")).await.unwrap();
        let run = b.start("w", json!({})).await.unwrap();
        assert_eq!(&*b.run(run).get().await.unwrap().definition_ref.version, version);
    }
}

/// A node whose commits can be held.
async fn watched_node() -> (Engine, Watch) {
    let watch = Watch::default();
    let store = watch.store_with_writers(Box::new(Postgres::open(&Server::shared().database()).unwrap()));
    (Engine::open_with(store, Options::default()).await.unwrap(), watch)
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_that_have_nothing_in_common_are_committed_at_the_same_time() {
    let (engine, watch) = watched_node().await;
    engine.deploy(Workflow::new("w").signal("wait", "go")).await.unwrap();
    watch.commits();
    watch.hold();
    let mut starts = Vec::new();
    for started in 1..=2 {
        let engine = engine.clone();
        starts.push(tokio::spawn(async move { engine.start("w", json!({})).await.unwrap() }));
        watch.wait_for_commits(started);
    }
    watch.let_all_through();
    let mut runs = Vec::new();
    for start in starts {
        runs.push(vec![start.await.unwrap()]);
    }
    let mut commits = watch.commits();
    commits.sort();
    assert_eq!(commits, runs);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_up_something_of_a_round_is_committed_after_it() {
    let (engine, watch) = watched_node().await;
    engine.deploy(Workflow::new("w").signal("first", "go").signal("second", "go")).await.unwrap();
    let run = engine.start("w", json!({})).await.unwrap();
    watch.commits();
    watch.hold();
    let first = tokio::spawn({
        let engine = engine.clone();
        async move { engine.run(run).signal("go", json!(1)).await.unwrap() }
    });
    watch.wait_for_commits(1);
    let mut second = Box::pin(engine.run(run).signal("go", json!(2)));
    tokio::select! {
        biased;
        _ = &mut second => panic!("it was not committed yet"),
        // By then the second one is decided, and would be on its way.
        _ = engine.stats() => {}
    }
    watch.let_one_through();
    first.await.unwrap();
    assert_eq!(watch.commits(), [[run]]);
    watch.let_all_through();
    second.await.unwrap();
    assert_eq!(watch.commits(), [[run]]);
    assert_eq!(engine.stats().await.unwrap().conflicts, 0);
    assert_eq!(engine.run(run).get().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pinned_task_finds_its_build_on_whatever_node_it_polls() {
    let (a, b) = two_nodes().await;
    a.deploy(Workflow::new("w").task("work", "remote").pin_to_build()).await.unwrap();
    let run = a.start("w", json!({})).await.unwrap();
    let claim = async |node: &Engine, build: &str| {
        node.default_workspace().tasks().claim(Poll::new("w", ["remote"], LEASE).build(build)).await.unwrap()
    };
    let gives_back = |leased: &Leased| {
        let (at, lease_epoch, loss) = (leased.at, leased.task.lease_epoch, LeaseLoss::Released);
        Command::LeaseLost(LeaseLost { at, lease_epoch, loss })
    };
    let first = claim(&a, "old").await.remove(0);
    // One of its build waits at the other node, and one of another build at this.
    let poll = |node: &Engine, build: &'static str| {
        let node = node.clone();
        tokio::spawn(async move {
            node.default_workspace().tasks().poll(Poll::new("w", ["remote"], LEASE).build(build)).await
        })
    };
    let (of_its_build, other) = (poll(&b, "old"), poll(&a, "new"));
    b.clock().settled().await.unwrap();
    a.run(run).command(gives_back(&first)).await.unwrap();
    let second = of_its_build.await.unwrap().unwrap().remove(0);
    assert_eq!((second.task.run_id, second.task.lease_epoch), (run, 2));
    b.run(run).command(gives_back(&second)).await.unwrap();
    b.run(run)
        .command(Command::PinTasks(PinTasks { handler: None, pin: Pin::To("new".into()) }))
        .await
        .unwrap();
    let third = other.await.unwrap().unwrap().remove(0);
    assert_eq!(claim(&b, "old").await.len(), 0);
    b.run(run).command(completes(&third, json!(1))).await.unwrap();
    assert_eq!(a.run(run).wait().await.unwrap().status, RunStatus::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn starts_of_one_key_on_two_nodes_at_once_are_collected_once_each_by_one_run_at_a_time() {
    const STARTS: u64 = 120;
    let clock = SettableClock::new("2026-03-01T00:00:00Z".parse().unwrap());
    let (a, b) = two_nodes_by(&clock).await;
    let document = json!({
        "name": "batch", "debounce": { "quiet": "10s", "atMost": "1m", "collect": true, "size": 50 },
        "steps": [{ "type": "external_event", "name": "wait", "signalType": "go" }],
    });
    let checked = abide_core::definition::Definition::from_value(document).unwrap();
    a.default_workspace().definitions().deploy_checked(checked).await.unwrap();
    let mut starts = tokio::task::JoinSet::new();
    for n in 0..STARTS {
        let engine = if n % 2 == 0 { a.clone() } else { b.clone() };
        starts.spawn(async move { (n, engine.start("batch", json!(n)).await.unwrap()) });
    }
    let started = starts.join_all().await;
    clock.advance(Millis(10_000));
    let mut collected = Vec::new();
    let runs: std::collections::BTreeSet<RunId> = started.iter().map(|(_, run)| *run).collect();
    for run in &runs {
        for engine in [&a, &b] {
            engine.clock().settled().await.unwrap();
        }
        let run = a.run(*run).get().await.unwrap();
        assert_eq!(run.status, RunStatus::Waiting);
        let inputs = run.input["inputs"].as_array().unwrap().clone();
        for input in inputs {
            let n = input.as_u64().unwrap();
            assert!(started.contains(&(n, run.id)), "{n} was acknowledged as another run");
            collected.push(n);
        }
    }
    collected.sort_unstable();
    assert_eq!((collected, runs.len()), ((0..STARTS).collect::<Vec<_>>(), 3));
}
