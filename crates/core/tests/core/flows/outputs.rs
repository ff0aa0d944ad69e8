//! What the output of a run is.

use serde_json::json;

use crate::scenario::*;

#[test]
fn in_a_sequence_it_is_that_of_the_last_step_that_has_one() {
    let mut run =
        start(json!([task("a"), task("b"), sleep("nap", "1h"), task("c").also(json!({ "when": "false" }))]));
    run.complete("a", json!("a"));
    run.complete("b", json!("b"));
    run.live("1h");
    assert_eq!((run.status(), run.output()), ("COMPLETED".to_owned(), json!("b")));
}

#[test]
fn in_a_sequence_a_condition_or_a_reply_is_not_the_run_s_result() {
    let mut ends_with_a_condition = start(json!([task("a"), condition("if", "true", "end", "b"), task("b")]));
    ends_with_a_condition.complete("a", json!("a"));
    assert_eq!(ends_with_a_condition.output(), json!("a"));
    let mut ends_with_a_reply = start(json!([task("a"), respond("r", json!("hi"))]));
    ends_with_a_reply.complete("a", json!("a"));
    assert_eq!(ends_with_a_reply.output(), json!("a"));
}

#[test]
fn in_a_graph_it_is_that_of_the_only_last_step() {
    let mut run = start(json!([task("a"), task("b"), task("last").after(&["a", "b"])]));
    for step in ["a", "b", "last"] {
        run.complete(step, json!(step));
    }
    assert_eq!(run.output(), json!("last"));
}

#[test]
fn in_a_graph_with_several_last_steps_it_is_all_of_them_by_name() {
    let mut run = start(json!([
        task("a"),
        task("b").after(&["a"]),
        task("c").after(&["a"]),
        task("d").after(&["a"]).also(json!({ "when": "false" }))
    ]));
    for step in ["a", "b", "c"] {
        run.complete(step, json!(step));
    }
    assert_eq!(run.output(), json!({ "b": "b", "c": "c" }));
}

#[test]
fn the_definition_can_say_what_it_is() {
    let output = json!({ "total": "{{ steps.a.output.n + state.m }}", "who": "{{ input.name }}" });
    let mut run = plan(json!({ "output": output, "steps": [task("a"), task("b")] }))
        .input(json!({ "name": "Ana" }))
        .start();
    run.complete("a", json!({ "n": 1 }));
    run.update("b", json!({ "m": 2 }));
    assert_eq!(run.output(), json!({ "total": 3, "who": "Ana" }));
}

#[test]
fn an_output_that_cannot_be_rendered_fails_the_run_and_a_retry_tries_again() {
    let mut run = start(json!({ "output": "{{ state.missing }}", "steps": [task("a")] }));
    run.complete("a", json!(1));
    assert_eq!((run.status(), run.error()), ("FAILED".to_owned(), "EXPRESSION_FAILED".to_owned()));
    run.retry();
    assert_eq!((run.status(), run.step("a")), ("FAILED".to_owned(), "COMPLETED".to_owned()));
}

#[test]
fn a_run_without_any_output_has_null() {
    let mut run = start(json!([sleep("nap", "1h")]));
    run.live("1h");
    assert_eq!((run.status(), run.output()), ("COMPLETED".to_owned(), json!(null)));
}

#[test]
fn an_output_of_null_is_an_output() {
    let mut run = start(json!([task("a"), task("b")]));
    run.complete("a", json!(1));
    run.complete("b", json!(null));
    assert_eq!(run.output(), json!(null));
}
