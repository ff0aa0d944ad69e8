//! Approvals: who may decide, how votes add up, and what follows.

use abide_core::command::{Command, Reply, Steer, Steering, Vote, WaitFor, WaitSpec};
use abide_core::history::{Change, Record};
use abide_core::waitpoint::{Actor, ByLink, Decision, ListensFor};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::scenario::*;

/// A run that has come to the approval `ok` of `state.draft`; `send` follows, then `rework`.
fn asked(fields: Value) -> Scenario {
    let send = task("send").also(json!({ "next": "end" }));
    let mut run = start(json!([task("write"), approval("ok").also(fields), send, task("rework")]));
    run.update("write", json!({ "draft": "text" }));
    run
}

#[test]
fn one_approval_is_enough_unless_a_quorum_is_asked_for() {
    let mut run = asked(json!({}));
    assert_eq!(run.approve("anna", "ok").reply(), Reply::Voted { approvals: 1, quorum: 1, resolved: true });
    assert_eq!(run.step("send"), "RUNNING");
    let output = run.output_of("ok");
    assert_eq!((&output["decision"], &output["content"]), (&json!("approve"), &json!("text")));
    assert_eq!(output["votes"], json!([{ "by": "anna", "decision": "approve" }]));
}

#[test]
fn a_quorum_is_reached_by_different_people() {
    let mut run = asked(json!({ "quorum": 2 }));
    assert_eq!(run.approve("anna", "ok").reply(), Reply::Voted { approvals: 1, quorum: 2, resolved: false });
    assert_eq!(run.approve("anna", "ok").code(), "ALREADY_DECIDED");
    assert_eq!(run.approve("ben", "ok").reply(), Reply::Voted { approvals: 2, quorum: 2, resolved: true });
}

#[test]
fn only_the_named_may_decide() {
    let mut run = asked(json!({ "approvers": ["anna", "ben"] }));
    for decision in [Decision::Approve, Decision::Reject] {
        let refusal = run.vote("mallory", "ok", decision, None).refused();
        assert_eq!(refusal.to_string(), "mallory is not one of the approvers: anna, ben");
    }
    run.approve("ben", "ok");
    assert_eq!(run.step("send"), "RUNNING");
}

#[test]
fn where_anyone_may_decide_the_first_rejection_decides() {
    let mut run = asked(json!({ "quorum": 3 }));
    run.approve("anna", "ok");
    run.reject("ben", "ok");
    assert_eq!((run.status(), run.error()), ("FAILED".to_owned(), "APPROVAL_REJECTED".to_owned()));
}

#[test]
fn a_rejection_decides_as_soon_as_the_quorum_is_out_of_reach() {
    let mut run = asked(json!({ "approvers": ["anna", "ben", "cleo"], "quorum": 2, "onReject": "continue" }));
    assert_eq!(run.reject("anna", "ok").reply(), Reply::Voted { approvals: 0, quorum: 2, resolved: false });
    run.reject("ben", "ok");
    assert_eq!(
        (run.output_of("ok")["decision"].clone(), run.step("send")),
        (json!("reject"), "RUNNING".to_owned())
    );
}

#[test]
fn one_rejection_does_not_stop_a_quorum_that_can_still_be_reached() {
    let mut run = asked(json!({ "approvers": ["anna", "ben", "cleo"], "quorum": 2 }));
    run.reject("anna", "ok");
    run.approve("ben", "ok");
    run.approve("cleo", "ok");
    assert_eq!(run.output_of("ok")["decision"], json!("approve"));
}

#[test]
fn a_rejection_goes_where_on_reject_says() {
    let ends = [json!("fail"), json!("continue"), json!({ "goto": "rework" })].map(|on_reject| {
        let mut run = asked(json!({ "onReject": on_reject }));
        run.reject("anna", "ok");
        run.steps()
    });
    assert_eq!(ends[0], "write COMPLETED, ok FAILED, send PENDING, rework PENDING");
    assert_eq!(ends[1], "write COMPLETED, ok COMPLETED, send RUNNING, rework PENDING");
    assert_eq!(ends[2], "write COMPLETED, ok COMPLETED, send SKIPPED, rework RUNNING");
}

#[test]
fn an_edit_replaces_the_content_and_counts_as_its_author_s_approval() {
    let mut run = asked(json!({}));
    run.edit("anna", "ok", json!("better text"));
    assert_eq!((run.state(), run.step("send")), (json!({ "draft": "better text" }), "RUNNING".to_owned()));
    let output = run.output_of("ok");
    assert_eq!((&output["decision"], &output["content"]), (&json!("edit"), &json!("better text")));
}

#[test]
fn an_edit_is_a_new_proposal_and_votes_on_the_old_one_do_not_count() {
    let mut run = asked(json!({ "quorum": 2 }));
    run.approve("anna", "ok");
    assert_eq!(
        run.edit("ben", "ok", json!("new")).reply(),
        Reply::Voted { approvals: 1, quorum: 2, resolved: false }
    );
    assert_eq!(run.state(), json!({ "draft": "text" }));
    assert_eq!(run.approve("ben", "ok").code(), "ALREADY_DECIDED");
    assert_eq!(run.approve("anna", "ok").reply(), Reply::Voted { approvals: 2, quorum: 2, resolved: true });
    assert_eq!(run.state(), json!({ "draft": "new" }));
}

#[test]
fn an_edit_can_be_edited_and_rejected() {
    let mut run = asked(json!({ "quorum": 2, "onReject": "continue" }));
    run.edit("anna", "ok", json!("one"));
    run.edit("anna", "ok", json!("two"));
    run.reject("ben", "ok");
    assert_eq!(
        (run.output_of("ok")["decision"].clone(), run.state()),
        (json!("reject"), json!({ "draft": "text" }))
    );
}

#[test]
fn an_edit_needs_content_and_nothing_else_may_have_any() {
    let mut run = asked(json!({}));
    for (decision, content) in
        [(Decision::Edit, None), (Decision::Approve, Some(json!("x"))), (Decision::Reject, Some(json!("x")))]
    {
        let refusal = run.vote("anna", "ok", decision, content).refused();
        assert!(refusal.to_string().starts_with("/editedContent: "), "{refusal}");
    }
}

#[test]
fn a_timeout_decides_as_on_timeout_says() {
    let after = |on_timeout: Value| {
        let mut run =
            asked(json!({ "timeout": "1d", "onTimeout": on_timeout, "onReject": { "goto": "rework" } }));
        run.live("1d");
        run
    };
    assert_eq!(after(json!("fail")).error(), "WAIT_TIMED_OUT");
    assert_eq!(after(json!("continue")).output_of("ok"), json!({ "timeout": true }));
    let approved = after(json!("approve"));
    let decided = json!({ "timeout": true, "decision": "approve", "content": "text" });
    assert_eq!((approved.output_of("ok"), approved.step("send")), (decided, "RUNNING".to_owned()));
    let rejected = after(json!("reject"));
    let decided = json!({ "timeout": true, "decision": "reject", "content": "text" });
    assert_eq!((rejected.output_of("ok"), rejected.step("rework")), (decided, "RUNNING".to_owned()));
    assert_eq!(after(json!({ "goto": "rework" })).step("rework"), "RUNNING");
}

#[test]
fn an_edit_that_a_timeout_approves_is_what_goes_on() {
    let mut run = asked(json!({ "quorum": 2, "timeout": "1d", "onTimeout": "approve" }));
    run.edit("anna", "ok", json!("edited"));
    run.live("1d");
    assert_eq!(
        (run.output_of("ok")["content"].clone(), run.state()),
        (json!("edited"), json!({ "draft": "edited" }))
    );
}

#[test]
fn people_are_asked_what_the_prompt_says_about_what_there_is() {
    let prompt = json!({ "prompt": "Send `{{ state.draft }}`?" });
    let run = asked(prompt);
    let abide_core::waitpoint::ListensFor::Approval(request) = &run.waitpoint("ok").listens_for else {
        panic!("it is an approval");
    };
    assert_eq!((request.prompt.as_deref(), &*request.content), (Some("Send `text`?"), &json!("text")));
}

#[test]
fn an_approval_of_what_is_not_there_fails() {
    let run = start(json!([approval("ok")]));
    assert_eq!(run.error(), "APPROVAL_CONTENT_MISSING");
}

#[test]
fn an_approval_is_asked_once_whatever_the_workflow_s_default_retry() {
    let mut run =
        start(json!({ "defaultRetry": { "maxAttempts": 5 }, "steps": [task("write"), approval("ok")] }));
    run.update("write", json!({ "draft": "text" }));
    run.reject("anna", "ok");
    assert_eq!((run.status(), run.count("APPROVAL_REQUESTED")), ("FAILED".to_owned(), 1));
}

#[test]
fn a_comment_is_kept_with_its_vote() {
    let mut run = asked(json!({}));
    let comment = Some("looks fine".to_owned());
    let vote = Vote { comment, ..Vote::new(run.wait("ok"), Decision::Approve) };
    run.send_as("anna", Command::Vote(vote));
    assert_eq!(run.output_of("ok")["votes"][0]["comment"], json!("looks fine"));
}

/// A task that asks these people.
fn asks(approvers: &[&str], quorum: u32) -> Vec<WaitSpec> {
    let approvers = approvers.iter().map(|approver| (*approver).into()).collect();
    let content = json!("text").into();
    vec![wait_for(
        "ok",
        WaitFor::Approval { prompt: None, content, content_schema: None, approvers, quorum, timeout: None },
    )]
}

#[test]
fn people_whom_a_task_asks_are_asked_in_the_history_too() {
    let mut run = start(json!([task("a")]));
    run.suspend("a", asks(&["anna"], 1));
    assert_eq!(run.count("APPROVAL_REQUESTED"), 1);
}

#[test]
fn a_task_cannot_ask_for_a_quorum_that_can_never_be_reached() {
    let mut run = start(json!([task("a")]));
    for (approvers, quorum) in [(&["anna", "anna"][..], 2), (&["anna"], 2), (&[], 0)] {
        assert_eq!(run.suspend("a", asks(approvers, quorum)).code(), "MALFORMED");
    }
    run.suspend("a", asks(&["anna", "ben"], 2));
}

#[test]
fn a_scope_stands_for_every_key_that_has_it() {
    let mut run = asked(json!({ "approvers": ["anna", "scope:admin"], "quorum": 2 }));
    let vote = |run: &mut Scenario, by: &str, scopes: &[&str]| {
        let scopes = scopes.iter().map(|scope| (*scope).into()).collect();
        let vote = Vote { scopes, ..Vote::new(run.wait("ok"), Decision::Approve) };
        run.send_as(by, Command::Vote(vote))
    };
    assert_eq!(vote(&mut run, "mallory", &["approve"]).code(), "NOT_AN_APPROVER");
    assert_eq!(vote(&mut run, "scope:admin", &[]).code(), "NOT_AN_APPROVER", "nobody is called so");
    vote(&mut run, "root", &["approve", "admin"]).reply();
    assert_eq!(vote(&mut run, "root", &["approve", "admin"]).code(), "ALREADY_DECIDED");
    vote(&mut run, "anna", &[]).reply();
    assert_eq!(run.step("send"), "RUNNING");
}

#[test]
fn where_a_scope_may_decide_the_first_rejection_decides() {
    let mut run = asked(json!({ "approvers": ["anna", "ben", "scope:approve"], "quorum": 2 }));
    run.reject("anna", "ok");
    assert_eq!(run.error(), "APPROVAL_REJECTED");
}

#[test]
fn no_one_approves_a_run_they_started_where_that_is_forbidden() {
    let mut run = asked(json!({ "allowSelfApproval": false }));
    let starter = run.run().started_by.to_string();
    for decision in [Decision::Approve, Decision::Reject] {
        assert_eq!(run.vote(&starter, "ok", decision, None).code(), "SELF_APPROVAL");
    }
    assert_eq!(run.vote(&starter, "ok", Decision::Edit, Some(json!("mine"))).code(), "SELF_APPROVAL");
    run.approve("anna", "ok");
    assert_eq!(run.step("send"), "RUNNING");
    let mut run = asked(json!({}));
    run.approve(&starter, "ok");
    assert_eq!(run.step("send"), "RUNNING", "it is allowed unless it is forbidden");
}

fn digest(run: &Scenario) -> String {
    let waitpoint = run.run().waitpoint(run.wait("ok")).expect("it waits");
    let ListensFor::Approval(request) = &waitpoint.listens_for else { panic!("{waitpoint:?}") };
    request.content_digest()
}

#[test]
fn a_decision_on_other_content_than_was_shown_does_not_count() {
    let mut run = asked(json!({ "approvers": ["anna", "ben"] }));
    let shown = digest(&run);
    run.vote("anna", "ok", Decision::Edit, Some(json!("better")));
    let mut run = asked(json!({ "approvers": ["anna", "ben"], "quorum": 2 }));
    run.vote("anna", "ok", Decision::Edit, Some(json!("better")));
    let approve = |digest: String, run: &mut Scenario| {
        let vote = Vote { content_digest: Some(digest), ..Vote::new(run.wait("ok"), Decision::Approve) };
        run.send_as("ben", Command::Vote(vote))
    };
    assert_eq!(approve(shown.clone(), &mut run).code(), "CONTENT_CHANGED");
    let now = digest(&run);
    assert_ne!(now, shown);
    assert_eq!(
        approve(now.clone(), &mut run).reply(),
        Reply::Voted { approvals: 2, quorum: 2, resolved: true }
    );
    assert_eq!(run.output_of("ok")["contentDigest"], json!(now));
}

#[test]
fn those_who_may_decide_are_reminded_and_then_others_may_too() {
    let fields = json!({ "approvers": ["anna"], "remindAfter": ["1h", "2h"], "escalateAfter": "3h",
        "escalateTo": ["anna", "zoe"], "timeout": "4h" });
    let mut run = asked(fields);
    assert_eq!(run.open(), ["ok APPROVAL", "ok DELAY", "ok DELAY", "ok DELAY"]);
    let paused = run.history().iter().rev().find(|record| record.change.name() == "WORKFLOW_PAUSED").unwrap();
    assert_eq!(serde_json::to_value(paused).unwrap()["reason"], "APPROVAL");
    run.live("1h");
    assert_eq!((run.count("APPROVAL_REMINDED"), run.step("ok")), (1, "WAITING".to_owned()));
    assert_eq!(run.approve("zoe", "ok").code(), "NOT_AN_APPROVER");
    run.live("2h");
    assert_eq!((run.count("APPROVAL_REMINDED"), run.count("APPROVAL_ESCALATED")), (2, 1));
    run.approve("zoe", "ok");
    assert_eq!((run.step("send"), run.open().len()), ("RUNNING".to_owned(), 0));
}

#[test]
fn who_has_decided_is_not_reminded_any_more() {
    let fields =
        json!({ "remindAfter": ["1h"], "approvers": ["anna"], "escalateAfter": "2h", "escalateTo": ["zoe"] });
    for end in ["approve", "reject", "cancel"] {
        let mut run = asked(fields.clone());
        match end {
            "approve" => drop(run.approve("anna", "ok")),
            "reject" => drop(run.reject("anna", "ok")),
            _ => drop(run.send(Command::Cancel { reason: None })),
        }
        assert!(run.open().iter().all(|open| !open.starts_with("ok")), "{end}: {:?}", run.open());
        run.live("5h");
        assert_eq!((run.count("APPROVAL_REMINDED"), run.count("APPROVAL_ESCALATED")), (0, 0), "{end}");
    }
}

#[test]
fn a_reminder_can_be_woken_moved_and_cancelled_without_touching_the_request() {
    let mut run = asked(
        json!({ "approvers": ["anna"], "remindAfter": ["1h"], "escalateAfter": "2h", "escalateTo": ["zoe"] }),
    );
    let steer = |run: &mut Scenario, number: u32, steering: Steering| {
        run.send(Command::Steer(Steer::new(number, steering))).reply();
    };
    let first = run.wait("ok") + 1;
    steer(&mut run, first, Steering::Complete { payload: None });
    assert_eq!((run.count("APPROVAL_REMINDED"), run.step("ok")), (1, "WAITING".to_owned()));
    steer(&mut run, first + 1, Steering::Cancel);
    assert_eq!((run.count("APPROVAL_ESCALATED"), run.step("ok")), (0, "WAITING".to_owned()));
    run.approve("anna", "ok");
    assert_eq!(run.step("send"), "RUNNING");
}

fn steer_as(run: &mut Scenario, who: &str, scopes: &[&str], steering: Steering) -> Answer {
    let number = run.wait("ok");
    let scopes = scopes.iter().map(|scope| (*scope).into()).collect();
    run.send_as(who, Command::Steer(Steer { number, steering, scopes }))
}

/// Every way in which steering ends an approval, or brings its end nearer.
fn ways_to_end(run: &Scenario) -> Vec<Steering> {
    let (past, soon) = (run.now - SignedDuration::from_secs(1), run.now + SignedDuration::from_secs(1));
    vec![
        Steering::TimeOut,
        Steering::Cancel,
        Steering::Reschedule { resume_at: past },
        Steering::Reschedule { resume_at: soon },
    ]
}

#[test]
fn who_may_not_decide_does_not_end_an_approval_either() {
    for on_timeout in ["approve", "continue", "reject", "fail"] {
        let fields = json!({ "timeout": "7d", "onTimeout": on_timeout });
        let mut run = asked(fields.clone());
        for steering in ways_to_end(&run) {
            assert_eq!(steer_as(&mut run, "runner", &[], steering).code(), "MAY_NOT_DECIDE");
        }
        let later = Steering::Reschedule { resume_at: run.now + SignedDuration::from_hours(24 * 30) };
        steer_as(&mut run, "runner", &[], later).reply();
        assert_eq!((run.step("ok"), run.count("APPROVAL_DECIDED")), ("WAITING".to_owned(), 0));
        // A deadline where there was none is an earlier one.
        let mut run = asked(json!({ "onTimeout": on_timeout }));
        for steering in ways_to_end(&run) {
            assert_eq!(steer_as(&mut run, "runner", &[], steering).code(), "MAY_NOT_DECIDE");
        }
    }
}

#[test]
fn who_steers_an_approval_is_held_to_the_rules_for_those_who_vote() {
    let terms = json!({ "timeout": "7d", "onTimeout": "approve", "approvers": ["anna", "ben"], "allowSelfApproval": false });
    let mut run = asked(terms);
    let starter = run.run().started_by.to_string();
    for steering in ways_to_end(&run) {
        assert_eq!(steer_as(&mut run, "mallory", &["approve"], steering.clone()).code(), "NOT_AN_APPROVER");
        assert_eq!(steer_as(&mut run, &starter, &["approve", "admin"], steering).code(), "SELF_APPROVAL");
    }
    steer_as(&mut run, "anna", &["approve"], Steering::TimeOut).reply();
    assert_eq!(run.output_of("ok")["decision"], json!("approve"));
}

#[test]
fn to_let_an_approval_go_on_is_recorded_as_a_vote_and_does_not_stand_in_for_a_quorum() {
    for steering in [Steering::TimeOut, Steering::Reschedule { resume_at: Timestamp::UNIX_EPOCH }] {
        let mut run = asked(json!({ "timeout": "7d", "onTimeout": "approve", "quorum": 2 }));
        assert_eq!(steer_as(&mut run, "anna", &["approve"], steering.clone()).code(), "QUORUM_NOT_REACHED");
        run.approve("anna", "ok");
        assert_eq!(steer_as(&mut run, "anna", &["approve"], steering.clone()).code(), "QUORUM_NOT_REACHED");
        steer_as(&mut run, "ben", &["approve"], steering).reply();
        let output = run.output_of("ok");
        assert_eq!((&output["decision"], &output["timeout"]), (&json!("approve"), &json!(true)));
        assert_eq!(run.count("APPROVAL_DECIDED"), 2);
        assert_eq!(deciders(&run), ["anna", "ben"]);
    }
    let mut run = asked(json!({ "quorum": 2 }));
    steer_as(&mut run, "ben", &["approve"], Steering::Cancel).reply();
    assert_eq!((run.status(), run.error()), ("FAILED".to_owned(), "WAIT_CANCELLED".to_owned()));
    assert_eq!(deciders(&run), ["ben"]);
}

#[test]
fn an_escalation_is_not_brought_nearer_by_who_may_not_decide() {
    let fields = json!({ "approvers": ["anna"], "escalateAfter": "2h", "escalateTo": ["zoe"] });
    let mut run = asked(fields);
    let number = run.wait("ok") + 1;
    let soon = Steering::Reschedule { resume_at: run.now };
    for steering in [Steering::Complete { payload: None }, Steering::TimeOut, soon] {
        let steer = Command::Steer(Steer::new(number, steering));
        assert_eq!(run.send_as("zoe", steer).code(), "MAY_NOT_DECIDE");
    }
    assert_eq!(run.count("APPROVAL_ESCALATED"), 0);
    let steer = Steer { number, steering: Steering::TimeOut, scopes: vec!["approve".into()] };
    run.send_as("anna", Command::Steer(steer)).reply();
    assert_eq!((run.count("APPROVAL_ESCALATED"), run.step("ok")), (1, "WAITING".to_owned()));
}

#[test]
fn a_link_for_anyone_is_told_from_somebody_by_a_flag_and_not_by_a_name() {
    let vote = |number, for_anyone| {
        let link = Some(ByLink { made_by: Actor::new("admin"), for_anyone });
        Command::Vote(Vote { link, ..Vote::new(number, Decision::Approve) })
    };
    let mut run = asked(json!({ "allowSelfApproval": false }));
    let number = run.wait("ok");
    for name in ["link", "", "ann"] {
        assert_eq!(run.send_as(name, vote(number, true)).code(), "SELF_APPROVAL");
    }
    run.send_as("ann", vote(number, false)).reply();
    let votes = &run.output_of("ok")["votes"];
    assert_eq!(
        *votes,
        json!([{ "by": "ann", "decision": "approve", "link": { "madeBy": "admin", "forAnyone": false } }])
    );
}

fn deciders(run: &Scenario) -> Vec<String> {
    let decided = |record: &&Record| matches!(record.change, Change::ApprovalDecided { .. });
    run.history().iter().filter(decided).map(|record| record.by.to_string()).collect()
}
