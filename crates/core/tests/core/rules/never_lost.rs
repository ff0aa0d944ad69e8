//! R4 Never lost: what is overdue fires at once and in due order; what comes at or after a deadline is too late, even
//! if the timer has not gone off.

use abide_core::history::Change;
use serde_json::json;

use crate::scenario::*;

#[test]
fn r04_never_lost_after_a_year_of_absence_overdue_timers_fire_in_due_order() {
    let steps = json!([
        sleep("long", "3d").after(&[]),
        sleep("short", "1d").after(&[]),
        sleep("middle", "2d").after(&[]),
        task("last").after(&["long", "short", "middle"]),
    ]);
    let mut run = start(steps);
    run.advance("365d");
    assert_eq!(run.fire_due_timers(), 3);
    let resolved = run.history().iter().filter_map(|record| {
        if let Change::WaitResolved { number, .. } = &record.change { Some(*number) } else { None }
    });
    assert_eq!(resolved.collect::<Vec<_>>(), ["short", "middle", "long"].map(|step| run.wait(step)));
    assert_eq!(run.step("last"), "RUNNING");
}

#[test]
fn r04_never_lost_a_run_read_back_from_its_store_has_all_its_timers() {
    let steps = json!({ "timeout": "30d", "steps": [
        sleep("nap", "2d").after(&[]),
        signal("s", "go").also(json!({ "timeout": "1d" })).after(&[]),
        task("a").also(json!({ "timeout": "1h" })).after(&[]),
        task("b").after(&[]),
    ] });
    let mut run = start(steps);
    run.take("a", "w");
    run.fail_until("b", "3h");
    let due: Vec<String> = run.timers().into_iter().map(|(instant, _)| instant.to_string()).collect();
    let expected = [
        "2026-03-01T09:00:00Z",
        "2026-03-01T11:00:00Z",
        "2026-03-02T08:00:00Z",
        "2026-03-03T08:00:00Z",
        "2026-03-31T08:00:00Z",
    ];
    assert_eq!(due, expected);
}

#[test]
fn r04_a_call_at_the_deadline_is_too_late_even_if_the_timer_has_not_gone_off() {
    let mut run = start(json!([webhook("w").also(json!({ "timeout": "1h" }))]));
    run.advance("1h");
    let refusal = run.call("w", json!(1)).refused();
    assert_eq!(refusal.code(), "WAITPOINT_EXPIRED");
    assert!(refusal.to_string().contains("2026-03-01T09:00:00Z"), "{refusal}");
}

#[test]
fn r04_a_call_just_before_the_deadline_counts() {
    let mut run = start(json!([webhook("w").also(json!({ "timeout": "1h" }))]));
    run.advance("59m 59s 999ms");
    run.call("w", json!(1));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn r04_a_signal_at_the_deadline_is_not_taken_and_stays_for_the_next_wait() {
    let late = json!({ "timeout": "1h", "onTimeout": "continue" });
    let mut run = start(json!([signal("x", "go").also(late), signal("y", "go")]));
    run.advance("1h");
    run.signal("go", json!({ "n": 1 }));
    assert_eq!(run.output_of("x"), json!({ "timeout": true }));
    assert_eq!(run.output_of("y"), json!({ "n": 1 }));
}

#[test]
fn r04_a_decision_at_the_deadline_is_too_late() {
    let mut run = start(json!([task("write"), approval("ok").also(json!({ "timeout": "1h" }))]));
    run.update("write", json!({ "draft": "text" }));
    run.advance("1h");
    assert_eq!(run.approve("anna", "ok").code(), "WAITPOINT_EXPIRED");
}

#[test]
fn r04_waking_by_hand_at_the_deadline_is_too_late() {
    let mut run = start(json!([webhook("w").also(json!({ "timeout": "1h" }))]));
    run.advance("1h");
    let wake = abide_core::command::Steering::Complete { payload: None };
    assert_eq!(run.steer("w", wake).code(), "WAITPOINT_EXPIRED");
}

#[test]
fn r04_an_event_counts_by_when_it_was_received_not_by_when_it_is_offered() {
    let mut run = start(json!([event("e", "paid").also(json!({ "timeout": "1h" }))]));
    run.advance("2h");
    let deadline = instant("2026-03-01T09:00:00Z");
    assert_eq!(run.deliver("e", "paid", json!(1), deadline).code(), "WAITPOINT_EXPIRED");
    run.deliver("e", "paid", json!(2), instant("2026-03-01T08:59:59.999Z"));
    assert_eq!(run.output_of("e"), json!(2));
}
