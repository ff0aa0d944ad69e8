//! What one run may take: a round, a decision, a schema. Whoever asks for too much is bounded, and the others go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use abide_core::command::Command;
use abide_core::id::WorkspaceId;
use abide_core::schedule::{CatchUp, Overlap, Plan, When};
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_engine::{Error, Limits, Poll, ScheduleOrder, SendEvent, TaskResult};
use abide_store::{Page, RunFilter};
use serde_json::{Map, Value, json};

use crate::host::{Host, output};
use crate::watched::Watch;

fn numbers(count: usize) -> Value {
    (0..count).collect::<Vec<_>>().into()
}

fn leaf() -> Value {
    json!({"name": "leaf", "steps": [{"type": "external_event", "name": "wait", "signalType": "go"}]})
}

fn fan() -> Value {
    let child = json!({"type": "workflow", "definition": "leaf", "wait": true});
    json!({"name": "fan", "steps": [{"type": "map", "name": "each", "items": "input.items", "step": child,
        "concurrency": 10_000}]})
}

async fn count(host: &Host, definition: &str, status: RunStatus) -> usize {
    let filter = RunFilter {
        workspace: Some(WorkspaceId::default()),
        definition: Some(definition.to_owned()),
        statuses: vec![status],
        ..RunFilter::default()
    };
    let page = Page { after: None, limit: 10_000 };
    host.engine.default_workspace().runs().list(filter, page).await.unwrap().len()
}

#[tokio::test]
async fn children_that_a_round_has_no_room_for_are_started_in_later_ones() {
    let watch = Watch::default();
    let host = Host::on_a_file().await.restart_on(&watch, "0s").await;
    host.deploy(leaf()).await.unwrap();
    host.deploy(fan()).await.unwrap();
    watch.commits();
    let run = host.engine.start("fan", json!({"items": numbers(1_000)})).await.unwrap();
    host.look().await;
    assert_eq!(count(&host, "leaf", RunStatus::Waiting).await, 1_000);
    let commits: Vec<usize> = watch.commits().iter().map(Vec::len).collect();
    assert!(commits.iter().all(|runs| *runs <= 600), "no round is large: {commits:?}");
    assert!(commits.len() >= 4, "{commits:?}");
    assert_eq!(host.status(run).await, RunStatus::Waiting);
}

#[tokio::test]
async fn children_that_were_asked_for_are_started_by_whoever_comes_after_a_kill() {
    let watch = Watch::default();
    let host = Host::on_a_file().await.restart_on(&watch, "0s").await;
    host.deploy(leaf()).await.unwrap();
    host.deploy(fan()).await.unwrap();
    watch.hold();
    let engine = host.engine.clone();
    let started = tokio::spawn(async move { engine.start("fan", json!({"items": numbers(700)})).await });
    let gate = watch.clone();
    tokio::task::spawn_blocking(move || {
        gate.wait_for_commit();
        gate.let_one_through();
        gate.wait_for_commit();
    })
    .await
    .unwrap();
    let run = started.await.unwrap().unwrap();
    // As it is on disk now: the parent, its first children, and the wish for the others.
    let after = host.another().await;
    assert!(count(&after, "leaf", RunStatus::Waiting).await < 700);
    after.look().await;
    assert_eq!(count(&after, "leaf", RunStatus::Waiting).await, 700);
    assert_eq!(after.status(run).await, RunStatus::Waiting);
    watch.let_all_through();
    host.look().await;
    assert_eq!(count(&host, "leaf", RunStatus::Waiting).await, 700);
}

#[tokio::test]
async fn a_parent_hears_of_all_its_children_however_many_end_at_once() {
    let host = Host::new().await;
    host.deploy(
        json!({"name": "leaf", "steps": [{"type": "respond", "name": "say", "body": "{{ input }}"}]}),
    )
    .await
    .unwrap();
    let child = json!({"type": "workflow", "definition": "leaf", "input": "{{ item }}"});
    let steps = json!([{"type": "map", "name": "each", "items": "input.items", "step": child, "concurrency": 10_000}]);
    host.deploy(json!({"name": "fan", "steps": steps})).await.unwrap();
    let run = host.engine.start("fan", json!({"items": numbers(900)})).await.unwrap();
    let ended = host.end_of(run).await;
    assert_eq!((ended.status, output(&ended).as_array().map(Vec::len)), (RunStatus::Completed, Some(900)));
}

#[tokio::test]
async fn a_cancelled_parent_takes_along_children_that_are_not_started_yet() {
    let host = Host::new().await;
    host.deploy(leaf()).await.unwrap();
    host.deploy(fan()).await.unwrap();
    let run = host.engine.start("fan", json!({"items": numbers(1_500)})).await.unwrap();
    host.engine.run(run).command(Command::Cancel { reason: None }).await.unwrap();
    host.look().await;
    assert_eq!(count(&host, "leaf", RunStatus::Waiting).await, 0);
    assert_eq!(host.status(run).await, RunStatus::Cancelled);
}

#[tokio::test]
async fn a_root_has_so_many_descendants_and_the_next_one_is_not_started() {
    let host = Host::limited(Limits { descendants: 50, ..Limits::default() }).await;
    host.deploy(json!({"name": "bomb", "steps": [
        {"type": "wait", "name": "w", "duration": "1s", "after": []},
        {"type": "workflow", "name": "a", "definition": "bomb", "after": ["w"]},
        {"type": "workflow", "name": "b", "definition": "bomb", "after": ["w"]},
    ]}))
    .await
    .unwrap();
    let run = host.engine.start("bomb", json!({})).await.unwrap();
    let ended = host.end_of(run).await;
    assert_eq!(ended.status, RunStatus::Failed);
    host.look().await;
    let mut all = 0;
    for status in RunStatus::ALL {
        all += count(&host, "bomb", status).await;
    }
    assert!(all <= 51, "the root and its descendants: {all}");
    let failed =
        host.engine.default_workspace().runs().list(RunFilter::default(), Page { after: None, limit: 100 });
    let mut said = false;
    for summary in failed.await.unwrap() {
        let run = host.engine.run(summary.id).get().await.unwrap();
        said |=
            run.error.as_ref().is_some_and(|error| error.message.contains("descendants, which is the limit"));
    }
    assert!(said, "whoever could not start a child says why");
}

#[tokio::test]
async fn a_workspace_has_so_many_open_runs_and_the_next_start_is_refused() {
    let host = Host::limited(Limits { open_runs: Some(3), ..Limits::default() }).await;
    host.deploy(leaf()).await.unwrap();
    let mut runs = Vec::new();
    for _ in 0..3 {
        runs.push(host.engine.start("leaf", json!({})).await.unwrap());
    }
    let refused = host.engine.start("leaf", json!({})).await.unwrap_err();
    assert!(matches!(refused, Error::TooManyOpenRuns { limit: 3 }), "{refused}");
    host.engine.run(runs[0]).command(Command::Cancel { reason: None }).await.unwrap();
    host.engine.start("leaf", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_workflow_that_comes_back_to_itself_without_a_wait_is_refused() {
    let host = Host::new().await;
    let calls = |name: &str, version: &str, other: &str| json!({"name": name, "version": version, "steps": [{"type": "workflow", "name": "c", "definition": other}]});
    let Err(Error::Rejected(rejected)) = host.deploy(calls("bomb", "1", "bomb")).await else {
        panic!("refused")
    };
    assert_eq!(rejected.problems[0].pointer, "/steps/0/definition");
    assert!(rejected.problems[0].message.contains("`bomb` → `bomb`"), "{}", rejected.problems[0]);
    host.deploy(calls("one", "1", "two")).await.unwrap();
    host.deploy(calls("two", "1", "three")).await.unwrap();
    let Err(Error::Rejected(rejected)) = host.deploy(calls("three", "1", "one")).await else {
        panic!("refused")
    };
    assert!(
        rejected.problems[0].message.contains("`three` → `one` → `two` → `three`"),
        "{}",
        rejected.problems[0]
    );
    host.deploy(calls("three", "1", "leaf")).await.unwrap();
    let Err(Error::Rejected(_)) = host.deploy(calls("leaf", "1", "two")).await else { panic!("refused") };
    let waits = json!({"name": "leaf", "version": "2", "steps": [
        {"type": "wait", "name": "w", "duration": "1h"}, {"type": "workflow", "name": "c", "definition": "two"}]});
    host.deploy(waits).await.unwrap();
}

/// Twice the next, so many times; `levels` are few enough to be let through.
fn costly_schema(levels: usize) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/n{}", level + 1)});
        definitions.insert(format!("n{level}"), json!({"allOf": [next.clone(), next]}));
    }
    definitions.insert(format!("n{levels}"), json!({"type": "integer"}));
    json!({"properties": {"items": {"items": {"$ref": "#/$defs/n0"}}}, "$defs": definitions})
}

#[tokio::test]
async fn a_schema_that_doubles_with_each_level_is_refused_at_deploy() {
    let host = Host::new().await;
    for levels in [20, 60] {
        let document = json!({"name": "w", "inputSchema": costly_schema(levels), "steps": leaf()["steps"]});
        let Err(Error::Rejected(rejected)) = host.deploy(document).await else { panic!("refused") };
        assert_eq!(rejected.problems[0].pointer, "/inputSchema");
    }
}

#[tokio::test]
async fn an_input_that_takes_long_to_check_is_checked_beside_the_others() {
    let host = Host::new().await;
    host.deploy(json!({"name": "w", "inputSchema": costly_schema(8), "steps": leaf()["steps"]}))
        .await
        .unwrap();
    let good = host.engine.start("w", json!({"items": numbers(500)})).await.unwrap();
    assert_eq!(host.status(good).await, RunStatus::Waiting);
    let bad = host.engine.start("w", json!({"items": vec!["x"; 500]})).await.unwrap_err();
    assert!(bad.to_string().contains("inputSchema"), "{bad}");
    let too_much = host.engine.start("w", json!({"items": numbers(100_000)})).await.unwrap_err();
    assert!(too_much.to_string().contains("the work of checking the input"), "{too_much}");
    // A recursive schema with two references, and a deep value.
    let twice = json!({"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}});
    host.deploy(json!({"name": "deep", "inputSchema": twice, "steps": leaf()["steps"]})).await.unwrap();
    let deep = (0..95).fold(json!([]), |inner, _| json!([inner]));
    let refused = host.engine.start("deep", deep).await.unwrap_err();
    assert!(refused.to_string().contains("the work of checking the input"), "{refused}");
}

#[tokio::test]
async fn a_child_whose_input_takes_long_to_check_is_started_when_it_was() {
    let host = Host::new().await;
    host.deploy(json!({"name": "leaf", "inputSchema": costly_schema(8), "steps": leaf()["steps"]}))
        .await
        .unwrap();
    let child = json!({"type": "workflow", "name": "c", "definition": "leaf", "input": {"items": "{{ input.items }}"}});
    host.deploy(json!({"name": "parent", "steps": [child]})).await.unwrap();
    let good = host.engine.start("parent", json!({"items": numbers(500)})).await.unwrap();
    host.look().await;
    assert_eq!(host.status(good).await, RunStatus::Waiting);
    assert_eq!(count(&host, "leaf", RunStatus::Waiting).await, 1);
    let bad = host.engine.start("parent", json!({"items": vec!["x"; 500]})).await.unwrap();
    let ended = host.end_of(bad).await;
    let error = ended.error.unwrap();
    assert!(error.message.contains("CHILD_NOT_STARTED"), "{error:?}");
    assert!(error.message.contains("inputSchema"), "{error:?}");
}

fn plan(input: Value) -> Plan {
    Plan {
        name: "s".to_owned(),
        workflow: "w".to_owned(),
        version: None,
        input: input.into(),
        tags: Vec::new(),
        when: When::Every(Millis(60_000)),
        overlap: Overlap::Skip,
        catch_up: CatchUp::Last,
    }
}

#[tokio::test]
async fn an_occurrence_whose_input_is_not_taken_any_more_says_so_and_the_next_one_comes() {
    let host = Host::new().await;
    host.deploy(json!({"name": "w", "version": "1", "steps": leaf()["steps"]})).await.unwrap();
    let workspace = WorkspaceId::default();
    let order = ScheduleOrder::Create(plan(json!({"items": vec!["x"; 500]})));
    let made =
        host.engine.workspace(workspace).schedules().order(order, Actor::new("ana"), None).await.unwrap();
    for (version, levels) in [("2", 8), ("3", 1)] {
        let schema = costly_schema(levels);
        let document =
            json!({"name": "w", "version": version, "inputSchema": schema, "steps": leaf()["steps"]});
        host.deploy(document).await.unwrap();
        host.pass("1m").await;
        host.look().await;
        let id = made.schedule.id;
        let schedule = host.engine.default_workspace().schedules().get(id).await.unwrap().unwrap();
        let last = schedule.waits().rev().find(|wait| !wait.is_pending()).unwrap();
        let outcome = &last.resume_payload.as_ref().unwrap()["outcomes"][0];
        assert_eq!(outcome["outcome"], "invalidInput", "version {version}: {outcome}");
        assert!(schedule.pending().is_some());
    }
    assert_eq!(count(&host, "w", RunStatus::Waiting).await, 0);
    let order =
        ScheduleOrder::Create(Plan { name: "t".to_owned(), ..plan(json!({"items": vec!["x"; 500]})) });
    let refused =
        host.engine.workspace(workspace).schedules().order(order, Actor::new("ana"), None).await.unwrap_err();
    assert!(refused.to_string().contains("inputSchema"), "{refused}");
}

#[tokio::test]
async fn the_input_of_an_item_is_rendered_when_it_is_handed_out_and_not_recorded() {
    let host = Host::new().await;
    let big = "x".repeat(200_000);
    let task = json!({"type": "task", "handler": "measure",
        "input": {"big": "{{ input.big }}", "item": "{{ item }}"}});
    let steps =
        json!([{"type": "map", "name": "each", "items": "input.items", "step": task, "concurrency": 10_000}]);
    host.deploy(json!({"name": "w", "steps": steps})).await.unwrap();
    let input = json!({"big": big, "items": numbers(1_000)});
    let run = host.engine.start("w", input).await.unwrap();
    let (records, recorded) = {
        let history = host.engine.run(run).records_after(0, 10_000, usize::MAX).await.unwrap();
        (history.len(), history.iter().map(|record| record.change.payload_bytes()).sum::<usize>())
    };
    assert!(records > 1_000, "all items have begun: {records}");
    assert!(recorded < 2_000_000, "{recorded} bytes, for a thousand copies of 200,000");
    let polled = host
        .engine
        .default_workspace()
        .tasks()
        .poll(Poll::new("w", ["measure"], Duration::from_secs(30)).most(1_000))
        .await;
    let polled = polled.unwrap();
    assert!(!polled.is_empty() && polled.len() < 100, "a poll is bounded in bytes: {}", polled.len());
    assert_eq!(polled[0].task.input["big"].as_str().map(str::len), Some(200_000));
    let measure = async |task: abide_core::task::Task| {
        TaskResult::complete(json!(task.input["big"].as_str().map_or(0, str::len)))
    };
    host.engine.handler("measure", measure).await.unwrap();
}

#[tokio::test]
async fn a_decision_that_comes_to_too_much_fails_its_run_with_a_name() {
    let host = Host::new().await;
    // In a graph what a step reads of `state` may change under it, so it is rendered at once.
    let task = json!({"type": "task", "handler": "none", "input": {"big": "{{ state.big }}"}});
    let set = json!({"type": "task", "name": "set", "handler": "set", "after": []});
    let steps = json!([set, {"type": "map", "name": "each", "items": "input.items", "step": task, "after": ["set"],
        "concurrency": 10_000}]);
    host.deploy(json!({"name": "w", "steps": steps})).await.unwrap();
    let set = async |_: abide_core::task::Task| {
        let big = json!("x".repeat(500_000)).into();
        TaskResult::Complete {
            output: json!(1).into(),
            state_updates: Some([("big".to_owned(), big)].into()),
        }
    };
    host.engine.handler("set", set).await.unwrap();
    let run = host.engine.start("w", json!({"items": numbers(1_000)})).await.unwrap();
    let ended = host.end_of(run).await;
    assert_eq!(&*ended.error.unwrap().code, "DECISION_TOO_LARGE");
}

#[tokio::test]
async fn an_event_to_many_who_wait_reaches_them_in_slices_and_each_once() {
    let watch = Watch::default();
    let host = Host::new().await.restart_on(&watch, "0s").await;
    host.deploy(json!({"name": "w", "steps": [
        {"type": "wait_for_event", "name": "e", "eventId": "paid", "match": "event.who == input.who or event.all"},
        {"type": "respond", "name": "r", "body": "{{ steps.e.output.n }}"}], "output": "{{ steps.e.output.n }}"}))
        .await
        .unwrap();
    let inputs = (0..2_000).map(|n| json!({"who": n}));
    let runs = host.start_each("w", inputs).await;
    host.look().await;
    watch.commits();
    let notify = |data: Value| {
        let engine = host.engine.clone();
        async move { engine.default_workspace().events().send(SendEvent::new("paid").data(data)).await.unwrap() }
    };
    let first = notify(json!({"all": true, "n": 1})).await;
    assert!(first.delivering, "there are more than one round has room for");
    assert!(first.waiters.len() < 2_000);
    // The second comes after the first, whoever it reaches first.
    notify(json!({"all": true, "n": 2})).await;
    host.look().await;
    for (run, _) in &runs {
        let run = host.engine.run(*run).get().await.unwrap();
        assert_eq!((run.status, run.output.as_deref()), (RunStatus::Completed, Some(&json!(1))));
    }
    let largest = watch.commits().iter().map(Vec::len).max().unwrap();
    assert!(largest <= 600, "no round is large: {largest}");
}

#[tokio::test]
async fn a_wait_that_was_not_offered_the_event_yet_does_not_time_out() {
    let host = Host::new().await;
    host.deploy(json!({"name": "w", "steps": [
        {"type": "wait_for_event", "name": "e", "eventId": "paid", "timeout": "1h", "onTimeout": "fail"}]}))
        .await
        .unwrap();
    let runs = host.start_each("w", (0..1_500).map(|_| json!({}))).await;
    host.look().await;
    let sent = SendEvent::new("paid").data(json!(1));
    assert!(host.engine.default_workspace().events().send(sent).await.unwrap().delivering);
    host.pass("2h").await;
    for (run, _) in &runs {
        assert_eq!(host.status(*run).await, RunStatus::Completed);
    }
}

/// How often somebody else is served while something goes on.
async fn probes_served(host: &Host, until: impl Future<Output = ()>) -> usize {
    let done = Arc::new(AtomicBool::new(false));
    let (engine, stop) = (host.engine.clone(), Arc::clone(&done));
    let probe = tokio::spawn(async move {
        let mut served = 0;
        while !stop.load(Ordering::Relaxed) {
            engine.start("probe", json!({})).await.unwrap();
            served += 1;
        }
        served
    });
    until.await;
    done.store(true, Ordering::Relaxed);
    probe.await.unwrap()
}

#[tokio::test]
async fn poison_behind_a_timer_is_bounded_and_the_others_are_served() {
    let host = Host::limited(Limits { descendants: 3_000, ..Limits::default() }).await;
    host.deploy(json!({"name": "probe", "steps": leaf()["steps"]})).await.unwrap();
    let wait = json!({"type": "wait", "name": "w", "duration": "1s"});
    // Runs that start runs: a map of maps.
    host.deploy(leaf()).await.unwrap();
    host.deploy(json!({"name": "inner", "steps": [{"type": "map", "name": "each", "items": "input.items",
        "concurrency": 1_000, "step": {"type": "workflow", "definition": "leaf"}}]}))
        .await
        .unwrap();
    let inner = json!({"type": "workflow", "definition": "inner", "input": {"items": "{{ input.items }}"}});
    host.deploy(
        json!({"name": "bomb", "steps": [wait, {"type": "map", "name": "each", "items": "input.items",
        "concurrency": 1_000, "step": inner}]}),
    )
    .await
    .unwrap();
    // A map that renders much.
    let task = json!({"type": "task", "handler": "none", "input": {"x": "{{ input.big }}"}});
    host.deploy(
        json!({"name": "render", "steps": [wait, {"type": "map", "name": "each", "items": "input.items",
        "concurrency": 10_000, "step": task}]}),
    )
    .await
    .unwrap();
    // A child with an input that takes for ever to check.
    let twice = json!({"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}});
    host.deploy(json!({"name": "deep", "inputSchema": twice, "steps": leaf()["steps"]})).await.unwrap();
    let child = json!({"type": "workflow", "name": "c", "definition": "deep", "input": "{{ input }}"});
    host.deploy(json!({"name": "schema", "steps": [wait, child]})).await.unwrap();

    let bomb = host.engine.start("bomb", json!({"items": numbers(100)})).await.unwrap();
    let render = json!({"big": "x".repeat(500_000), "items": numbers(5_000)});
    let render = host.engine.start("render", render).await.unwrap();
    let deep = (0..95).fold(json!([]), |inner, _| json!([inner]));
    let schema = host.engine.start("schema", deep).await.unwrap();
    host.advance("2s");
    let served = probes_served(&host, host.look()).await;
    assert!(served > 10, "somebody else is served between the rounds, {served} times");

    let started = count(&host, "leaf", RunStatus::Waiting).await;
    assert!(started <= 3_000, "{started}");
    let ended = host.engine.run(bomb).get().await.unwrap();
    assert!(!ended.error.as_ref().is_some_and(|error| error.message.is_empty()));
    assert_eq!(host.status(render).await, RunStatus::Running);
    // It is tried again, as any child that fails, and fails for good.
    host.pass("1h").await;
    let ended = host.end_of(schema).await;
    assert!(ended.error.unwrap().message.contains("the work of checking the input"));
    let host = host.crash_after("1s").await;
    host.engine.start("probe", json!({})).await.unwrap();
}
