//! R5 No resume-before-pause race: whichever comes first, the signal, event or call, or the wait for it.

use std::collections::BTreeMap;

use abide_core::command::{Reply, WaitFor};
use serde_json::json;

use crate::scenario::*;

#[test]
fn r05a_a_signal_sent_before_the_wait_is_delivered_once() {
    let mut run = start(json!([task("a"), signal("x", "go"), signal("y", "go")]));
    assert_eq!(run.signal("go", json!({ "n": 1 })).reply(), Reply::Signalled { taken_by: None });
    run.complete("a", json!(1));
    assert_eq!(run.output_of("x"), json!({ "n": 1 }));
    assert_eq!(run.step("y"), "WAITING");
}

#[test]
fn r05a_a_signal_sent_to_a_waiting_run_is_taken_at_once() {
    let mut run = start(json!([signal("x", "go"), task("a")]));
    let taken_by = Some(run.run().waitpoint_id(run.wait("x")));
    assert_eq!(run.signal("go", json!({})).reply(), Reply::Signalled { taken_by });
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn r05a_signals_of_one_type_are_taken_in_the_order_they_came() {
    let mut run = start(json!([task("a"), signal("x", "go"), signal("y", "go"), signal("z", "go")]));
    for n in 1..=3 {
        run.signal("go", json!({ "n": n }));
    }
    run.complete("a", json!(1));
    let taken = ["x", "y", "z"].map(|step| run.output_of(step)["n"].clone());
    assert_eq!(taken, [json!(1), json!(2), json!(3)]);
}

#[test]
fn r05a_signals_of_other_types_stay_for_the_waits_that_want_them() {
    let mut run = start(json!([signal("x", "go"), signal("y", "stop")]));
    run.signal("stop", json!({ "n": 1 }));
    assert_eq!(run.steps(), "x WAITING, y PENDING");
    run.signal("go", json!({ "n": 2 }));
    assert_eq!((run.output_of("x"), run.output_of("y")), (json!({ "n": 2 }), json!({ "n": 1 })));
}

#[test]
fn r05a_a_task_s_own_wait_takes_the_signal_that_came_before_it() {
    let mut run = start(json!([task("a")]));
    run.signal("go", json!({ "n": 1 }));
    run.suspend("a", vec![for_signal("reply", "go")]);
    assert_eq!(run.step("a"), "RUNNING");
    let reply = json!({ "status": "COMPLETED", "payload": { "n": 1 } });
    assert_eq!(run.journal_of("a"), [("reply".to_owned(), reply)]);
}

#[test]
fn r05a_a_signal_to_a_delayed_run_is_there_when_it_begins() {
    let mut run = plan(json!([signal("x", "go")])).delayed_until("2026-03-02T00:00:00Z").start();
    run.signal("go", json!({ "n": 1 }));
    run.live("1d");
    assert_eq!(run.output_of("x"), json!({ "n": 1 }));
}

#[test]
fn r05b_an_event_received_since_the_run_was_created_is_seen_by_a_later_wait() {
    let mut run = start(json!([task("a"), event("e", "paid")]));
    run.notify("paid", json!({ "n": 1 }));
    run.advance("3d");
    run.complete("a", json!(1));
    assert_eq!(run.step("e"), "WAITING");
    assert_eq!(run.look_back(), ["e"]);
    assert_eq!(run.output_of("e"), json!({ "n": 1 }));
}

#[test]
fn r05b_an_event_from_before_the_run_is_not_seen() {
    let mut run = start(json!([event("e", "paid")]));
    assert_eq!(
        run.deliver("e", "paid", json!(1), instant("2026-03-01T07:59:59Z")).code(),
        "EVENT_DOES_NOT_MATCH"
    );
}

#[test]
fn r05b_lookback_widens_what_is_seen_to_before_the_run() {
    let mut run = start(json!([event("e", "paid").also(json!({ "lookback": "1h" }))]));
    let too_old = run.deliver("e", "paid", json!(1), instant("2026-03-01T06:59:59Z"));
    assert_eq!(too_old.code(), "EVENT_DOES_NOT_MATCH");
    run.deliver("e", "paid", json!(2), instant("2026-03-01T07:00:00Z"));
}

#[test]
fn r05b_lookback_narrows_what_is_seen_to_just_before_the_wait() {
    let mut run = start(json!([task("a"), event("e", "paid").also(json!({ "lookback": "1h" }))]));
    run.notify("paid", json!("early"));
    run.advance("1d");
    run.notify("paid", json!("recent"));
    run.advance("59m");
    run.complete("a", json!(1));
    assert_eq!(run.look_back(), ["e"]);
    assert_eq!(run.output_of("e"), json!("recent"));
}

#[test]
fn r05b_a_wait_does_not_see_the_event_that_a_wait_before_it_took() {
    let mut run = start(json!([event("x", "paid"), event("y", "paid")]));
    run.notify("paid", json!(1));
    assert_eq!(run.look_back(), Vec::<String>::new());
    assert_eq!(run.steps(), "x COMPLETED, y WAITING");
    assert_eq!(run.notify("paid", json!(2)), ["y"]);
}

fn branches() -> serde_json::Value {
    let late = |name: &str, after: &str| event(name, "paid").also(json!({ "after": [after] }));
    json!([
        event("a", "paid").also(json!({ "after": [] })),
        event("b", "paid").also(json!({ "after": [] })),
        sleep("nap", "1d").also(json!({ "after": [] })),
        late("c", "nap"),
        late("d", "a"),
    ])
}

/// Upstash: every waiter is notified. Two branches of one run are two waiters.
#[test]
fn r05b_one_event_wakes_every_branch_of_a_run_that_waits_for_it() {
    let mut run = start(branches());
    run.look_back();
    assert_eq!(run.notify("paid", json!(1)), ["a", "b"]);
    run.look_back();
    assert_eq!(run.steps(), "a COMPLETED, b COMPLETED, nap WAITING, c PENDING, d WAITING");
    run.live("1d");
    assert_eq!(run.look_back(), ["c"]);
    assert_eq!(run.steps(), "a COMPLETED, b COMPLETED, nap COMPLETED, c COMPLETED, d WAITING");
}

#[test]
fn r05b_branches_take_the_same_event_whether_it_or_their_waits_came_first() {
    let mut late = start(json!([
        task("first"),
        event("a", "paid").also(json!({ "after": ["first"] })),
        event("b", "paid").also(json!({ "after": ["first"] })),
        event("d", "paid").also(json!({ "after": ["a"] })),
    ]));
    late.notify("paid", json!(1));
    late.complete("first", json!(1));
    assert_eq!(late.look_back(), ["a", "b"]);
    assert_eq!(late.look_back(), Vec::<String>::new());
    assert_eq!(late.steps(), "first COMPLETED, a COMPLETED, b COMPLETED, d WAITING");
    assert_eq!(late.notify("paid", json!(2)), ["d"]);
}

#[test]
fn r05b_the_items_of_a_map_stand_side_by_side_however_many_at_a_time() {
    for at_a_time in [1, 3] {
        let each = map("each", json!([1, 2, 3]), event("e", "paid"));
        let mut run = start(json!([each.also(json!({ "concurrency": at_a_time })), event("next", "paid")]));
        run.notify("paid", json!(1));
        while !run.look_back().is_empty() {}
        assert_eq!(run.steps(), "each COMPLETED, next WAITING", "{at_a_time} at a time");
    }
}

/// A loop in code: what it took once it does not take again.
#[test]
fn r05b_code_that_waits_again_does_not_see_the_same_event_twice() {
    let wait = |name: &str| {
        let (matching, lookback, timeout) = (None, None, None);
        let (event_id, fields) = ("tick".into(), BTreeMap::new());
        wait_for(name, WaitFor::Event { event_id, matching, fields, lookback, timeout })
    };
    let mut run = start(json!([task("loop")]));
    run.notify("tick", json!(1));
    run.suspend("loop", vec![wait("first"), wait("beside")]);
    assert_eq!(run.look_back(), ["loop", "loop"]);
    run.suspend("loop", vec![wait("second")]);
    assert_eq!(run.look_back(), Vec::<String>::new());
    assert_eq!(run.notify("tick", json!(2)), ["loop"]);
    assert_eq!(run.journal_of("loop")[2].1["payload"], json!(2));
}

#[test]
fn r05b_a_wait_says_when_the_event_that_ended_it_was_received() {
    let mut run = start(json!([task("a"), event("e", "paid")]));
    run.notify("paid", json!({ "n": 1 }));
    run.advance("20d");
    run.complete("a", json!(1));
    run.look_back();
    let taken = run.run().waitpoint(run.wait("e")).and_then(|wait| wait.event);
    assert_eq!(taken.map(|event| event.received_at), Some(instant("2026-03-01T08:00:00Z")));
    assert_eq!(run.output_of("e"), json!({ "n": 1 }));
}

#[test]
fn r05a_a_signal_that_finds_the_wait_overdue_ends_it_so_that_no_clock_opens_it_again() {
    let mut run = start(json!([
        signal("x", "go").also(json!({ "timeout": "1h", "onTimeout": "continue" })),
        signal("y", "go")
    ]));
    run.advance("1h");
    run.signal("go", json!({ "n": 1 }));
    assert_eq!(run.output_of("x"), json!({ "timeout": true }));
    assert_eq!(run.output_of("y"), json!({ "n": 1 }));
    assert_eq!(
        run.run().waitpoint(1).and_then(|wait| wait.resolved_by.clone()).unwrap().to_string(),
        "timer"
    );
}

#[test]
fn r05b_an_overdue_wait_that_is_moved_looks_for_what_came_meanwhile() {
    let mut run = start(json!([event("e", "paid").also(json!({ "timeout": "1h" }))]));
    run.look_back();
    run.advance("2h");
    assert_eq!(run.notify("paid", json!("late")), Vec::<String>::new());
    run.reschedule("e", instant("2026-03-02T00:00:00Z"));
    assert_eq!(run.look_back(), ["e"]);
    assert_eq!(run.output_of("e"), json!("late"));
}

#[test]
fn r05b_an_open_wait_takes_what_was_received_by_a_clock_that_was_ahead() {
    let mut run = start(json!([event("e", "paid").also(json!({ "timeout": "1h" }))]));
    run.deliver("e", "paid", json!("now"), instant("2026-03-01T12:00:00Z"));
    assert_eq!(run.output_of("e"), json!("now"));
}

#[test]
fn r05b_every_wait_for_an_event_asks_for_what_is_stored() {
    let mut run = start(json!([task("a"), event("e", "paid")]));
    run.complete("a", json!(1));
    let number = run.wait("e");
    assert_eq!(run.last_in_round(), [abide_core::effect::RoundEffect::LookBack { number }]);
}

#[test]
fn r05c_a_waitpoint_resumed_before_its_step_pauses_lets_the_step_go_on_at_once() {
    let mut run = start(json!([task("a")]));
    run.create_waitpoint("a", "signed");
    run.call("a", json!("yes"));
    assert_eq!(run.step("a"), "RUNNING");
    run.suspend("a", vec![for_call("signed")]);
    assert_eq!(run.last_names(), ["STEP_WAITING", "STEP_RESUMED"]);
    let signed = json!({ "status": "COMPLETED", "payload": { "body": "yes" } });
    assert_eq!(run.journal_of("a"), [("signed".to_owned(), signed)]);
}

#[test]
fn r05c_a_waitpoint_that_times_out_before_its_step_pauses_lets_the_step_go_on_at_once() {
    let mut run = start(json!([task("a")]));
    run.create_waitpoint("a", "signed");
    run.reschedule("a", instant("2026-03-01T09:00:00Z"));
    run.live("1h");
    run.suspend("a", vec![for_call("signed")]);
    assert_eq!(run.journal_of("a")[0].1["status"], json!("TIMED_OUT"));
}

#[test]
fn r05d_a_call_that_names_a_step_before_it_begins_is_kept_for_that_step_and_no_other() {
    let mut run = start(json!([task("a"), webhook("x"), webhook("y")]));
    run.call_step("y", json!("for y"));
    run.complete("a", json!(1));
    assert_eq!(run.step("x"), "WAITING");
    run.call_step("x", json!("for x"));
    assert_eq!(run.status(), "COMPLETED");
    assert_eq!(
        (run.output_of("x"), run.output_of("y")),
        (json!({ "body": "for x" }), json!({ "body": "for y" }))
    );
}

#[test]
fn r05d_a_second_call_before_the_step_begins_is_told_of_the_first() {
    let mut run = start(json!([task("a"), webhook("x")]));
    run.call_step("x", json!(1));
    assert_eq!(run.call_step("x", json!(2)).code(), "ALREADY_RESOLVED");
}

#[test]
fn r05d_a_named_wait_of_a_task_can_be_resumed_before_the_task_begins() {
    let mut run = start(json!([task("a"), task("b")]));
    run.call_wait("b", "signed", json!("yes"));
    run.complete("a", json!(1));
    let signed = json!({ "status": "COMPLETED", "payload": { "body": "yes" } });
    assert_eq!(run.journal_of("b"), [("signed".to_owned(), signed)]);
}

#[test]
fn r05d_a_task_that_waits_for_what_was_resumed_before_it_began_goes_on_and_knows_it() {
    let mut run = start(json!([task("a"), task("b")]));
    run.call_wait("b", "signed", json!("yes"));
    run.complete("a", json!(1));
    run.suspend("b", vec![for_call("signed")]);
    assert_eq!(run.step("b"), "RUNNING");
    assert_eq!(run.journal_of("b")[0].1["payload"], json!({ "body": "yes" }));
}

#[test]
fn r05d_a_step_that_is_done_cannot_be_resumed() {
    let mut run = start(json!([webhook("x").also(json!({ "when": "false" })), task("a")]));
    let refusal = run.call_step("x", json!(1)).refused();
    assert_eq!(refusal.code(), "WRONG_STEP_STATUS");
    assert!(refusal.to_string().contains("SKIPPED"), "{refusal}");
}

#[test]
fn r05d_a_step_that_waits_for_no_call_cannot_be_resumed_by_one() {
    let mut run = start(json!([task("a"), sleep("nap", "1h")]));
    assert_eq!(run.call_step("nap", json!(1)).code(), "WRONG_STEP_STATUS");
    assert_eq!(
        run.call_step("nab", json!(1)).refused().to_string(),
        "the run has no step `nab`; did you mean `nap`?"
    );
}

#[test]
fn r05d_a_webhook_that_was_called_before_it_began_still_answers_the_caller_that_started_the_run() {
    let reply = json!({ "responseToSend": { "status": 202, "body": "soon" } });
    let mut run = start(json!([task("a"), webhook("w").also(reply)]));
    run.call_step("w", json!(1));
    run.complete("a", json!(1));
    assert_eq!(run.status(), "COMPLETED");
    assert!(matches!(run.last_after_commit(), [abide_core::effect::AfterCommit::Respond { .. }]));
}
