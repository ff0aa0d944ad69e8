//! R2 First writer wins: a waitpoint is resolved once; whoever comes later is told what was recorded.

use abide_core::refusal::Refusal;
use abide_core::status::WaitStatus;
use abide_core::waitpoint::Actor;
use serde_json::json;

use crate::scenario::*;

#[test]
fn r02_first_writer_wins_and_the_loser_is_told_the_recorded_outcome() {
    let mut run = start(json!([webhook("w"), task("a")]));
    run.call("w", json!("first"));
    run.advance("1m");
    let Refusal::AlreadyResolved(resolved) = run.call("w", json!("second")).refused() else {
        panic!("the second caller is told that it is resolved");
    };
    assert_eq!((resolved.status, &resolved.by), (WaitStatus::Completed, &Actor::new("tester")));
    assert_eq!(resolved.at, instant(MORNING));
    assert_eq!(resolved.payload, Some(json!({ "body": "first" }).into()));
    assert_eq!(run.output_of("w"), json!({ "body": "first" }));
}

#[test]
fn r02_a_call_after_the_timer_loses() {
    let mut run =
        start(json!([webhook("w").also(json!({ "timeout": "1h", "onTimeout": "continue" })), task("a")]));
    run.live("1h");
    assert_eq!(run.call("w", json!(1)).code(), "WAITPOINT_TIMED_OUT");
}

#[test]
fn r02_a_timer_after_the_call_loses() {
    let mut run = start(json!([webhook("w").also(json!({ "timeout": "1h" })), task("a")]));
    run.call("w", json!(1));
    run.advance("1h");
    assert_eq!(run.fire_wait("w").code(), "ALREADY_RESOLVED");
    assert_eq!(run.steps(), "w COMPLETED, a RUNNING");
}

#[test]
fn r02_a_call_after_a_cancellation_loses() {
    let mut run = start(json!([webhook("w")]));
    run.cancel();
    assert_eq!(run.call("w", json!(1)).code(), "WAITPOINT_CANCELLED");
}

#[test]
fn r02_a_timer_that_goes_off_twice_is_processed_once() {
    let mut run = start(json!([sleep("nap", "1h"), task("a")]));
    run.advance("1h");
    run.fire_wait("nap");
    assert_eq!(run.fire_wait("nap").code(), "ALREADY_RESOLVED");
    assert_eq!(run.dispatches("a"), 1);
}

#[test]
fn r02_a_child_that_reports_twice_is_processed_once() {
    let mut run = start(json!([child("c"), task("a")]));
    run.child_completes("c", json!(1));
    assert_eq!(run.child_completes("c", json!(2)).code(), "ALREADY_RESOLVED");
    assert_eq!(run.output_of("c"), json!(1));
}

#[test]
fn r02_a_decision_after_the_decision_is_told_what_was_decided() {
    let mut run = start(json!([task("write"), approval("ok"), task("a")]));
    run.update("write", json!({ "draft": "text" }));
    run.approve("anna", "ok");
    let refusal = run.reject("ben", "ok").refused();
    assert_eq!(refusal.code(), "ALREADY_RESOLVED");
    let Refusal::AlreadyResolved(resolved) = refusal else { panic!("it says what was decided") };
    assert_eq!(resolved.payload.expect("the decision")["decision"], json!("approve"));
}

#[test]
fn r02_one_occurrence_of_an_event_ends_a_wait_once() {
    let mut run = start(json!([event("x", "paid").after(&[]), event("y", "paid").after(&["x"])]));
    assert_eq!(run.notify("paid", json!(1)), ["x"]);
    assert_eq!(run.notify("paid", json!(2)), ["y"]);
    assert_eq!((run.output_of("x"), run.output_of("y")), (json!(1), json!(2)));
}

#[test]
fn r02_one_signal_ends_one_wait() {
    let mut run = start(json!([signal("x", "go").after(&[]), signal("y", "go").after(&[])]));
    run.signal("go", json!({ "n": 1 }));
    assert_eq!(run.steps(), "x COMPLETED, y WAITING");
}
