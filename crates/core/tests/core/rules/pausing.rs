//! R18 Pause takes effect at the next step boundary; timers run on; what they resolve is kept for the unpause.

use abide_core::command::Reply;
use abide_core::run::Timer;
use serde_json::json;

use crate::scenario::*;

#[test]
fn r18_a_running_task_runs_to_its_end_and_the_next_is_held() {
    let mut run = start(json!([task("a"), task("b")]));
    run.pause();
    assert_eq!(run.status(), "RUNNING");
    run.complete("a", json!(1));
    assert_eq!((run.status(), run.steps()), ("PAUSED".to_owned(), "a COMPLETED, b PENDING".to_owned()));
    run.unpause();
    assert_eq!((run.status(), run.dispatched()), ("RUNNING".to_owned(), vec!["b".to_owned()]));
}

#[test]
fn r18_timers_run_on_and_what_they_resolve_is_kept() {
    let mut run = start(json!([sleep("nap", "1h"), task("a")]));
    run.pause();
    assert_eq!(run.status(), "WAITING");
    run.live("1h");
    assert_eq!((run.status(), run.steps()), ("PAUSED".to_owned(), "nap COMPLETED, a PENDING".to_owned()));
    run.unpause();
    assert_eq!(run.dispatched(), ["a"]);
}

#[test]
fn r18_a_signal_to_a_paused_run_is_taken_and_kept() {
    let mut run = start(json!([signal("s", "go"), task("a")]));
    run.pause();
    run.signal("go", json!({ "n": 1 }));
    assert_eq!((run.status(), run.output_of("s")), ("PAUSED".to_owned(), json!({ "n": 1 })));
    run.unpause();
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn r18_no_step_begins_while_paused_not_even_one_that_only_waits_or_decides() {
    let nexts = [
        sleep("b", "1h"),
        signal("b", "go"),
        condition("b", "true", "c", "end"),
        map("b", json!([1]), task("t")),
    ];
    for next in nexts {
        let mut run = start(json!([task("a"), next, task("c")]));
        run.pause();
        run.complete("a", json!(1));
        assert_eq!(run.step("b"), "PENDING");
        assert_eq!(run.last_names(), ["STEP_COMPLETED", "STEP_HELD_BACK", "WORKFLOW_PAUSED_BY_OPERATOR"]);
    }
}

#[test]
fn r18_a_pause_that_had_not_taken_effect_is_withdrawn() {
    let mut run = start(json!([task("a"), task("b")]));
    run.pause();
    run.unpause();
    run.complete("a", json!(1));
    assert_eq!(run.path(), "PENDING RUNNING");
    assert_eq!(run.step("b"), "RUNNING");
}

#[test]
fn r18_a_run_that_is_paused_before_its_delayed_start_begins_nothing() {
    let mut run = plan(json!([task("a")])).delayed_until("2026-03-02T00:00:00Z").start();
    run.pause();
    assert_eq!(run.status(), "PENDING");
    run.live("1d");
    assert_eq!((run.status(), run.step("a")), ("PAUSED".to_owned(), "PENDING".to_owned()));
    run.unpause();
    assert_eq!(run.dispatched(), ["a"]);
}

#[test]
fn r18_a_run_that_is_paused_and_unpaused_before_its_delayed_start_begins_on_time() {
    let mut run = plan(json!([task("a")])).delayed_until("2026-03-02T00:00:00Z").start();
    run.pause();
    run.unpause();
    run.live("1d");
    assert_eq!(run.path(), "PENDING RUNNING");
}

#[test]
fn r18_in_a_graph_every_branch_stops_at_its_own_boundary() {
    let steps = json!([
        task("a").after(&[]),
        task("b").after(&[]),
        sleep("nap", "1h").after(&[]),
        task("after-a").after(&["a"]),
        task("after-b").after(&["b"]),
        task("after-nap").after(&["nap"]),
        task("join").after(&["after-a", "after-b", "after-nap"]),
    ]);
    let mut run = start(steps);
    run.pause();
    run.complete("a", json!(1));
    assert_eq!((run.status(), run.step("b")), ("PAUSED".to_owned(), "RUNNING".to_owned()));
    run.live("1h");
    run.complete("b", json!(1));
    assert_eq!((run.step("after-a"), run.step("after-b"), run.step("after-nap")), pending3());
    run.unpause();
    assert_eq!(run.dispatched(), ["after-a", "after-b", "after-nap"]);
}

fn pending3() -> (String, String, String) {
    ("PENDING".to_owned(), "PENDING".to_owned(), "PENDING".to_owned())
}

#[test]
fn r18_a_failure_while_paused_takes_effect_at_the_unpause() {
    let mut run = start(json!([task("a").after(&[]), task("b").after(&[]), task("c").after(&["a"])]));
    run.pause();
    run.complete("a", json!(1));
    run.fail_for_good("b");
    assert_eq!((run.status(), run.step("b")), ("PAUSED".to_owned(), "FAILED".to_owned()));
    run.unpause();
    assert_eq!(
        (run.status(), run.error(), run.step("c")),
        ("FAILED".to_owned(), "TASK_FAILED".to_owned(), "PENDING".to_owned())
    );
}

#[test]
fn r18_a_failure_while_a_pause_is_only_asked_for_fails_the_run() {
    let mut run = start(json!([task("a"), task("b")]));
    run.pause();
    run.fail_for_good("a");
    assert_eq!(run.path(), "PENDING RUNNING FAILED");
    run.retry();
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn r18_the_next_attempt_of_a_step_is_held() {
    let mut run = start(json!([task("a")]));
    run.fail_until("a", "1m");
    run.pause();
    run.live("1m");
    assert_eq!((run.status(), run.attempt("a"), run.is_handed_out("a")), ("PAUSED".to_owned(), 1, false));
    run.unpause();
    assert_eq!((run.dispatched(), run.attempt("a")), (vec!["a".to_owned()], 2));
}

#[test]
fn r18_a_task_whose_own_wait_ends_is_held() {
    let mut run = start(json!([task("a")]));
    run.suspend("a", vec![for_signal("reply", "go")]);
    run.pause();
    run.signal("go", json!({ "n": 1 }));
    assert_eq!((run.status(), run.step("a")), ("PAUSED".to_owned(), "WAITING".to_owned()));
    run.unpause();
    assert_eq!(run.journal_of("a")[0].1["payload"], json!({ "n": 1 }));
}

#[test]
fn r18_a_worker_s_own_pause_that_ends_is_held() {
    let mut run = start(json!([task("a")]));
    run.pause_task("a", "rest", "1h");
    run.pause();
    run.live("1h");
    assert_eq!((run.status(), run.is_handed_out("a")), ("PAUSED".to_owned(), false));
    run.unpause();
    assert_eq!((run.dispatched(), run.attempt("a")), (vec!["a".to_owned()], 1));
}

#[test]
fn r18_a_failed_child_is_not_tried_again_while_paused() {
    let mut run = start(json!([child("c")]));
    run.child_fails("c");
    run.pause();
    run.live("1m");
    assert_eq!((run.status(), run.children().len()), ("PAUSED".to_owned(), 1));
    run.unpause();
    assert_eq!(run.children().len(), 2);
}

#[test]
fn r18_the_items_of_a_map_that_have_not_begun_are_held() {
    let mut run = start(json!([map("each", json!([1, 2, 3]), task("t")).also(json!({ "concurrency": 1 }))]));
    run.pause();
    run.complete("each[0]", json!(1));
    assert_eq!((run.status(), run.dispatched().len()), ("PAUSED".to_owned(), 0));
    run.unpause();
    assert_eq!(run.dispatched(), ["each[1]"]);
}

#[test]
fn r18_a_run_whose_last_step_ends_has_nothing_left_to_hold() {
    let mut run = start(json!([sleep("nap", "1h")]));
    run.pause();
    run.live("1h");
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn r18_the_run_s_deadline_that_passes_while_paused_takes_effect_at_the_unpause() {
    let mut run = start(json!({ "timeout": "1h", "steps": [task("a"), task("b")] }));
    run.pause();
    run.complete("a", json!(1));
    run.live("2h");
    assert_eq!((run.status(), run.timers()), ("PAUSED".to_owned(), vec![]));
    assert_eq!(run.fire(Timer::Run).code(), "NO_SUCH_TIMER");
    run.unpause();
    assert_eq!(
        (run.status(), run.error(), run.step("b")),
        ("FAILED".to_owned(), "RUN_TIMED_OUT".to_owned(), "PENDING".to_owned())
    );
}

#[test]
fn r18_pausing_twice_and_unpausing_what_is_not_paused_change_nothing() {
    let mut run = start(json!([task("a"), task("b")]));
    assert_eq!(run.unpause().reply(), Reply::Unchanged);
    run.pause();
    assert_eq!(run.pause().reply(), Reply::Unchanged);
    run.complete("a", json!(1));
    assert_eq!(run.pause().reply(), Reply::Unchanged);
}

#[test]
fn r18_a_signal_sent_while_paused_waits_in_the_mailbox_for_the_step_that_is_held() {
    let mut run = start(json!([task("a"), signal("s", "go")]));
    run.pause();
    run.complete("a", json!(1));
    run.signal("go", json!({ "n": 1 }));
    assert_eq!((run.status(), run.run().mailbox().count()), ("PAUSED".to_owned(), 1));
    run.unpause();
    assert_eq!((run.status(), run.output_of("s")), ("COMPLETED".to_owned(), json!({ "n": 1 })));
}
