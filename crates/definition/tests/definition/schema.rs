//! The exported JSON Schema.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use abide_definition::{Definition, Schema, json_schema};
use serde_json::{Value, json};

/// Rewrites the file when `ABIDE_BLESS` is set.
#[test]
fn the_exported_schema_is_that_of_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/workflow.schema.json");
    let exported = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    if std::env::var_os("ABIDE_BLESS").is_some() {
        std::fs::write(&file, &exported).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == exported,
        "schema/workflow.schema.json has drifted; run the test with ABIDE_BLESS=1"
    );
}

#[test]
fn every_type_of_step_is_one_closed_object() {
    let schema = json_schema();
    let choices = schema["$defs"]["Step"]["oneOf"].as_array().unwrap();
    assert_eq!(choices.len(), 16);
    for choice in choices {
        let name = choice["$ref"].as_str().unwrap().strip_prefix("#/$defs/").unwrap();
        let step = &schema["$defs"][name];
        assert_eq!(step["additionalProperties"], json!(false), "{name}");
        assert!(step["properties"]["name"].is_object() && step["properties"]["type"].is_object(), "{name}");
        assert!(step["description"].is_string(), "{name}");
    }
    assert_eq!(schema["$defs"]["StepWait"]["properties"]["type"]["enum"], json!(["wait", "sleep"]));
}

/// A general validator says yes and no where our own walk does.
#[test]
fn the_exported_schema_agrees_with_the_check() {
    let schema = Schema::compile(&json_schema()).unwrap();
    let good: Value = json!({"$schema": "workflow.schema.json", "name": "a", "steps": [{"name": "b", "type": "sleep", "durationMs": 5}]});
    assert_eq!(schema.errors(&good), []);
    Definition::from_value(good).unwrap();
    for bad in [
        json!({"name": "a", "steps": []}),
        json!({"name": "", "steps": [{"name": "b", "type": "wait", "durationMs": 5}]}),
        json!({"name": "a", "steps": [{"name": "b", "type": "wait", "durationMs": -5}]}),
        json!({"name": "a", "steps": [{"name": "b", "type": "wate", "durationMs": 5}]}),
        json!({"name": "a", "steps": [{"name": "b", "type": "wait", "durationMs": 5, "handler": "x"}]}),
        json!({"name": "a", "steps": [{"name": "b", "type": "http", "url": "http://x", "failOn": ["6xx"]}]}),
        json!({"name": "a", "steps": [{"name": "b", "type": "external_event", "signalType": "x", "onTimeout": "go"}]}),
    ] {
        assert_ne!(schema.errors(&bad), [], "{bad}");
        Definition::from_value(bad.clone()).expect_err(&bad.to_string());
    }
}
