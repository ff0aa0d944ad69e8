//! Signals and events that were lost, doubled, or given to the wrong wait.

use abide_core::command::Steering;
use abide_core::history::WakeOn::Any;
use abide_core::id::WorkspaceId;
use abide_core::limits;
use serde_json::json;

use crate::scenario::*;

#[test]
fn an_event_before_the_wait_is_not_lost() {
    let mut run = start(json!([task("a"), event("e", "paid")]));
    run.notify("paid", json!(1));
    run.complete("a", json!(1));
    assert_eq!(run.look_back(), ["e"]);
}

#[test]
fn an_event_and_its_wait_of_the_same_instant_find_each_other_in_either_order() {
    let mut first_the_event = start(json!([task("a"), event("e", "paid")]));
    first_the_event.notify("paid", json!(1));
    first_the_event.complete("a", json!(1));
    assert_eq!(first_the_event.look_back(), ["e"]);
    let mut first_the_wait = start(json!([task("a"), event("e", "paid")]));
    first_the_wait.complete("a", json!(1));
    assert_eq!(first_the_wait.notify("paid", json!(1)), ["e"]);
    assert!(first_the_wait.look_back().is_empty());
}

#[test]
fn the_second_wait_does_not_get_the_first_one_s_signal() {
    let mut run = start(json!([signal("x", "go"), signal("y", "go")]));
    run.signal("go", json!({ "n": 1 }));
    assert_eq!(run.step("y"), "WAITING");
    run.signal("go", json!({ "n": 2 }));
    assert_eq!((run.output_of("x"), run.output_of("y")), (json!({ "n": 1 }), json!({ "n": 2 })));
}

#[test]
fn two_signals_before_two_waits_are_a_queue_and_not_a_register() {
    let mut run = start(json!([task("a"), signal("x", "go"), signal("y", "go")]));
    run.signal("go", json!({ "n": 1 }));
    run.signal("go", json!({ "n": 2 }));
    run.complete("a", json!(1));
    assert_eq!((run.output_of("x"), run.output_of("y")), (json!({ "n": 1 }), json!({ "n": 2 })));
}

#[test]
fn a_late_callback_of_one_step_is_not_handed_to_the_steps_after_it() {
    let late = json!({ "timeout": "1h", "onTimeout": "continue" });
    let mut run = start(json!([webhook("two").also(late), webhook("three"), webhook("four")]));
    run.live("1h");
    assert_eq!(run.call_step("two", json!("late")).code(), "WAITPOINT_TIMED_OUT");
    assert_eq!(run.call("two", json!("late")).code(), "WAITPOINT_TIMED_OUT");
    assert_eq!(run.steps(), "two COMPLETED, three WAITING, four PENDING");
}

#[test]
fn the_timeout_of_one_wait_leaves_the_other_waits_of_the_run() {
    let short = json!({ "timeout": "1h", "onTimeout": "continue" });
    let mut run = start(json!([signal("x", "go").also(short).after(&[]), signal("y", "stop").after(&[])]));
    run.live("1h");
    assert_eq!(run.open(), ["y SIGNAL"]);
    run.signal("stop", json!({ "n": 1 }));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn the_end_of_one_wait_of_a_task_leaves_the_others_of_other_tasks() {
    let mut run = start(json!([task("a").after(&[]), task("b").after(&[])]));
    run.suspend("a", vec![for_signal("reply", "go")]);
    run.suspend("b", vec![for_signal("reply", "go")]);
    run.signal("go", json!({ "n": 1 }));
    assert_eq!(run.steps(), "a RUNNING, b WAITING");
}

#[test]
fn a_match_after_the_timeout_does_not_overwrite_the_output() {
    let mut run = start(json!([event("e", "paid").also(json!({ "timeout": "1h" })), task("a")]));
    run.live("1h");
    assert!(run.notify("paid", json!("late")).is_empty());
    assert_eq!(run.deliver("e", "paid", json!("late"), instant(MORNING)).code(), "WAITPOINT_TIMED_OUT");
    assert_eq!(run.output_of("e"), json!({ "timeout": true }));
}

#[test]
fn an_event_with_an_empty_body_does_not_upset_the_matcher() {
    let matching = json!({ "match": "event.order.id == input.order" });
    let mut run = plan(json!([event("e", "paid").also(matching)])).input(json!({ "order": "o-1" })).start();
    for empty in [json!(null), json!({}), json!([]), json!(""), json!(0)] {
        assert!(run.notify("paid", empty).is_empty());
    }
    assert_eq!(run.notify("paid", json!({ "order": { "id": "o-1" } })), ["e"]);
    let mut any = start(json!([event("e", "paid")]));
    any.notify("paid", json!(null));
    assert_eq!((any.status(), any.output_of("e")), ("COMPLETED".to_owned(), json!(null)));
}

#[test]
fn a_signal_with_an_empty_body_is_a_signal() {
    let mut run = start(json!([signal("s", "go")]));
    run.signal("go", json!(null));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn a_name_with_dots_is_a_name_like_any_other() {
    let mut run =
        start(json!([event("e", "order.paid.v2"), signal("s", "a.b.c"), event("again", "order.paid.v2")]));
    assert_eq!(run.notify("order.paid.v2", json!(1)), ["e"]);
    run.signal("a.b", json!(1));
    run.signal("a.b.c", json!({}));
    assert!(run.notify("order.paid", json!(2)).is_empty());
    assert_eq!(run.notify("order.paid.v2", json!(3)), ["again"]);
}

#[test]
fn the_text_1_is_not_the_number_1() {
    let matching = json!({ "match": "event.id == input.id" });
    let mut run = plan(json!([event("e", "paid").also(matching)])).input(json!({ "id": 1 })).start();
    assert!(run.notify("paid", json!({ "id": "1" })).is_empty());
    assert_eq!(run.notify("paid", json!({ "id": 1 })), ["e"]);
}

#[test]
fn what_a_match_reads_of_the_run_is_what_it_was_when_the_wait_began() {
    let steps = json!([
        task("a").after(&[]),
        task("b").after(&["a"]),
        event("e", "paid").also(json!({ "match": "event.id == state.id" })).after(&["a"]),
    ]);
    let mut run = start(steps);
    run.update("a", json!({ "id": "old" }));
    run.update("b", json!({ "id": "new" }));
    assert!(run.notify("paid", json!({ "id": "new" })).is_empty());
    assert_eq!(run.notify("paid", json!({ "id": "old" })), ["e"]);
}

#[test]
fn a_stream_of_signals_does_not_keep_a_run_from_going_on() {
    let mut run = start(json!([signal("s", "go"), task("a"), sleep("nap", "1h"), task("b")]));
    for n in 0..50 {
        run.signal("go", json!({ "n": n }));
    }
    run.complete("a", json!(1));
    run.advance("1h");
    for n in 0..50 {
        run.signal("go", json!({ "n": n }));
    }
    assert_eq!(run.fire_due_timers(), 1);
    assert_eq!(run.step("b"), "RUNNING");
}

#[test]
fn a_mailbox_full_of_what_nobody_wants_does_not_keep_out_a_signal_that_is_waited_for() {
    let mut run = start(json!([signal("s", "go")]));
    for n in 0..limits::MAILBOX {
        run.signal("noise", json!(n));
    }
    assert_eq!(run.signal("noise", json!(0)).code(), "LIMIT_EXCEEDED");
    run.signal("go", json!({ "n": 1 }));
    assert_eq!(run.status(), "COMPLETED");
}

#[test]
fn a_cancelled_wait_takes_no_signal() {
    let mut run = start(json!([task("a"), signal("y", "go")]));
    run.suspend_for("a", vec![for_signal("reply", "go"), for_sleep("nap", "1h")], Any, &[]);
    let reply = run.waits_of("a").iter().find(|wait| &*wait.name == "reply").map(|wait| wait.number);
    run.steer_wait(reply.expect("the wait for the reply"), Steering::Cancel);
    run.signal("go", json!({ "n": 1 }));
    run.complete("a", json!(1));
    assert_eq!(run.output_of("y"), json!({ "n": 1 }));
}

#[test]
fn an_event_of_another_workspace_is_not_taken() {
    let mut run = plan(json!([event("e", "paid")])).in_workspace(WorkspaceId(3)).start();
    assert_eq!(run.deliver_from_elsewhere("e", "paid", json!({})).code(), "EVENT_DOES_NOT_MATCH");
    assert_eq!(run.step("e"), "WAITING");
    assert_eq!(run.notify("paid", json!({})), ["e"]);
}
