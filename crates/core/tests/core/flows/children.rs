//! Runs that start runs.

use abide_core::command::{ChildOutcome, Steering};
use abide_core::effect::RoundEffect;
use abide_core::history::{Failure, Parent};
use abide_core::id::{RunId, WorkspaceId};
use abide_core::waitpoint::ListensFor;
use serde_json::json;

use crate::scenario::*;

#[test]
fn a_child_is_started_with_its_input_and_its_output_is_the_step_s() {
    let mut run =
        plan(json!([child("c").also(json!({ "input": { "to": "{{ input.email }}" } })), task("a")]))
            .input(json!({ "email": "a@b" }))
            .start();
    let started = run.children()[0].clone();
    assert_eq!((&*started.definition, &**started.input.given().unwrap()), ("other", &json!({ "to": "a@b" })));
    assert_eq!(run.waitpoint("c").listens_for, ListensFor::Child { run_id: started.run_id });
    run.child_completes("c", json!({ "sent": true }));
    assert_eq!((run.output_of("c"), run.step("a")), (json!({ "sent": true }), "RUNNING".to_owned()));
}

#[test]
fn a_failed_child_is_tried_again_as_a_new_run() {
    let mut run = start(json!([child("c").tries(2)]));
    run.child_fails("c");
    assert_eq!((run.step("c"), run.open()), ("WAITING".to_owned(), vec!["c RETRY".to_owned()]));
    run.live("1m");
    let ids: Vec<RunId> = run.children().iter().map(|child| child.run_id).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    run.child_completes("c", json!("at last"));
    assert_eq!(run.output(), json!("at last"));
}

#[test]
fn a_child_that_keeps_failing_fails_its_parent_with_its_words() {
    let mut run = start(json!([child("c").tries(1)]));
    run.child_fails("c");
    let error = run.run().error.clone().expect("the run has failed");
    assert_eq!(
        (&*error.code, error.message.as_str()),
        ("CHILD_FAILED", "the child run failed: BROKEN: it broke")
    );
}

#[test]
fn a_report_of_an_earlier_try_does_not_end_the_present_one() {
    let mut run = start(json!([child("c").tries(2)]));
    run.child_fails("c");
    run.live("1m");
    let first = abide_core::command::ChildFinished { number: 1, outcome: ChildOutcome::Cancelled };
    assert_eq!(run.send(abide_core::command::Command::ChildFinished(first)).code(), "ALREADY_RESOLVED");
    assert_eq!(run.step("c"), "WAITING");
}

#[test]
fn a_cancelled_child_fails_its_parent_without_another_try() {
    let mut run = start(json!([child("c").tries(5)]));
    run.child_ends("c", ChildOutcome::Cancelled);
    assert_eq!(
        (run.status(), run.error(), run.count("STEP_RETRYING")),
        ("FAILED".to_owned(), "CHILD_CANCELLED".to_owned(), 0)
    );
}

#[test]
fn a_child_nobody_waits_for_any_more_is_cancelled() {
    for steering in [Steering::TimeOut, Steering::Cancel] {
        let mut run = start(json!([child("c")]));
        let run_id = run.children()[0].run_id;
        run.steer("c", steering);
        assert_eq!(run.last_in_round(), [RoundEffect::CancelChild { run_id }]);
    }
}

#[test]
fn a_child_is_cancelled_when_another_step_fails_the_run_and_begun_again_when_it_is_retried() {
    let mut run = start(json!([child("c").after(&[]), task("a").after(&[])]));
    let run_id = run.children()[0].run_id;
    run.fail_for_good("a");
    assert_eq!(run.last_in_round(), [RoundEffect::CancelChild { run_id }]);
    run.retry();
    assert_eq!(run.children().len(), 2);
}

#[test]
fn a_child_that_is_not_waited_for_is_started_and_left_alone() {
    let mut run = start(json!([child("c").also(json!({ "wait": false })), task("a")]));
    let started = run.children()[0].clone();
    assert_eq!((started.parent.waitpoint, run.step("a").as_str()), (None, "RUNNING"));
    assert_eq!(run.output_of("c"), json!({ "runId": started.run_id }));
    run.cancel();
    assert!(!run.in_round().iter().any(|effect| matches!(effect, RoundEffect::CancelChild { .. })));
}

#[test]
fn a_parent_is_told_how_its_child_ended() {
    let waitpoint = RunId(1).waitpoint(1);
    let parent = Parent { waitpoint: Some(waitpoint), run_id: RunId(1), depth: 1, root: None };
    let mut run = plan(json!([task("a")])).child_of(parent).start();
    run.fail_for_good("a");
    let error = Failure { step: Some("a".into()), ..Failure::new("TASK_FAILED", "it went wrong") };
    assert_eq!(
        run.last_in_round(),
        [RoundEffect::TellParent { waitpoint, outcome: ChildOutcome::Failed { error } }]
    );
}

#[test]
fn a_run_without_a_waiting_parent_tells_nobody() {
    let parent = Parent { waitpoint: None, run_id: RunId(1), depth: 1, root: None };
    let mut run = plan(json!([task("a")])).child_of(parent).start();
    run.complete("a", json!(1));
    assert!(run.last_in_round().is_empty());
}

#[test]
fn a_child_knows_how_deep_it_is() {
    let parent = Parent { waitpoint: None, run_id: RunId(1), depth: 4, root: None };
    let run = plan(json!([child("c")])).child_of(parent).start();
    assert_eq!((run.children()[0].parent.depth, run.children()[0].parent.run_id), (5, run.run().id));
}

#[test]
fn a_child_is_started_in_the_workspace_of_its_parent() {
    let run = plan(json!([child("c")])).in_workspace(WorkspaceId(3)).start();
    assert_eq!(run.children()[0].workspace, WorkspaceId(3));
    assert_eq!(start(json!([child("c")])).children()[0].workspace, WorkspaceId::DEFAULT);
}
