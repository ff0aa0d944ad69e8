//! Texts that are hard to read: too large, too deep, or written to harm.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::time::Work;

use abide_definition::document::Workflow;
use abide_definition::limits;
use abide_definition::problem::{Code, Problem};
use abide_definition::{Checked, Definition, Rejected};
use serde_json::{Value, json};

fn problem(checked: Result<Checked, Rejected>) -> Problem {
    let rejected = checked.expect_err("the document is accepted");
    assert_eq!(rejected.problems.len(), 1, "{rejected}");
    rejected.problems.into_iter().next().unwrap()
}

/// A workflow whose task has this input, in YAML.
fn with_input(input: &str) -> String {
    format!("name: w\nsteps:\n  - name: a\n    type: task\n    handler: h\n    input: {input}\n")
}

fn input_of(text: &str) -> Value {
    let document = Definition::from_yaml(text).unwrap().definition.document;
    serde_json::to_value(&document).unwrap()["steps"][0]["input"].clone()
}

#[test]
fn yaml_is_that_of_1_2() {
    let text =
        with_input("{on: yes, off: no, y: n, time: 12:30:00, day: 2026-04-15, none: ~, t: true, hex: 0xA}");
    assert_eq!(
        input_of(&text),
        json!({"on": "yes", "off": "no", "y": "n", "time": "12:30:00", "day": "2026-04-15", "none": null, "t": true, "hex": 10})
    );
}

#[test]
fn anchors_and_aliases_spare_repetition() {
    let text = "name: w\nsteps:\n  - {name: a, type: task, handler: h, retry: &patient {maxAttempts: 9}}\n  - {name: b, type: task, handler: h, retry: *patient}\n";
    let definition = Definition::from_yaml(text).unwrap().definition;
    assert_eq!(definition.steps[1].retry.max_attempts, 9);
}

#[test]
fn a_bomb_of_aliases_does_not_go_off() {
    let lists: String =
        (1..30).map(|level| format!("  - &l{level} [*l{0}, *l{0}, *l{0}, *l{0}]\n", level - 1)).collect();
    let work = Work::begin();
    let many = problem(Definition::from_yaml(&format!("name: w\nsteps:\n  - &l0 [x, x]\n{lists}")));
    assert_eq!(many.code, Code::LimitExceeded, "{many}");

    let text = "x".repeat(1024 * 1024);
    let large = format!("name: w\nsteps:\n  - &text {text}\n{}", "  - *text\n".repeat(1000));
    assert_eq!(problem(Definition::from_yaml(&large)).code, Code::LimitExceeded);
    assert!(work.so_far() < Duration::from_secs(5), "{:?}", work.so_far());
}

#[test]
fn a_second_document_is_refused() {
    let text = with_input("1") + "---\nname: other\n";
    let second = problem(Definition::from_yaml(&text));
    assert_eq!((second.code, second.expected.as_deref()), (Code::Unreadable, Some("one document a file")));
}

#[test]
fn tags_and_numbers_that_json_does_not_have_are_refused() {
    for input in [".inf", ".nan", "!custom x", "!!set {a}"] {
        assert_eq!(problem(Definition::from_yaml(&with_input(input))).code, Code::Unreadable, "{input}");
    }
    assert_eq!(problem(Definition::from_json(r#"{"name": 1e999}"#)).code, Code::Unreadable);
    assert!(input_of(&with_input("123456789012345678901234567890")).is_f64());
}

#[test]
fn a_document_larger_than_the_limit_is_refused_before_it_is_read() {
    let text = with_input(&"x".repeat(limits::DEFINITION_BYTES));
    assert_eq!(problem(Definition::from_text(&text)).code, Code::LimitExceeded);
    let value = json!({"name": "w", "description": "x".repeat(limits::DEFINITION_BYTES)});
    assert_eq!(problem(Definition::from_json(&value.to_string())).code, Code::LimitExceeded);
    assert_eq!(problem(Definition::from_value(value)).code, Code::LimitExceeded);
}

#[test]
fn deep_nesting_is_refused_in_every_form() {
    for depth in [limits::NESTING + 1, 100_000] {
        let nested = "[".repeat(depth) + &"]".repeat(depth);
        for text in [
            &nested,
            &with_input(&nested),
            &"- ".repeat(depth),
            &format!("{{\"a\": {nested}}}"),
            &"{\"a\":".repeat(depth),
            &"{a: ".repeat(depth),
        ] {
            let rejected = Definition::from_text(text).unwrap_err();
            assert!(
                [Code::LimitExceeded, Code::Unreadable].contains(&rejected.problems[0].code),
                "{rejected}"
            );
        }
    }
    let deep = nested_value(1_000_000);
    assert_eq!(problem(Definition::from_value(deep)).code, Code::LimitExceeded);
    let built = Workflow::new("w").task("a", "h").input(nested_value(1_000_000)).check();
    assert_eq!(problem(built).code, Code::LimitExceeded);
}

fn nested_value(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

#[test]
fn nesting_up_to_the_limit_is_read() {
    // The input lies inside of the document, its list of steps, and its step.
    let depth = limits::NESTING - 3;
    let nested = "[".repeat(depth) + &"]".repeat(depth);
    assert!(Definition::from_yaml(&with_input(&nested)).is_ok());
    let json = format!(
        r#"{{"name": "w", "steps": [{{"name": "a", "type": "task", "handler": "h", "input": {nested}}}]}}"#
    );
    assert!(Definition::from_json(&json).is_ok());
    assert_eq!(
        problem(Definition::from_json(&json.replace(&nested, &format!("[{nested}]")))).code,
        Code::LimitExceeded
    );
}

#[test]
fn a_long_key_over_many_values_is_refused_and_not_worked_through() {
    let work = Work::begin();
    let text = format!(
        r#"{{"name": "w", "steps": [{{"name": "a", "type": "task", "handler": "h", "input": {{"{}": [{}1]}}}}]}}"#,
        "k".repeat(1_000_000),
        "1,".repeat(1_000_000)
    );
    assert_eq!(problem(Definition::from_json(&text)).code, Code::LimitExceeded);
    assert!(work.so_far() < Duration::from_secs(5), "{:?}", work.so_far());
}

#[test]
fn a_long_text_is_not_repeated_in_a_message() {
    let long = "y".repeat(100_000);
    let text = format!("name: w\nsteps: [{{name: a, type: {long}}}]");
    let told = problem(Definition::from_text(&text));
    assert!(told.message.len() < 500 && told.expected.unwrap().len() < 500);
}

#[test]
fn a_schema_that_refers_to_itself_is_no_trap() {
    let recursive = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["id"]});
    let text = json!({"name": "w", "inputSchema": recursive, "steps": [{"name": "a", "type": "task", "handler": "h"}]});
    let definition = Definition::from_value(text).unwrap().definition;
    let schema = definition.input_schema.unwrap();
    assert_eq!(schema.errors(&json!({"id": 1, "next": {"id": 2}})), []);
    assert_eq!(schema.errors(&json!({"id": 1, "next": {}}))[0].0, "/next");
}

#[test]
fn a_thousand_steps_in_a_graph_are_compiled_quickly() {
    let steps: Vec<Value> = (0..1000)
        .map(|step: usize| {
            let after: Vec<String> =
                (step.saturating_sub(100)..step).map(|earlier| format!("s{earlier}")).collect();
            json!({"name": format!("s{step}"), "type": "task", "handler": "h", "after": after})
        })
        .collect();
    let work = Work::begin();
    let definition = Definition::from_value(json!({"name": "w", "steps": steps})).unwrap().definition;
    assert!(work.so_far() < Duration::from_secs(2), "{:?}", work.so_far());
    assert_eq!((definition.steps[999].after.len(), definition.steps[0].before.len()), (100, 100));
}

#[test]
fn one_cycle_through_a_thousand_steps_is_told_once() {
    let steps: Vec<Value> = (0..1000)
        .map(|step| json!({"name": format!("s{step}"), "type": "task", "handler": "h", "after": [format!("s{}", (step + 999) % 1000)]}))
        .collect();
    let cycle = problem(Definition::from_value(json!({"name": "w", "steps": steps})));
    assert_eq!((cycle.pointer.as_str(), cycle.code), ("/steps/0/after", Code::Cycle));
    assert!(cycle.message.contains("`s0` → `s1` →") && cycle.message.ends_with("→ `s0`"), "{cycle}");
}

/// Found by chance: serde reads a list as a struct, and the problems it then has are nowhere in the document.
#[test]
fn a_list_where_an_object_belongs_is_told_once_and_where_it_stands() {
    let step = r#"{"type": "task", "handler": "h", "retry": [0, 31536000001]}"#;
    let text =
        format!(r#"{{"name": "w", "steps": [{{"name": "a", "type": "map", "items": [], "step": {step}}}]}}"#);
    let rejected = Definition::from_json(&text).unwrap_err();
    let pointers: Vec<&str> = rejected.problems.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(pointers, ["/steps/0/step/retry"]);
}
