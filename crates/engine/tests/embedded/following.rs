//! Those who look on: readers, followers of a run, listeners for its answer; and what is forgotten in time.

use abide_core::command::{Command, ResumeTarget, ResumeWaitpoint, Via};
use abide_core::definition::document::{Respond, Workflow};
use abide_core::id::RunId;
use abide_core::status::RunStatus;
use abide_core::time::Millis;
use abide_core::waitpoint::Actor;
use abide_engine::{Engine, Error, Options, Retention, RunReply, StartRun};
use abide_store::{Page, RunFilter};
use jiff::ToSpan;
use serde_json::{Value, json};

use crate::host::{Host, output};

fn new(workflow: &str) -> StartRun {
    StartRun::new(workflow.to_owned()).input(json!({}))
}

fn body(said: &RunReply) -> Value {
    match said {
        RunReply::Response(response) => response["body"].clone(),
        RunReply::Ended(ended) => output(ended),
    }
}

#[tokio::test]
async fn the_caller_that_starts_a_run_hears_its_response_before_it_ends() {
    let workflow = Workflow::new("w")
        .respond("r", Respond::status(202).body(json!("taken")))
        .sleep("nap", 1.hour())
        .task("a", "echo");
    let host = Host::with(workflow).await;
    let (run, listener) = host.engine.default_workspace().start_and_listen(new("w")).await.unwrap();
    assert_eq!(body(&listener.reply().await.unwrap()), json!("taken"));
    assert_eq!(host.engine.run(run).get().await.unwrap().status, RunStatus::Waiting);
}

#[tokio::test]
async fn a_run_that_says_nothing_answers_with_its_end() {
    let host = Host::with(Workflow::new("w").task("a", "echo")).await;
    let (_, listener) = host.engine.default_workspace().start_and_listen(new("w")).await.unwrap();
    assert_eq!(body(&listener.reply().await.unwrap()), json!({ "echo": {} }));
}

async fn resume(host: &Host, run: RunId) -> RunReply {
    let number = host.engine.run(run).get().await.unwrap().open_waitpoints().next().unwrap().number;
    let command = Command::ResumeWaitpoint(ResumeWaitpoint {
        target: ResumeTarget::Waitpoint(number),
        payload: json!({ "body": 1 }).into(),
        via: Via::Write,
    });
    let by = Actor::new("caller");
    let (_, listener) = host.engine.run(run).by(by).command_and_listen(command).await.unwrap();
    listener.reply().await.unwrap()
}

#[tokio::test]
async fn whoever_resumes_a_run_hears_what_it_says_next_and_not_what_it_said_before() {
    let workflow = Workflow::new("w")
        .respond("first", Respond::status(200).body(json!("one")))
        .webhook("call")
        .respond("second", Respond::status(200).body(json!("two")))
        .webhook("again")
        .response_to_send(Respond::status(200).body(json!("three")))
        .task("a", "echo");
    let host = Host::with(workflow).await;
    let (run, first) = host.engine.default_workspace().start_and_listen(new("w")).await.unwrap();
    assert_eq!(body(&first.reply().await.unwrap()), json!("one"));
    assert_eq!(body(&resume(&host, run).await), json!("two"));
    assert_eq!(body(&resume(&host, run).await), json!({ "echo": {} }));
}

#[tokio::test]
async fn a_follower_sees_the_version_of_a_run_grow_until_its_end() {
    let host = Host::with(Workflow::new("w").external_event("go", "go").task("a", "echo")).await;
    let run = host.start("w").await;
    let mut follower = host.engine.run(run).follow();
    let mut feed = host.engine.feed();
    let waiting = host.engine.run(run).get().await.unwrap().seq;
    host.engine.run(run).signal("go", json!({})).await.unwrap();
    host.engine.run(run).wait().await.unwrap();
    let end = host.engine.run(run).get().await.unwrap().seq;
    assert_eq!(*follower.wait_for(|version| *version > waiting).await.unwrap(), end);
    while feed.recv().await.unwrap().version < end {}
}

#[tokio::test]
async fn a_reader_sees_what_was_acknowledged() {
    let host = Host::with(Workflow::new("w").sleep("nap", 1.day())).await;
    let run = host.start("w").await;
    let page = Page { after: None, limit: 10 };
    let listed = host.engine.default_workspace().runs().list(RunFilter::default(), page).await.unwrap();
    assert_eq!(listed.iter().map(|run| run.id).collect::<Vec<_>>(), [run]);
}

#[tokio::test]
async fn runs_are_forgotten_some_time_after_they_ended_and_never_before() {
    let host = Host::with(Workflow::new("w").sleep("nap", "{{ input.for }}")).await;
    let start = async |length: &str| host.engine.start("w", json!({ "for": length })).await.unwrap();
    let (ended, asleep) = (start("1h").await, start("300d").await);
    host.end_of(ended).await;
    host.advance("60d");
    let clock = host.clock.clone();
    host.engine.clone().shut_down().await.unwrap();
    let days = |count: u64| Some(Millis(count * 24 * 3_600_000));
    let retention = Retention { runs: days(30), ..Retention::default() };
    let options = Options { clock: Some(clock), retention, ..Options::default() };
    let engine = Engine::open_with(host.place.open(), options).await.unwrap();
    // The first sweep is under way.
    while engine.run(ended).history().await.unwrap().is_some() {}
    assert!(matches!(engine.run(ended).get().await, Err(Error::UnknownRun(_))));
    assert_eq!(engine.run(asleep).get().await.unwrap().status, RunStatus::Waiting);
}
