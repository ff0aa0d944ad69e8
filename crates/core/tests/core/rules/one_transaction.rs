//! R1 One transaction, and R11 Acknowledged means durable, as far as a decision can promise them: all that must be
//! committed together is in one outcome, and nothing that depends on it is anywhere else.

use abide_core::command::{ChildOutcome, Reply};
use abide_core::effect::{AfterCommit, RoundEffect};
use abide_core::history::Parent;
use abide_core::id::RunId;
use abide_core::run::Timer;
use serde_json::json;

use crate::scenario::*;

#[test]
fn r01_a_wait_its_timer_and_every_status_are_in_one_outcome() {
    let mut run = start(json!([task("a"), sleep("nap", "2d")]));
    run.complete("a", json!(1));
    assert_eq!(run.last_names(), ["STEP_COMPLETED", "STEP_STARTED", "STEP_WAITING", "WORKFLOW_PAUSED"]);
    assert_eq!(run.timers(), [(instant("2026-03-03T08:00:00Z"), Timer::Waitpoint(1))]);
}

#[test]
fn r01_the_end_of_a_wait_and_the_task_it_leads_to_are_in_one_outcome() {
    let mut run = start(json!([sleep("nap", "2d"), task("a")]));
    run.live("2d");
    assert_eq!(run.last_names(), ["WAIT_RESOLVED", "STEP_COMPLETED", "WORKFLOW_RESUMED", "STEP_STARTED"]);
    assert_eq!(run.dispatched(), ["a"]);
}

#[test]
fn r01_a_waitpoint_is_recorded_in_the_outcome_that_tells_its_id() {
    let mut run = start(json!([task("a")]));
    let reply = run.create_waitpoint("a", "signed").reply();
    assert_eq!(reply, Reply::Waitpoint(run.run().waitpoint_id(1)));
    assert_eq!(run.last_names(), ["WAIT_CREATED"]);
}

#[test]
fn r01_the_reply_to_the_caller_leaves_with_the_wait_it_belongs_to() {
    let reply = json!({ "responseToSend": { "status": 202, "body": "soon" } });
    let run = start(json!([webhook("signed").also(reply)]));
    let response = json!({ "status": 202, "headers": {}, "body": "soon" });
    assert!(run.last_names().contains(&"STEP_WAITING"));
    assert_eq!(run.last_after_commit(), [AfterCommit::Respond { response: response.into() }]);
}

#[test]
fn r01_the_end_of_a_child_and_the_message_to_its_parent_are_in_one_outcome() {
    let waiting = RunId(1).waitpoint(3);
    let parent = Parent { waitpoint: Some(waiting), run_id: RunId(1), depth: 1, root: None };
    let mut run = plan(json!([task("a")])).child_of(parent).start();
    run.complete("a", json!("done"));
    assert!(run.last_names().contains(&"WORKFLOW_COMPLETED"));
    let outcome = ChildOutcome::Completed { output: json!("done").into() };
    assert_eq!(run.last_in_round(), [RoundEffect::TellParent { waitpoint: waiting, outcome }]);
}

#[test]
fn r01_a_child_and_the_wait_for_it_are_in_one_outcome() {
    let run = start(json!([child("c")]));
    assert!(run.last_names().contains(&"STEP_WAITING"));
    let started = run.children();
    assert_eq!(started[0].parent.waitpoint, Some(run.run().waitpoint_id(run.wait("c"))));
}

#[test]
fn r01_a_refusal_leaves_no_record_and_no_effect() {
    let mut run = start(json!([task("a"), task("b")]));
    let count = |run: &Scenario| (run.history().len(), run.in_round().len(), run.after_commit().len());
    let before = count(&run);
    run.complete_epoch("a", 9, json!(1)).refused();
    assert_eq!(count(&run), before);
}

#[test]
fn r01_work_that_was_begun_and_stopped_in_one_decision_is_never_handed_out() {
    let steps = json!([task("a").after(&[]), sleep("bad", "{{ input.missing }}").after(&[])]);
    let run = start(steps);
    assert_eq!(run.steps(), "a FAILED, bad FAILED");
    assert_eq!((run.in_round(), run.after_commit()), (&[][..], &[][..]));
}

#[test]
fn r11_whoever_is_told_that_something_changed_can_find_it_in_the_history() {
    let mut run = start(json!([task("a"), signal("s", "go"), task("b")]));
    let mut known = run.history().len();
    let mut grown = |run: &Scenario| {
        let grown = run.history().len() > known;
        known = run.history().len();
        grown
    };
    assert_eq!((run.take("a", "w").reply(), grown(&run)), (Reply::Leased { deadline: None }, true));
    assert_eq!((run.pause().reply(), grown(&run)), (Reply::Done, true));
    assert_eq!((run.pause().reply(), grown(&run)), (Reply::Unchanged, false));
    assert_eq!((run.unpause().reply(), grown(&run)), (Reply::Done, true));
    assert_eq!((run.unpause().reply(), grown(&run)), (Reply::Unchanged, false));
    assert_eq!(
        (run.signal("go", json!(1)).reply(), grown(&run)),
        (Reply::Signalled { taken_by: None }, true)
    );
    assert_eq!((run.complete("a", json!(1)).reply(), grown(&run)), (Reply::Done, true));
}

#[test]
fn r11_a_child_is_asked_for_in_the_round_and_work_and_replies_leave_after_the_commit() {
    let run = start(json!([
        respond("r", json!("hi")),
        task("a").also(json!({ "after": ["r"] })),
        child("c").after(&[])
    ]));
    assert!(matches!(run.in_round(), [RoundEffect::StartChild(_)]));
    assert!(matches!(run.after_commit(), [AfterCommit::Respond { .. }, AfterCommit::Dispatch { .. }]));
}

#[test]
fn r01_a_child_that_was_begun_and_stopped_in_one_decision_is_never_started() {
    let steps = json!([
        child("c").after(&[]),
        event("e", "go").after(&[]),
        sleep("bad", "{{ input.missing }}").after(&[])
    ]);
    let run = start(steps);
    assert_eq!(run.steps(), "c FAILED, e FAILED, bad FAILED");
    assert_eq!((run.in_round(), run.after_commit()), (&[][..], &[][..]));
}
