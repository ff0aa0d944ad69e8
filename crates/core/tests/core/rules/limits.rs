//! R16 Everything has a limit, and says so when it is hit: what, how much, and how much is allowed.

use abide_core::command::{Command, Event, TaskFailed, TaskHeartbeat, Vote, WaitFor};
use abide_core::definition::Definition;
use abide_core::history::{JournalResult, Parent};
use abide_core::id::{EventUid, RunId, WorkspaceId};
use abide_core::limits;
use abide_core::refusal::Refusal;
use abide_core::time::Millis;
use abide_core::waitpoint::Decision;
use serde_json::{Value, json};

use crate::scenario::*;

/// Text whose JSON is just over a megabyte.
fn too_large() -> Value {
    json!("x".repeat(limits::PAYLOAD_BYTES - 1))
}

fn largest() -> Value {
    json!("x".repeat(limits::PAYLOAD_BYTES - 2))
}

fn says(refusal: Refusal, what: &str, limit: usize) {
    let Refusal::LimitExceeded { what: hit, limit: of, actual } = refusal else {
        panic!("not a limit: {refusal}");
    };
    assert_eq!((hit, of), (what, limit as u64));
    assert!(actual > of);
}

#[test]
fn r16_the_input() {
    let steps = || plan(json!([task("a")]));
    says(steps().input(too_large()).refused(), "the input's size in bytes", limits::PAYLOAD_BYTES);
    assert_eq!(steps().input(largest()).start().status(), "RUNNING");
}

#[test]
fn r16_tags() {
    let tagged = |tags: &[&str]| plan(json!([task("a")])).tags(tags).refused();
    says(tagged(&["t"; limits::TAGS + 1]), "the number of tags", limits::TAGS);
    says(tagged(&[&"t".repeat(limits::NAME_CHARS + 1)]), "a tag's length", limits::NAME_CHARS);
}

#[test]
fn r16_the_output_of_a_task() {
    let mut run = start(json!([task("a")]));
    says(run.complete("a", too_large()).refused(), "the output's size in bytes", limits::PAYLOAD_BYTES);
    run.complete("a", largest());
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn r16_state_updates_of_one_task() {
    let mut run = start(json!([task("a")]));
    let refusal = run.update("a", json!({ "k": too_large() })).refused();
    says(refusal, "the size of stateUpdates in bytes", limits::PAYLOAD_BYTES);
}

#[test]
fn r16_the_whole_state() {
    let steps: Vec<Value> = (0..5).map(|n| task(&format!("t{n}"))).collect();
    let mut run = start(json!(steps));
    let most_of_a_megabyte = json!("x".repeat(limits::PAYLOAD_BYTES - 100));
    for n in 0..4 {
        run.update(&format!("t{n}"), json!({ format!("k{n}"): most_of_a_megabyte }));
    }
    let refusal = run.update("t4", json!({ "k4": most_of_a_megabyte })).refused();
    assert!(refusal.to_string().contains(&limits::STATE_BYTES.to_string()), "{refusal}");
    run.update("t4", json!({ "k4": 1 }));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn r16_a_model_s_answer_that_does_not_fit_into_the_state_fails_its_step() {
    let mut steps: Vec<Value> = (0..4).map(|n| task(&format!("t{n}"))).collect();
    steps.push(llm("ask"));
    let mut run = start(json!(steps));
    let most_of_a_megabyte = json!("x".repeat(limits::PAYLOAD_BYTES - 100));
    for n in 0..4 {
        run.update(&format!("t{n}"), json!({ format!("k{n}"): most_of_a_megabyte }));
    }
    run.complete("ask", most_of_a_megabyte);
    assert_eq!(run.error(), "STATE_TOO_LARGE");
}

#[test]
fn r16_a_signal_and_its_name() {
    let mut run = start(json!([signal("s", "go")]));
    says(run.signal("go", too_large()).refused(), "the payload's size in bytes", limits::PAYLOAD_BYTES);
    assert_eq!(run.signal(&"s".repeat(limits::NAME_CHARS + 1), json!(1)).code(), "MALFORMED");
    run.signal(&"s".repeat(limits::NAME_CHARS), json!(1));
}

#[test]
fn r16_the_mailbox() {
    let mut run = start(json!([task("a"), signal("s", "go")]));
    for n in 0..limits::MAILBOX {
        run.signal("go", json!({ "n": n }));
    }
    let refusal = run.signal("go", json!({ "n": "one too many" })).refused();
    says(refusal, "the number of signals kept for the run", limits::MAILBOX);
    run.complete("a", json!(1));
    assert_eq!(run.output_of("s"), json!({ "n": 0 }));
}

#[test]
fn r16_a_call_a_checkpoint_and_a_journal_entry() {
    let mut run = start(json!([task("a")]));
    run.create_waitpoint("a", "w");
    says(run.call("a", too_large()).refused(), "the payload's size in bytes", limits::PAYLOAD_BYTES);
    says(run.checkpoint("a", too_large()).refused(), "the checkpoint's size in bytes", limits::PAYLOAD_BYTES);
    let paused = run.pause_task_at("a", "rest", "1h", Some(too_large())).refused();
    says(paused, "the checkpoint's size in bytes", limits::PAYLOAD_BYTES);
    let entry = run.journal("a", &[("n", too_large())]).refused();
    says(entry, "a journal entry's size in bytes", limits::PAYLOAD_BYTES);
}

#[test]
fn r16_the_journal() {
    let mut run = start(json!([task("a")]));
    let entry = |n: usize| JournalResult { name: n.to_string().into(), result: json!(n).into() };
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    let heartbeat = |entries| {
        let (calls, cancels) = (Vec::new(), Vec::new());
        Command::TaskHeartbeat(TaskHeartbeat { at, lease_epoch, checkpoint: None, entries, calls, cancels })
    };
    run.send(heartbeat((0..limits::JOURNAL_ENTRIES).map(entry).collect()));
    let refusal = run.send(heartbeat(vec![entry(limits::JOURNAL_ENTRIES)])).refused();
    says(refusal, "the number of journal entries", limits::JOURNAL_ENTRIES);
}

#[test]
fn r16_the_waitpoints_of_a_run() {
    let mut run = start(json!([task("a")]));
    let waits = (0..=limits::WAITPOINTS).map(|n| for_sleep(&n.to_string(), "1h")).collect();
    says(run.suspend("a", waits).refused(), "the number of the run's waitpoints", limits::WAITPOINTS);
}

#[test]
fn r16_the_length_of_a_wait() {
    let year = limits::WAIT.after(instant(MORNING));
    let beyond = Millis(1).after(year);
    let until =
        |at: jiff::Timestamp| json!({ "name": "w", "type": "wait", "untilTimestamp": at.to_string() });
    assert_eq!(start(json!([until(year)])).status(), "WAITING");
    assert_eq!(start(json!([until(beyond)])).error(), "WAIT_TOO_LONG");
    assert_eq!(plan(json!([task("a")])).run_at(beyond).refused().code(), "MALFORMED");
    let mut run = start(json!([task("a"), sleep("nap", "1h")]));
    assert_eq!(run.suspend("a", vec![wait_for("w", WaitFor::Instant { at: beyond })]).code(), "MALFORMED");
    assert_eq!(run.pause_task("a", "rest", "366d").code(), "MALFORMED");
    let refusal = run.suspend("a", vec![for_sleep("w", "365d 1ms")]).refused();
    assert_eq!(refusal.to_string(), "/waits/durationMs: 365d 1ms is longer than 365d");
    run.complete("a", json!(1));
    assert_eq!(run.reschedule("nap", beyond).code(), "MALFORMED");
}

#[test]
fn r16_a_wait_that_a_template_makes_too_long_fails() {
    let run = plan(json!([sleep("w", "{{ input.length }}")])).input(json!({ "length": "366d" })).start();
    assert_eq!(run.error(), "WAIT_TOO_LONG");
}

#[test]
fn r16_the_items_of_a_map() {
    let steps = || json!([map("each", json!("input.list"), task("t")).also(json!({ "concurrency": 1 }))]);
    let list = |count: usize| json!({ "list": vec![0; count] });
    assert_eq!(plan(steps()).input(list(limits::MAP_ITEMS)).start().status(), "RUNNING");
    assert_eq!(plan(steps()).input(list(limits::MAP_ITEMS + 1)).start().error(), "TOO_MANY_ITEMS");
}

#[test]
fn r16_runs_that_start_runs() {
    let below = |depth| Parent { waitpoint: None, run_id: RunId(1), depth, root: None };
    let deep = |depth| plan(json!([child("c")])).child_of(below(depth)).start();
    assert_eq!(deep(limits::CHILD_DEPTH - 1).status(), "WAITING");
    assert_eq!(
        (deep(limits::CHILD_DEPTH).error(), deep(limits::CHILD_DEPTH).children().len()),
        ("TOO_DEEP".to_owned(), 0)
    );
}

#[test]
fn r16_approvers_comments_and_edited_content() {
    let mut run = start(json!([task("write"), approval("ok")]));
    let approvers = (0..=limits::APPROVERS).map(|n| n.to_string().into()).collect();
    let content = json!(1).into();
    let ask = WaitFor::Approval {
        prompt: None,
        content,
        content_schema: None,
        approvers,
        quorum: 1,
        timeout: None,
    };
    says(
        run.suspend("write", vec![wait_for("ok", ask)]).refused(),
        "the number of approvers",
        limits::APPROVERS,
    );
    run.update("write", json!({ "draft": "text" }));
    says(run.edit("anna", "ok", too_large()).refused(), "the content's size in bytes", limits::PAYLOAD_BYTES);
    let comment = Some("c".repeat(limits::DESCRIPTION_CHARS + 1));
    let vote = Vote { comment, ..Vote::new(1, Decision::Approve) };
    says(run.send(Command::Vote(vote)).refused(), "the comment's length", limits::DESCRIPTION_CHARS);
}

#[test]
fn r16_the_reason_of_a_cancellation_and_the_words_of_a_failure() {
    let mut run = start(json!([task("a")]));
    let reason = Some("r".repeat(limits::DESCRIPTION_CHARS + 1));
    says(run.send(Command::Cancel { reason }).refused(), "the reason's length", limits::DESCRIPTION_CHARS);
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    let failed = |message: String, code: String| {
        let code = Some(code.into());
        let (retryable, retry_after, detail) = (true, None, None);
        Command::TaskFailed(TaskFailed {
            at,
            lease_epoch,
            message,
            code,
            retryable,
            retry_after,
            detail,
            mismatch: None,
        })
    };
    let long = "m".repeat(limits::PAYLOAD_BYTES + 1);
    says(run.send(failed(long, "C".into())).refused(), "the message's size in bytes", limits::PAYLOAD_BYTES);
    let code = "C".repeat(limits::NAME_CHARS + 1);
    says(run.send(failed("m".into(), code)).refused(), "the code's length", limits::NAME_CHARS);
}

#[test]
fn r16_the_nesting_of_a_document() {
    let nested = (0..limits::NESTING).fold(json!(1), |inner, _| json!([inner]));
    let document = json!({ "name": "deep", "steps": [task("a").also(json!({ "input": nested }))] });
    let rejected = Definition::from_value(document).expect_err("it is too deep");
    assert!(rejected.to_string().contains(&limits::NESTING.to_string()), "{rejected}");
}

#[test]
fn r16_the_steps_of_a_definition() {
    let steps = |count: usize| (0..count).map(|n| task(&format!("t{n}"))).collect::<Vec<_>>();
    assert_eq!(start(json!(steps(limits::STEPS))).status(), "RUNNING");
    let document = json!({ "name": "long", "steps": steps(limits::STEPS + 1) });
    let rejected = Definition::from_value(document).expect_err("it has too many steps");
    assert!(rejected.to_string().contains(&limits::STEPS.to_string()), "{rejected}");
}

#[test]
fn r16_the_name_of_a_worker_and_what_a_task_asks_people() {
    let mut run = start(json!([task("a")]));
    let refusal = run.take("a", &"w".repeat(limits::NAME_CHARS + 1)).refused();
    says(refusal, "the worker's name's length", limits::NAME_CHARS);
    let prompt = Some("p".repeat(limits::PAYLOAD_BYTES + 1));
    let content = json!(1).into();
    let ask = WaitFor::Approval {
        prompt,
        content,
        content_schema: None,
        approvers: Vec::new(),
        quorum: 1,
        timeout: None,
    };
    says(
        run.suspend("a", vec![wait_for("ok", ask)]).refused(),
        "the prompt's size in bytes",
        limits::PAYLOAD_BYTES,
    );
}

#[test]
fn r16_an_event() {
    let event = |event_id: &str, data: Value| Event {
        id: EventUid(1),
        workspace: WorkspaceId::DEFAULT,
        event_id: event_id.into(),
        data: data.into(),
        received_at: instant(MORNING),
        run: None,
    };
    let refusal = event("paid", too_large()).check().expect_err("it is too large");
    says(refusal, "the size of eventData in bytes", limits::PAYLOAD_BYTES);
    let long = "e".repeat(limits::NAME_CHARS + 1);
    assert_eq!(event(&long, json!(1)).check().expect_err("it is too long").code(), "MALFORMED");
    assert_eq!(event("paid", largest()).check(), Ok(()));
}
