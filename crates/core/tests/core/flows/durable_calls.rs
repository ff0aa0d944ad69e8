//! R21 Progress renews the budget: a durable call has its own attempts, a handler's count from its last progress.

use abide_core::command::{Steering, WaitFor, WaitSpec};
use abide_core::durable_calls::{CallKind, CallStatus};
use abide_core::history::Failure;
use abide_core::id::StepAddress;
use abide_core::retry::RetryPolicy;
use abide_core::time::Millis;
use abide_core::waitpoint::{Kind, ListensFor};
use serde_json::json;

use crate::scenario::*;

fn again(call: &str, attempt: u32, max_attempts: u32) -> WaitSpec {
    let policy = RetryPolicy { max_attempts, ..RetryPolicy::default() };
    let error = Failure::new("NO_MONEY", "no money");
    let wait = WaitFor::Retry { call: call.into(), attempt, policy, retry_after: None, error };
    wait_for(&format!("{call}#retry-{attempt}"), wait)
}

#[test]
fn a_call_that_failed_waits_by_its_name_with_its_attempt_and_its_error() {
    let mut run = start(json!([task("desk")]));
    run.suspend("desk", vec![again("charge", 2, 5)]);
    let wait = run.waitpoint("desk");
    let ListensFor::Attempt(next) = &wait.listens_for else { panic!() };
    assert_eq!((wait.kind, &*next.call, next.attempt, next.max_attempts), (Kind::Retry, "charge", 2, 5));
    let longest = RetryPolicy::default().longest_backoff_after(2);
    let at = wait.resume_at.expect("an instant");
    assert!(Millis::between(run.now, at) <= longest);
    let sentence = format!("`desk › charge` waits for attempt 3 of 5 at {at}, after: no money");
    assert_eq!((run.waiting_for(), run.status()), (vec![sentence], "WAITING".to_owned()));
    run.live("1m");
    assert_eq!((run.step("desk"), run.attempt("desk")), ("RUNNING".to_owned(), 1));
}

#[test]
fn an_attempt_that_none_follows_is_no_wait() {
    for (attempt, most, code) in [(3, 3, "MALFORMED"), (0, 3, "MALFORMED"), (1, 1_001, "LIMIT_EXCEEDED")] {
        let mut run = start(json!([task("a")]));
        assert_eq!(run.suspend("a", vec![again("charge", attempt, most)]).code(), code);
    }
}

#[test]
fn the_error_of_a_call_is_shown_as_far_as_there_is_room() {
    let mut run = start(json!([task("a")]));
    let error = Failure::new("X", "ä".repeat(100_000));
    let policy = RetryPolicy::default();
    let wait = WaitFor::Retry { call: "c".into(), attempt: 1, policy, retry_after: None, error };
    run.suspend("a", vec![wait_for("c#retry-1", wait)]);
    let ListensFor::Attempt(next) = run.waitpoint("a").listens_for.clone() else { panic!() };
    assert_eq!(next.error.message.chars().count(), abide_core::limits::ATTEMPT_ERROR_CHARS);
}

#[test]
fn a_back_off_of_a_call_that_is_cancelled_is_told_to_the_handler() {
    let mut run = start(json!([task("a")]));
    run.suspend("a", vec![again("charge", 1, 5)]);
    run.steer("a", Steering::Cancel);
    assert_eq!((run.status(), run.dispatched()), ("RUNNING".to_owned(), vec!["a".to_owned()]));
    assert_eq!(run.journal_of("a")[0].1["status"], "CANCELLED");
}

#[test]
fn a_retried_run_gives_its_calls_all_their_attempts_again() {
    let mut run = start(json!([task("a")]));
    run.journal("a", &[("fetch", json!(1))]);
    run.suspend("a", vec![again("charge", 1, 2)]);
    run.live("1m");
    run.fail_for_good("a");
    run.retry();
    let names: Vec<String> = run.journal_of("a").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["fetch"]);
    run.suspend("a", vec![again("charge", 1, 2)]);
    assert_eq!(run.open(), ["a RETRY"]);
}

#[test]
fn thirty_calls_that_each_fail_once_over_a_month_complete() {
    let mut run = start(json!([task("a").tries(2)]));
    for call in 0..30 {
        run.fail("a");
        run.live("1m");
        run.journal("a", &[(&format!("call-{call}"), json!(call))]);
        run.suspend("a", vec![for_sleep(&format!("day-{call}"), "1d")]);
        run.live("1d");
    }
    assert_eq!((run.attempt("a"), run.journal_of("a").len()), (31, 60));
    run.complete("a", json!("done"));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn attempts_without_progress_are_used_up() {
    let mut run = start(json!([task("a").tries(3)]));
    run.journal("a", &[("once", json!(1))]);
    for _ in 0..2 {
        run.fail("a");
        run.live("1m");
        // What is known already is no progress.
        run.journal("a", &[("once", json!(1))]);
    }
    run.fail("a");
    assert_eq!((run.status(), run.attempt("a")), ("FAILED".to_owned(), 3));
}

#[test]
fn a_model_that_fails_again_and_again_has_no_more_attempts_for_what_it_records() {
    let mut run = start(
        json!([{ "type": "llm", "name": "ask", "model": "m", "messages": [{ "role": "user", "content": "hi" }], "retry": { "maxAttempts": 2 } }]),
    );
    run.journal("ask", &[("call 1", json!("no answer"))]);
    run.fail("ask");
    run.live("1m");
    run.journal("ask", &[("call 2", json!("no answer"))]);
    run.fail("ask");
    assert_eq!(run.status(), "FAILED");
}

#[test]
fn the_calls_of_a_handler_are_listed_in_their_order_with_what_became_of_them() {
    let mut run = start(json!([task("desk")]));
    run.take("desk", "w");
    run.live("2s");
    run.journal(
        "desk",
        &[("order", json!(7)), ("!first a", json!("a")), ("!mail", json!({ "message": "no such box" }))],
    );
    run.suspend("desk", vec![for_sleep("cooling-off", "1d")]);
    run.live("1d");
    run.take("desk", "w");
    run.suspend("desk", vec![again("charge", 2, 5)]);
    let calls = run.run().durable_calls(StepAddress::step(0));
    let told: Vec<_> =
        calls.iter().map(|call| (&*call.name, call.kind, call.status, call.attempts)).collect();
    assert_eq!(
        told,
        [
            ("order", CallKind::Run, CallStatus::Completed, 1),
            ("mail", CallKind::Run, CallStatus::Failed, 1),
            ("cooling-off", CallKind::Wait(Kind::Delay), CallStatus::Completed, 1),
            ("charge", CallKind::Run, CallStatus::Pending, 2),
        ]
    );
    let took = |index: usize| {
        let call = &calls[index];
        Millis::between(call.started_at.expect("it began"), call.ended_at.expect("it ended"))
    };
    assert_eq!((took(0), took(2)), (Millis(2_000), Millis::from_days(1)));
    assert_eq!(
        (calls[1].error.as_deref(), calls[3].error.as_deref()),
        (Some("no such box"), Some("no money"))
    );
    assert!(calls[3].until.is_some() && calls[3].waitpoint.is_some());
    run.live("1m");
    run.take("desk", "w");
    run.journal("desk", &[("charge", json!("paid"))]);
    run.complete("desk", json!(null));
    let charge = run.run().durable_calls(StepAddress::step(0)).pop().expect("a call");
    assert_eq!((charge.status, charge.attempts, charge.error), (CallStatus::Completed, 3, None));
}

#[test]
fn every_wait_of_a_handler_is_told_by_the_name_of_its_call() {
    let mut run = start(json!([task("desk")]));
    run.suspend("desk", vec![for_sleep("cooling-off", "1h")]);
    assert_eq!(run.waiting_for(), ["`desk › cooling-off` waits for the clock: 2026-03-01T09:00:00Z"]);
}
