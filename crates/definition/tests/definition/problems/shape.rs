use abide_definition::problem::Code;
use abide_definition::time::Millis;
use abide_definition::{Action, Definition, Until};

use super::{assert_is, problem, problem_of_steps};

const STEPS: &str = "steps: [{name: a, type: task, handler: h}]";

#[test]
fn a_text_that_is_neither_json_nor_yaml_is_unreadable() {
    assert_is(&problem("{\"name\": \"w\","), "", Code::Unreadable, None);
    assert_is(&problem("name: [w"), "", Code::Unreadable, None);
    assert_is(&problem("  \n "), "", Code::Unreadable, None);
    let trailing = problem("{\"name\": \"w\"} x");
    assert_is(&trailing, "", Code::Unreadable, None);
    assert!(trailing.message.contains("line 1"), "{trailing}");
}

#[test]
fn a_document_that_is_no_object_says_what_it_is() {
    for text in ["[]", "- a", "just text", "5", "~"] {
        assert_is(&problem(text), "", Code::WrongType, None);
    }
}

#[test]
fn an_unknown_field_comes_with_the_nearest_one_that_is_not_given_yet() {
    assert_is(
        &problem(&format!("name: w\nverson: \"1\"\n{STEPS}")),
        "/verson",
        Code::UnknownField,
        Some("version"),
    );
    let step = problem_of_steps("{name: a, type: task, handler: h, timeoutms: 5}");
    assert_is(&step, "/steps/0/timeoutms", Code::UnknownField, Some("timeoutMs"));
    let given = problem_of_steps("{name: a, type: task, handler: h, handlr: h}");
    assert_is(&given, "/steps/0/handlr", Code::UnknownField, None);
    assert!(given.expected.unwrap().contains("`heartbeatMs`"));
    assert_is(
        &problem_of_steps("{name: a, type: task, handler: h, retry: {maxAttempt: 2}}"),
        "/steps/0/retry/maxAttempt",
        Code::UnknownField,
        Some("maxAttempts"),
    );
}

#[test]
fn a_field_of_another_type_of_step_is_unknown() {
    assert_is(
        &problem_of_steps("{name: a, type: wait, durationMs: 5, handler: h}"),
        "/steps/0/handler",
        Code::UnknownField,
        None,
    );
    let inner =
        problem_of_steps("{name: a, type: map, items: input.x, step: {type: task, handler: h, name: b}}");
    assert_is(&inner, "/steps/0/step/name", Code::UnknownField, None);
}

#[test]
fn a_missing_field_is_named() {
    let name = problem(STEPS);
    assert_is(&name, "", Code::MissingField, None);
    assert_eq!(name.expected.as_deref(), Some("`name`: text of 1 to 200 characters"));
    assert_is(&problem_of_steps("{name: a, type: task}"), "/steps/0", Code::MissingField, None);
    let kind = problem_of_steps("{name: a, handler: h}");
    assert_is(&kind, "/steps/0", Code::MissingField, None);
    assert!(kind.message.contains("`type`") && kind.expected.unwrap().contains("`wait_for_event`"));
}

#[test]
fn a_wrong_type_says_what_was_found_and_what_belongs_there() {
    let version = problem(&format!("name: w\nversion: 1\n{STEPS}"));
    assert_is(&version, "/version", Code::WrongType, None);
    assert_eq!(version.message, "found the number 1");
    assert_eq!(version.expected.as_deref(), Some("text of 1 to 50 characters: in quotes, \"1\""));
    assert_is(&problem_of_steps("{name: a, type: 5}"), "/steps/0/type", Code::WrongType, None);
    assert_is(&problem_of_steps("task"), "/steps/0", Code::WrongType, None);
    assert_is(
        &problem_of_steps("{name: a, type: webhook, allowGet: \"yes\"}"),
        "/steps/0/allowGet",
        Code::WrongType,
        None,
    );
    assert_is(
        &problem_of_steps("{name: a, type: task, handler: h, after: b}"),
        "/steps/0/after",
        Code::WrongType,
        None,
    );
    assert_is(
        &problem_of_steps("{name: a, type: http, url: 'http://x', headers: {a: 1}}"),
        "/steps/0/headers/a",
        Code::WrongType,
        None,
    );
}

#[test]
fn text_where_milliseconds_belong_leads_to_the_field_for_durations() {
    let wait = problem_of_steps("{name: a, type: wait, durationMs: 30s}");
    assert_is(&wait, "/steps/0/durationMs", Code::WrongType, Some("duration"));
}

/// A07, F32: the seed's type is `number`, and whoever computes with floats writes `1800000.0`.
#[test]
fn whole_numbers_may_be_written_with_a_point_or_an_exponent() {
    for written in ["1800000", "1800000.0", "1.8e6", "1.8E+6"] {
        for document in [
            format!("name: w\nsteps: [{{name: a, type: wait, durationMs: {written}}}]"),
            format!(
                "{{\"name\": \"w\", \"steps\": [{{\"name\": \"a\", \"type\": \"wait\", \"durationMs\": {written}}}]}}"
            ),
        ] {
            let read = Definition::from_text(&document).unwrap().definition;
            assert!(
                matches!(read.steps[0].action, Action::Wait(Until::For(Millis(1_800_000)))),
                "{document}"
            );
        }
    }
    let retry =
        "name: w\nsteps: [{name: a, type: task, handler: h, config: {n: 2.0}, retry: {maxAttempts: 2.0}}]";
    let read = Definition::from_text(retry).unwrap().definition;
    assert_eq!(read.steps[0].retry.max_attempts, 2);
    let document = serde_json::to_value(&read.document).unwrap();
    assert_eq!(
        document["steps"][0]["config"],
        serde_json::json!({ "n": 2.0 }),
        "what is the author's own stays"
    );
}

/// Half a millisecond is a mistake, not something to round.
#[test]
fn a_part_of_a_millisecond_is_refused() {
    for written in ["1500.5", "1e300", "-1.0"] {
        let part = problem_of_steps(&format!("{{name: a, type: wait, durationMs: {written}}}"));
        assert_eq!(part.pointer, "/steps/0/durationMs", "{part}");
        assert!(part.expected.as_deref().is_some_and(|text| text.starts_with("a whole number")), "{part}");
    }
}

#[test]
fn numbers_and_texts_outside_their_range_are_refused() {
    for (step, pointer) in [
        ("{name: a, type: task, handler: h, timeoutMs: 0}", "/steps/0/timeoutMs"),
        ("{name: a, type: task, handler: h, retry: {maxAttempts: 21}}", "/steps/0/retry/maxAttempts"),
        ("{name: a, type: task, handler: h, retry: {backoffMs: 99}}", "/steps/0/retry/backoffMs"),
        (
            "{name: a, type: task, handler: h, retry: {backoffMultiplier: 10.5}}",
            "/steps/0/retry/backoffMultiplier",
        ),
        ("{name: a, type: wait, durationMs: -1}", "/steps/0/durationMs"),
        ("{name: a, type: llm, model: m, messages: []}", "/steps/0/messages"),
        (
            "{name: a, type: llm, model: m, messages: [{role: user, content: x}], maxTokens: 5000000000}",
            "/steps/0/maxTokens",
        ),
        ("{name: a, type: respond, status: 99}", "/steps/0/status"),
        ("{name: '', type: task, handler: h}", "/steps/0/name"),
        ("{name: a, type: approval, contentKey: k, approvers: ['']}", "/steps/0/approvers/0"),
    ] {
        assert_is(&problem_of_steps(step), pointer, Code::OutOfRange, None);
    }
    assert_is(&problem(&format!("name: {}\n{STEPS}", "é".repeat(201))), "/name", Code::OutOfRange, None);
    assert!(Definition::from_text(&format!("name: {}\n{STEPS}", "é".repeat(200))).is_ok());
    assert_is(&problem("{\"name\": \"w\", \"steps\": []}"), "/steps", Code::OutOfRange, None);
}

#[test]
fn an_unknown_value_comes_with_the_nearest_one() {
    for (step, pointer, nearest) in [
        ("{name: a, type: conditon}", "/steps/0/type", Some("condition")),
        ("{name: a, type: slep, durationMs: 5}", "/steps/0/type", Some("sleep")),
        ("{name: a, type: unheard-of}", "/steps/0/type", None),
        ("{name: a, type: http, url: 'http://x', method: post}", "/steps/0/method", Some("POST")),
        ("{name: a, type: http, url: 'http://x', failOn: [6xx]}", "/steps/0/failOn/0", Some("1xx")),
        ("{name: a, type: webhook, onTimeout: contniue}", "/steps/0/onTimeout", Some("continue")),
        ("{name: a, type: map, items: x, step: {type: condition}}", "/steps/0/step/type", None),
        ("{name: a, type: notify, eventId: e, delivery: every}", "/steps/0/delivery", None),
    ] {
        assert_is(&problem_of_steps(step), pointer, Code::UnknownValue, nearest);
    }
}

#[test]
fn a_field_given_twice_is_refused_in_json_and_in_yaml() {
    let json = problem(r#"{"name": "w", "steps": [{"name": "a", "name": "b"}]}"#);
    assert_is(&json, "/steps/0/name", Code::DuplicateName, None);
    let yaml = problem("name: w\nsteps:\n  - name: a\n    name: b\n");
    assert_is(&yaml, "/steps/0/name", Code::DuplicateName, None);
}

#[test]
fn null_is_the_same_as_absent() {
    let text = "name: w\ndescription: null\nsteps: [{name: a, type: task, handler: h, input: ~, retry: ~, after: ~}]";
    let definition = Definition::from_text(text).unwrap().definition;
    assert_eq!(definition.document.steps[0].after, None);
}

#[test]
fn a_thousand_steps_are_allowed_and_one_more_is_not() {
    let steps = |count: usize| {
        let steps: String =
            (0..count).map(|step| format!("  - {{name: s{step}, type: task, handler: h}}\n")).collect();
        format!("name: w\nsteps:\n{steps}")
    };
    assert!(Definition::from_text(&steps(1000)).is_ok());
    let too_many = problem(&steps(1001));
    assert_is(&too_many, "/steps", Code::LimitExceeded, None);
    assert!(too_many.message.contains("1001") && too_many.message.contains("1000"), "{too_many}");
}

#[test]
fn the_names_of_the_file_formats_of_editors_are_not_in_the_way() {
    assert!(Definition::from_text(&format!("$schema: workflow.schema.json\nname: w\n{STEPS}")).is_ok());
    assert!(Definition::from_text(&format!("\u{feff}name: w\n{STEPS}")).is_ok(), "a byte order mark");
    assert!(Definition::from_text("\u{feff} {\"name\": \"w\", \"steps\": [{\"name\": \"a\", \"type\": \"task\", \"handler\": \"h\"}]}").is_ok());
}
