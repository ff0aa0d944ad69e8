//! R21 Progress renews the budget: a durable call has its own attempts, a handler's count from its last progress.

use abide_core::command::{Steering, WaitFor, WaitSpec};
use abide_core::history::Failure;
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
