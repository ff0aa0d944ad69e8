//! The written order, and its jumps.

use abide_core::effect::AfterCommit;
use serde_json::{Value, json};

use crate::scenario::*;

#[test]
fn steps_run_in_the_order_written() {
    let mut run = start(json!([task("a"), task("b"), task("c")]));
    for (step, steps) in [
        ("a", "a COMPLETED, b RUNNING, c PENDING"),
        ("b", "a COMPLETED, b COMPLETED, c RUNNING"),
        ("c", "a COMPLETED, b COMPLETED, c COMPLETED"),
    ] {
        run.complete(step, json!(1));
        assert_eq!(run.steps(), steps);
    }
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn next_jumps_and_skips_what_lies_between() {
    let mut run = start(json!([task("a").also(json!({ "next": "d" })), task("b"), task("c"), task("d")]));
    run.complete("a", json!(1));
    assert_eq!(run.steps(), "a COMPLETED, b SKIPPED, c SKIPPED, d RUNNING");
}

#[test]
fn next_end_ends_the_run() {
    let mut run = start(json!([task("a").also(json!({ "next": "end" })), task("b")]));
    run.complete("a", json!(1));
    assert_eq!((run.status(), run.step("b")), ("COMPLETED".to_owned(), "SKIPPED".to_owned()));
}

fn branching(input: Value) -> Scenario {
    let steps = json!([
        condition("if", "input.n >= 10 and input.region == \"EU\"", "yes", "no"),
        task("yes").also(json!({ "next": "end" })),
        task("no"),
    ]);
    plan(steps).input(input).start()
}

#[test]
fn a_condition_goes_one_way_or_the_other() {
    assert_eq!(
        branching(json!({ "n": 10, "region": "EU" })).steps(),
        "if COMPLETED, yes RUNNING, no PENDING"
    );
    assert_eq!(branching(json!({ "n": 9, "region": "EU" })).steps(), "if COMPLETED, yes SKIPPED, no RUNNING");
    assert_eq!(branching(json!({ "n": 10 })).step("no"), "RUNNING");
}

#[test]
fn a_condition_without_a_false_step_goes_on_in_order() {
    let jump = json!({ "name": "if", "type": "condition", "expression": "input.skip", "trueStep": "c" });
    let run = |skip| plan(json!([jump, task("b"), task("c")])).input(json!({ "skip": skip })).start();
    assert_eq!(run(false).steps(), "if COMPLETED, b RUNNING, c PENDING");
    assert_eq!(run(true).steps(), "if COMPLETED, b SKIPPED, c RUNNING");
}

#[test]
fn a_condition_that_leads_to_the_end_ends_the_run() {
    let run = start(json!([condition("if", "true", "end", "a"), task("a")]));
    assert_eq!((run.status(), run.step("a")), ("COMPLETED".to_owned(), "SKIPPED".to_owned()));
}

#[test]
fn a_condition_that_cannot_be_evaluated_fails_the_run_and_says_why() {
    let run = plan(json!([condition("if", "input.text + 1 > 2", "a", "end"), task("a")]))
        .input(json!({ "text": { "not": "a number" } }))
        .start();
    assert_eq!((run.status(), run.error()), ("FAILED".to_owned(), "EXPRESSION_FAILED".to_owned()));
}

#[test]
fn a_step_whose_when_is_false_is_skipped_and_the_run_goes_on() {
    let run = start(json!([task("a").also(json!({ "when": "input.wanted" })), task("b")]));
    assert_eq!(run.steps(), "a SKIPPED, b RUNNING");
}

#[test]
fn a_skipped_step_still_leads_where_its_next_says() {
    let skipped = task("a").also(json!({ "when": "false", "next": "c" }));
    assert_eq!(start(json!([skipped, task("b"), task("c")])).steps(), "a SKIPPED, b SKIPPED, c RUNNING");
}

#[test]
fn when_sees_what_the_steps_before_have_done() {
    let steps = json!([task("a"), task("b").also(json!({ "when": "steps.a.output.n > 1" })), task("c")]);
    let mut run = start(steps.clone());
    run.complete("a", json!({ "n": 1 }));
    assert_eq!(run.step("b"), "SKIPPED");
    let mut run = start(steps);
    run.complete("a", json!({ "n": 2 }));
    assert_eq!(run.step("b"), "RUNNING");
}

#[test]
fn a_run_whose_every_step_is_skipped_completes() {
    let never = json!({ "when": "false" });
    let run = start(json!([task("a").also(never.clone()), sleep("b", "1d").also(never)]));
    assert_eq!(run.path(), "PENDING RUNNING COMPLETED");
}

#[test]
fn a_thousand_steps_that_end_at_once_follow_each_other_in_one_decision() {
    let steps: Vec<Value> = (0..1000).map(|n| respond(&format!("r{n}"), json!(n))).collect();
    let run = start(json!(steps));
    assert_eq!((run.status(), run.after_commit().len()), ("COMPLETED".to_owned(), 1000));
}

#[test]
fn respond_answers_the_caller_and_the_run_goes_on() {
    let run = plan(json!([respond("hello", json!({ "to": "{{ input.name }}" })), task("a")]))
        .input(json!({ "name": "Ana" }))
        .start();
    let response = json!({ "status": 200, "headers": {}, "body": { "to": "Ana" } });
    assert_eq!(run.last_after_commit()[0], AfterCommit::Respond { response: response.into() });
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn a_wait_can_take_its_length_from_the_data() {
    let waits = |length: Value| {
        plan(json!([sleep("nap", "{{ input.length }}")])).input(json!({ "length": length })).start()
    };
    assert_eq!(waits(json!("2d 4h")).resume_at("nap"), instant("2026-03-03T12:00:00Z"));
    assert_eq!(waits(json!(60_000)).resume_at("nap"), instant("2026-03-01T08:01:00Z"));
    assert_eq!(waits(json!("soon")).error(), "BAD_TIME");
}

#[test]
fn a_wait_can_take_its_instant_from_the_data() {
    let until = json!({ "name": "nap", "type": "wait", "untilTimestamp": "{{ input.at }}" });
    let waits = |at: Value| plan(json!([until])).input(json!({ "at": at })).start();
    assert_eq!(waits(json!("2026-03-02T10:00:00+02:00")).resume_at("nap"), instant("2026-03-02T08:00:00Z"));
    assert_eq!(waits(json!("2020-01-01T00:00:00Z")).status(), "COMPLETED");
    assert_eq!(waits(json!("tomorrow")).error(), "BAD_TIME");
}
