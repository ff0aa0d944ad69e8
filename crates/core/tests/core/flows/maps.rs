//! Maps: one step over a list.

use serde_json::{Value, json};

use crate::scenario::*;

fn over(items: Value, fields: Value) -> Value {
    json!([map(
        "each",
        items,
        task("t").also(json!({ "input": { "item": "{{ item }}", "index": "{{ index }}" } }))
    )
    .also(fields)])
}

#[test]
fn results_are_in_the_order_of_the_items_whatever_order_they_come_in() {
    let mut run = start(over(json!(["a", "b", "c"]), json!({})));
    for item in [2, 0, 1] {
        run.complete(&format!("each[{item}]"), json!(item * 10));
    }
    assert_eq!(run.output(), json!([0, 10, 20]));
}

#[test]
fn each_item_is_a_task_that_knows_its_item_and_index() {
    let run = start(over(json!(["a", { "b": 1 }]), json!({})));
    assert_eq!(*run.task("each[0]").input, json!({ "item": "a", "index": 0 }));
    assert_eq!(*run.task("each[1]").input, json!({ "item": { "b": 1 }, "index": 1 }));
    assert_eq!(run.task("each[1]").step_name, "each[1]");
}

#[test]
fn as_many_items_are_under_way_as_concurrency_allows() {
    let mut run = start(over(json!([1, 2, 3, 4]), json!({ "concurrency": 2 })));
    assert_eq!(run.dispatched(), ["each[0]", "each[1]"]);
    run.complete("each[1]", json!(1));
    assert_eq!(run.dispatched(), ["each[2]"]);
    run.complete("each[0]", json!(1));
    assert_eq!(run.dispatched(), ["each[3]"]);
    run.complete("each[2]", json!(1));
    assert!(run.dispatched().is_empty());
}

#[test]
fn an_item_that_backs_off_keeps_its_place() {
    let mut run = start(over(json!([1, 2]), json!({ "concurrency": 1 })));
    run.fail_until("each[0]", "1m");
    assert_eq!((run.status(), run.dispatched().len()), ("WAITING".to_owned(), 0));
    run.live("1m");
    assert_eq!((run.dispatched(), run.attempt("each[0]")), (vec!["each[0]".to_owned()], 2));
}

#[test]
fn the_first_failed_item_fails_the_map_and_stops_the_others() {
    let mut run = start(over(json!([1, 2, 3]), json!({ "concurrency": 2 })));
    run.fail_for_good("each[1]");
    assert_eq!((run.status(), run.error()), ("FAILED".to_owned(), "TASK_FAILED".to_owned()));
    assert_eq!(run.run().error.as_ref().map(|error| error.message.as_str()), Some("each[1]: it went wrong"));
    assert_eq!((run.error_of("each[0]"), run.dispatches("each[2]")), ("RUN_FAILED".to_owned(), 0));
}

#[test]
fn collected_failures_stand_among_the_results() {
    let mut run = start(over(json!([1, 2, 3]), json!({ "onItemFailure": "collect" })));
    run.complete("each[0]", json!("ok"));
    run.fail_for_good("each[1]");
    run.complete("each[2]", json!("ok"));
    let error = json!({ "error": { "code": "TASK_FAILED", "message": "it went wrong" } });
    assert_eq!((run.status(), run.output()), ("COMPLETED".to_owned(), json!(["ok", error, "ok"])));
}

#[test]
fn a_retried_map_keeps_its_completed_items_and_begins_the_others_again() {
    let mut run = start(over(json!([1, 2, 3]), json!({})));
    run.complete("each[0]", json!("first time"));
    run.fail_for_good("each[1]");
    run.retry();
    assert_eq!(run.dispatched(), ["each[1]", "each[2]"]);
    run.complete("each[1]", json!("second time"));
    run.complete("each[2]", json!("second time"));
    assert_eq!(run.output(), json!(["first time", "second time", "second time"]));
}

#[test]
fn a_map_that_collects_failures_does_not_collect_what_was_stopped_by_another_step() {
    let items = map("each", json!([1, 2, 3]), task("t")).also(json!({ "onItemFailure": "collect" }));
    let mut run = start(json!([items.after(&[]), task("other").after(&[])]));
    run.complete("each[0]", json!("done"));
    run.fail_for_good("each[1]");
    run.fail_for_good("other");
    assert_eq!(run.error_of("each[2]"), "RUN_FAILED");
    run.retry();
    assert_eq!(run.dispatched(), ["each[2]", "other"]);
    run.complete("each[2]", json!("done"));
    run.complete("other", json!(1));
    let error = json!({ "error": { "code": "TASK_FAILED", "message": "it went wrong" } });
    assert_eq!(run.output_of("each"), json!(["done", error, "done"]));
}

#[test]
fn items_may_sleep_and_the_run_waits_with_them() {
    let mut run = start(json!([map("each", json!([1, 2]), sleep("s", "1h")), task("a")]));
    assert_eq!(
        (run.status(), run.open()),
        ("WAITING".to_owned(), vec!["each[0] DELAY".to_owned(), "each[1] DELAY".to_owned()])
    );
    run.live("1h");
    assert_eq!(run.step("a"), "RUNNING");
}

#[test]
fn a_stopped_item_that_slept_keeps_its_instant_when_the_run_is_retried() {
    let mut run =
        start(json!([map("each", json!([1]), sleep("s", "1d")).after(&[]), task("other").after(&[])]));
    let wakes = run.resume_at("each[0]");
    run.advance("1h");
    run.fail_for_good("other");
    run.retry();
    assert_eq!(run.resume_at("each[0]"), wakes);
}

#[test]
fn items_may_wait_for_signals_webhooks_and_children() {
    let mut signals = start(json!([map("each", json!([1, 2]), signal("s", "go"))]));
    signals.signal("go", json!({ "n": 1 }));
    signals.signal("go", json!({ "n": 2 }));
    assert_eq!((signals.output(), signals.state()), (json!([{ "n": 1 }, { "n": 2 }]), json!({})));
    let mut calls = start(json!([map("each", json!([1, 2]), webhook("w"))]));
    calls.call_step("each[1]", json!("b"));
    calls.call_step("each[0]", json!("a"));
    assert_eq!(calls.output(), json!([{ "body": "a" }, { "body": "b" }]));
    let mut children = start(json!([map("each", json!([1, 2]), child("c"))]));
    children.child_completes("each[1]", json!("y"));
    children.child_completes("each[0]", json!("x"));
    assert_eq!(children.output(), json!(["x", "y"]));
}

#[test]
fn a_call_may_name_an_item_that_has_not_begun_and_none_that_does_not_exist() {
    let mut run = start(json!([map("each", json!([1, 2]), webhook("w")).also(json!({ "concurrency": 1 }))]));
    run.call_step("each[1]", json!("early"));
    assert_eq!(run.call_step("each[2]", json!(1)).code(), "UNKNOWN_STEP");
    run.call_step("each[0]", json!("now"));
    assert_eq!(run.output(), json!([{ "body": "now" }, { "body": "early" }]));
}

#[test]
fn an_empty_list_is_done_at_once() {
    let run = start(json!([map("each", json!([]), task("t")), task("a")]));
    assert_eq!((run.output_of("each"), run.step("a")), (json!([]), "RUNNING".to_owned()));
}

#[test]
fn a_list_may_come_from_an_expression_or_a_template() {
    let input = json!({ "list": [1, 2], "word": "x" });
    let expression = plan(over(json!("input.list"), json!({}))).input(input.clone()).start();
    let template = plan(over(json!("{{ input.list }}"), json!({}))).input(input.clone()).start();
    let written = plan(over(json!(["{{ input.word }}", "y"]), json!({}))).input(input.clone()).start();
    assert_eq!((expression.dispatched().len(), template.dispatched().len()), (2, 2));
    assert_eq!(*written.task("each[0]").input, json!({ "item": "x", "index": 0 }));
    assert_eq!(plan(over(json!("input.word"), json!({}))).input(input).start().error(), "NOT_A_LIST");
}

#[test]
fn a_map_over_a_thousand_items_that_end_at_once_is_one_decision() {
    let past = json!({ "type": "wait", "untilTimestamp": "2020-01-01T00:00:00Z" });
    let items: Vec<u32> = (0..1000).collect();
    let run = plan(json!([map("each", json!("input.items"), past)])).input(json!({ "items": items })).start();
    assert_eq!((run.status(), run.output().as_array().map(Vec::len)), ("COMPLETED".to_owned(), Some(1000)));
}
