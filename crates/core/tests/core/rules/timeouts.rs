//! R6 A timeout is an outcome, not a failure to retry: `fail`, `continue` or `{"goto": step}`, for every kind of wait
//! with a deadline, in a sequence and in a graph.

use abide_core::command::WaitFor;
use serde_json::{Value, json};

use crate::scenario::*;

/// Every kind of wait that has a deadline, an hour long, with this `onTimeout` and tries to spare.
fn waits(on_timeout: Value) -> Vec<Value> {
    let kinds = [signal("w", "go"), event("w", "go"), webhook("w"), approval("w")];
    let late = json!({ "timeout": "1h", "onTimeout": on_timeout, "retry": { "maxAttempts": 5 } });
    kinds.into_iter().map(|wait| wait.also(late.clone())).collect()
}

/// A run that has come to its wait, and through it.
fn after_an_hour(steps: Value) -> Scenario {
    let mut run = start(steps);
    run.update("write", json!({ "draft": "text" }));
    run.live("1h");
    run
}

#[test]
fn r06_on_timeout_fail_fails_the_run_without_another_attempt() {
    for wait in waits(json!("fail")) {
        let run = after_an_hour(json!([task("write"), wait, task("b")]));
        assert_eq!((run.status().as_str(), run.error().as_str()), ("FAILED", "WAIT_TIMED_OUT"));
        assert_eq!((run.attempt("w"), run.count("STEP_RETRYING")), (1, 0));
        assert_eq!(run.steps(), "write COMPLETED, w FAILED, b PENDING");
    }
}

#[test]
fn r06_on_timeout_continue_goes_on_with_the_output_timeout() {
    for wait in waits(json!("continue")) {
        let run = after_an_hour(json!([task("write"), wait, task("b")]));
        assert_eq!(run.steps(), "write COMPLETED, w COMPLETED, b RUNNING");
        assert_eq!(
            (run.output_of("w"), run.wait_status("w")),
            (json!({ "timeout": true }), "TIMED_OUT".to_owned())
        );
    }
}

#[test]
fn r06_on_timeout_goto_jumps_and_skips_what_lies_between() {
    for wait in waits(json!({ "goto": "late" })) {
        let run = after_an_hour(json!([task("write"), wait, task("b"), task("late")]));
        assert_eq!(run.steps(), "write COMPLETED, w COMPLETED, b SKIPPED, late RUNNING");
        assert_eq!(run.output_of("w"), json!({ "timeout": true }));
    }
}

#[test]
fn r06_on_timeout_goto_end_ends_the_run() {
    for wait in waits(json!({ "goto": "end" })) {
        let run = after_an_hour(json!([task("write"), wait, task("b")]));
        assert_eq!((run.status(), run.step("b")), ("COMPLETED".to_owned(), "SKIPPED".to_owned()));
    }
}

fn graph(wait: Value) -> Value {
    json!([task("write"), wait.after(&["write"]), task("b").after(&["w"]), task("late").after(&["w"])])
}

#[test]
fn r06_in_a_graph_on_timeout_fail_fails_the_run() {
    for wait in waits(json!("fail")) {
        let run = after_an_hour(graph(wait));
        assert_eq!(run.steps(), "write COMPLETED, w FAILED, b PENDING, late PENDING");
        assert_eq!(run.count("STEP_RETRYING"), 0);
    }
}

#[test]
fn r06_in_a_graph_on_timeout_continue_starts_all_that_is_after() {
    for wait in waits(json!("continue")) {
        let run = after_an_hour(graph(wait));
        assert_eq!(run.steps(), "write COMPLETED, w COMPLETED, b RUNNING, late RUNNING");
    }
}

#[test]
fn r06_in_a_graph_on_timeout_goto_takes_that_way_and_no_other() {
    for wait in waits(json!({ "goto": "late" })) {
        let run = after_an_hour(graph(wait));
        assert_eq!(run.steps(), "write COMPLETED, w COMPLETED, b SKIPPED, late RUNNING");
    }
}

#[test]
fn r06_in_a_graph_what_came_in_time_does_not_take_the_way_of_the_timeout() {
    let mut run =
        start(graph(signal("w", "go").also(json!({ "timeout": "1h", "onTimeout": { "goto": "late" } }))));
    run.complete("write", json!(1));
    run.signal("go", json!({}));
    assert_eq!(run.steps(), "write COMPLETED, w COMPLETED, b RUNNING, late SKIPPED");
}

#[test]
fn r06_without_on_timeout_signals_webhooks_and_approvals_fail_and_events_continue() {
    let hour = json!({ "timeout": "1h" });
    let kinds = [signal("w", "go"), webhook("w"), approval("w"), event("w", "go")];
    let ends =
        kinds.map(|wait| after_an_hour(json!([task("write"), wait.also(hour.clone()), task("b")])).status());
    assert_eq!(ends, ["FAILED", "FAILED", "FAILED", "RUNNING"]);
}

#[test]
fn r06_a_wait_without_a_timeout_has_no_timer() {
    let run = start(json!([signal("w", "go")]));
    assert_eq!(run.timers(), []);
}

#[test]
fn r06_a_task_is_told_that_its_own_wait_timed_out_and_uses_no_attempt() {
    let mut run = start(json!([task("a")]));
    let timeout = Some(millis("1h"));
    run.suspend("a", vec![wait_for("reply", WaitFor::Signal { signal_type: "go".into(), timeout })]);
    run.live("1h");
    assert_eq!(
        run.journal_of("a"),
        [("reply".to_owned(), json!({ "status": "TIMED_OUT", "payload": null }))]
    );
    assert_eq!((run.step("a"), run.attempt("a")), ("RUNNING".to_owned(), 1));
}

#[test]
fn r06_a_timeout_inside_a_map_is_the_item_s_outcome() {
    let wait = signal("w", "go").also(json!({ "timeout": "1h", "onTimeout": "continue" }));
    let mut run = start(json!([map("each", json!([1, 2]), wait)]));
    run.live("1h");
    assert_eq!(run.output(), json!([{ "timeout": true }, { "timeout": true }]));
}
