//! What becomes of results: `state`, `saveAs`, templates, and what a task gets to see.

use serde_json::{Value, json};

use crate::scenario::*;

#[test]
fn state_updates_are_merged_shallowly() {
    let mut run = start(json!([task("a"), task("b")]));
    run.update("a", json!({ "x": { "deep": 1 }, "y": 1 }));
    run.update("b", json!({ "x": { "other": 2 } }));
    assert_eq!(run.state(), json!({ "x": { "other": 2 }, "y": 1 }));
}

#[test]
fn a_task_s_output_alone_does_not_touch_the_state() {
    let mut run = start(json!([task("a")]));
    run.complete("a", json!({ "x": 1 }));
    assert_eq!((run.state(), run.output_of("a")), (json!({}), json!({ "x": 1 })));
}

#[test]
fn save_as_stores_a_task_s_updates_or_else_its_output() {
    let steps = || json!([task("a").also(json!({ "saveAs": "kept" })), task("b")]);
    let mut run = start(steps());
    run.update("a", json!({ "x": 1 }));
    assert_eq!(run.state(), json!({ "kept": { "x": 1 } }));
    let mut run = start(steps());
    run.complete("a", json!([1, 2]));
    assert_eq!(run.state(), json!({ "kept": [1, 2] }));
}

#[test]
fn a_signal_s_object_is_merged_and_anything_else_goes_under_the_step_s_name() {
    let mut run = start(json!([
        signal("x", "go"),
        signal("y", "go"),
        signal("z", "go").also(json!({ "saveAs": "kept" }))
    ]));
    run.signal("go", json!({ "amount": 99.5 }));
    run.signal("go", json!("word"));
    run.signal("go", json!({ "n": 1 }));
    assert_eq!(run.state(), json!({ "amount": 99.5, "y": "word", "kept": { "n": 1 } }));
}

#[test]
fn a_model_s_object_is_merged_and_its_text_goes_under_the_step_s_name() {
    let mut run = start(json!([llm("ask"), llm("write"), llm("save").also(json!({ "saveAs": "kept" }))]));
    run.complete("ask", json!({ "score": 80 }));
    run.complete("write", json!("Dear Ana"));
    run.complete("save", json!({ "n": 1 }));
    assert_eq!(run.state(), json!({ "score": 80, "write": "Dear Ana", "kept": { "n": 1 } }));
}

#[test]
fn a_model_s_answer_that_was_paid_for_never_fails_for_its_keys() {
    let asks = json!({ "input": { "from": "{{ state.state }}", "to": "{{ state[\"city\"] }}", "of": "{{ input.n }}" } });
    let mut run = plan(json!([llm("ask"), task("go").also(asks)])).input(json!({ "n": 7 })).start();
    run.complete("ask", json!({ "city": "SF", "state": "CA", "input": "typed", "steps": 3 }));
    assert_eq!(run.state(), json!({ "city": "SF", "state": "CA", "input": "typed", "steps": 3 }));
    assert_eq!(*run.task("go").input, json!({ "from": "CA", "to": "SF", "of": 7 }));
}

/// A07: `5.0` from a template failed the step with BAD_TIME.
#[test]
fn a_template_that_gives_a_whole_number_as_a_float_is_a_length() {
    let nap = json!({ "name": "nap", "type": "wait", "duration": "{{ input.ms }}" });
    let until = |ms: Value| plan(json!([nap.clone()])).input(json!({ "ms": ms })).start().timers()[0].0;
    assert_eq!(until(json!(60_000.0)), until(json!(60_000)));
    assert_eq!(plan(json!([nap])).input(json!({ "ms": 1500.5 })).start().error(), "BAD_TIME");
}

/// F37: an offset of more than a day is no offset.
#[test]
fn an_instant_from_a_template_has_an_offset_of_less_than_a_day() {
    let nap = json!({ "name": "nap", "type": "wait", "untilTimestamp": "{{ input.at }}" });
    let run = |at: &str| plan(json!([nap.clone()])).input(json!({ "at": at })).start();
    assert_eq!(run("2026-04-15T09:00:00+25:59").error(), "BAD_TIME");
    assert_eq!(run("2026-04-15T09:00:00+14:00").status(), "WAITING");
}

/// A step tells how old the event is that it took.
#[test]
fn expressions_read_when_an_event_was_received() {
    let reads = json!({ "input": { "at": "{{ steps.e.event.receivedAt }}" } });
    let mut run = start(json!([task("a"), event("e", "paid"), task("b").also(reads)]));
    run.notify("paid", json!(1));
    run.advance("20d");
    run.complete("a", json!(1));
    run.look_back();
    assert_eq!(*run.task("b").input, json!({ "at": "2026-03-01T08:00:00Z" }));
}

/// The words people try first.
#[test]
fn wait_for_signal_and_child_are_read_as_what_they_mean() {
    let run = start(json!([
        { "name": "s", "type": "wait_for_signal", "signalType": "go" },
        { "name": "c", "type": "child", "definition": "other" },
        { "name": "m", "type": "map", "items": [1], "step": { "type": "child", "definition": "other" } },
    ]));
    assert_eq!(run.open(), ["s SIGNAL"]);
    let document = serde_json::to_value(&run.run().definition.document).unwrap();
    assert_eq!(
        (&document["steps"][0]["type"], &document["steps"][1]["type"]),
        (&json!("external_event"), &json!("workflow"))
    );
}

#[test]
fn save_as_stores_the_result_of_every_kind_of_step() {
    let kept = || json!({ "saveAs": "kept" });
    let state_of = |step: Value, act: fn(&mut Scenario)| {
        let mut run = start(json!([task("write"), step.also(kept()), task("z")]));
        run.update("write", json!({ "draft": "text" }));
        act(&mut run);
        run.state()["kept"].clone()
    };
    assert_eq!(state_of(event("s", "go"), |run| drop(run.notify("go", json!(1)))), json!(1));
    assert_eq!(state_of(webhook("s"), |run| drop(run.call("s", json!(1)))), json!({ "body": 1 }));
    assert_eq!(state_of(child("s"), |run| drop(run.child_completes("s", json!(1)))), json!(1));
    assert_eq!(
        state_of(map("s", json!([1]), task("t")), |run| drop(run.complete("s[0]", json!(5)))),
        json!([5])
    );
    assert_eq!(state_of(condition("s", "true", "z", "end"), |_| ()), json!({ "result": true }));
}

#[test]
fn save_as_stores_what_people_decided() {
    let steps = || json!([task("write"), approval("ok").also(json!({ "saveAs": "verdict" })), task("z")]);
    let mut run = start(steps());
    run.update("write", json!({ "draft": "text" }));
    run.approve("anna", "ok");
    assert_eq!(run.state()["verdict"]["decision"], json!("approve"));
    let mut run = start(steps());
    run.update("write", json!({ "draft": "text" }));
    run.edit("anna", "ok", json!("better"));
    assert_eq!(
        (run.state()["verdict"]["decision"].clone(), run.state()["draft"].clone()),
        (json!("edit"), json!("better"))
    );
}

#[test]
fn save_as_stores_that_nothing_came_in_time() {
    let late = json!({ "saveAs": "reply", "timeout": "1h", "onTimeout": "continue" });
    let mut run = start(json!([signal("s", "go").also(late), task("z")]));
    run.live("1h");
    assert_eq!(run.state(), json!({ "reply": { "timeout": true } }));
}

#[test]
fn without_save_as_a_timeout_does_not_touch_the_state() {
    let mut run = start(json!([
        signal("s", "go").also(json!({ "timeout": "1h", "onTimeout": "continue" })),
        task("z")
    ]));
    run.live("1h");
    assert_eq!(run.state(), json!({}));
}

#[test]
fn items_of_a_map_do_not_touch_the_state() {
    let mut run = start(json!([map("each", json!([1, 2]), llm("ask")), task("z")]));
    run.complete("each[0]", json!({ "n": 1 }));
    run.complete("each[1]", json!({ "n": 2 }));
    assert_eq!((run.state(), run.output_of("each")), (json!({}), json!([{ "n": 1 }, { "n": 2 }])));
}

#[test]
fn a_task_gets_its_input_rendered_and_the_run_s_input_if_it_has_none() {
    let rendered = task("b").also(json!({
        "input": {
            "name": "{{ state.name }}", "text": "Dear {{ state.name }}!",
            "before": "{{ steps.a.output }}", "all": "{{ input }}",
        },
        "config": { "region": "{{ input.region }}" },
    }));
    let mut run = plan(json!([task("a").also(json!({ "saveAs": "name" })), rendered]))
        .input(json!({ "region": "EU" }))
        .start();
    assert_eq!(*run.task("a").input, json!({ "region": "EU" }));
    run.complete("a", json!("Ana"));
    let task = run.task("b");
    let input = json!({ "name": "Ana", "text": "Dear Ana!", "before": "Ana", "all": { "region": "EU" } });
    assert_eq!((&*task.input, &*task.config), (&input, &json!({ "region": "EU" })));
    assert_eq!(task.state, json!({ "name": "Ana" }));
}

#[test]
fn a_template_keeps_to_what_was_when_the_step_began() {
    let steps = json!([
        task("a").after(&[]),
        task("b").also(json!({ "input": "{{ state.n }}" })).after(&["a"]),
        task("c").after(&["a"]),
    ]);
    let mut run = start(steps);
    run.update("a", json!({ "n": 1 }));
    run.update("c", json!({ "n": 2 }));
    run.lose_worker("b");
    assert_eq!(*run.task("b").input, json!(1));
}

#[test]
fn a_template_that_names_nothing_fails_the_step_and_names_the_path() {
    let mut run = start(json!([task("a"), task("b").also(json!({ "input": "{{ state.missing.path }}" }))]));
    run.complete("a", json!(1));
    let error = run.run().error.clone().expect("the run has failed");
    assert_eq!(&*error.code, "EXPRESSION_FAILED");
    assert!(error.message.contains("state.missing.path"), "{}", error.message);
}

#[test]
fn the_input_never_changes() {
    let mut run = plan(json!([task("a"), signal("s", "go")])).input(json!({ "n": 1 })).start();
    run.update("a", json!({ "n": 2 }));
    run.signal("go", json!({ "n": 3 }));
    assert_eq!(*run.run().input, json!({ "n": 1 }));
}

#[test]
fn numbers_nulls_and_deep_values_come_back_as_they_were() {
    let odd = json!({
        "big": u64::MAX, "small": i64::MIN, "float": 0.1, "huge": 1e300, "null": null, "empty": {}, "list": [[], [null]],
        "text": "\u{0000}\"\\ \u{1F600}", "": "no name",
    });
    let mut run = start(json!([task("a"), signal("s", "go").also(json!({ "saveAs": "kept" })), task("b")]));
    run.complete("a", odd.clone());
    run.signal("go", odd.clone());
    assert_eq!((run.output_of("a"), run.state()["kept"].clone()), (odd.clone(), odd));
}

#[test]
fn tags_stay_with_the_run_and_expressions_see_them() {
    let steps = json!([condition("if", "run.tags[0] == \"vip\"", "a", "end"), task("a")]);
    let run = plan(steps).tags(&["vip", "eu"]).start();
    assert_eq!((run.step("a"), run.run().tags.len()), ("RUNNING".to_owned(), 2));
}
