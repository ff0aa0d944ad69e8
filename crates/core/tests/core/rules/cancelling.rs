//! R17 Cancel works in every non-terminal state, resolves open waits as CANCELLED, and late results are refused.

use abide_core::command::ChildOutcome;
use abide_core::effect::{AfterCommit, RoundEffect};
use abide_core::history::{Change, Parent};
use abide_core::id::RunId;
use serde_json::json;

use crate::scenario::*;

#[test]
fn r17_a_run_that_has_not_begun() {
    let mut run = plan(json!([task("a")])).delayed_until("2026-04-01T00:00:00Z").start();
    run.cancel();
    assert_eq!(
        (run.status(), run.step("a"), run.timers()),
        ("CANCELLED".to_owned(), "CANCELLED".to_owned(), vec![])
    );
    assert_eq!(run.run().waitpoints().next().unwrap().status.to_string(), "CANCELLED");
}

#[test]
fn r17_a_run_whose_worker_is_at_work() {
    let mut run = start(json!([task("a"), task("b")]));
    run.take("a", "w");
    run.cancel();
    let at = run.at("a");
    assert_eq!(run.last_after_commit(), [AfterCommit::Recall { at, lease_epoch: 1 }]);
    assert_eq!(run.steps(), "a CANCELLED, b CANCELLED");
    assert_eq!(run.complete_epoch("a", 1, json!("late")).code(), "RUN_ENDED");
}

#[test]
fn r17_a_run_that_waits_in_every_way_at_once() {
    let steps = json!([
        task("write"),
        sleep("nap", "1d").after(&["write"]),
        signal("s", "go").after(&["write"]),
        event("e", "go").after(&["write"]),
        webhook("w").after(&["write"]),
        approval("ok").after(&["write"]),
        child("c").after(&["write"]),
        task("resting").after(&["write"]),
        task("failing").after(&["write"]),
        task("last").after(&["nap", "s", "e", "w", "ok", "c", "resting", "failing"]),
    ]);
    let mut run = start(steps);
    run.update("write", json!({ "draft": "text" }));
    run.pause_task("resting", "rest", "1h");
    run.fail_until("failing", "1h");
    assert_eq!(run.open().len(), 8);
    run.cancel();
    assert!(run.open().is_empty() && run.timers().is_empty());
    assert!(run.run().waitpoints().all(|wait| wait.status.to_string() == "CANCELLED"));
    for step in ["nap", "s", "e", "w", "ok", "c", "resting", "failing", "last"] {
        assert_eq!(run.step(step), "CANCELLED", "{step}");
    }
}

#[test]
fn r17_late_results_of_every_kind_are_refused() {
    let steps = json!([
        task("write"),
        sleep("nap", "1h").after(&["write"]),
        webhook("w").after(&["write"]),
        approval("ok").after(&["write"]),
        child("c").after(&["write"]),
    ]);
    let mut run = start(steps);
    run.update("write", json!({ "draft": "text" }));
    run.cancel();
    run.advance("1h");
    assert_eq!(run.fire_wait("nap").code(), "WAITPOINT_CANCELLED");
    assert_eq!(run.call("w", json!(1)).code(), "WAITPOINT_CANCELLED");
    assert_eq!(run.approve("anna", "ok").code(), "WAITPOINT_CANCELLED");
    assert_eq!(run.child_completes("c", json!(1)).code(), "WAITPOINT_CANCELLED");
    assert_eq!(run.signal("go", json!(1)).code(), "RUN_ENDED");
    assert_eq!(run.status(), "CANCELLED");
}

#[test]
fn r17_a_run_that_is_paused() {
    let mut run = start(json!([task("a"), task("b")]));
    run.pause();
    run.complete("a", json!(1));
    run.cancel();
    assert_eq!(run.steps(), "a COMPLETED, b CANCELLED");
    assert!(!run.run().pausing);
}

#[test]
fn r17_a_map_with_its_items() {
    let mut run = start(json!([map("each", json!([1, 2, 3]), task("t")), task("b")]));
    run.complete("each[0]", json!(1));
    run.cancel();
    let items = ["each[0]", "each[1]", "each[2]", "each"].map(|step| run.step(step));
    assert_eq!(items, ["COMPLETED", "CANCELLED", "CANCELLED", "CANCELLED"]);
    assert_eq!(run.complete_epoch("each[1]", 1, json!(1)).code(), "RUN_ENDED");
}

#[test]
fn r17_a_child_is_cancelled_with_its_parent() {
    let mut run = start(json!([child("c")]));
    let run_id = run.children()[0].run_id;
    run.cancel();
    assert_eq!(run.last_in_round(), [RoundEffect::CancelChild { run_id }]);
}

#[test]
fn r17_a_parent_is_told_that_its_child_was_cancelled() {
    let waitpoint = RunId(1).waitpoint(1);
    let parent = Parent { waitpoint: Some(waitpoint), run_id: RunId(1), depth: 1, root: None };
    let mut run = plan(json!([sleep("nap", "1d")])).child_of(parent).start();
    run.cancel();
    assert_eq!(
        run.last_in_round(),
        [RoundEffect::TellParent { waitpoint, outcome: ChildOutcome::Cancelled }]
    );
}

#[test]
fn r17_who_cancelled_and_why_is_in_the_history() {
    let mut run = start(json!([task("a")]));
    run.cancel();
    let last = run.history().last().expect("a record");
    assert_eq!(
        last.change,
        Change::WorkflowCancelled { reason: Some("not needed".to_owned()), handled_by: None }
    );
    assert_eq!(last.by.to_string(), "operator");
}

#[test]
fn r17_what_has_ended_cannot_be_cancelled() {
    let mut done = start(json!([task("a")]));
    done.complete("a", json!(1));
    let mut failed = start(json!([task("a")]));
    failed.fail_for_good("a");
    let mut cancelled = start(json!([task("a")]));
    cancelled.cancel();
    for run in [&mut done, &mut failed, &mut cancelled] {
        assert_eq!(run.cancel().code(), "RUN_ENDED");
    }
}
