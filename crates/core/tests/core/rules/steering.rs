//! R9 Every pending wait can be steered: listed, rescheduled, woken now, timed out, cancelled; each recorded with who
//! did it.

use abide_core::command::Steering;
use abide_core::history::Change;
use abide_core::waitpoint::{Actor, Kind};
use serde_json::json;

use crate::scenario::*;

/// A run that waits once, in this way, at the step `w`; `next` follows.
fn waiting(kind: Kind) -> Scenario {
    let wait = match kind {
        Kind::Delay => sleep("w", "1d"),
        Kind::Webhook => webhook("w"),
        Kind::Signal => signal("w", "go"),
        Kind::Event => event("w", "go").also(json!({ "onTimeout": "fail" })),
        Kind::Approval => approval("w"),
        Kind::Child => child("w"),
        Kind::Pause | Kind::Retry | Kind::Code => task("w"),
        Kind::Capacity => task("w").also(json!({ "limits": [{ "name": "crm", "concurrency": 1 }] })),
        Kind::Schedule => unreachable!("no run's"),
    };
    let mut run = start(json!([task("write"), wait, task("next")]));
    run.update("write", json!({ "draft": "text" }));
    match kind {
        Kind::Pause => drop(run.pause_task("w", "rest", "1d")),
        Kind::Retry => drop(run.fail_until("w", "1d")),
        Kind::Code => drop(run.mismatch("w")),
        Kind::Delay
        | Kind::Webhook
        | Kind::Signal
        | Kind::Event
        | Kind::Approval
        | Kind::Child
        | Kind::Capacity
        | Kind::Schedule => {}
    }
    assert_eq!(run.open(), [format!("w {kind}")]);
    run
}

const KINDS: [Kind; 10] = [
    Kind::Delay,
    Kind::Webhook,
    Kind::Signal,
    Kind::Event,
    Kind::Approval,
    Kind::Child,
    Kind::Pause,
    Kind::Retry,
    Kind::Code,
    Kind::Capacity,
];

fn by_operator(run: &Scenario) -> bool {
    run.last().records.iter().all(|record| record.by == Actor::new("operator"))
}

#[test]
fn r09_every_kind_of_wait_is_listed_with_what_would_end_it() {
    for kind in KINDS {
        let listed = waiting(kind).waiting_for();
        assert_eq!(listed.len(), 1);
        let whose = if kind == Kind::Pause { "`w › rest`" } else { "`w`" };
        assert!(listed[0].starts_with(&format!("{whose} waits for ")), "{listed:?}");
    }
}

#[test]
fn r09_every_kind_of_wait_can_be_rescheduled() {
    let later = instant("2026-06-01T00:00:00Z");
    for kind in KINDS {
        let mut run = waiting(kind);
        run.reschedule("w", later);
        assert_eq!(run.last_names(), ["WAIT_RESCHEDULED"]);
        assert!(by_operator(&run));
        assert_eq!(run.timers().iter().map(|(instant, _)| *instant).collect::<Vec<_>>(), [later]);
    }
}

#[test]
fn r09_a_wait_moved_to_the_past_is_due_at_once() {
    for kind in KINDS {
        let mut run = waiting(kind);
        run.reschedule("w", instant("2026-01-01T00:00:00Z"));
        // An approval's end is somebody's decision, and not left to the timer.
        assert_eq!(run.fire_due_timers(), usize::from(kind != Kind::Approval));
        assert!(run.open().is_empty());
    }
}

#[test]
fn r09_a_wait_that_is_woken_goes_on_as_if_what_it_waits_for_had_come() {
    for kind in [Kind::Delay, Kind::Webhook, Kind::Signal, Kind::Event] {
        let mut run = waiting(kind);
        run.steer("w", Steering::Complete { payload: Some(json!({ "n": 1 }).into()) });
        assert!(by_operator(&run));
        assert_eq!((run.step("next"), run.output_of("w")), ("RUNNING".to_owned(), json!({ "n": 1 })));
    }
}

#[test]
fn r09_a_pause_or_a_back_off_that_is_woken_hands_the_task_out_now() {
    for (kind, attempt) in [(Kind::Pause, 1), (Kind::Retry, 2)] {
        let mut run = waiting(kind);
        run.steer("w", Steering::Complete { payload: None });
        assert_eq!((run.dispatched(), run.attempt("w")), (vec!["w".to_owned()], attempt));
    }
}

#[test]
fn r09_an_approval_is_decided_only_by_people_and_a_child_ends_only_by_itself() {
    for kind in [Kind::Approval, Kind::Child] {
        let mut run = waiting(kind);
        let refusal = run.steer("w", Steering::Complete { payload: None }).refused();
        assert_eq!(refusal.code(), "WRONG_WAITPOINT_KIND");
        assert!(
            refusal
                .to_string()
                .contains(&format!("is {} {kind}; it cannot be completed by hand", kind.article())),
            "{refusal}"
        );
    }
}

#[test]
fn r09_a_wait_that_is_timed_out_ends_as_at_its_deadline() {
    for kind in [Kind::Webhook, Kind::Signal, Kind::Event, Kind::Approval, Kind::Child] {
        let mut run = waiting(kind);
        run.steer("w", Steering::TimeOut);
        assert!(by_operator(&run));
        assert_eq!(
            (run.wait_status("w"), run.error()),
            ("TIMED_OUT".to_owned(), "WAIT_TIMED_OUT".to_owned())
        );
    }
}

#[test]
fn r09_a_wait_for_the_clock_that_is_timed_out_is_over_as_it_should_be() {
    for (kind, step) in [(Kind::Delay, "next"), (Kind::Pause, "w"), (Kind::Retry, "w")] {
        let mut run = waiting(kind);
        run.steer("w", Steering::TimeOut);
        assert_eq!((run.wait_status("w"), run.dispatched()), ("COMPLETED".to_owned(), vec![step.to_owned()]));
    }
}

#[test]
fn r09_a_step_whose_wait_is_cancelled_fails() {
    for kind in [Kind::Delay, Kind::Webhook, Kind::Signal, Kind::Event, Kind::Approval, Kind::Child] {
        let mut run = waiting(kind);
        run.steer("w", Steering::Cancel);
        assert!(by_operator(&run));
        assert_eq!(
            (run.wait_status("w"), run.error()),
            ("CANCELLED".to_owned(), "WAIT_CANCELLED".to_owned())
        );
    }
}

#[test]
fn r09_a_back_off_that_is_cancelled_fails_the_step_with_its_last_error() {
    let mut run = waiting(Kind::Retry);
    run.steer("w", Steering::Cancel);
    assert_eq!((run.status(), run.error_of("w")), ("FAILED".to_owned(), "TASK_FAILED".to_owned()));
}

#[test]
fn r09_a_pause_that_is_cancelled_hands_the_task_out_now() {
    let mut run = waiting(Kind::Pause);
    run.steer("w", Steering::Cancel);
    assert_eq!(run.dispatched(), ["w"]);
}

#[test]
fn r09_a_task_whose_own_wait_is_cancelled_is_told() {
    let mut run = start(json!([task("a")]));
    run.suspend("a", vec![for_signal("reply", "go")]);
    run.steer("a", Steering::Cancel);
    assert_eq!(
        run.journal_of("a"),
        [("reply".to_owned(), json!({ "status": "CANCELLED", "payload": null }))]
    );
}

#[test]
fn r09_a_delayed_start_is_a_wait_like_any_other() {
    let delayed = || plan(json!([task("a")])).delayed_until("2026-03-02T00:00:00Z").start();
    assert_eq!(delayed().waiting_for(), ["the run waits for its start at 2026-03-02T00:00:00Z"]);
    let mut run = delayed();
    run.steer_wait(1, Steering::Complete { payload: None });
    assert_eq!(run.step("a"), "RUNNING");
    let mut run = delayed();
    run.steer_wait(1, Steering::TimeOut);
    assert_eq!(run.step("a"), "RUNNING");
    let mut run = delayed();
    run.steer_wait(1, Steering::Cancel);
    assert_eq!(run.path(), "PENDING CANCELLED");
    let mut run = delayed();
    run.steer_wait(1, Steering::Reschedule { resume_at: instant("2026-04-01T00:00:00Z") });
    run.live("20d");
    assert_eq!(run.status(), "PENDING");
}

#[test]
fn r09_a_wait_that_is_over_cannot_be_steered() {
    let mut run = start(json!([sleep("w", "1h"), task("a")]));
    run.live("1h");
    let steerings = [
        Steering::Reschedule { resume_at: instant("2026-06-01T00:00:00Z") },
        Steering::Complete { payload: None },
        Steering::TimeOut,
        Steering::Cancel,
    ];
    for steering in steerings {
        assert_eq!(run.steer("w", steering).code(), "ALREADY_RESOLVED");
    }
}

#[test]
fn r09_a_deadline_can_be_given_to_a_wait_that_had_none() {
    let mut run = waiting(Kind::Signal);
    run.reschedule("w", instant("2026-03-02T00:00:00Z"));
    run.live("1d");
    assert_eq!(run.error(), "WAIT_TIMED_OUT");
    assert!(
        run.history().iter().any(|record| matches!(record.change, Change::WaitRescheduled { number: 1, .. }))
    );
}
