use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use abide_core::command::Command;
use abide_core::definition::document::{Retry, Workflow};
use abide_core::status::RunStatus;
use abide_engine::{Error, StartRun, StartedHow, TaskResult};
use jiff::ToSpan;
use serde_json::json;

use crate::host::{Host, output};

#[tokio::test]
async fn steps_run_in_order_and_the_last_output_is_the_runs() {
    let host = Host::with(Workflow::new("three").task("a", "echo").task("b", "echo").task("c", "echo")).await;
    let run = host.engine.start("three", json!({ "n": 1 })).await.unwrap();
    let ended = host.engine.run(run).wait().await.unwrap();
    assert_eq!((ended.status, output(&ended)), (RunStatus::Completed, json!({ "echo": { "n": 1 } })));
}

#[tokio::test]
async fn many_starts_share_commits_and_each_is_answered_in_its_place() {
    let schema = json!({ "type": "object", "properties": { "n": { "maximum": 990 } } });
    let workflow = Workflow::new("naps").input_schema(schema).sleep("nap", "1h");
    let host = Host::with(workflow).await;
    let before = host.engine.stats().await.unwrap().commits;
    let starts = (0..1_000).map(|n| StartRun::new("naps").input(json!({ "n": n }))).collect();
    let answers = host.engine.default_workspace().start_many(starts).await;
    assert!(answers[..=990].iter().all(|answer| answer.as_ref().unwrap().how == StartedHow::Created));
    assert!(answers[991..].iter().all(|answer| matches!(answer, Err(Error::Refused(_)))), "{answers:?}");
    let commits = host.engine.stats().await.unwrap().commits - before;
    assert!(commits <= 8, "{commits} commits for 1,000 starts");
    for n in [0, 500, 990] {
        let run = host.engine.run(answers[n].as_ref().unwrap().run).get().await.unwrap();
        assert_eq!(run.input, json!({ "n": n }).into());
    }
}

#[tokio::test]
async fn inputs_of_many_starts_that_take_long_to_check_are_checked_beside_the_writer() {
    // A pattern over a long list is more than a moment's work.
    let schema = json!({ "type": "object", "properties": { "names": { "type": "array", "uniqueItems": true, "items": { "pattern": "^[a-z]+-[0-9]+$" } } } });
    let workflow = Workflow::new("names").input_schema(schema).sleep("nap", "1h");
    let host = Host::with(workflow).await;
    let names = |odd: &str| {
        let mut names: Vec<String> = (0..5_000).map(|n| format!("name-{n}")).collect();
        names.push(odd.to_owned());
        StartRun::new("names").input(json!({ "names": names }))
    };
    let starts =
        vec![names("good-1"), names("BAD"), StartRun::new("names").input(json!({})), names("good-2")];
    let answers = host.engine.default_workspace().start_many(starts).await;
    let fits: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(fits, [true, false, true, true], "{answers:?}");
}

#[tokio::test]
async fn a_failing_handler_is_tried_again_after_its_back_off() {
    let workflow = Workflow::new("flaky").task("work", "flaky").retry(Retry::attempts(3));
    let host = Host::with(workflow).await;
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    let flaky = move |_| {
        let n = counted.fetch_add(1, Ordering::SeqCst);
        async move { if n < 2 { TaskResult::fail("not yet") } else { TaskResult::complete(json!(n)) } }
    };
    host.engine.handler("flaky", flaky).await.unwrap();
    let run = host.start("flaky").await;
    assert_eq!(output(&host.end_of(run).await), json!(2));
    assert_eq!(tries.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_handler_that_panics_fails_its_attempt_and_nothing_else() {
    let workflow = Workflow::new("panics").task("work", "panics").retry(Retry::attempts(1));
    let host = Host::with(workflow.clone()).await;
    host.engine.handler("panics", async |_| panic!("on purpose")).await.unwrap();
    let run = host.start("panics").await;
    let ended = host.end_of(run).await;
    assert_eq!(ended.status, RunStatus::Failed);
    assert!(ended.error.unwrap().message.contains("panicked"));
}

#[tokio::test]
async fn a_cancelled_run_stops_its_handler() {
    let host = Host::with(Workflow::new("long").task("work", "forever")).await;
    let (started, mut seen) = tokio::sync::mpsc::channel(1);
    let forever = move |_| {
        let started = started.clone();
        async move {
            started.send(()).await.unwrap();
            std::future::pending().await
        }
    };
    host.engine.handler("forever", forever).await.unwrap();
    let run = host.start("long").await;
    seen.recv().await.unwrap();
    host.engine.run(run).command(Command::Cancel { reason: None }).await.unwrap();
    assert_eq!(host.engine.run(run).wait().await.unwrap().status, RunStatus::Cancelled);
    assert_eq!(host.engine.stats().await.unwrap().tasks_out, 0);
}

#[tokio::test]
async fn a_child_gives_its_output_to_its_parent() {
    let host = Host::with(Workflow::new("child").sleep("nap", 1.day()).task("work", "echo")).await;
    let parent = Workflow::new("parent").child("call", "child").input(json!({ "from": "parent" }));
    host.engine.deploy(parent).await.unwrap();
    let run = host.start("parent").await;
    assert_eq!(output(&host.end_of(run).await), json!({ "echo": { "from": "parent" } }));
}

#[tokio::test]
async fn a_child_that_cannot_be_started_fails_its_parent() {
    let host = Host::with(Workflow::new("parent").child("call", "nobody").retry(Retry::attempts(1))).await;
    let run = host.start("parent").await;
    let error = host.end_of(run).await.error.unwrap();
    assert!(error.message.contains("there is no workflow `nobody`"), "{}", error.message);
}

#[tokio::test]
async fn a_map_over_sleeping_items_ends_with_its_results_in_order() {
    let workflow =
        Workflow::new("many").map("each", "input.list", |each| each.task("work", "echo").input("{{ item }}"));
    let host = Host::with(workflow).await;
    let run = host.engine.start("many", json!({ "list": [3, 1, 2] })).await.unwrap();
    let ended = host.end_of(run).await;
    assert_eq!(output(&ended), json!([{ "echo": 3 }, { "echo": 1 }, { "echo": 2 }]));
}

#[tokio::test]
async fn r14_starting_twice_with_one_key_starts_one_run() {
    let host = Host::with(Workflow::new("one").task("work", "echo")).await;
    let new = |n: u64| StartRun::new("one").input(json!({ "n": n })).idempotency_key("k".to_owned());
    let first = host.engine.default_workspace().start(new(1)).await.unwrap();
    assert_eq!(host.engine.default_workspace().start(new(1)).await.unwrap(), first);
    assert!(matches!(host.engine.default_workspace().start(new(2)).await, Err(Error::Refused(_))));
}

#[tokio::test]
async fn starts_with_one_unique_tag_are_one_run_however_they_come() {
    let mut host = Host::with(Workflow::new("one").sleep("nap", 1.day())).await;
    let new = |n: u64| StartRun::new("one").input(json!({ "n": n })).unique_tag("order:7");
    let together = host.engine.default_workspace().start_many(vec![new(1), new(2)]).await;
    let [first, second] = [&together[0], &together[1]].map(|started| *started.as_ref().unwrap());
    assert_eq!((first.how, second.how), (StartedHow::Created, StartedHow::Repeated { collected: false }));
    assert_eq!(first.run, second.run);
    host = host.restart().await;
    let later = host.engine.default_workspace().start_told(new(3)).await.unwrap();
    assert_eq!((later.run, later.how), (first.run, StartedHow::Repeated { collected: false }));
    let kept = host.engine.run(first.run).get().await.unwrap();
    assert_eq!((kept.input["n"].clone(), kept.tags.len()), (json!(1), 1));
    let other = StartRun::new("one").input(json!({})).unique_tag("order:8");
    assert_ne!(host.engine.default_workspace().start(other).await.unwrap(), first.run);
}

#[tokio::test]
async fn r13_a_definition_never_changes_and_a_run_keeps_its_version() {
    let first = Workflow::new("w").sleep("nap", 1.hour()).task("work", "echo").input(json!("one"));
    let host = Host::with(first.clone()).await;
    let run = host.start("w").await;
    host.engine.deploy(first).await.unwrap();
    let changed = Workflow::new("w").task("other", "echo").input(json!("two"));
    assert!(matches!(host.engine.deploy(changed.clone()).await, Err(Error::DefinitionExists { .. })));
    host.engine.deploy(changed.version("2")).await.unwrap();
    let newer = host.start("w").await;
    assert_eq!(output(&host.engine.run(newer).wait().await.unwrap()), json!({ "echo": "two" }));
    assert_eq!(output(&host.end_of(run).await), json!({ "echo": "one" }));
}

#[tokio::test]
async fn unknown_things_are_named() {
    let host = Host::new().await;
    let error = host.engine.start("nothing", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no workflow `nothing`");
    let run = abide_core::id::RunId(7);
    assert!(matches!(host.engine.run(run).get().await, Err(Error::UnknownRun(unknown)) if unknown == run));
}
