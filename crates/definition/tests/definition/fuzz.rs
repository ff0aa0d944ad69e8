//! Whatever is given as a definition, the answer is a definition or a list of problems, never a panic. What has
//! the right shape can be read: the check itself panics where the two disagree.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use abide_definition::document::Workflow;
use abide_definition::problem::Code;
use abide_definition::{Checked, Definition, Locations, Rejected, Schema, json_schema};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::Config;
use serde_json::{Value, json};

fn config() -> Config {
    let cases = std::env::var("ABIDE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000);
    Config { cases, failure_persistence: None, ..Config::default() }
}

fn examples() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json" || extension == "yaml"));
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// The examples, as JSON.
fn documents() -> Vec<Value> {
    let read = |text: &String| {
        serde_json::to_value(&Definition::from_text(text).unwrap().definition.document).unwrap()
    };
    examples().iter().map(read).collect()
}

fn check(result: Result<Checked, Rejected>) {
    match result {
        Ok(checked) => {
            let again = Definition::from_json(&checked.definition.document.to_json()).unwrap();
            assert_eq!(again.definition.document, checked.definition.document);
            assert_eq!(again.warnings, checked.warnings);
        }
        Err(rejected) => assert!(!rejected.problems.is_empty() && !rejected.to_string().is_empty()),
    }
}

/// Words of the format, so that random JSON comes near to it.
fn word() -> impl Strategy<Value = String> {
    let known = select(vec![
        "name",
        "type",
        "steps",
        "task",
        "wait",
        "sleep",
        "handler",
        "durationMs",
        "duration",
        "after",
        "next",
        "end",
        "retry",
        "maxAttempts",
        "condition",
        "expression",
        "trueStep",
        "falseStep",
        "onTimeout",
        "goto",
        "map",
        "items",
        "step",
        "llm",
        "messages",
        "guardrails",
        "cron",
        "timezone",
        "{{ steps.a.output }}",
        "{{",
        "state.x >= 1",
        "30s",
        "a",
        "b",
        "input",
        "",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0_u64..100).prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(word(), inner, 0..8).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A change at some place of a document.
#[derive(Clone, Debug)]
enum Change {
    Delete,
    Replace(Value),
    Insert(String, Value),
    Copy(Index),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Delete),
        json_value().prop_map(Change::Replace),
        (word(), json_value()).prop_map(|(name, value)| Change::Insert(name, value)),
        any::<Index>().prop_map(Change::Copy),
    ]
}

fn pointers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((at, value)) = open.pop() {
        match value {
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(index, item)| (format!("{at}/{index}"), item)))
            }
            Value::Object(fields) => open.extend(fields.iter().map(|(name, field)| {
                (format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), field)
            })),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        found.push(at);
    }
    found
}

fn apply(document: &mut Value, place: &Index, change: Change) {
    let places = pointers(document);
    let at = place.get(&places);
    match change {
        Change::Replace(value) => *document.pointer_mut(at).unwrap() = value,
        Change::Copy(from) => {
            let from: &String = from.get(&places);
            let value = document.pointer(from).unwrap().clone();
            *document.pointer_mut(at).unwrap() = value;
        }
        Change::Insert(name, value) => match document.pointer_mut(at).unwrap() {
            Value::Array(items) => items.push(value),
            Value::Object(fields) => {
                fields.insert(name, value);
            }
            leaf @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => *leaf = value,
        },
        Change::Delete => {
            let Some((parent, last)) = at.rsplit_once('/') else { return };
            match document.pointer_mut(parent).unwrap() {
                Value::Array(items) => {
                    items.remove(last.parse().unwrap());
                }
                Value::Object(fields) => {
                    fields.remove(&last.replace("~1", "/").replace("~0", "~"));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }
}

#[test]
fn random_bytes_are_no_danger() {
    proptest!(config(), |(bytes in vec(any::<u8>(), 0..400))| {
        let text = String::from_utf8_lossy(&bytes);
        check(Definition::from_json(&text));
        check(Definition::from_yaml(&text));
        check(Definition::from_text(&text));
        Locations::of(&text).find("/steps/0");
    });
}

#[test]
fn random_json_is_no_danger() {
    proptest!(config(), |(steps in vec(json_value(), 0..5), other in json_value())| {
        check(Definition::from_value(json!({"name": "w", "steps": steps})));
        check(Definition::from_value(other));
    });
}

#[test]
fn a_good_document_with_random_changes_is_no_danger() {
    let documents = documents();
    let changes = vec((any::<Index>(), change()), 1..4);
    proptest!(config(), |(which in any::<Index>(), changes in changes)| {
        let mut document = which.get(&documents).clone();
        for (place, change) in changes {
            apply(&mut document, &place, change);
        }
        check(Definition::from_value(document));
    });
}

#[test]
fn a_good_text_with_random_changes_is_no_danger() {
    let texts = examples();
    let edits = vec((any::<Index>(), 0_usize..20, "[\\[\\]{}:,\"'&*|>#\\- \n\ta-z0-9]{0,6}"), 1..5);
    proptest!(config(), |(which in any::<Index>(), edits in edits)| {
        let mut text: Vec<char> = which.get(&texts).chars().collect();
        for (place, length, replacement) in edits {
            let start = place.index(text.len() + 1);
            let end = (start + length).min(text.len());
            text.splice(start..end, replacement.chars());
        }
        let text: String = text.into_iter().collect();
        check(Definition::from_text(&text));
        Locations::of(&text).find("/steps/1/name");
    });
}

/// A problem tells a place of the document, or one that is missing there.
#[test]
fn every_problem_can_be_located() {
    let documents = documents();
    proptest!(config(), |(which in any::<Index>(), place in any::<Index>(), change in change())| {
        let mut document = which.get(&documents).clone();
        apply(&mut document, &place, change);
        if let Err(rejected) = Definition::from_value(document.clone()) {
            for problem in &rejected.problems {
                prop_assert!(document.pointer(&problem.pointer).is_some(), "{problem} in {document}");
            }
        }
    });
}

/// A document made along the schema: everything required, some of the rest, numbers at the ends of their ranges.
fn grown(schema: &Value, parts: &Value, chance: &mut dyn FnMut(usize) -> usize) -> Value {
    if let Some(part) = schema.get("$ref").and_then(Value::as_str) {
        return grown(&parts[part.trim_start_matches("#/$defs/")], parts, chance);
    }
    if let Some(choices) = schema.get("oneOf").or(schema.get("anyOf")).and_then(Value::as_array) {
        return grown(&choices[chance(choices.len())], parts, chance);
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values[chance(values.len())].clone();
    }
    let kinds: Vec<&str> = match schema.get("type").and_then(Value::as_array) {
        Some(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        None => vec![schema.get("type").and_then(Value::as_str).unwrap_or("any")],
    };
    match kinds[chance(kinds.len())] {
        "null" => Value::Null,
        "boolean" => json!(chance(2) == 0),
        "integer" | "number" => {
            let least = schema.get("minimum").cloned().unwrap_or(json!(0));
            let most = schema.get("maximum").cloned().unwrap_or(json!(u64::MAX));
            [least, most][chance(2)].clone()
        }
        "string" => {
            let words =
                ["a", "b", "end", "30s", "{{ input.x }}", "https://x", "state.x > 1", "éééééééééééééééééééé"];
            let (least, most) = (schema.get("minLength"), schema.get("maxLength"));
            let most = most.and_then(Value::as_u64).unwrap_or(1000) as usize;
            let word = if least.is_none() && chance(5) == 0 { "" } else { words[chance(words.len())] };
            json!(word.chars().take(most).collect::<String>())
        }
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize;
            (0..least + chance(4)).map(|_| grown(&schema["items"], parts, chance)).collect()
        }
        "object" => {
            let required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let known = schema["properties"].as_object().into_iter().flatten();
            let fields = known.filter_map(|(name, field)| {
                let given = required.contains(&name.as_str()) || chance(3) == 0;
                given.then(|| (name.clone(), grown(field, parts, chance)))
            });
            let mut fields: serde_json::Map<String, Value> = fields.collect();
            if let Some(other @ Value::Object(_)) = schema.get("additionalProperties") {
                fields.insert("x-any".to_owned(), grown(other, parts, chance));
            }
            Value::Object(fields)
        }
        _ => [json!(null), json!({"a": ["{{ input.x }}", 1]}), json!("input.list"), json!([1, 2])][chance(4)]
            .clone(),
    }
}

#[test]
fn what_has_the_right_shape_can_be_read() {
    let schema = json_schema();
    let validator = Schema::compile(&schema).unwrap();
    proptest!(config(), |(dice in vec(any::<u16>(), 400))| {
        let mut dice = dice.iter().cycle();
        let mut chance = |sides: usize| usize::from(*dice.next().unwrap()) % sides;
        let document = grown(&schema, &schema["$defs"], &mut chance);
        prop_assert_eq!(validator.errors(&document), []);
        prop_assert!(serde_json::from_value::<Workflow>(document.clone()).is_ok(), "{}", document);
        let of_shape = [Code::UnknownField, Code::MissingField, Code::UnknownValue];
        let problems = Definition::from_value(document).err().map(|rejected| rejected.problems).unwrap_or_default();
        prop_assert!(problems.iter().all(|problem| !of_shape.contains(&problem.code)), "{:?}", problems);
    });
}
