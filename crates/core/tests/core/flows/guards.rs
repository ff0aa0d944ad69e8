//! `cancelOn` and `restartOn`: events that end a run wherever it is.

use abide_core::command::Steering;
use abide_core::effect::ChildInput;
use abide_core::history::{Change, Parent};
use abide_core::id::RunId;
use serde_json::{Value, json};

use crate::scenario::*;

fn guarded(steps: Value) -> Plan {
    plan(json!({
        "name": "sync", "steps": steps,
        "cancelOn": [{ "eventId": "closed", "match": "event.id == input.account" }],
        "restartOn": [
            { "eventId": "renamed", "match": "event.id == input.account" },
            { "eventId": "moved", "input": { "account": "{{ event.to }}" } },
        ],
    }))
    .input(json!({ "account": 7 }))
}

fn open_guards(run: &Scenario) -> usize {
    run.run().open_waitpoints().filter(|wait| wait.is_guard()).count()
}

fn reason(run: &Scenario) -> String {
    let last = run.history().last().expect("it has a history");
    let Change::WorkflowCancelled { reason, .. } = &last.change else {
        panic!("it ends with {}", last.change.name());
    };
    reason.clone().unwrap_or_default()
}

#[test]
fn an_event_cancels_the_run_wherever_it_is_and_only_the_run_that_it_matches() {
    for steps in [json!([task("work")]), json!([sleep("nap", "1h")])] {
        let mut run = guarded(steps).start();
        assert_eq!(open_guards(&run), 3);
        assert!(run.notify("closed", json!({ "id": 8 })).is_empty());
        assert_ne!(run.status(), "CANCELLED");
        run.notify("closed", json!({ "id": 7 }));
        assert_eq!((run.status().as_str(), open_guards(&run)), ("CANCELLED", 0));
        assert!(run.children().is_empty());
        assert!(reason(&run).contains("the event `closed` came (evt_"), "{}", reason(&run));
    }
}

#[test]
fn a_run_that_has_not_begun_or_is_paused_is_cancelled_too() {
    let mut late = guarded(json!([task("work")])).delayed_until("2026-12-24T00:00:00Z").start();
    late.notify("closed", json!({ "id": 7 }));
    assert_eq!(late.path(), "PENDING CANCELLED");
    let mut paused = guarded(json!([sleep("nap", "1h"), task("work")])).start();
    paused.pause();
    paused.notify("closed", json!({ "id": 7 }));
    assert_eq!(paused.status(), "CANCELLED");
}

#[test]
fn a_run_waits_for_its_steps_and_ends_without_its_guards() {
    let mut run = guarded(json!([task("work"), sleep("nap", "1h")])).start();
    assert_eq!(run.status(), "RUNNING");
    run.complete("work", json!(1));
    assert_eq!(run.status(), "WAITING");
    run.live("1h");
    assert_eq!((run.status().as_str(), open_guards(&run)), ("COMPLETED", 0));
}

#[test]
fn an_event_that_restarts_gives_the_input_of_the_next_run() {
    for (event, data, input) in [
        ("renamed", json!({ "id": 7 }), json!({ "account": 7 })),
        ("moved", json!({ "to": 9 }), json!({ "account": 9 })),
    ] {
        let mut run = guarded(json!([task("work")])).start();
        run.notify(event, data);
        assert_eq!(run.status(), "CANCELLED");
        let [child] = &run.children()[..] else { panic!("one takes its place") };
        assert_eq!((&*child.definition, child.version.as_deref()), ("sync", None));
        assert_eq!(child.input, ChildInput::Given(input.into()));
        assert_eq!((child.parent.run_id, child.parent.waitpoint), (run.run().id, None));
        let on = child.started_on.as_ref().expect("it waits for later events only");
        assert_eq!(&*on.event_id, event);
    }
}

#[test]
fn a_run_that_is_restarted_again_and_again_gets_no_deeper() {
    let restarted = |depth| {
        let below = Parent { waitpoint: None, run_id: RunId(1), depth, root: None };
        let mut run = guarded(json!([task("work")])).child_of(below).start();
        run.notify("renamed", json!({ "id": 7 }));
        run.children()[0].parent.depth
    };
    assert_eq!(restarted(0), 0);
    assert_eq!(restarted(5), 5);
}

#[test]
fn a_restart_whose_input_cannot_be_rendered_cancels_and_says_so() {
    let mut run = guarded(json!([task("work")])).start();
    run.notify("moved", json!({}));
    assert_eq!(run.status(), "CANCELLED");
    assert!(
        run.children().is_empty() && reason(&run).contains("could not be started again"),
        "{}",
        reason(&run)
    );
}

#[test]
fn a_step_takes_the_event_that_would_end_the_run_as_well() {
    let steps = json!([{ "type": "wait_for_event", "name": "hear", "eventId": "closed" }]);
    let mut run = guarded(steps).start();
    run.notify("closed", json!({ "id": 8 }));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn a_guard_is_steered_like_any_other_wait() {
    let mut run = guarded(json!([sleep("nap", "1h")])).start();
    let numbers: Vec<u32> =
        run.run().open_waitpoints().filter(|wait| wait.is_guard()).map(|wait| wait.number).collect();
    run.steer_wait(numbers[2], Steering::Cancel);
    assert_eq!((run.status().as_str(), open_guards(&run)), ("WAITING", 2));
    run.steer_wait(numbers[0], Steering::Complete { payload: None });
    assert_eq!(run.status(), "CANCELLED");
    assert!(reason(&run).contains("its wait for the event `closed` was ended"), "{}", reason(&run));
}

#[test]
fn a_run_that_is_retried_listens_again() {
    let mut run = guarded(json!([task("work").tries(1)])).start();
    run.fail("work");
    assert_eq!((run.status().as_str(), open_guards(&run)), ("FAILED", 0));
    run.retry();
    assert_eq!(open_guards(&run), 3);
    run.notify("closed", json!({ "id": 7 }));
    assert_eq!(run.status(), "CANCELLED");
}
