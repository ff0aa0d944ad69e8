//! Calls that the engine makes: what their executors may ask of a run.

use abide_core::command::{ChildFinished, ChildOutcome, Command, TaskHeartbeat, TaskStarted, WaitFor};
use abide_core::effect::RoundEffect;
use abide_core::expression::SecretPlace;
use abide_core::history::{Failure, JournalResult, ModelCall};
use serde_json::{Value, json};

use crate::scenario::*;

fn called(run: &mut Scenario, step: &str, entry: &str, cost_micros: Option<u64>) -> Answer {
    let (at, lease_epoch) = (run.at(step), run.lease_epoch(step));
    let entries = vec![JournalResult { name: entry.into(), result: json!({ "text": "Hi" }).into() }];
    let call = ModelCall {
        entry: entry.into(),
        model: "a-model".into(),
        input_tokens: 100,
        cached_input_tokens: 0,
        output_tokens: 10,
        cost_micros,
        error: None,
    };
    let (calls, cancels) = (vec![call], Vec::new());
    let beat = TaskHeartbeat { at, lease_epoch, checkpoint: None, entries, calls, cancels };
    run.send(Command::TaskHeartbeat(beat))
}

fn child_of(definition: &str, input: Value) -> WaitFor {
    let (definition, input) = (definition.into(), input.into());
    WaitFor::Child { definition, version: None, input, timeout: None, detached: false, tags: Vec::new() }
}

#[test]
fn a_call_is_paid_with_its_entry_and_once() {
    let mut run = start(json!([llm("ask")]));
    called(&mut run, "ask", "call 1", Some(7));
    assert_eq!(run.last_names(), ["JOURNAL_RECORDED", "LLM_CALL_COMPLETED"]);
    called(&mut run, "ask", "call 1", Some(7));
    assert_eq!(
        run.count("LLM_CALL_COMPLETED"),
        1,
        "told again, because the answer to the first report was lost"
    );
    called(&mut run, "ask", "call 2", None);
    let spent = run.run().spent;
    assert_eq!((spent.calls, spent.cost_micros, spent.unpriced_calls, spent.input_tokens), (2, 7, 1, 200));
}

#[test]
fn a_rate_limit_is_a_retry_of_the_same_attempt() {
    let mut run = start(json!([llm("ask").tries(2)]));
    let until = instant("2026-03-01T09:00:00Z");
    run.suspend("ask", vec![wait_for("wait 1", WaitFor::RateLimit { until })]);
    assert_eq!((run.status(), run.open()), ("WAITING".to_owned(), vec!["ask RETRY".to_owned()]));
    assert_eq!(run.waiting_for(), ["`ask` waits for the end of a rate limit at 2026-03-01T09:00:00Z"]);
    run.live("2h");
    assert_eq!((run.step("ask"), run.attempt("ask")), ("RUNNING".to_owned(), 1));
    assert_eq!(run.journal_of("ask")[0].0, "wait 1");
    run.fail("ask");
    run.live("1m");
    assert_eq!(run.attempt("ask"), 2, "a failure is another attempt, as ever");
}

#[test]
fn a_rate_limit_that_is_cancelled_gives_the_step_up() {
    let mut run = start(json!([llm("ask")]));
    let until = instant("2026-03-01T09:00:00Z");
    run.suspend("ask", vec![wait_for("wait 1", WaitFor::RateLimit { until })]);
    run.steer("ask", abide_core::command::Steering::Cancel);
    assert_eq!((run.status(), run.error()), ("FAILED".to_owned(), "WAIT_CANCELLED".to_owned()));
}

#[test]
fn a_task_waits_for_runs_it_starts_and_is_handed_their_outcomes() {
    let mut run = start(json!([llm("ask")]));
    let waits = vec![
        wait_for("run 1.1", child_of("$tool/look", json!({ "n": 1 }))),
        wait_for("run 1.2", child_of("other", json!({ "n": 2 }))),
    ];
    run.suspend("ask", waits);
    let started: Vec<(String, Value)> = run
        .children()
        .iter()
        .map(|child| (child.definition.to_string(), Value::clone(child.input.given().unwrap())))
        .collect();
    assert_eq!(
        started,
        [("$tool/look".to_owned(), json!({ "n": 1 })), ("other".to_owned(), json!({ "n": 2 }))]
    );
    let numbers: Vec<u32> =
        run.children().iter().map(|child| child.parent.waitpoint.expect("it is waited for").number).collect();
    assert_eq!(numbers, [1, 2]);
    let ended = |number, outcome| Command::ChildFinished(ChildFinished { number, outcome });
    run.send(ended(1, ChildOutcome::Completed { output: json!("found").into() }));
    assert_eq!(run.status(), "WAITING", "the other one is still at it");
    run.send(ended(2, ChildOutcome::Failed { error: Failure::new("BROKEN", "it broke") }));
    assert_eq!(run.step("ask"), "RUNNING");
    let [(_, found), (_, broken)] = &run.journal_of("ask")[..] else { panic!("two runs") };
    assert_eq!(found["payload"], json!({ "status": "COMPLETED", "output": "found" }));
    assert_eq!(broken["payload"]["status"], json!("FAILED"));
}

#[test]
fn a_run_that_ends_cancels_what_its_tasks_have_started() {
    let mut run = start(json!([llm("ask")]));
    run.suspend("ask", vec![wait_for("run 1.1", child_of("other", json!({})))]);
    let child = run.children()[0].run_id;
    run.cancel();
    assert!(run.last_in_round().contains(&RoundEffect::CancelChild { run_id: child }));
}

#[test]
fn a_task_that_is_handed_on_keeps_its_time() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "1h" }))]));
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    let taken = |worker: &str, from: Option<&str>| {
        Command::TaskStarted(TaskStarted {
            at,
            lease_epoch,
            worker: worker.into(),
            from: from.map(Into::into),
            build: None,
        })
    };
    run.send(taken("in process", None));
    let deadline = run.task("a").deadline;
    run.advance("10m");
    assert_eq!(run.send(taken("url", None)).code(), "TASK_ALREADY_TAKEN");
    assert_eq!(run.send(taken("url", Some("somebody"))).code(), "TASK_ALREADY_TAKEN");
    run.send(taken("url", Some("in process")));
    assert_eq!(
        (run.task("a").deadline, run.step_state("a").task.as_ref().unwrap().worker.as_deref()),
        (deadline, Some("url"))
    );
}

#[test]
fn a_request_says_where_its_secrets_belong_and_never_what_they_are() {
    let call = json!({
        "name": "call", "type": "http", "url": "https://example.com/{{ input.path }}",
        "headers": { "authorization": "Bearer {{ secret.API_KEY }}" },
    });
    let run = plan(json!([call])).input(json!({ "path": "{{ secret.API_KEY }}" })).start();
    let task = run.task("call");
    assert_eq!(task.input["headers"]["authorization"], "Bearer [secret API_KEY]");
    assert_eq!(task.input["url"], "https://example.com/{{ secret.API_KEY }}");
    let place =
        SecretPlace { pointer: "/headers/authorization".to_owned(), at: 7, name: "API_KEY".to_owned() };
    assert_eq!(task.secrets, [place]);
}
