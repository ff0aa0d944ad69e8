//! Attempts that fail, and failed runs that are retried.

use abide_core::effect::AfterCommit;
use abide_core::waitpoint::Kind;
use serde_json::json;

use crate::scenario::*;

#[test]
fn a_back_off_is_a_wait_like_any_other_and_stays_within_the_policy() {
    let policy = json!({ "retry": { "maxAttempts": 20, "backoffMs": 1000, "backoffMultiplier": 2, "maxBackoffMs": 8000 } });
    let mut run = start(json!([task("a").also(policy)]));
    for longest in [1000, 2000, 4000, 8000, 8000] {
        run.fail("a");
        let wait = run.waitpoint("a");
        let backoff = abide_core::time::Millis::between(run.now, wait.resume_at.expect("an instant"));
        assert_eq!(wait.kind, Kind::Retry);
        assert!(backoff.as_u64() <= longest, "{backoff} is more than {longest} ms");
        run.live("8s");
    }
}

#[test]
fn back_offs_are_spread_over_the_whole_range() {
    let mut run = start(json!([task("a")
        .also(json!({ "retry": { "maxAttempts": 20, "backoffMs": 60_000, "backoffMultiplier": 1 } }))]));
    let mut backoffs = Vec::new();
    for _ in 0..15 {
        run.fail("a");
        backoffs.push(abide_core::time::Millis::between(run.now, run.resume_at("a")).as_u64());
        run.live("1m");
    }
    assert!(backoffs.iter().any(|ms| *ms < 20_000) && backoffs.iter().any(|ms| *ms > 40_000), "{backoffs:?}");
}

#[test]
fn a_worker_may_say_when_to_try_again() {
    let mut run = start(json!([task("a")]));
    run.fail_until("a", "2h");
    assert_eq!(run.resume_at("a"), instant("2026-03-01T10:00:00Z"));
}

#[test]
fn the_error_of_the_last_attempt_can_be_seen_while_the_next_is_waited_for() {
    let mut run = start(json!([task("a")]));
    run.fail_until("a", "1m");
    assert_eq!((run.step("a"), run.error_of("a")), ("WAITING".to_owned(), "TASK_FAILED".to_owned()));
    run.live("1m");
    run.complete("a", json!(1));
    assert_eq!(run.error_of("a"), "");
}

#[test]
fn a_retried_run_keeps_what_completed_and_gives_the_failed_step_all_its_attempts() {
    let mut run = start(json!([task("a"), task("b").tries(2), task("c")]));
    run.complete("a", json!("kept"));
    run.fail("b");
    run.live("1m");
    run.fail("b");
    run.retry();
    assert_eq!((run.steps().as_str(), run.attempt("b")), ("a COMPLETED, b RUNNING, c PENDING", 1));
    run.fail("b");
    assert_eq!(run.step("b"), "WAITING");
    assert_eq!((run.dispatches("a"), run.output_of("a")), (1, json!("kept")));
}

#[test]
fn a_retried_graph_takes_up_every_branch_that_was_stopped() {
    let steps = json!([
        task("done"),
        task("bad"),
        task("stopped"),
        sleep("nap", "1d"),
        signal("s", "go"),
        task("join").after(&["done", "bad", "stopped", "nap", "s"]),
    ]);
    let mut run = start(steps);
    run.complete("done", json!(1));
    run.fail_for_good("bad");
    run.retry();
    assert_eq!(
        run.steps(),
        "done COMPLETED, bad RUNNING, stopped RUNNING, nap WAITING, s WAITING, join PENDING"
    );
    run.complete("bad", json!(1));
    run.complete("stopped", json!(1));
    run.signal("go", json!({}));
    run.live("1d");
    assert_eq!(run.step("join"), "RUNNING");
}

#[test]
fn a_retried_graph_begins_what_had_become_ready_when_it_failed() {
    let mut run = start(json!([task("a"), task("b"), task("after-a").after(&["a"])]));
    run.pause();
    run.complete("a", json!(1));
    run.fail_for_good("b");
    run.unpause();
    assert_eq!(run.steps(), "a COMPLETED, b FAILED, after-a PENDING");
    run.retry();
    assert_eq!(run.dispatched(), ["b", "after-a"]);
}

#[test]
fn a_stopped_sleep_keeps_its_instant_and_is_over_if_that_has_passed() {
    let steps = json!([sleep("nap", "1d").after(&[]), task("bad").after(&[])]);
    let mut run = start(steps.clone());
    run.advance("1h");
    run.fail_for_good("bad");
    run.advance("1h");
    run.retry();
    assert_eq!(run.resume_at("nap"), instant("2026-03-02T08:00:00Z"));
    let mut run = start(steps);
    run.fail_for_good("bad");
    run.advance("3d");
    run.retry();
    assert_eq!(run.step("nap"), "COMPLETED");
}

#[test]
fn a_stopped_sleep_keeps_its_instant_through_several_retries() {
    let mut run = start(json!([sleep("nap", "1d").after(&[]), task("bad").after(&[])]));
    for _ in 0..3 {
        run.advance("1h");
        run.fail_for_good("bad");
        run.retry();
    }
    assert_eq!(run.resume_at("nap"), instant("2026-03-02T08:00:00Z"));
}

#[test]
fn a_sleep_whose_wait_was_cancelled_by_hand_sleeps_anew() {
    let mut run = start(json!([sleep("nap", "1d")]));
    run.advance("1h");
    run.steer("nap", abide_core::command::Steering::Cancel);
    run.retry();
    assert_eq!(run.resume_at("nap"), instant("2026-03-02T09:00:00Z"));
}

#[test]
fn a_report_from_before_the_retry_is_fenced_off() {
    let mut run = start(json!([task("a"), task("b").also(json!({ "after": [] }))]));
    run.take("a", "old");
    run.fail_for_good("b");
    run.retry();
    assert_eq!(run.complete_epoch("a", 1, json!("stale")).code(), "STALE_LEASE");
    assert!(matches!(run.last_after_commit()[0], AfterCommit::Dispatch { lease_epoch: 2, .. }));
}

#[test]
fn a_step_that_began_is_not_skipped_when_its_when_has_become_false() {
    let steps = json!([
        task("a"),
        task("b").also(json!({ "when": "not state.done" })).after(&["a"]),
        task("c").after(&["a"])
    ]);
    let mut run = start(steps);
    run.complete("a", json!(1));
    run.update("c", json!({ "done": true }));
    run.fail_for_good("b");
    run.retry();
    assert_eq!(run.step("b"), "RUNNING");
}

#[test]
fn signals_that_were_kept_are_still_there_after_a_retry() {
    let mut run = start(json!([task("a"), signal("s", "go")]));
    run.signal("go", json!({ "n": 1 }));
    run.fail_for_good("a");
    run.retry();
    run.complete("a", json!(1));
    assert_eq!(run.output_of("s"), json!({ "n": 1 }));
}

#[test]
fn a_run_can_be_retried_as_often_as_it_fails() {
    let mut run = start(json!([task("a")]));
    for visit in 1..=5 {
        assert_eq!(run.step_state("a").visit, visit);
        run.fail_for_good("a");
        run.retry();
    }
    run.complete("a", json!(1));
    assert_eq!((run.status(), run.error().as_str()), ("COMPLETED".to_owned(), ""));
}
