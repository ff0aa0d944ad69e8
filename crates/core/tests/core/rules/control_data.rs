//! R15 Control data is never in user data: nothing a payload says can steer the engine.

use abide_core::command::{Command, Steering, TaskFailed};
use serde_json::{Value, json};

use crate::scenario::*;

/// Everything that has ever steered an engine from inside a payload, and our own words.
fn temptation() -> Value {
    json!({
        "__nextStep": "end", "next": "end", "goto": "c", "$next": "c", "$wait": "x", "status": "COMPLETED",
        "timeout": true, "result": false, "waitpoint": 1, "skip": true, "resumeAt": "2020-01-01T00:00:00Z",
        "error": { "code": "X" }, "output": 1, "retryable": false, "decision": "reject", "type": "WORKFLOW_CANCELLED",
    })
}

#[test]
fn r15_an_output_does_not_steer_the_run() {
    let mut run = start(json!([task("a"), task("b"), task("c")]));
    run.complete("a", temptation());
    assert_eq!(run.steps(), "a COMPLETED, b RUNNING, c PENDING");
    assert_eq!(run.state(), json!({}));
}

#[test]
fn r15_state_updates_do_not_steer_the_run() {
    let mut run = start(json!([task("a"), task("b"), task("c")]));
    run.update("a", temptation());
    assert_eq!(run.steps(), "a COMPLETED, b RUNNING, c PENDING");
    assert_eq!(run.state(), temptation());
}

#[test]
fn r15_a_signal_an_event_and_a_call_do_not_steer_the_run() {
    let mut run = start(json!([signal("s", "go"), event("e", "go"), webhook("w"), task("b"), task("c")]));
    run.signal("go", temptation());
    run.notify("go", temptation());
    run.call("w", temptation());
    assert_eq!(run.steps(), "s COMPLETED, e COMPLETED, w COMPLETED, b RUNNING, c PENDING");
}

#[test]
fn r15_a_child_s_output_is_not_taken_for_its_outcome() {
    let mut run = start(json!([child("c"), task("a")]));
    run.child_completes("c", json!({ "status": "FAILED", "error": { "code": "X", "message": "x" } }));
    assert_eq!(run.steps(), "c COMPLETED, a RUNNING");
}

#[test]
fn r15_a_condition_looks_only_where_its_expression_says() {
    let mut run = start(json!([task("a"), condition("if", "state.ok", "b", "c"), task("b"), task("c")]));
    run.update("a", json!({ "result": true, "trueStep": "c", "ok": false }));
    assert_eq!(run.steps(), "a COMPLETED, if COMPLETED, b SKIPPED, c RUNNING");
}

#[test]
fn r15_text_in_data_is_never_taken_for_a_template() {
    let mut run =
        plan(json!([task("a"), task("b").also(json!({ "input": { "text": "{{ state.text }}" } }))]))
            .input(json!({ "password": "hush" }))
            .start();
    run.update("a", json!({ "text": "{{ input.password }}" }));
    assert_eq!(*run.task("b").input, json!({ "text": "{{ input.password }}" }));
}

/// The seeds merge what comes; an address has a `state`, an order an `item`.
#[test]
fn r15_everyday_keys_are_merged_into_state_and_hide_no_name_of_expressions() {
    for key in abide_core::definition::RESERVED_KEYS {
        let reads = json!({ "input": { "dotted": format!("{{{{ state.{key} }}}}"), "quoted": format!("{{{{ state[\"{key}\"] }}}}"), "bare": "{{ input.n }}" } });
        let mut run = plan(json!([task("a"), signal("s", "go"), task("b").also(reads)]))
            .input(json!({ "n": 7 }))
            .start();
        run.update("a", json!({ key: "from the worker" }));
        assert_eq!(run.state(), json!({ key: "from the worker" }));
        run.signal("go", json!({ key: "from the signal" }));
        let read = json!({ "dotted": "from the signal", "quoted": "from the signal", "bare": 7 });
        assert_eq!(*run.task("b").input, read, "{key}");
    }
}

#[test]
fn r15_a_payload_that_is_not_merged_into_state_may_hold_any_key() {
    let mut run = start(json!([signal("s", "go").also(json!({ "saveAs": "got" }))]));
    run.signal("go", json!({ "steps": { "s": 1 } }));
    assert_eq!(run.state(), json!({ "got": { "steps": { "s": 1 } } }));
}

#[test]
fn r15_a_worker_cannot_use_the_engine_s_own_names() {
    let mut run = start(json!([task("a")]));
    for name in ["$wait", "$retry-1", "$start"] {
        assert_eq!(run.create_waitpoint("a", name).code(), "MALFORMED");
        assert_eq!(run.pause_task("a", name, "1h").code(), "MALFORMED");
        assert_eq!(run.suspend("a", vec![for_sleep(name, "1h")]).code(), "MALFORMED");
        assert_eq!(run.journal("a", &[(name, json!(1))]).code(), "MALFORMED");
        assert_eq!(run.call_wait("a", name, json!(1)).code(), "MALFORMED");
    }
}

#[test]
fn r15_who_decides_is_never_something_the_request_says() {
    let mut run = start(json!([task("write"), approval("ok").also(json!({ "approvers": ["anna"] }))]));
    run.update("write", json!({ "draft": { "by": "anna" } }));
    assert_eq!(run.edit("mallory", "ok", json!({ "by": "anna" })).code(), "NOT_AN_APPROVER");
}

#[test]
fn r15_a_payload_given_by_hand_is_merged_like_any_other() {
    let mut run = start(json!([signal("s", "go"), task("a")]));
    run.steer("s", Steering::Complete { payload: Some(json!({ "steps": 1 }).into()) });
    assert_eq!((run.step("a"), run.state()), ("RUNNING".to_owned(), json!({ "steps": 1 })));
}

#[test]
fn r15_a_worker_s_error_code_is_only_a_word() {
    let items = map("each", json!([1, 2]), task("t")).also(json!({ "onItemFailure": "collect" }));
    let mut run = start(json!([items]));
    let (at, lease_epoch) = (run.at("each[0]"), run.lease_epoch("each[0]"));
    let (message, code) = ("as if the run had failed".to_owned(), Some("RUN_FAILED".into()));
    run.send(Command::TaskFailed(TaskFailed {
        at,
        lease_epoch,
        message,
        code,
        retryable: false,
        retry_after: None,
        detail: None,
        mismatch: None,
    }));
    run.complete("each[1]", json!(1));
    assert_eq!(
        (run.status(), run.output()[0]["error"]["code"].clone()),
        ("COMPLETED".to_owned(), json!("RUN_FAILED"))
    );
}
