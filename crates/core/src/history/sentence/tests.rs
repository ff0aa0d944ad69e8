//! One sentence for every kind of record, and what no sentence holds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::definition::Definition;

const RUN: &str = "run_06f3mzv0d8v8m0000000000000";

fn definition() -> Definition {
    let steps = json!([
        { "type": "task", "name": "desk", "handler": "desk" },
        { "type": "map", "name": "lines", "items": "{{ input.lines }}", "step": { "type": "task", "handler": "line" } },
        { "type": "approval", "name": "review", "contentKey": "order" },
        { "type": "wait_for_event", "name": "parcel", "eventId": "parcel.returned" },
    ]);
    let text = json!({ "name": "refunds", "version": "2", "steps": steps }).to_string();
    Definition::from_text(&text).expect("the definition is right").definition
}

/// A record at noon, by ana unless it says otherwise.
fn record(seq: u64, fields: Value) -> Record {
    let mut value = json!({ "seq": seq, "time": "2026-11-18T12:00:00Z", "by": "ana" });
    for (key, field) in fields.as_object().expect("fields are an object") {
        value[key] = field.clone();
    }
    serde_json::from_value(value).expect("a record")
}

fn told(records: &[Value]) -> Vec<(&'static str, String)> {
    let (definition, mut known) = (definition(), KnownWaits::default());
    let records = (1..).zip(records).map(|(seq, fields)| record(seq, fields.clone()));
    let tell = |record: Record| {
        known.read(&record.change);
        (record.change.name(), sentence(&definition, &|number| known.get(number), &record))
    };
    records.map(tell).collect()
}

/// A waitpoint as a record opens it.
fn wait(number: u32, step: u16, name: &str, kind: &str, more: Value) -> Value {
    let mut value = json!({
        "number": number, "at": { "step": step }, "name": name, "kind": kind, "status": "PENDING",
        "createdAt": "2026-11-18T12:00:00Z",
    });
    for (key, field) in more.as_object().expect("fields are an object") {
        value[key] = field.clone();
    }
    value
}

fn waiting(step: u16, opens: &[Value], wake: &str) -> Value {
    let awaits: Vec<_> = opens.iter().map(|wait| wait["number"].clone()).collect();
    json!({ "type": "STEP_WAITING", "at": { "step": step }, "opens": opens, "awaits": awaits, "wake": wake })
}

fn resolved(number: u32, status: &str, by: &str, more: Value) -> Value {
    let mut value = json!({ "type": "WAIT_RESOLVED", "number": number, "status": status, "by": by });
    for (key, field) in more.as_object().expect("fields are an object") {
        value[key] = field.clone();
    }
    value
}

const UNTIL: &str = "2026-11-20T14:00:00.5Z";

#[test]
fn every_kind_of_record_has_its_sentence() {
    let at = json!({ "step": 0 });
    let failure = json!({ "code": "TASK_FAILED", "message": "fetch\nfailed", "detail": { "call": "charge", "attempt": 2 } });
    let review = json!({ "resumeAt": UNTIL, "listensFor": { "approval": { "content": {}, "approvers": ["ana", "ben"], "quorum": 1 } } });
    let parcel = json!({ "listensFor": { "event": { "eventId": "parcel.returned", "since": UNTIL } } });
    let records = [
        (
            json!({ "type": "WORKFLOW_CREATED", "runId": RUN, "definition": { "name": "refunds", "version": "2" }, "input": {} }),
            "`refunds` version 2 is started by ana",
        ),
        (
            json!({ "type": "WORKFLOW_STARTED", "deadline": UNTIL }),
            "the run begins, and has time until 2026-11-20T14:00:00Z",
        ),
        (json!({ "type": "STEP_STARTED", "at": at }), "`desk` begins"),
        (
            json!({ "type": "TASK_STARTED", "at": at, "leaseEpoch": 1, "worker": "w-1", "build": "b7" }),
            "w-1 took `desk`, with build b7",
        ),
        (
            json!({ "type": "JOURNAL_RECORDED", "at": at, "entries": [{ "name": "order", "result": { "id": 7 } }] }),
            "`desk › order` is recorded",
        ),
        (json!({ "type": "CHECKPOINT_SAVED", "at": at, "checkpoint": 1 }), "`desk` saved a checkpoint"),
        (
            json!({ "type": "TASK_LOGGED", "at": at, "lines": [{ "level": "info", "message": "hello" }, { "level": "info", "message": "again" }] }),
            "`desk` logged: hello (and 1 more line)",
        ),
        (
            json!({ "type": "EVENT_SENT", "at": at, "leaseEpoch": 1, "event": "evt_06f3mzv0d8v8m0000000000000", "eventId": "desk.opened" }),
            "`desk` sent event `desk.opened` (evt_06f3mzv0d8v8m0000000000000)",
        ),
        (
            json!({ "type": "LLM_CALL_COMPLETED", "at": at, "call": { "entry": "call-1", "model": "m-1", "inputTokens": 20, "outputTokens": 5 } }),
            "`desk` called m-1: 20 tokens in, 5 out",
        ),
        (
            waiting(0, &[wait(1, 0, "cooling-off", "DELAY", json!({ "resumeAt": UNTIL }))], "all"),
            "`desk › cooling-off` sleeps until 2026-11-20T14:00:00Z",
        ),
        (
            json!({ "type": "WORKFLOW_PAUSED", "reason": "APPROVAL", "resumeAt": UNTIL }),
            "the run waits for an approval, until 2026-11-20T14:00:00Z at the latest",
        ),
        (
            json!({ "type": "WAIT_RESCHEDULED", "number": 1, "resumeAt": UNTIL }),
            "ana moved `desk › cooling-off` to 2026-11-20T14:00:00Z",
        ),
        (
            json!({ "type": "START_COLLECTED", "number": 1, "input": {}, "resumeAt": UNTIL }),
            "ana started the run once more; it begins at 2026-11-20T14:00:00Z",
        ),
        (resolved(1, "COMPLETED", "timer", json!({})), "the sleep of `desk › cooling-off` is over"),
        (json!({ "type": "WORKFLOW_RESUMED" }), "the run goes on"),
        (json!({ "type": "STEP_RESUMED", "at": at }), "`desk` goes on"),
        (
            json!({ "type": "TASK_PAUSED", "at": at, "opens": wait(2, 0, "rest", "PAUSE", json!({ "resumeAt": UNTIL })) }),
            "`desk › rest` is paused by its worker until 2026-11-20T14:00:00Z",
        ),
        (
            json!({ "type": "TASK_REDELIVERED", "at": at, "counted": true }),
            "the worker of `desk` was lost; the task is handed out again",
        ),
        (
            json!({ "type": "STEP_RETRYING", "at": at, "attempt": 2, "error": failure, "opens": wait(3, 0, "$retry-2", "RETRY", json!({ "resumeAt": UNTIL })) }),
            "`desk › charge` failed (attempt 2): fetch failed; tried again at 2026-11-20T14:00:00Z",
        ),
        (json!({ "type": "STEP_COMPLETED", "at": at, "waitpoint": 1 }), "`desk` completed after its wait"),
        (json!({ "type": "MAP_STARTED", "at": { "step": 1 }, "items": [1] }), "`lines` has 1 item"),
        (
            json!({ "type": "STEP_FAILED", "at": { "step": 1, "item": 0 }, "error": failure }),
            "`lines[0] › charge` failed for good: fetch failed",
        ),
        (json!({ "type": "STEP_SKIPPED", "at": { "step": 1 } }), "`lines` was skipped"),
        (json!({ "type": "STEP_CANCELLED", "at": { "step": 1 } }), "`lines` was cancelled"),
        (
            json!({ "type": "WAIT_CREATED", "opens": wait(4, 2, "$wait", "APPROVAL", review) }),
            "`review` waits for a decision, until 2026-11-20T14:00:00Z",
        ),
        (
            json!({ "type": "APPROVAL_REQUESTED", "number": 4 }),
            "`review` asks ana and ben, until 2026-11-20T14:00:00Z",
        ),
        (json!({ "type": "APPROVAL_REMINDED", "number": 4 }), "ana and ben were reminded of `review`"),
        (
            json!({ "type": "APPROVAL_ESCALATED", "number": 4, "approvers": ["carl"] }),
            "carl may decide about `review`, too",
        ),
        (
            json!({ "type": "APPROVAL_DECIDED", "number": 4, "decision": "reject", "comment": "too dear" }),
            "ana rejected `review`: too dear",
        ),
        (
            waiting(3, &[wait(5, 3, "$wait", "EVENT", parcel)], "all"),
            "`parcel` waits for event `parcel.returned`",
        ),
        (
            json!({ "type": "EVENT_MATCHED", "number": 5, "event": "evt_06f3mzv0d8v8m0000000000000", "receivedAt": UNTIL }),
            "event `parcel.returned` (evt_06f3mzv0d8v8m0000000000000, received 2026-11-20T14:00:00Z) is for `parcel`",
        ),
        (
            resolved(5, "COMPLETED", "event", json!({ "payload": {} })),
            "`parcel` was ended by event `parcel.returned`",
        ),
        (
            json!({ "type": "SIGNAL_RECEIVED", "id": 1, "signalType": "stop", "payload": {} }),
            "signal `stop` came from ana",
        ),
        (
            json!({ "type": "WORKFLOW_PAUSE_REQUESTED" }),
            "ana asked for a pause: what runs runs to its end, and nothing new begins",
        ),
        (json!({ "type": "STEP_HELD_BACK", "at": at }), "`desk` is held back by a pause"),
        (json!({ "type": "WORKFLOW_PAUSED_BY_OPERATOR" }), "the run is paused, and holds work back"),
        (
            json!({ "type": "CAPACITY_TAKEN", "rooms": [{ "limit": crate::id::LimitId(7), "holds": "run" }] }),
            "the run has room under its limit",
        ),
        (
            json!({ "type": "CAPACITY_QUEUED", "number": 99, "line": 1 }),
            "wait 99 queues for room under another of its limits",
        ),
        (json!({ "type": "WORKFLOW_UNPAUSED" }), "ana lifted the pause"),
        (json!({ "type": "WORKFLOW_DEADLINE_PASSED" }), "the time of the run is over"),
        (
            json!({ "type": "WORKFLOW_FAILED", "error": { "code": "DECLINED", "message": "no money", "step": "desk" } }),
            "the run failed in `desk`: no money [DECLINED]",
        ),
        (json!({ "type": "WORKFLOW_RETRIED" }), "ana retried the run: the steps that failed begin again"),
        (
            json!({ "type": "WORKFLOW_MOVED", "from": { "name": "refunds", "version": "1" }, "to": { "name": "refunds", "version": "2" }, "steps": [] }),
            "ana moved the run from version 1 to version 2",
        ),
        (
            json!({ "type": "TASK_PINNED", "at": at, "build": "b7" }),
            "`desk` is for workers of build b7 alone",
        ),
        (json!({ "type": "TASK_UNPINNED", "at": at }), "ana lets workers of any build have `desk`"),
        (
            json!({ "type": "WORKFLOW_CANCELLED", "reason": "ordered twice" }),
            "ana cancelled the run: ordered twice",
        ),
        (json!({ "type": "WORKFLOW_COMPLETED", "output": {} }), "the run completed"),
    ];
    let fields: Vec<Value> = records.iter().map(|(fields, _)| fields.clone()).collect();
    let found = told(&fields);
    for ((_, expected), (name, sentence)) in records.iter().zip(&found) {
        assert_eq!(sentence, expected, "{name}");
    }
    let names: BTreeSet<String> = found.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names, every_kind());
}

/// The names that a record's `type` may have.
fn every_kind() -> BTreeSet<String> {
    let unknown =
        serde_json::from_value::<Change>(json!({ "type": "?" })).expect_err("no record is called so");
    let names = unknown.to_string();
    names.split('`').skip(1).step_by(2).filter(|name| *name != "?").map(str::to_owned).collect()
}

#[test]
fn durable_calls_are_told_by_name_whatever_they_wait_for() {
    let child = json!({ "listensFor": { "child": { "runId": RUN } } });
    let charge = json!({
        "resumeAt": UNTIL,
        "listensFor": { "attempt": {
            "call": "charge", "attempt": 2, "maxAttempts": 8, "error": { "code": "TASK_FAILED", "message": "fetch failed" },
        } },
    });
    let code = json!({ "listensFor": { "code": {
        "handler": "desk", "builds": ["b1"], "recorded": "`nap`, a sleep", "found": "`fraud`",
    } } });
    let events = |event: &str| json!({ "resumeAt": UNTIL, "listensFor": { "event": { "eventId": event, "since": UNTIL } } });
    let records = [
        (
            waiting(0, &[wait(1, 0, "charge#retry-2", "RETRY", charge)], "all"),
            "`desk › charge` failed (attempt 2 of 8): fetch failed; tried again at 2026-11-20T14:00:00Z",
        ),
        (
            resolved(1, "COMPLETED", "timer", json!({})),
            "the back-off after attempt 2 of `desk › charge` is over",
        ),
        (
            waiting(
                0,
                &[
                    wait(2, 0, "back", "EVENT", events("parcel")),
                    wait(3, 0, "withdrawn", "EVENT", events("stop")),
                ],
                "any",
            ),
            "`desk › back` waits for event `parcel`, until 2026-11-20T14:00:00Z; `desk › withdrawn` waits for event `stop`, until 2026-11-20T14:00:00Z, whichever comes first",
        ),
        (
            resolved(2, "TIMED_OUT", "timer", json!({})),
            "the time of `desk › back` is over: event `parcel` did not come",
        ),
        (
            resolved(3, "CANCELLED", "timer", json!({})),
            "`desk › withdrawn` is cancelled: nobody waits for event `stop` any more",
        ),
        (
            waiting(0, &[wait(4, 0, "restock", "CHILD", child)], "all"),
            "`desk › restock` waits for child run run_06f3mzv0d8v8m0000000000000",
        ),
        (
            resolved(4, "COMPLETED", "engine", json!({ "payload": { "status": "COMPLETED", "output": 1 } })),
            "`desk › restock` was ended by child run run_06f3mzv0d8v8m0000000000000, which completed",
        ),
        (
            waiting(0, &[wait(5, 0, "$code-5", "CODE", code)], "all"),
            "`desk` waits for other code of `desk`: the journal holds `nap`, a sleep, and the code comes to `fraud`",
        ),
        (
            resolved(5, "COMPLETED", "worker", json!({ "payload": { "build": "b2" } })),
            "`desk` goes to a worker with build b2",
        ),
        (
            json!({ "type": "JOURNAL_RECORDED", "at": { "step": 0 }, "entries": [{ "name": "!charge", "result": { "message": "no money" } }] }),
            "`desk › charge` failed for good: no money",
        ),
        (
            json!({ "type": "STEP_WAITING", "at": { "step": 0 }, "awaits": [2], "wake": "all" }),
            "`desk` waits for `desk › back`",
        ),
    ];
    let fields: Vec<Value> = records.iter().map(|(fields, _)| fields.clone()).collect();
    let found: Vec<String> = told(&fields).into_iter().map(|(_, sentence)| sentence).collect();
    let expected: Vec<&str> = records.iter().map(|(_, expected)| *expected).collect();
    assert_eq!(found, expected);
}

#[test]
fn no_sentence_is_long_or_holds_a_secret() {
    let message = format!("GET https://x/?token=abcd1234efgh {}", "é".repeat(5_000));
    let error = json!({ "code": "X", "message": message });
    let many: Vec<String> = (0..200).map(|number| format!("{number:0>200}")).collect();
    let entries: Vec<Value> = many.iter().map(|name| json!({ "name": name, "result": 1 })).collect();
    let approval = json!({ "listensFor": { "approval": { "content": { "card": "4111" }, "approvers": many, "quorum": 3, "prompt": "4111" } } });
    let records = [
        json!({ "type": "WORKFLOW_FAILED", "error": error }),
        json!({ "type": "JOURNAL_RECORDED", "at": { "step": 0 }, "entries": entries }),
        json!({ "type": "WAIT_CREATED", "opens": wait(1, 0, "ask", "APPROVAL", approval) }),
        json!({ "type": "APPROVAL_REQUESTED", "number": 1 }),
        json!({ "type": "APPROVAL_DECIDED", "number": 1, "decision": "approve", "comment": message }),
    ];
    for (name, sentence) in told(&records) {
        assert!(sentence.chars().count() <= limits::SENTENCE_CHARS, "{name}: {sentence}");
        assert!(!sentence.contains("abcd1234") && !sentence.contains("4111"), "{name}: {sentence}");
    }
}

#[test]
fn a_wait_that_is_not_known_is_told_by_its_number() {
    let found = told(&[resolved(7, "TIMED_OUT", "timer", json!({}))]);
    assert_eq!(found[0].1, "wait 7 is timed out");
    let records = [record(1, resolved(7, "TIMED_OUT", "timer", json!({})))];
    assert!(KnownWaits::default().lacks_some_of(&records));
}
