//! How long a run and an attempt may take.

use abide_core::run::Timer;
use serde_json::json;

use crate::scenario::*;

#[test]
fn a_run_that_takes_too_long_fails_whatever_it_is_doing() {
    let parts = [
        task("s"),
        sleep("s", "5d"),
        signal("s", "go"),
        child("s"),
        map("s", json!([1, 2]), sleep("x", "5d")),
    ];
    for step in parts {
        let mut run = start(json!({ "timeout": "1d", "steps": [step, task("z")] }));
        run.live("1d");
        assert_eq!(
            (run.status(), run.error(), run.step("s")),
            ("FAILED".to_owned(), "RUN_TIMED_OUT".to_owned(), "FAILED".to_owned())
        );
        assert!(run.open().is_empty() && run.timers().is_empty());
    }
}

#[test]
fn the_time_of_a_run_begins_when_it_starts_and_not_when_it_is_created() {
    let mut run = plan(json!({ "timeout": "1h", "steps": [signal("s", "go")] }))
        .delayed_until("2026-03-05T00:00:00Z")
        .start();
    run.live("10d");
    assert_eq!(run.error(), "RUN_TIMED_OUT");
    assert_eq!(run.run().ended_at, Some(instant("2026-03-05T01:00:00Z")));
}

#[test]
fn a_retried_run_has_all_its_time_again() {
    let mut run = start(json!({ "timeout": "1h", "steps": [signal("s", "go")] }));
    run.live("1h");
    run.advance("1d");
    run.retry();
    assert_eq!(run.timers(), [(instant("2026-03-02T10:00:00Z"), Timer::Run)]);
    run.signal("go", json!({}));
    assert_eq!((run.status(), run.timers()), ("COMPLETED".to_owned(), vec![]));
}

#[test]
fn a_deadline_that_passes_after_the_end_means_nothing() {
    let mut run = start(json!({ "timeout": "1h", "steps": [task("a")] }));
    run.complete("a", json!(1));
    run.advance("1h");
    assert_eq!((run.timers(), run.fire(Timer::Run).code()), (vec![], "RUN_ENDED"));
}

#[test]
fn a_run_that_is_paused_through_its_deadline_and_cancelled_is_cancelled() {
    let mut run = start(json!({ "timeout": "1h", "steps": [task("a"), task("b")] }));
    run.pause();
    run.complete("a", json!(1));
    run.live("1h");
    run.cancel();
    assert_eq!(run.status(), "CANCELLED");
}

#[test]
fn an_attempt_s_time_begins_when_a_worker_takes_it() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "1m" }))]));
    assert!(run.timers().is_empty());
    run.advance("1d");
    run.take("a", "w");
    assert_eq!(run.timers()[0].0, millis("1m").after(run.now));
}

#[test]
fn only_working_time_counts_across_pauses_waits_and_lost_leases() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "10m" }))]));
    run.take("a", "one");
    run.advance("1m");
    run.pause_task("a", "rest", "1d");
    run.live("1d");
    run.take("a", "two");
    run.advance("2m");
    run.suspend("a", vec![for_sleep("nap", "1d")]);
    run.live("1d");
    run.take("a", "three");
    run.advance("3m");
    run.lose_worker("a");
    run.advance("1d");
    run.take("a", "four");
    assert_eq!(run.timers()[0].0, millis("4m").after(run.now));
    run.live("4m");
    assert_eq!(run.error_of("a"), "STEP_TIMED_OUT");
}

#[test]
fn each_attempt_has_all_its_time() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "10m" }))]));
    run.take("a", "w");
    run.advance("9m");
    run.fail_until("a", "1m");
    run.live("1m");
    run.take("a", "w");
    assert_eq!(run.timers()[0].0, millis("10m").after(run.now));
}

#[test]
fn the_timer_of_an_earlier_delivery_means_nothing() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "1m" }))]));
    run.take("a", "one");
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    run.lose_worker("a");
    run.take("a", "two");
    run.advance("1m");
    assert_eq!(run.fire(Timer::Attempt { at, lease_epoch }).code(), "STALE_LEASE");
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn a_clock_that_goes_back_while_a_worker_works_gives_no_time_away_twice() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "10m" }))]));
    run.take("a", "one");
    run.set_clock_back("1h");
    run.lose_worker("a");
    run.take("a", "two");
    assert_eq!(run.timers()[0].0, millis("10m").after(run.now));
}
