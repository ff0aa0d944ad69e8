//! R3 Never early: a timer is an absolute instant, compared with the wall clock each time it is looked at.

use abide_core::run::Timer;
use serde_json::json;

use crate::scenario::*;

#[test]
fn r03_never_early_by_a_millisecond() {
    let mut run = start(json!([sleep("nap", "30d"), task("a")]));
    run.advance("29d 23h 59m 59s 999ms");
    assert_eq!(run.fire_wait("nap").code(), "NOT_DUE");
    run.advance("1ms");
    run.fire_wait("nap");
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn r03_never_early_however_often_the_timer_is_delivered() {
    let mut run = start(json!([sleep("nap", "30d"), task("a")]));
    for _ in 0..100 {
        run.advance("30s");
        assert_eq!(run.fire_wait("nap").code(), "NOT_DUE");
    }
    assert_eq!(run.resume_at("nap"), instant("2026-03-31T08:00:00Z"));
}

#[test]
fn r03_never_early_when_the_clock_goes_back_it_waits_longer() {
    let mut run = start(json!([sleep("nap", "1h"), task("a")]));
    run.advance("1h");
    run.set_clock_back("1s");
    assert_eq!(run.fire_wait("nap").code(), "NOT_DUE");
    run.advance("1s");
    run.fire_wait("nap");
}

#[test]
fn r03_never_early_a_deadline_is_an_instant_too() {
    let mut run = start(json!([signal("s", "go").also(json!({ "timeout": "1h" }))]));
    run.advance("59m");
    assert_eq!(run.fire_wait("s").code(), "NOT_DUE");
}

#[test]
fn r03_never_early_the_next_attempt_of_a_step() {
    let mut run = start(json!([task("a")]));
    run.fail_until("a", "10s");
    run.advance("9s 999ms");
    assert_eq!(run.fire_wait("a").code(), "NOT_DUE");
    run.advance("1ms");
    run.fire_wait("a");
    assert_eq!(run.attempt("a"), 2);
}

#[test]
fn r03_never_early_the_start_of_a_delayed_run() {
    let mut run = plan(json!([task("a")])).delayed_until("2026-03-02T08:00:00Z").start();
    run.advance("23h 59m");
    assert_eq!(run.fire(Timer::Waitpoint(1)).code(), "NOT_DUE");
    assert_eq!(run.status(), "PENDING");
}

#[test]
fn r03_never_early_the_end_of_an_attempt_or_of_the_run() {
    let mut run = start(json!({ "timeout": "1d", "steps": [task("a").also(json!({ "timeout": "1h" }))] }));
    run.take("a", "w");
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    run.advance("59m");
    assert_eq!(run.fire(Timer::Attempt { at, lease_epoch }).code(), "NO_SUCH_TIMER");
    assert_eq!(run.fire(Timer::Run).code(), "NO_SUCH_TIMER");
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn r03_never_early_a_wait_that_was_moved_keeps_to_its_new_instant() {
    let mut run = start(json!([sleep("nap", "1h"), task("a")]));
    run.reschedule("nap", instant("2026-03-05T00:00:00Z"));
    run.advance("1h");
    assert_eq!(run.fire_wait("nap").code(), "NOT_DUE");
    assert_eq!(run.timers(), [(instant("2026-03-05T00:00:00Z"), Timer::Waitpoint(1))]);
}

#[test]
fn r03_a_past_instant_goes_on_at_once() {
    let past = json!({ "name": "nap", "type": "wait", "untilTimestamp": "2026-02-01T00:00:00Z" });
    let run = start(json!([past, task("a")]));
    assert_eq!(run.steps(), "nap COMPLETED, a RUNNING");
}

/// F33: a wait of no time left neither WORKFLOW_PAUSED nor `resumedFromWait` nor a waitpoint.
#[test]
fn a_wait_of_no_time_is_recorded_like_every_wait() {
    let zero = json!({ "name": "nap", "type": "wait", "durationMs": 0 });
    let run = start(json!([zero, task("a")]));
    let names = run.last_names();
    let recorded = ["STEP_WAITING", "WORKFLOW_PAUSED", "WAIT_RESOLVED", "STEP_COMPLETED", "WORKFLOW_RESUMED"];
    let seen: Vec<&str> = names.iter().copied().filter(|name| recorded.contains(name)).collect();
    assert_eq!(seen, recorded, "{names:?}");
    let wait = run.run().waitpoint(1).cloned().unwrap();
    assert_eq!(
        (wait.status.to_string(), wait.resolved_by.unwrap().to_string()),
        ("COMPLETED".to_owned(), "timer".to_owned())
    );
    assert_eq!(run.timers(), []);
}
