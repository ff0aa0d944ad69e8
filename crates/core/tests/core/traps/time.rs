//! Timers that fired early, late, twice, or never.

use abide_core::definition::Definition;
use abide_core::effect::AfterCommit;
use abide_core::run::Timer;
use serde_json::json;

use crate::scenario::*;

#[test]
fn a_thirty_day_sleep_does_not_end_after_thirty_seconds_because_its_timer_was_delivered_again() {
    let mut run = start(json!([sleep("nap", "30d"), task("a")]));
    run.advance("30s");
    for _ in 0..3 {
        assert_eq!(run.fire_wait("nap").code(), "NOT_DUE");
    }
    run.live("29d");
    assert_eq!(run.status(), "WAITING");
    run.live("1d");
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn a_timer_of_more_than_24_8_days_does_not_overflow_32_bits_of_milliseconds() {
    let mut run =
        start(json!([signal("s", "go").also(json!({ "timeout": "30d", "onTimeout": "continue" }))]));
    assert_eq!(run.resume_at("s"), instant("2026-03-31T08:00:00Z"));
    run.advance("25d");
    assert_eq!(run.fire_due_timers(), 0);
    let mut year = start(json!([sleep("nap", "365d")]));
    year.live("364d");
    assert_eq!(year.status(), "WAITING");
    year.live("1d");
    assert_eq!(year.status(), "COMPLETED");
}

#[test]
fn a_timer_is_never_set_before_the_wait_it_ends_is_recorded() {
    let mut run = start(json!([task("a"), sleep("nap", "1s")]));
    assert_eq!(run.fire(Timer::Waitpoint(1)).code(), "UNKNOWN_WAITPOINT");
    run.complete("a", json!(1));
    assert!(run.last_names().contains(&"STEP_WAITING"));
    assert_eq!(run.timers().len(), 1);
    run.advance("1s");
    run.fire(Timer::Waitpoint(1));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn a_timer_that_was_refused_is_still_set() {
    let mut run = start(json!([sleep("nap", "1h")]));
    assert_eq!(run.fire_wait("nap").code(), "NOT_DUE");
    assert_eq!(run.timers(), [(instant("2026-03-01T09:00:00Z"), Timer::Waitpoint(1))]);
}

#[test]
fn a_second_delay_of_a_run_has_its_own_timer() {
    let mut run = start(json!([sleep("one", "1h"), sleep("two", "1h"), task("a")]));
    run.live("1h");
    assert_eq!(run.timers(), [(instant("2026-03-01T10:00:00Z"), Timer::Waitpoint(2))]);
    assert_eq!(run.fire_wait("two").code(), "NOT_DUE");
    run.live("1h");
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn the_same_delay_for_each_of_many_items_has_a_timer_for_each() {
    let nap = json!({ "type": "wait", "duration": "{{ item }}" });
    let mut run = start(json!([map("each", json!(["1h", "2h", "3h"]), nap)]));
    assert_eq!(run.timers().len(), 3);
    run.live("2h");
    assert_eq!(
        ["each[0]", "each[1]", "each[2]"].map(|item| run.step(item)),
        ["COMPLETED", "COMPLETED", "WAITING"]
    );
    run.live("1h");
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn a_step_that_is_visited_again_has_a_new_timer() {
    let mut run = start(json!([signal("s", "go").also(json!({ "timeout": "1h" }))]));
    run.live("1h");
    run.retry();
    assert_eq!(run.timers(), [(instant("2026-03-01T10:00:00Z"), Timer::Waitpoint(2))]);
    run.live("1h");
    assert_eq!((run.status(), run.waits_of("s").len()), ("FAILED".to_owned(), 2));
}

#[test]
fn every_back_off_of_a_step_has_its_own_timer() {
    let mut run = start(json!([task("a").tries(4)]));
    for attempt in 1..=3 {
        run.fail_until("a", "1m");
        assert_eq!(run.timers().len(), 1);
        run.live("1m");
        assert_eq!(run.attempt("a"), attempt + 1);
    }
    assert_eq!(run.waits_of("a").len(), 3);
}

#[test]
fn a_timeout_does_not_begin_anew_after_a_crash() {
    let mut run = start(json!([signal("s", "go").also(json!({ "timeout": "1h" })), task("a")]));
    let before = run.timers();
    for _ in 0..5 {
        run.advance("10m");
        assert_eq!(run.fire_wait("s").code(), "NOT_DUE");
        assert_eq!(run.timers(), before);
    }
    run.live("10m");
    assert_eq!(run.error(), "WAIT_TIMED_OUT");
}

#[test]
fn a_cron_wait_is_an_instant_in_its_zone_not_a_duration() {
    let monday = json!({ "name": "w", "type": "wait", "cron": "0 9 * * MON", "timezone": "Europe/Berlin" });
    let mut run = start(json!([monday, task("a")]));
    assert_eq!(run.resume_at("w"), instant("2026-03-02T08:00:00Z"));
    run.advance("23h 59m");
    assert_eq!(run.fire_wait("w").code(), "NOT_DUE");
    assert_eq!(run.resume_at("w"), instant("2026-03-02T08:00:00Z"));
}

#[test]
fn a_cron_time_that_daylight_saving_skips_or_repeats_comes_once() {
    let nightly = |now: &str| {
        let night = json!({ "name": "w", "type": "wait", "cron": "30 2 * * *", "timezone": "Europe/Berlin" });
        plan(json!([night])).at(now).start().resume_at("w")
    };
    // Clocks go from 02:00 to 03:00 on the 29th of March, and from 03:00 back to 02:00 on the 25th of October.
    let spring = nightly("2026-03-29T00:00:00Z");
    assert!(
        spring > instant("2026-03-29T00:00:00Z") && spring <= instant("2026-03-30T00:30:00Z"),
        "{spring}"
    );
    let first = nightly("2026-10-24T12:00:00Z");
    let after = nightly(&first.to_string());
    assert_eq!((first, after), (instant("2026-10-25T00:30:00Z"), instant("2026-10-26T01:30:00Z")));
}

#[test]
fn the_31st_of_april_is_refused_when_it_is_written() {
    let wait = json!({ "name": "w", "type": "wait", "cron": "0 0 31 4 *" });
    let rejected =
        Definition::from_value(json!({ "name": "never", "steps": [wait] })).expect_err("it never comes");
    assert_eq!(rejected.problems[0].pointer, "/steps/0/cron");
}

#[test]
fn the_deadline_of_a_run_that_nothing_else_happens_to_is_a_timer_of_its_own() {
    let mut run = start(json!({ "timeout": "2d", "steps": [signal("s", "go")] }));
    assert_eq!(run.timers(), [(instant("2026-03-03T08:00:00Z"), Timer::Run)]);
    run.live("2d");
    assert_eq!((run.status(), run.error()), ("FAILED".to_owned(), "RUN_TIMED_OUT".to_owned()));
    assert_eq!(run.wait_status("s"), "CANCELLED");
}

#[test]
fn a_worker_that_works_through_the_run_s_deadline_is_called_back() {
    let mut run = start(json!({ "timeout": "1h", "steps": [task("a")] }));
    run.take("a", "w");
    run.live("1h");
    let at = run.at("a");
    assert_eq!(run.last_after_commit(), [AfterCommit::Recall { at, lease_epoch: 1 }]);
    assert_eq!(run.complete_epoch("a", 1, json!(1)).code(), "RUN_ENDED");
}

#[test]
fn a_lid_that_was_closed_for_a_week_delays_a_timer_and_does_not_stretch_it() {
    let mut run = start(json!([sleep("nap", "1h"), sleep("more", "1h")]));
    run.advance("7d");
    assert_eq!(run.fire_due_timers(), 1);
    assert_eq!(run.resume_at("more"), instant("2026-03-08T09:00:00Z"));
}
