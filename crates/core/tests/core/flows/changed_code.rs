//! R20 Changed code waits, it does not fail: what is recorded stays, and other code goes on from there.

use abide_core::command::Steering;
use abide_core::waitpoint::{Kind, ListensFor};
use serde_json::json;

use crate::scenario::*;

/// A handler that has charged and slept for two days, at a worker with the code `new`, which does not fit.
fn mismatched() -> Scenario {
    let mut run = start(json!([task("a")]));
    run.take_with("a", "old");
    run.journal("a", &[("charge", json!(7))]);
    run.suspend("a", vec![for_sleep("nap", "2d")]);
    run.live("2d");
    run.take_with("a", "new");
    run.mismatch("a");
    run
}

#[test]
fn a_mismatch_opens_a_wait_that_names_both_sides() {
    let run = mismatched();
    assert_eq!((run.status(), run.step("a")), ("WAITING".to_owned(), "WAITING".to_owned()));
    assert_eq!(run.open(), ["a CODE"]);
    let ListensFor::Code(mismatch) = run.waitpoint("a").listens_for.clone() else { panic!() };
    assert_eq!((&*mismatch.handler, &*mismatch.recorded, &*mismatch.found), ("work", "`charge`", "`bill`"));
    assert_eq!(mismatch.builds, ["new".into()]);
    let sentence = "`a` waits for a worker of `work` whose code fits: the journal holds `charge`, and the code comes to `bill`";
    assert_eq!(run.waiting_for(), [sentence]);
}

#[test]
fn other_code_goes_on_with_all_that_was_recorded_and_nobody_comes_in_between() {
    let mut run = mismatched();
    run.bring_code("a", "old");
    assert_eq!((run.status(), run.dispatched()), ("RUNNING".to_owned(), Vec::<String>::new()));
    let names: Vec<String> = run.journal_of("a").into_iter().map(|(name, _)| name).collect();
    assert_eq!((names, run.attempt("a")), (vec!["charge".to_owned(), "nap".to_owned()], 1));
    run.complete("a", json!("done"));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn code_that_was_tried_does_not_end_the_wait() {
    let mut run = mismatched();
    run.bring_code("a", "new");
    assert_eq!(run.open(), ["a CODE"]);
    run.bring_code("a", "newer");
    run.mismatch("a");
    for tried in ["new", "newer"] {
        run.bring_code("a", tried);
        assert_eq!(run.open(), ["a CODE"], "{tried}");
    }
    run.bring_code("a", "old");
    assert_eq!(run.status(), "RUNNING");
}

#[test]
fn code_that_was_tried_is_not_handed_the_task_when_it_is_free_again() {
    let mut run = mismatched();
    run.bring_code("a", "old");
    run.suspend("a", vec![for_sleep("again", "1d")]);
    run.live("1d");
    run.take_with("a", "new");
    assert_eq!(run.open(), ["a CODE"]);
    run.bring_code("a", "old");
    run.lose_worker("a");
    run.take_with("a", "new");
    assert_eq!(run.open(), ["a CODE"]);
}

#[test]
fn an_operator_lets_any_code_try_again_or_fails_the_step() {
    let mut run = mismatched();
    run.steer("a", Steering::Complete { payload: Some(json!("whatever").into()) });
    assert_eq!(run.dispatched(), ["a"]);
    run.take_with("a", "new");
    assert_eq!(run.status(), "RUNNING");
    for steering in [Steering::Cancel, Steering::TimeOut] {
        let mut run = mismatched();
        run.steer("a", steering);
        assert_eq!((run.status(), run.error()), ("FAILED".to_owned(), "CODE_CHANGED".to_owned()));
        run.retry();
        run.take_with("a", "new");
        assert_eq!((run.status(), run.journal_of("a").len()), ("RUNNING".to_owned(), 2));
    }
}

#[test]
fn a_wait_of_the_handler_that_is_open_stays_open_and_what_ends_it_meanwhile_is_kept() {
    let mut run = start(json!([task("a")]));
    run.take_with("a", "old");
    run.suspend_for(
        "a",
        vec![for_sleep("nap", "1d"), for_signal("reply", "go")],
        abide_core::history::WakeOn::Each,
        &[],
    );
    run.live("1d");
    run.take_with("a", "new");
    run.mismatch("a");
    assert_eq!(run.open(), ["a SIGNAL", "a CODE"]);
    run.signal("go", json!("yes"));
    run.bring_code("a", "old");
    let reply = run.journal_of("a").into_iter().find(|(name, _)| name == "reply").unwrap();
    assert_eq!(reply.1, json!({ "status": "COMPLETED", "payload": "yes" }));
}

#[test]
fn a_step_may_choose_to_fail_instead() {
    let chosen = json!({ "onCodeChange": "fail", "steps": [task("a")] });
    for definition in [json!([task("a").also(json!({ "onCodeChange": "fail" }))]), chosen] {
        let mut run = start(definition);
        run.mismatch("a");
        assert_eq!((run.status(), run.attempt("a")), ("FAILED".to_owned(), 1));
    }
}

#[test]
fn a_paused_run_keeps_its_wait_for_other_code_until_it_is_unpaused() {
    let mut run = mismatched();
    run.pause();
    run.bring_code("a", "old");
    assert_eq!(run.open(), ["a CODE"]);
    run.unpause();
    run.bring_code("a", "old");
    assert_eq!(run.status(), "RUNNING");
}

#[test]
fn an_operator_skips_the_step_with_an_output_of_their_choice() {
    let mut run = start(json!([task("a").also(json!({ "saveAs": "paid" })), task("b")]));
    run.take_with("a", "old");
    run.suspend_for(
        "a",
        vec![for_sleep("nap", "1d"), for_signal("reply", "go")],
        abide_core::history::WakeOn::Each,
        &[("charge", json!(7))],
    );
    run.live("1d");
    run.take_with("a", "new");
    run.mismatch("a");
    assert_eq!(run.open(), ["a SIGNAL", "a CODE"]);
    let number = run.wait_of_kind(Kind::Code);
    let reason = Some("paid by hand".to_owned());
    run.steer_wait(number, Steering::Skip { output: json!({ "by": "hand" }).into(), reason });
    assert_eq!((run.step("a"), run.output_of("a")), ("COMPLETED".to_owned(), json!({ "by": "hand" })));
    assert_eq!(run.state()["paid"], json!({ "by": "hand" }));
    assert_eq!((run.open(), run.dispatched()), (Vec::<String>::new(), vec!["b".to_owned()]));
    let skipped = run.run().waitpoint(number).unwrap().clone();
    assert_eq!(skipped.resolved_by.as_ref().map(|by| by.to_string()), Some("operator".to_owned()));
    let said = json!({ "skipped": true, "reason": "paid by hand" });
    assert_eq!(skipped.resume_payload.as_ref().map(|payload| (**payload).clone()), Some(said));
    run.complete("b", json!("done"));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn only_a_wait_for_other_code_can_be_skipped() {
    let mut run = start(json!([{ "type": "sleep", "name": "nap", "duration": "1h" }]));
    let skip = || Steering::Skip { output: abide_core::json::Json::null(), reason: None };
    assert_eq!(run.steer("nap", skip()).code(), "WRONG_WAITPOINT_KIND");
    let mut run = mismatched();
    let long = Some("x".repeat(abide_core::limits::DESCRIPTION_CHARS + 1));
    let skip_long = Steering::Skip { output: abide_core::json::Json::null(), reason: long };
    assert_eq!(run.steer("a", skip_long).code(), "LIMIT_EXCEEDED");
    run.steer("a", skip());
    assert_eq!((run.status(), run.output_of("a")), ("COMPLETED".to_owned(), json!(null)));
    assert_eq!(run.steer("a", Steering::Cancel).code(), "ALREADY_RESOLVED");
}
