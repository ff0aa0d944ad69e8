//! R14 Idempotent doors: same key and same body, same answer; same key, other body, refused.

use std::collections::HashMap;

use abide_core::command::{Command, Reply, ResumeTarget, ResumeWaitpoint, SendSignal, Via, Vote};
use abide_core::id::RunId;
use abide_core::idempotency::{IdempotencyRecord, decide_with_key, digest, replay};
use abide_core::waitpoint::Decision;
use serde_json::{Value, json};

use crate::scenario::*;

/// What a store remembers under each key.
type Memory = HashMap<String, IdempotencyRecord>;

fn ask(run: &mut Scenario, memory: &mut Memory, key: &str, command: Command) -> Answer {
    let context = run.context("caller");
    let mut loaded = run.run().clone();
    let answer = decide_with_key(&mut loaded, command, &context, key, memory.get(key)).map(
        |(outcome, idempotency)| {
            memory.extend(idempotency.map(|idempotency| (key.to_owned(), read_back(&idempotency))));
            outcome
        },
    );
    run.decided(loaded, answer)
}

fn read_back(idempotency: &IdempotencyRecord) -> IdempotencyRecord {
    let stored = serde_json::to_string(idempotency).expect("what is remembered is JSON");
    serde_json::from_str(&stored).expect("it can be read back")
}

fn go(payload: Value) -> Command {
    Command::SendSignal(SendSignal { signal_type: "go".into(), payload: payload.into() })
}

#[test]
fn r14_the_same_signal_under_the_same_key_is_received_once_and_answered_the_same() {
    let (mut run, mut memory) = (start(json!([signal("x", "go"), signal("y", "go")])), Memory::new());
    let first = ask(&mut run, &mut memory, "k", go(json!({ "n": 1 }))).reply();
    run.advance("10d");
    let again = ask(&mut run, &mut memory, "k", go(json!({ "n": 1 }))).reply();
    assert_eq!(first, again);
    assert_eq!((run.count("SIGNAL_RECEIVED"), run.step("y")), (1, "WAITING".to_owned()));
}

#[test]
fn r14_the_same_key_with_another_body_is_refused() {
    let (mut run, mut memory) = (start(json!([signal("x", "go"), signal("y", "go")])), Memory::new());
    ask(&mut run, &mut memory, "k", go(json!({ "n": 1 })));
    assert_eq!(ask(&mut run, &mut memory, "k", go(json!({ "n": 2 }))).code(), "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(run.step("y"), "WAITING");
}

#[test]
fn r14_another_key_is_another_request() {
    let (mut run, mut memory) = (start(json!([signal("x", "go"), signal("y", "go")])), Memory::new());
    ask(&mut run, &mut memory, "k1", go(json!({ "n": 1 })));
    ask(&mut run, &mut memory, "k2", go(json!({ "n": 1 })));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn r14_a_refused_request_is_not_remembered() {
    let (mut run, mut memory) = (start(json!([task("a"), webhook("w")])), Memory::new());
    let call = |number| {
        let (target, payload) = (ResumeTarget::Waitpoint(number), json!({ "body": 1 }).into());
        Command::ResumeWaitpoint(ResumeWaitpoint { target, payload, via: Via::Write })
    };
    assert_eq!(ask(&mut run, &mut memory, "k", call(1)).code(), "UNKNOWN_WAITPOINT");
    run.complete("a", json!(1));
    ask(&mut run, &mut memory, "k", call(1));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn r14_a_resume_repeated_after_the_run_ended_gets_its_first_answer() {
    let (mut run, mut memory) = (start(json!([webhook("w")])), Memory::new());
    let (target, payload) = (ResumeTarget::Waitpoint(1), json!({ "body": 1 }).into());
    let call = Command::ResumeWaitpoint(ResumeWaitpoint { target, payload, via: Via::Write });
    let id = run.run().waitpoint_id(1);
    assert_eq!(ask(&mut run, &mut memory, "k", call.clone()).reply(), Reply::Waitpoint(id));
    assert_eq!(run.status(), "COMPLETED");
    assert_eq!(ask(&mut run, &mut memory, "k", call).reply(), Reply::Repeated(id));
}

#[test]
fn r14_a_decision_repeated_by_a_nervous_click_counts_once() {
    let (mut run, mut memory) =
        (start(json!([task("write"), approval("ok").also(json!({ "quorum": 2 }))])), Memory::new());
    run.update("write", json!({ "draft": "text" }));
    let vote = Vote::new(1, Decision::Approve);
    let voted = Reply::Voted { approvals: 1, quorum: 2, resolved: false };
    for _ in 0..2 {
        assert_eq!(ask(&mut run, &mut memory, "click", Command::Vote(vote.clone())).reply(), voted);
    }
    assert_eq!(run.count("APPROVAL_DECIDED"), 1);
}

#[test]
fn r14_the_order_of_keys_in_a_body_makes_no_other_body() {
    let one: Value = serde_json::from_str(r#"{"a": 1, "b": {"c": 2, "d": 3}}"#).expect("JSON");
    let two: Value = serde_json::from_str(r#"{ "b": {"d": 3, "c": 2}, "a": 1 }"#).expect("JSON");
    assert_eq!(digest(&one), digest(&two));
    assert_ne!(digest(&one), digest(&json!({ "a": "1", "b": { "c": 2, "d": 3 } })));
}

#[test]
fn r14_a_digest_stays_the_same_from_release_to_release_because_it_is_stored() {
    assert_eq!(digest(&json!({ "a": 1 })), 11_258_580_006_047_770_801);
}

#[test]
fn r14_a_start_under_the_same_key_is_answered_with_the_same_run_and_another_body_is_refused() {
    let body = |input: Value| digest(&json!({ "name": "mailing", "input": input }));
    let started = Reply::Started(RunId(7));
    let (key, reply, at) = ("k".to_owned(), started.clone(), instant(MORNING));
    let idempotency = IdempotencyRecord { key, digest: body(json!(1)), reply, run: None, at };
    assert_eq!(replay("k", body(json!(1)), None), Ok(None));
    assert_eq!(replay("k", body(json!(1)), Some(&read_back(&idempotency))), Ok(Some(started)));
    let refusal = replay("k", body(json!(2)), Some(&idempotency)).expect_err("it is another body");
    assert_eq!(refusal.code(), "IDEMPOTENCY_KEY_REUSED");
}
