//! Links that scanners opened, decisions that were lost or counted for another question.

use abide_core::command::Reply;
use abide_core::refusal::Refusal;
use serde_json::json;

use crate::scenario::*;

fn two_approvals_at_once() -> Scenario {
    let mut run = start(json!([
        task("write"),
        approval("legal").after(&["write"]),
        approval("sales").after(&["write"]),
        task("send").after(&["legal", "sales"]),
    ]));
    run.update("write", json!({ "draft": "text" }));
    run
}

#[test]
fn a_mail_scanner_that_opens_every_link_decides_nothing() {
    let mut run = start(json!([webhook("yes").after(&[]), webhook("no").after(&[])]));
    assert_eq!((run.open_link("yes").code(), run.open_link("no").code()), ("READ_ONLY", "READ_ONLY"));
    assert_eq!(run.open(), ["yes WEBHOOK", "no WEBHOOK"]);
}

#[test]
fn a_decision_is_recorded_in_the_outcome_that_uses_its_link_up() {
    let mut run = start(json!([task("write"), approval("ok")]));
    run.update("write", json!({ "draft": "text" }));
    run.approve("anna", "ok");
    let names = run.last_names();
    assert_eq!(names[..2], ["APPROVAL_DECIDED", "WAIT_RESOLVED"]);
    assert!(names.contains(&"WORKFLOW_COMPLETED"));
}

#[test]
fn a_stale_resume_is_never_told_yes() {
    let late = json!({ "timeout": "1h", "onTimeout": "continue" });
    let mut run = start(json!([webhook("w").also(late), webhook("next")]));
    run.live("1h");
    assert_eq!(run.call("w", json!(1)).code(), "WAITPOINT_TIMED_OUT");
    run.call("next", json!(1));
    assert_eq!(run.call("w", json!(1)).code(), "WAITPOINT_TIMED_OUT");
    assert_eq!(run.call("next", json!(2)).code(), "ALREADY_RESOLVED");
}

#[test]
fn a_resume_that_is_tried_again_is_told_that_it_was_stored() {
    let mut run = start(json!([webhook("w")]));
    run.call("w", json!("first"));
    let id = run.run().waitpoint_id(1);
    assert_eq!(run.call("w", json!("first")).reply(), Reply::Repeated(id));
    let Refusal::AlreadyResolved(resolved) = run.call("w", json!("second")).refused() else {
        panic!("it is not unknown: it is resolved");
    };
    assert_eq!(resolved.payload, Some(json!({ "body": "first" }).into()));
}

#[test]
fn two_approvals_in_one_run_are_two_questions() {
    let mut run = two_approvals_at_once();
    assert_ne!(run.wait("legal"), run.wait("sales"));
    run.approve("anna", "legal");
    assert_eq!(run.steps(), "write COMPLETED, legal COMPLETED, sales WAITING, send PENDING");
    run.approve("anna", "sales");
    assert_eq!(run.step("send"), "RUNNING");
}

#[test]
fn approvals_in_parallel_branches_are_all_asked() {
    let run = two_approvals_at_once();
    assert_eq!(run.open(), ["legal APPROVAL", "sales APPROVAL"]);
    assert_eq!(run.count("APPROVAL_REQUESTED"), 2);
}

#[test]
fn an_approval_asked_again_in_a_retried_run_is_a_new_question() {
    let mut run = start(json!([task("write"), approval("ok").also(json!({ "quorum": 2 }))]));
    run.update("write", json!({ "draft": "text" }));
    run.approve("anna", "ok");
    let first = run.wait("ok");
    run.reject("ben", "ok");
    run.retry();
    assert_ne!(run.wait("ok"), first);
    assert_eq!(run.approve("anna", "ok").reply(), Reply::Voted { approvals: 1, quorum: 2, resolved: false });
}

#[test]
fn an_approver_is_the_same_person_at_every_door() {
    let mut run = start(json!([
        task("write"),
        approval("ok").also(json!({ "approvers": ["anna", "ben"], "quorum": 2 }))
    ]));
    run.update("write", json!({ "draft": "text" }));
    run.approve("anna", "ok");
    assert_eq!(run.approve("anna", "ok").code(), "ALREADY_DECIDED");
    assert_eq!(run.reject("anna", "ok").code(), "ALREADY_DECIDED");
    assert_eq!(run.edit("mallory", "ok", json!("mine")).code(), "NOT_AN_APPROVER");
    assert_eq!(run.call("ok", json!("approve")).code(), "WRONG_WAITPOINT_KIND");
}

#[test]
fn a_failed_run_answers_its_parent_at_once() {
    use abide_core::{effect::RoundEffect, history::Parent, id::RunId};
    let parent = Parent { waitpoint: Some(RunId(1).waitpoint(1)), run_id: RunId(1), depth: 1, root: None };
    let mut run = plan(json!([task("a")])).child_of(parent).start();
    run.fail_for_good("a");
    assert!(matches!(run.last_in_round(), [RoundEffect::TellParent { .. }]));
}
