//! Runs that looped, ran both branches, or never stopped.

use abide_core::definition::Definition;
use abide_core::effect::AfterCommit;
use abide_core::problem::Code;
use abide_core::run::Timer;
use serde_json::json;

use crate::scenario::*;

#[test]
fn a_resumed_run_goes_on_where_it_was_and_not_from_the_start() {
    let mut run = start(json!([task("a"), sleep("nap", "1d"), task("b"), sleep("more", "1d"), task("c")]));
    run.complete("a", json!(1));
    run.live("1d");
    run.complete("b", json!(1));
    run.live("1d");
    assert_eq!(["a", "b", "c"].map(|step| run.dispatches(step)), [1, 1, 1]);
}

#[test]
fn a_pause_inside_a_retry_does_not_start_the_child_again() {
    let mut run = start(json!([child("c")]));
    run.child_fails("c");
    run.pause();
    run.live("1h");
    for _ in 0..5 {
        run.live("4s");
    }
    assert_eq!(run.children().len(), 1);
    run.unpause();
    run.live("1h");
    assert_eq!(run.children().len(), 2);
}

#[test]
fn a_child_is_started_once_however_often_its_parent_is_paused_and_resumed() {
    let mut run = start(json!([child("c"), task("a")]));
    for _ in 0..3 {
        run.pause();
        run.unpause();
    }
    assert_eq!(run.children().len(), 1);
    run.child_completes("c", json!(1));
    assert_eq!((run.children().len(), run.dispatches("a")), (1, 1));
}

#[test]
fn pauses_waits_and_redeliveries_are_not_attempts() {
    let mut run = start(json!([task("a").tries(1)]));
    run.pause_task("a", "rest", "1h");
    run.live("1h");
    run.lose_worker("a");
    run.release("a");
    run.suspend("a", vec![for_sleep("nap", "1h")]);
    run.live("1h");
    assert_eq!((run.attempt("a"), run.task("a").attempt), (1, 1));
    run.complete("a", json!(1));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn the_time_limit_of_a_step_stands_still_through_a_pause() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "10m" }))]));
    run.take("a", "w");
    run.advance("4m");
    run.pause_task("a", "rest", "5d");
    run.live("5d");
    assert_eq!(run.timers(), []);
    run.take("a", "w");
    assert_eq!(run.timers()[0].0, millis("6m").after(run.now));
}

#[test]
fn a_pause_does_not_overwrite_the_checkpoint() {
    let mut run = start(json!([task("a")]));
    run.checkpoint("a", json!({ "page": 7 }));
    run.pause_task("a", "rest", "1h");
    run.live("1h");
    assert_eq!(run.task("a").checkpoint, Some(json!({ "page": 7 }).into()));
    run.pause_task_at("a", "again", "1h", Some(json!({ "page": 8 })));
    run.live("1h");
    assert_eq!(run.task("a").checkpoint, Some(json!({ "page": 8 }).into()));
}

#[test]
fn a_worker_that_died_leaves_a_run_that_goes_on_and_can_be_cancelled() {
    let mut run = start(json!([task("a")]));
    run.take("a", "dead");
    run.lose_worker("a");
    assert_eq!(run.dispatched(), ["a"]);
    run.cancel();
    assert_eq!(run.status(), "CANCELLED");
    let mut unheard_of = start(json!([task("a")]));
    unheard_of.take("a", "dead");
    unheard_of.cancel();
    assert_eq!(unheard_of.status(), "CANCELLED");
}

#[test]
fn cancelling_ends_a_sleep_and_the_run_does_not_flip_back() {
    let mut run = start(json!([sleep("nap", "1h"), task("a")]));
    run.cancel();
    run.advance("1h");
    assert_eq!((run.fire_due_timers(), run.fire_wait("nap").code()), (0, "WAITPOINT_CANCELLED"));
    assert_eq!(run.path(), "PENDING RUNNING WAITING CANCELLED");
}

#[test]
fn after_the_true_branch_the_false_branch_does_not_run() {
    let steps = |ok: bool| {
        let branch = condition("if", "input.ok", "yes", "no");
        let steps = json!([branch, task("yes").also(json!({ "next": "both" })), task("no"), task("both")]);
        plan(steps).input(json!({ "ok": ok })).start()
    };
    let mut run = steps(true);
    run.complete("yes", json!(1));
    assert_eq!(run.steps(), "if COMPLETED, yes COMPLETED, no SKIPPED, both RUNNING");
    let mut run = steps(false);
    run.complete("no", json!(1));
    assert_eq!(run.steps(), "if COMPLETED, yes SKIPPED, no COMPLETED, both RUNNING");
}

#[test]
fn a_branch_that_falls_through_into_the_other_is_warned_of() {
    let steps = json!([condition("if", "input.ok", "yes", "no"), task("yes"), task("no")]);
    let checked = Definition::from_value(json!({ "name": "w", "steps": steps })).expect("it may be meant");
    assert_eq!(checked.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), [Code::FallThrough]);
}

#[test]
fn a_payload_with_a_control_key_of_another_engine_steers_nothing() {
    let mut run = start(json!([task("a"), task("b"), task("c")]));
    run.update("a", json!({ "__nextStep": "c", "__end": true }));
    assert_eq!(run.steps(), "a COMPLETED, b RUNNING, c PENDING");
}

#[test]
fn a_schema_looks_deeper_than_the_top_level_keys() {
    let schema = json!({
        "type": "object",
        "required": ["customer"],
        "properties": { "customer": { "type": "object", "required": ["email"], "additionalProperties": false,
            "properties": { "email": { "type": "string" } } } },
    });
    let document = json!({ "inputSchema": schema, "steps": [task("a")] });
    let refused = |input| plan(document.clone()).input(input).refused().code();
    assert_eq!(refused(json!({ "customer": {} })), "INVALID_INPUT");
    assert_eq!(refused(json!({ "customer": { "email": 1 } })), "INVALID_INPUT");
    assert_eq!(refused(json!({ "customer": { "email": "a@b", "x": 1 } })), "INVALID_INPUT");
    let run = plan(document.clone()).input(json!({ "customer": { "email": "a@b" } })).start();
    assert_eq!(run.status(), "RUNNING");
}

#[test]
fn a_year_of_sleep_keeps_the_whole_state_of_its_run() {
    let mut run = start(json!([
        task("a"),
        sleep("nap", "365d"),
        task("b").also(json!({ "input": "{{ state.kept }}" }))
    ]));
    run.update("a", json!({ "kept": { "deep": [1, 2.5, null, "x"] } }));
    run.live("365d");
    assert_eq!(*run.task("b").input, json!({ "deep": [1, 2.5, null, "x"] }));
}

#[test]
fn an_attempt_that_timed_out_is_taken_from_its_worker_and_given_to_the_next() {
    let mut run = start(json!([task("a").also(json!({ "timeout": "1m" })).tries(2)]));
    run.take("a", "stuck");
    let (at, lease_epoch) = (run.at("a"), run.lease_epoch("a"));
    run.advance("1m");
    run.fire(Timer::Attempt { at, lease_epoch });
    assert_eq!(run.last_after_commit(), [AfterCommit::Recall { at, lease_epoch }]);
    run.live("1m");
    assert_eq!(run.complete_epoch("a", lease_epoch, json!("late")).code(), "STALE_LEASE");
    run.complete("a", json!("second"));
    assert_eq!(run.output(), json!("second"));
}
