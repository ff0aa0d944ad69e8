//! Graphs: a step starts as soon as all it is after are done.

use serde_json::json;

use crate::scenario::*;

#[test]
fn independent_steps_run_in_parallel() {
    let run = start(json!([task("a").after(&[]), task("b").after(&[]), task("c")]));
    assert_eq!(run.dispatched(), ["a", "b", "c"]);
}

#[test]
fn a_join_starts_when_all_it_is_after_are_done() {
    let mut run = start(json!([task("a"), task("b"), task("join").after(&["a", "b"])]));
    run.complete("b", json!(1));
    assert_eq!(run.step("join"), "PENDING");
    run.complete("a", json!(1));
    assert_eq!(run.dispatched(), ["join"]);
}

#[test]
fn a_graph_may_be_written_in_any_order() {
    let mut run = start(json!([task("last").after(&["mid"]), task("mid").after(&["first"]), task("first")]));
    for step in ["first", "mid", "last"] {
        assert_eq!(run.step(step), "RUNNING");
        run.complete(step, json!(1));
    }
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn a_condition_skips_the_target_it_does_not_take_and_what_hangs_only_on_it() {
    let steps = json!([
        condition("if", "input.ok", "yes", "no"),
        task("yes").after(&["if"]),
        task("no").after(&["if"]),
        task("after-no").after(&["no"]),
        task("join").after(&["yes", "after-no"]),
    ]);
    let mut run = plan(steps.clone()).input(json!({ "ok": true })).start();
    assert_eq!(run.steps(), "if COMPLETED, yes RUNNING, no SKIPPED, after-no SKIPPED, join PENDING");
    run.complete("yes", json!(1));
    assert_eq!(run.step("join"), "RUNNING");
    let mut run = plan(steps).input(json!({ "ok": false })).start();
    assert_eq!(run.steps(), "if COMPLETED, yes SKIPPED, no RUNNING, after-no PENDING, join PENDING");
    run.complete("no", json!(1));
    run.complete("after-no", json!(1));
    assert_eq!(run.step("join"), "RUNNING");
}

#[test]
fn what_is_after_a_condition_and_none_of_its_targets_runs_either_way() {
    let steps = json!([
        condition("if", "input.ok", "yes", "no"),
        task("yes").after(&["if"]),
        task("no").after(&["if"]),
        task("always").after(&["if"]),
    ]);
    for ok in [true, false] {
        assert_eq!(plan(steps.clone()).input(json!({ "ok": ok })).start().step("always"), "RUNNING");
    }
}

#[test]
fn a_step_that_a_condition_bars_is_skipped_even_if_others_lead_to_it() {
    let steps =
        json!([task("a"), condition("if", "false", "both", "end"), task("both").after(&["a", "if"]),]);
    let mut run = start(steps);
    run.complete("a", json!(1));
    assert_eq!((run.status(), run.step("both")), ("COMPLETED".to_owned(), "SKIPPED".to_owned()));
}

#[test]
fn a_join_runs_if_any_way_to_it_was_taken_and_is_skipped_if_none_was() {
    let never = json!({ "when": "false" });
    let one = start(json!([task("a").also(never.clone()), task("b"), task("join").after(&["a", "b"])]));
    let mut one = one;
    one.complete("b", json!(1));
    assert_eq!(one.step("join"), "RUNNING");
    let none =
        start(json!([task("a").also(never.clone()), task("b").also(never), task("join").after(&["a", "b"])]));
    assert_eq!((none.status(), none.step("join")), ("COMPLETED".to_owned(), "SKIPPED".to_owned()));
}

#[test]
fn a_chain_that_hangs_on_a_skipped_step_is_skipped_to_its_end() {
    let run = start(json!([
        task("a").also(json!({ "when": "false" })),
        task("b").after(&["a"]),
        sleep("c", "1d").after(&["b"]),
        task("d").after(&["c"]),
        task("other"),
    ]));
    assert_eq!(run.steps(), "a SKIPPED, b SKIPPED, c SKIPPED, d SKIPPED, other RUNNING");
}

#[test]
fn a_goto_bars_everything_else_directly_after_its_step() {
    let ask = approval("ok").also(json!({ "onReject": { "goto": "rework" } }));
    let steps = json!([
        task("write"),
        ask.after(&["write"]),
        task("send").after(&["ok"]),
        task("log").after(&["ok"]),
        task("rework").after(&["ok"]),
        task("archive").after(&["send", "log", "rework"]),
    ]);
    let mut run = start(steps.clone());
    run.update("write", json!({ "draft": "text" }));
    run.reject("anna", "ok");
    assert_eq!(
        run.steps(),
        "write COMPLETED, ok COMPLETED, send SKIPPED, log SKIPPED, rework RUNNING, archive PENDING"
    );
    let mut run = start(steps);
    run.update("write", json!({ "draft": "text" }));
    run.approve("anna", "ok");
    assert_eq!(
        run.steps(),
        "write COMPLETED, ok COMPLETED, send RUNNING, log RUNNING, rework SKIPPED, archive PENDING"
    );
}

#[test]
fn the_failure_of_one_branch_stops_the_others() {
    let mut run = start(json!([
        task("a"),
        task("b"),
        sleep("nap", "1d"),
        signal("s", "go"),
        task("join").after(&["a", "b"])
    ]));
    run.take("b", "w");
    run.fail_for_good("a");
    assert_eq!(run.steps(), "a FAILED, b FAILED, nap FAILED, s FAILED, join PENDING");
    assert_eq!(["b", "nap", "s"].map(|step| run.error_of(step)), ["RUN_FAILED", "RUN_FAILED", "RUN_FAILED"]);
    assert_eq!((run.error().as_str(), run.open().len()), ("TASK_FAILED", 0));
    assert_eq!(run.run().error.as_ref().and_then(|error| error.step.as_deref()), Some("a"));
}

#[test]
fn a_run_waits_only_when_every_branch_waits() {
    let mut run = start(json!([task("a"), sleep("nap", "1h"), task("b").after(&["nap"])]));
    assert_eq!(run.status(), "RUNNING");
    run.live("1h");
    assert_eq!(run.dispatched(), ["b"]);
    assert_eq!(run.path(), "PENDING RUNNING");
}

#[test]
fn a_wide_graph_joins_once() {
    let names: Vec<String> = (0..200).map(|n| format!("t{n}")).collect();
    let mut steps: Vec<_> = names.iter().map(|name| task(name)).collect();
    steps.push(json!({ "name": "join", "type": "task", "handler": "work", "after": names }));
    let mut run = start(json!(steps));
    for name in &names {
        run.complete(name, json!(1));
    }
    assert_eq!(run.dispatches("join"), 1);
}
