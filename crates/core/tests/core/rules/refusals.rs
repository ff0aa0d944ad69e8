//! R8 Every refusal has its own code and says the current state.

use std::collections::BTreeSet;

use abide_core::apply::BadHistory;
use abide_core::command::{Command, DeliverEvent, Event, ResumeTarget, Steering, TaskCompleted, Via, Vote};
use abide_core::id::{EventUid, RunId, StepAddress, WaitpointId, WorkspaceId};
use abide_core::json::Json;
use abide_core::moving::{Misfit, MisfitCode};
use abide_core::refusal::{Refusal, Resolved};
use abide_core::run::Timer;
use abide_core::status::{RunStatus, StepStatus, WaitStatus};
use abide_core::waitpoint::{Actor, Decision, Kind};
use serde_json::json;

use crate::scenario::*;

fn resolved(status: WaitStatus) -> Refusal {
    let (waitpoint, by, at) = (RunId(1).waitpoint(1), Actor::new("anna"), instant(MORNING));
    Refusal::AlreadyResolved(Box::new(Resolved { waitpoint, status, by, at, payload: None }))
}

/// One of each. A new kind of refusal breaks the build here until it is listed below.
fn listed(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::LimitFull { .. }
        | Refusal::UnknownStep { .. }
        | Refusal::UnknownWaitpoint(_)
        | Refusal::AlreadyResolved(_)
        | Refusal::Expired { .. }
        | Refusal::NotDue { .. }
        | Refusal::NoSuchTimer
        | Refusal::WrongKind { .. }
        | Refusal::ReadOnly(_)
        | Refusal::NoMatch(_)
        | Refusal::NotAnApprover { .. }
        | Refusal::SelfApproval { .. }
        | Refusal::MayNotDecide { .. }
        | Refusal::QuorumNotReached { .. }
        | Refusal::ContentChanged { .. }
        | Refusal::AlreadyDecided { .. }
        | Refusal::RunEnded(_)
        | Refusal::NotFailed(_)
        | Refusal::NotWaiting(_)
        | Refusal::DoesNotFit(_)
        | Refusal::WrongStep { .. }
        | Refusal::StaleLease { .. }
        | Refusal::AlreadyTaken { .. }
        | Refusal::PinnedToBuild { .. }
        | Refusal::JournalConflict { .. }
        | Refusal::JournalMismatch { .. }
        | Refusal::Malformed { .. }
        | Refusal::LimitExceeded { .. }
        | Refusal::InvalidInput(_)
        | Refusal::KeyReused(_)
        | Refusal::Illegal(_) => true,
    }
}

fn one_of_each() -> Vec<Refusal> {
    let waitpoint: WaitpointId = RunId(1).waitpoint(1);
    let (at, by, step) = (instant(MORNING), Actor::new("anna"), "a".to_owned());
    vec![
        Refusal::LimitFull { limit: "crm acme".into(), room_in: None },
        Refusal::UnknownStep { name: step.clone(), nearest: None },
        Refusal::UnknownWaitpoint(waitpoint),
        resolved(WaitStatus::Completed),
        resolved(WaitStatus::TimedOut),
        resolved(WaitStatus::Cancelled),
        Refusal::Expired { waitpoint, at },
        Refusal::NotDue { waitpoint, at },
        Refusal::NoSuchTimer,
        Refusal::WrongKind { waitpoint, kind: Kind::Delay, verb: "decided" },
        Refusal::ReadOnly(waitpoint),
        Refusal::NoMatch(waitpoint),
        Refusal::NotAnApprover { by: by.clone(), approvers: vec!["ben".to_owned()] },
        Refusal::SelfApproval { by: by.clone(), started_by: by.clone() },
        Refusal::MayNotDecide { waitpoint },
        Refusal::QuorumNotReached { waitpoint, by: by.clone(), approvals: 1, quorum: 2 },
        Refusal::ContentChanged { waitpoint, digest: "sha256:".to_owned() },
        Refusal::AlreadyDecided { by },
        Refusal::RunEnded(RunStatus::Cancelled),
        Refusal::NotFailed(RunStatus::Running),
        Refusal::NotWaiting(RunStatus::Running),
        Refusal::DoesNotFit(vec![Misfit::of_run(MisfitCode::OrderChanged, "it is a graph")]),
        Refusal::WrongStep { step: step.clone(), status: StepStatus::Skipped, verb: "resumed" },
        Refusal::StaleLease { step: step.clone(), given: 1, current: 2 },
        Refusal::AlreadyTaken { step: step.clone(), lease_epoch: 1, worker: "w".to_owned() },
        Refusal::PinnedToBuild { step, build: "b1".to_owned() },
        Refusal::JournalConflict { name: "n".to_owned() },
        Refusal::JournalMismatch {
            name: "n".to_owned(),
            recorded: "DELAY".to_owned(),
            asked: "APPROVAL".to_owned(),
        },
        Refusal::Malformed { pointer: "/name", message: "bad".to_owned() },
        Refusal::LimitExceeded { what: "it", limit: 1, actual: 2 },
        Refusal::InvalidInput(vec![("/a".to_owned(), "bad".to_owned())]),
        Refusal::KeyReused("k".to_owned()),
        Refusal::Illegal(BadHistory::NotCreated),
    ]
}

#[test]
fn r08_every_refusal_has_a_code_of_its_own_in_capitals() {
    let refusals = one_of_each();
    assert!(refusals.iter().all(listed));
    let codes: BTreeSet<&str> = refusals.iter().map(Refusal::code).collect();
    assert_eq!(codes.len(), refusals.len(), "{codes:?}");
    assert!(
        codes.iter().all(|code| code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')),
        "{codes:?}"
    );
}

#[test]
fn r08_every_refusal_that_depends_on_a_state_names_it() {
    let says = |refusal: &Refusal, words: &str| refusal.to_string().contains(words);
    assert!(says(&resolved(WaitStatus::Cancelled), "is already CANCELLED, by anna"));
    assert!(says(&Refusal::RunEnded(RunStatus::Completed), "COMPLETED"));
    assert!(says(&Refusal::NotFailed(RunStatus::Waiting), "WAITING"));
    let (step, status, verb) = ("a".to_owned(), StepStatus::Waiting, "reported on");
    assert!(says(
        &Refusal::WrongStep { step, status, verb },
        "step `a` is WAITING; it cannot be reported on"
    ));
}

#[test]
fn r08_what_is_unknown_is_told_from_what_is_over() {
    let mut run = start(json!([webhook("w")]));
    let unknown = run.resume(ResumeTarget::Waitpoint(9), json!(1), Via::Write);
    assert_eq!(unknown.code(), "UNKNOWN_WAITPOINT");
    assert_eq!(run.call_step("x", json!(1)).code(), "UNKNOWN_STEP");
    run.steer("w", Steering::Cancel);
    assert_eq!(run.call("w", json!(1)).code(), "WAITPOINT_CANCELLED");
}

#[test]
fn r08_a_command_for_a_wait_of_another_kind_is_told_the_kind() {
    let mut run = start(json!([sleep("nap", "1d")]));
    let number = run.wait("nap");
    let vote = Vote::new(number, Decision::Approve);
    let event = Event {
        id: EventUid(1),
        workspace: WorkspaceId::DEFAULT,
        event_id: "paid".into(),
        data: Json::null(),
        received_at: instant(MORNING),
        run: None,
    };
    assert_eq!(run.call("nap", json!(1)).code(), "WRONG_WAITPOINT_KIND");
    assert_eq!(run.child_completes("nap", json!(1)).code(), "WRONG_WAITPOINT_KIND");
    assert_eq!(
        run.send(Command::DeliverEvent(DeliverEvent { number, event })).code(),
        "WRONG_WAITPOINT_KIND"
    );
    let refusal = run.send(Command::Vote(vote)).refused();
    assert!(refusal.to_string().ends_with("is a DELAY; it cannot be decided"), "{refusal}");
}

#[test]
fn r08_an_event_that_does_not_match_is_told_so() {
    let mut run = start(json!([event("e", "paid").also(json!({ "match": "event.n > 5" }))]));
    assert_eq!(run.deliver("e", "paid", json!({ "n": 5 }), instant(MORNING)).code(), "EVENT_DOES_NOT_MATCH");
    assert_eq!(run.deliver("e", "other", json!({ "n": 6 }), instant(MORNING)).code(), "EVENT_DOES_NOT_MATCH");
}

#[test]
fn r08_a_timer_that_is_not_set_is_told_so() {
    let mut run = start(json!([signal("s", "go").after(&[]), task("a").after(&[])]));
    assert_eq!(run.fire_wait("s").code(), "NO_SUCH_TIMER");
    assert_eq!(run.fire(Timer::Run).code(), "NO_SUCH_TIMER");
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    assert_eq!(run.fire(Timer::Attempt { at, lease_epoch }).code(), "NO_SUCH_TIMER");
}

#[test]
fn r08_a_report_on_a_step_that_does_not_exist_is_told_so() {
    let mut run = start(json!([task("a")]));
    let report = |at| TaskCompleted { at, lease_epoch: 1, output: Json::null(), state_updates: None };
    assert_eq!(run.send(Command::TaskCompleted(report(StepAddress::step(9)))).code(), "UNKNOWN_STEP");
    assert_eq!(run.send(Command::TaskCompleted(report(StepAddress::item(0, 3)))).code(), "WRONG_STEP_STATUS");
}

#[test]
fn r08_only_a_failed_run_can_be_retried_and_the_refusal_says_what_it_is() {
    let mut run = start(json!([task("a")]));
    let refusal = run.retry().refused();
    assert_eq!((refusal.code(), refusal.to_string().contains("RUNNING")), ("RUN_NOT_FAILED", true));
    run.complete("a", json!(1));
    assert!(run.retry().refused().to_string().contains("COMPLETED"));
}

#[test]
fn r08_an_ended_run_refuses_everything_and_says_how_it_ended() {
    let ends: [fn(&mut Scenario); 2] = [|run| drop(run.cancel()), |run| drop(run.complete("a", json!(1)))];
    for (end, status) in ends.into_iter().zip(["CANCELLED", "COMPLETED"]) {
        let mut run = start(json!([task("a")]));
        end(&mut run);
        let refusals = [
            run.signal("go", json!(1)).refused(),
            run.pause().refused(),
            run.unpause().refused(),
            run.cancel().refused(),
            run.complete_epoch("a", 1, json!(1)).refused(),
            run.fire(Timer::Run).refused(),
            run.call_step("a", json!(1)).refused(),
        ];
        for refusal in refusals {
            assert_eq!((refusal.code(), refusal.to_string()), ("RUN_ENDED", format!("the run is {status}")));
        }
    }
}

#[test]
fn r08_malformed_requests_say_where_and_why() {
    let mut run = start(json!([task("a")]));
    let refusals = [
        (run.signal("", json!(1)).refused(), "/signalType: must have 1 to 200 characters"),
        (run.suspend("a", Vec::new()).refused(), "/waits: at least one wait is needed"),
        (run.create_waitpoint("a", "").refused(), "/name: must have 1 to 200 characters"),
    ];
    for (refusal, message) in refusals {
        assert_eq!((refusal.code(), refusal.to_string().as_str()), ("MALFORMED", message));
    }
}

#[test]
fn r08_input_that_breaks_the_schema_is_refused_with_every_place() {
    let schema = json!({
        "type": "object",
        "properties": {
            "to": { "type": "object", "properties": { "zip": { "type": "string" } } },
            "n": { "type": "integer" },
        },
    });
    let document = json!({ "inputSchema": schema, "steps": [task("a")] });
    let refusal = plan(document).input(json!({ "to": { "zip": 1 }, "n": "x" })).refused();
    let Refusal::InvalidInput(errors) = &refusal else { panic!("it is the input: {refusal}") };
    let places: BTreeSet<&str> = errors.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!((refusal.code(), places), ("INVALID_INPUT", BTreeSet::from(["/n", "/to/zip"])));
}
