//! R12 Transitions are exactly-once, tasks at-least-once: a lease epoch fences stale workers, and only attempts
//! that were used are counted.

use abide_core::effect::AfterCommit;
use abide_core::limits;
use abide_core::refusal::Refusal;
use abide_core::run::Timer;
use serde_json::json;

use crate::scenario::*;

#[test]
fn r12_a_stale_worker_is_fenced_off() {
    let mut run = start(json!([task("a"), task("b")]));
    run.take("a", "old");
    run.lose_worker("a");
    let refusal = run.complete_epoch("a", 1, json!("late")).refused();
    let stale = Refusal::StaleLease { step: "a".to_owned(), given: 1, current: 2 };
    assert_eq!((refusal.code(), refusal), ("STALE_LEASE", stale));
    run.complete_epoch("a", 2, json!("in time"));
    assert_eq!(run.output_of("a"), json!("in time"));
}

#[test]
fn r12_a_result_that_is_reported_twice_counts_once() {
    let mut run = start(json!([task("a"), task("b")]));
    run.complete("a", json!(1));
    let refusal = run.complete_epoch("a", 1, json!(2)).refused();
    assert_eq!(refusal.code(), "WRONG_STEP_STATUS");
    assert!(refusal.to_string().contains("COMPLETED"), "{refusal}");
    assert_eq!(run.dispatches("b"), 1);
}

#[test]
fn r12_two_workers_cannot_take_the_same_delivery() {
    let mut run = start(json!([task("a")]));
    run.take("a", "first");
    let refusal = run.take("a", "second").refused();
    assert_eq!(refusal.code(), "TASK_ALREADY_TAKEN");
    assert!(refusal.to_string().contains("first"), "{refusal}");
}

#[test]
fn r12_a_delivery_that_was_never_made_is_refused() {
    let mut run = start(json!([task("a"), task("b")]));
    assert_eq!(run.complete_epoch("a", 2, json!(1)).code(), "STALE_LEASE");
    assert_eq!(run.complete_epoch("b", 1, json!(1)).code(), "WRONG_STEP_STATUS");
}

#[test]
fn r12_a_lost_lease_hands_the_same_attempt_out_again() {
    let mut run = start(json!([task("a").tries(1)]));
    run.lose_worker("a");
    let at = run.at("a");
    assert_eq!(run.last_after_commit(), [AfterCommit::Dispatch { at, lease_epoch: 2 }]);
    assert_eq!(run.attempt("a"), 1);
}

#[test]
fn r12_a_task_that_keeps_losing_its_workers_fails_its_attempt() {
    let mut run = start(json!([task("a").tries(1)]));
    for _ in 0..limits::LOST_LEASES {
        run.lose_worker("a");
    }
    assert_eq!(run.step("a"), "RUNNING");
    run.lose_worker("a");
    assert_eq!((run.step("a"), run.error_of("a")), ("FAILED".to_owned(), "WORKER_LOST".to_owned()));
}

#[test]
fn r12_each_attempt_may_lose_its_own_workers() {
    let mut run = start(json!([task("a").tries(2)]));
    for _ in 0..=limits::LOST_LEASES {
        run.lose_worker("a");
    }
    run.live("1m");
    assert_eq!(run.attempt("a"), 2);
    for _ in 0..limits::LOST_LEASES {
        run.lose_worker("a");
    }
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn r12_a_task_given_back_by_a_restarted_server_costs_nothing_however_often() {
    let mut run = start(json!([task("a").tries(1)]));
    for _ in 0..20 {
        run.release("a");
    }
    assert_eq!((run.attempt("a"), run.lease_epoch("a")), (1, 21));
}

#[test]
fn r12_pauses_cost_no_attempt() {
    let mut run = start(json!([task("a").tries(1)]));
    for n in 0..10 {
        run.pause_task("a", &format!("rest-{n}"), "1h");
        run.live("1h");
    }
    assert_eq!((run.attempt("a"), run.dispatches("a")), (1, 11));
    run.complete("a", json!(1));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn r12_waits_of_a_task_cost_no_attempt() {
    let mut run = start(json!([task("a").tries(1)]));
    for n in 0..10 {
        run.suspend("a", vec![for_sleep(&format!("nap-{n}"), "1h")]);
        run.live("1h");
    }
    assert_eq!(run.attempt("a"), 1);
}

#[test]
fn r12_every_failed_attempt_counts_until_none_is_left() {
    let mut run = start(json!([task("a").tries(3)]));
    for attempt in 1..=3 {
        assert_eq!(run.attempt("a"), attempt);
        run.fail("a");
        run.live("1m");
    }
    assert_eq!((run.status(), run.count("STEP_RETRYING")), ("FAILED".to_owned(), 2));
}

#[test]
fn r12_a_failure_that_is_not_retryable_uses_up_all_attempts() {
    let mut run = start(json!([task("a").tries(20)]));
    run.fail_for_good("a");
    assert_eq!(run.status(), "FAILED");
}

#[test]
fn r12_an_attempt_that_works_too_long_has_failed_and_its_worker_is_called_back() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "1m" }))]));
    run.take("a", "slow");
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    run.advance("1m");
    run.fire(Timer::Attempt { at, lease_epoch });
    assert_eq!((run.step("a"), run.error_of("a")), ("WAITING".to_owned(), "STEP_TIMED_OUT".to_owned()));
    assert_eq!(run.last_after_commit(), [AfterCommit::Recall { at, lease_epoch }]);
    assert_eq!(run.complete_epoch("a", lease_epoch, json!(1)).code(), "WRONG_STEP_STATUS");
}

#[test]
fn r12_a_worker_that_paused_has_let_go_of_its_delivery() {
    let mut run = start(json!([task("a")]));
    run.pause_task("a", "rest", "1h");
    let refusal = run.complete_epoch("a", 1, json!(1)).refused();
    assert_eq!(refusal.code(), "STALE_LEASE");
    assert!(!refusal.to_string().contains("handed out again"), "{refusal}");
    assert_eq!(run.step("a"), "RUNNING");
}
