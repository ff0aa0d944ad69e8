//! Durable code in a task: what it did is its journal, and outlives its workers.

use std::collections::BTreeMap;

use abide_core::command::{ChildFinished, ChildOutcome, Command, TaskHeartbeat, WaitFor, WaitSpec};
use abide_core::effect::RoundEffect;
use abide_core::history::WakeOn;
use serde_json::{Value, json};

use crate::scenario::*;

fn names(run: &Scenario, step: &str) -> Vec<String> {
    run.journal_of(step).into_iter().map(|(name, _)| name).collect()
}

fn done(payload: Value) -> Value {
    json!({ "status": "COMPLETED", "payload": payload })
}

#[test]
fn results_survive_waits_lost_workers_failed_attempts_and_retried_runs() {
    let mut run = start(json!([task("a").tries(2)]));
    run.journal("a", &[("charge", json!({ "id": 7 }))]);
    let charged = ("charge".to_owned(), json!({ "id": 7 }));
    run.suspend("a", vec![for_sleep("nap", "1h")]);
    run.live("1h");
    assert_eq!(run.journal_of("a")[0], charged);
    run.lose_worker("a");
    assert_eq!(run.journal_of("a")[0], charged);
    run.fail("a");
    run.live("1m");
    assert_eq!(run.journal_of("a")[0], charged);
    run.fail("a");
    run.retry();
    assert_eq!(run.journal_of("a"), [charged, ("nap".to_owned(), done(json!(null)))]);
}

#[test]
fn entries_come_back_in_the_order_they_were_made() {
    let mut run = start(json!([task("a")]));
    run.journal("a", &[("z", json!(1)), ("m", json!(2))]);
    run.suspend_for("a", vec![for_sleep("b", "1h")], WakeOn::All, &[("k", json!(3))]);
    run.live("1h");
    run.journal("a", &[("a", json!(4))]);
    assert_eq!(names(&run, "a"), ["z", "m", "k", "b", "a"]);
}

#[test]
fn the_same_entry_again_is_fine_and_another_result_is_a_conflict() {
    let mut run = start(json!([task("a")]));
    run.journal("a", &[("charge", json!(1))]);
    run.journal("a", &[("charge", json!(1))]);
    assert_eq!(run.journal_of("a").len(), 1);
    let refusal = run.journal("a", &[("charge", json!(2))]).refused();
    assert_eq!((refusal.code(), refusal.to_string().contains("`charge`")), ("JOURNAL_CONFLICT", true));
    assert_eq!(run.journal("a", &[("x", json!(1)), ("x", json!(2))]).code(), "JOURNAL_CONFLICT");
}

#[test]
fn a_name_is_a_result_or_a_wait_and_never_both() {
    let mut run = start(json!([task("a")]));
    run.journal("a", &[("charge", json!(1))]);
    assert_eq!(run.suspend("a", vec![for_sleep("charge", "1h")]).code(), "JOURNAL_CONFLICT");
    assert_eq!(run.create_waitpoint("a", "charge").code(), "JOURNAL_CONFLICT");
    assert_eq!(run.call_wait("a", "charge", json!(1)).code(), "JOURNAL_CONFLICT");
    run.create_waitpoint("a", "signed");
    assert_eq!(run.journal("a", &[("signed", json!(1))]).code(), "JOURNAL_CONFLICT");
    let both = run.suspend_for("a", vec![for_sleep("n", "1h")], WakeOn::All, &[("n", json!(1))]);
    assert_eq!(both.code(), "JOURNAL_CONFLICT");
}

#[test]
fn a_result_and_its_wait_are_recorded_together_while_the_handler_goes_on() {
    let mut run = start(json!([task("a")]));
    run.record("a", &[("nap", json!(1))], vec![for_sleep("nap until", "1h")]);
    assert_eq!(names(&run, "a"), ["nap", "nap until"]);
    assert_eq!(run.status(), "RUNNING");
    run.record("a", &[("nap", json!(1))], vec![for_sleep("nap until", "2h")]);
    assert_eq!(run.run().waitpoints().len(), 1);
    assert_eq!(run.record("a", &[("nap", json!(2))], vec![for_sleep("x", "1h")]).code(), "JOURNAL_CONFLICT");
    assert_eq!(run.record("a", &[("y", json!(2))], vec![for_sleep("y", "1h")]).code(), "JOURNAL_CONFLICT");
    assert_eq!(run.run().waitpoints().len(), 1);
    run.live("1h");
    assert_eq!(run.journal_of("a")[1], ("nap until".to_owned(), done(json!(null))));
    run.lose_worker("a");
    assert_eq!(names(&run, "a"), ["nap", "nap until"]);
}

#[test]
fn a_wait_that_is_recorded_ahead_takes_what_came_before_it() {
    let mut run = start(json!([task("a")]));
    run.signal("go", json!(1));
    run.record("a", &[], vec![for_signal("reply", "go")]);
    assert_eq!(run.journal_of("a")[0], ("reply".to_owned(), done(json!(1))));
    run.suspend("a", vec![WaitSpec::new("reply", WaitFor::Created)]);
    assert_eq!(run.status(), "RUNNING");
}

#[test]
fn creating_a_waitpoint_again_gives_the_same_one() {
    let mut run = start(json!([task("a")]));
    let first = run.create_waitpoint("a", "signed").reply();
    assert_eq!(run.create_waitpoint("a", "signed").reply(), first);
    run.lose_worker("a");
    assert_eq!(run.create_waitpoint("a", "signed").reply(), first);
    assert_eq!(run.run().waitpoints().len(), 1);
}

#[test]
fn a_wait_that_is_suspended_for_again_keeps_its_instant() {
    let mut run = start(json!([task("a")]));
    run.suspend_for("a", vec![for_sleep("nap", "2h"), for_signal("reply", "go")], WakeOn::Each, &[]);
    run.advance("1h");
    run.signal("go", json!({}));
    run.suspend("a", vec![for_sleep("nap", "2h")]);
    assert_eq!(run.timers()[0].0, instant("2026-03-01T10:00:00Z"));
    assert_eq!(run.run().waitpoints().len(), 2);
}

#[test]
fn all_goes_on_when_every_wait_has_ended() {
    let mut run = start(json!([task("a")]));
    run.suspend_for("a", vec![for_signal("x", "x"), for_signal("y", "y")], WakeOn::All, &[]);
    run.signal("x", json!(1));
    assert_eq!(run.step("a"), "WAITING");
    run.signal("y", json!(2));
    assert_eq!(run.journal_of("a"), [("x".to_owned(), done(json!(1))), ("y".to_owned(), done(json!(2)))]);
}

#[test]
fn any_goes_on_with_the_first_and_cancels_the_others() {
    let mut run = start(json!([task("a")]));
    run.suspend_for("a", vec![for_signal("reply", "go"), for_sleep("too-late", "1h")], WakeOn::Any, &[]);
    run.signal("go", json!(1));
    let lost = json!({ "status": "CANCELLED", "payload": null });
    assert_eq!(run.journal_of("a"), [("reply".to_owned(), done(json!(1))), ("too-late".to_owned(), lost)]);
    assert!(run.timers().is_empty());
}

#[test]
fn any_takes_one_of_two_signals_that_came_before_and_leaves_the_other_in_the_mailbox() {
    let mut run = start(json!([task("a")]));
    run.signal("x", json!(1));
    run.signal("y", json!(2));
    run.suspend_for("a", vec![for_signal("y", "y"), for_signal("x", "x")], WakeOn::Any, &[]);
    assert_eq!(run.step("a"), "RUNNING");
    let left: Vec<&str> = run.run().mailbox().map(|signal| &*signal.signal_type).collect();
    assert_eq!(left, ["x"]);
}

#[test]
fn each_goes_on_with_the_first_and_leaves_the_others_open() {
    let mut run = start(json!([task("a")]));
    let waits = || vec![for_signal("x", "x"), for_signal("y", "y")];
    run.suspend_for("a", waits(), WakeOn::Each, &[]);
    run.signal("x", json!(1));
    assert_eq!((run.step("a"), run.open()), ("RUNNING".to_owned(), vec!["a SIGNAL".to_owned()]));
    run.signal("y", json!(2));
    assert_eq!(run.journal_of("a")[1].1, done(json!(2)));
}

#[test]
fn a_task_that_ends_cancels_the_waits_it_left_open() {
    let mut run = start(json!([task("a"), task("b")]));
    run.create_waitpoint("a", "signed");
    run.complete("a", json!(1));
    assert_eq!((run.wait_status("a"), run.open().len()), ("CANCELLED".to_owned(), 0));
}

/// Trap: a retried handler kept its recorded results and forgot its recorded waits, and ended wrong.
#[test]
fn r19_a_retried_run_keeps_its_waits_as_it_keeps_its_results() {
    let mut run = start(json!([task("a")]));
    run.journal("a", &[("charge", json!(1))]);
    run.suspend("a", vec![for_signal("reply", "go")]);
    run.signal("go", json!("first"));
    run.fail_for_good("a");
    run.retry();
    assert_eq!(
        run.journal_of("a"),
        [("charge".to_owned(), json!(1)), ("reply".to_owned(), done(json!("first")))]
    );
    run.suspend("a", vec![for_signal("reply", "go")]);
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn r19_a_loser_of_any_stays_cancelled_when_its_run_is_retried() {
    let mut run = start(json!([task("a")]));
    run.suspend_for("a", vec![for_signal("reply", "go"), for_sleep("too-late", "1h")], WakeOn::Any, &[]);
    run.signal("go", json!(1));
    run.fail_for_good("a");
    run.retry();
    let lost = json!({ "status": "CANCELLED", "payload": null });
    assert_eq!(run.journal_of("a"), [("reply".to_owned(), done(json!(1))), ("too-late".to_owned(), lost)]);
}

#[test]
fn r19_a_wait_that_a_failure_cut_off_is_opened_again_and_a_sleep_keeps_its_instant() {
    let mut run = start(json!([task("a").after(&[]), task("b").after(&[])]));
    run.journal("a", &[("charge", json!(1))]);
    run.suspend_for("a", vec![for_sleep("nap", "2h"), for_signal("reply", "go")], WakeOn::All, &[]);
    run.fail_for_good("b");
    assert_eq!(run.status(), "FAILED");
    run.advance("1h");
    run.retry();
    assert_eq!(names(&run, "a"), ["charge"]);
    run.suspend_for("a", vec![for_sleep("nap", "2h"), for_signal("reply", "go")], WakeOn::All, &[]);
    assert_eq!(run.timers()[0].0, instant("2026-03-01T10:00:00Z"));
    run.signal("go", json!(7));
    run.live("1h");
    assert_eq!(names(&run, "a"), ["charge", "nap", "reply"]);
}

/// Trap: a wait that changed its kind under the same name was read as the new kind.
#[test]
fn r19_a_recorded_wait_answers_only_the_question_it_was_opened_for() {
    let asks = |name: &str, asked: &str| WaitSpec { asked: Some(asked.into()), ..for_sleep(name, "1h") };
    let mut run = start(json!([task("a")]));
    run.suspend("a", vec![asks("gate", "sleep")]);
    run.live("1h");
    assert_eq!(run.suspend("a", vec![for_signal("gate", "go")]).code(), "JOURNAL_MISMATCH");
    assert_eq!(run.create_waitpoint("a", "gate").code(), "JOURNAL_MISMATCH");
    let refusal = run.suspend("a", vec![asks("gate", "a nap")]).refused();
    assert_eq!(refusal.to_string(), "`gate` was recorded as sleep, and the code asks for a nap");
    run.suspend("a", vec![asks("gate", "sleep")]);
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn a_pause_keeps_the_step_running_and_a_loop_may_use_one_name() {
    let mut run = start(json!([task("a")]));
    run.pause_task("a", "rest", "1h");
    assert_eq!(
        (run.status(), run.step("a"), run.open()),
        ("RUNNING".to_owned(), "RUNNING".to_owned(), vec!["a PAUSE".to_owned()])
    );
    for _ in 2..=9 {
        run.live("1h");
        run.pause_task("a", "rest", "1h");
    }
    run.live("1h");
    let names: Vec<String> = run.journal_of("a").into_iter().map(|(name, _)| name).collect();
    let counted = (2..=9).map(|count| format!("rest#{count}"));
    assert_eq!(names, std::iter::once("rest".to_owned()).chain(counted).collect::<Vec<_>>());
}

#[test]
fn a_pause_does_not_take_the_name_of_another_wait() {
    let mut run = start(json!([task("a")]));
    run.create_waitpoint("a", "signed");
    assert_eq!(run.pause_task("a", "signed", "1h").code(), "ALREADY_RESOLVED");
}

#[test]
fn a_task_can_wait_for_events_calls_instants_and_people() {
    let mut run = start(json!([task("a")]));
    let event = WaitFor::Event {
        event_id: "paid".into(),
        matching: Some("event.n == 1".to_owned()),
        fields: BTreeMap::new(),
        lookback: None,
        timeout: None,
    };
    run.suspend("a", vec![wait_for("event", event)]);
    run.notify("paid", json!({ "n": 1 }));
    run.suspend("a", vec![for_call("call")]);
    run.call("a", json!("yes"));
    run.suspend("a", vec![wait_for("instant", WaitFor::Instant { at: instant("2026-03-02T00:00:00Z") })]);
    run.live("1d");
    let content = json!("text").into();
    let ask = WaitFor::Approval {
        prompt: None,
        content,
        content_schema: None,
        approvers: Vec::new(),
        quorum: 1,
        timeout: None,
    };
    run.suspend("a", vec![wait_for("people", ask)]);
    run.approve("anna", "a");
    assert_eq!(names(&run, "a"), ["event", "call", "instant", "people"]);
    assert_eq!(run.journal_of("a")[3].1["payload"]["decision"], json!("approve"));
}

#[test]
fn a_bad_match_of_a_task_s_own_wait_is_refused_at_once() {
    let mut run = start(json!([task("a")]));
    let event = WaitFor::Event {
        event_id: "paid".into(),
        matching: Some("event.n ==".to_owned()),
        fields: BTreeMap::new(),
        lookback: None,
        timeout: None,
    };
    let refusal = run.suspend("a", vec![wait_for("event", event)]).refused();
    assert_eq!((refusal.code(), refusal.to_string().starts_with("/waits/match: ")), ("MALFORMED", true));
}

fn for_event(matching: Option<&str>, fields: Value) -> WaitFor {
    let fields = fields.as_object().into_iter().flatten();
    let fields = fields.map(|(path, value)| (path.clone(), value.clone().into())).collect();
    let matching = matching.map(str::to_owned);
    WaitFor::Event { event_id: "paid".into(), matching, fields, lookback: None, timeout: None }
}

#[test]
fn a_wait_takes_the_event_whose_fields_are_what_the_code_says() {
    let mut run = start(json!([task("a")]));
    let fields = json!({ "order.id": "7\"", "lines": [1, 2], "tip": null });
    run.suspend("a", vec![wait_for("paid", for_event(Some("event.n > 1 or false"), fields))]);
    for other in [
        json!({ "order": { "id": "7" }, "lines": [1, 2], "n": 2 }),
        json!({ "order": { "id": "7\"" }, "lines": [1], "n": 2 }),
        json!({ "order": { "id": "7\"" }, "lines": [1, 2], "n": 1 }),
        json!({ "order": { "id": "7\"" }, "lines": [1, 2], "n": 2, "tip": 1 }),
        json!("text"),
    ] {
        assert_eq!(run.notify("paid", other), Vec::<String>::new());
    }
    let paid = json!({ "order": { "id": "7\"" }, "lines": [1, 2], "n": 2 });
    assert_eq!(run.notify("paid", paid).len(), 1);
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn a_match_that_names_what_is_not_there_is_refused() {
    let mut run = start(json!([task("a")]));
    let matching = for_event(Some("event.id == orderId"), json!({}));
    let refusal = run.suspend("a", vec![wait_for("paid", matching)]).refused();
    assert_eq!(refusal.code(), "MALFORMED");
    assert!(
        refusal.to_string().contains("`orderId`") && refusal.to_string().contains("`where`"),
        "{refusal}"
    );
    // What is in `state`, or may be undefined in something that is there, is known.
    let mut run = start(json!([task("b"), task("a")]));
    run.update("b", json!({ "orderId": 7 }));
    let matching = for_event(Some("event.id == orderId and not input.absent"), json!({}));
    run.suspend("a", vec![wait_for("paid", matching)]).reply();
    assert_eq!(run.notify("paid", json!({ "id": 7 })).len(), 1);
}

#[test]
fn losers_are_cancelled_with_the_report_that_names_them() {
    let mut run = start(json!([task("a")]));
    let loser = WaitFor::Child {
        definition: "other".into(),
        version: Some("2".into()),
        input: json!({}).into(),
        timeout: None,
        detached: false,
        tags: Vec::new(),
    };
    let waits = vec![for_signal("reply", "go"), wait_for("loser", loser), for_sleep("long", "2d")];
    run.suspend_for("a", waits, WakeOn::Each, &[]);
    let child = run.children()[0].clone();
    assert_eq!(child.version.as_deref(), Some("2"));
    run.signal("go", json!(1));
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    let cancels = vec!["loser".into(), "reply".into(), "never begun".into()];
    let (checkpoint, entries, calls) = (None, Vec::new(), Vec::new());
    run.send(Command::TaskHeartbeat(TaskHeartbeat { at, lease_epoch, checkpoint, entries, calls, cancels }))
        .reply();
    assert_eq!(run.last_names(), ["WAIT_RESOLVED"], "what is over stays as it is");
    assert!(run.last_in_round().contains(&RoundEffect::CancelChild { run_id: child.run_id }));
    assert_eq!(run.open(), ["a DELAY"]);
    let statuses: Vec<Value> = run.journal_of("a").iter().map(|(_, wait)| wait["status"].clone()).collect();
    assert_eq!(statuses, [json!("COMPLETED"), json!("CANCELLED"), json!("PENDING")]);
}

#[test]
fn a_run_that_is_only_started_is_waited_for_until_it_is() {
    let mut run = start(json!([task("a")]));
    let started = WaitFor::Child {
        definition: "other".into(),
        version: None,
        input: json!({}).into(),
        timeout: None,
        detached: true,
        tags: vec!["vip".into()],
    };
    run.suspend("a", vec![wait_for("child", started)]);
    let child = run.children()[0].clone();
    assert_eq!((child.parent.waitpoint, child.tells.map(|wait| wait.number)), (None, Some(1)));
    let outcome = ChildOutcome::Started { run_id: child.run_id };
    run.send(Command::ChildFinished(ChildFinished { number: 1, outcome })).reply();
    assert_eq!(run.step("a"), "RUNNING");
    assert_eq!(run.journal_of("a")[0].1["payload"]["runId"], json!(child.run_id));
    run.cancel();
    assert!(
        !run.last_in_round().contains(&RoundEffect::CancelChild { run_id: child.run_id }),
        "it goes on by itself"
    );
}
