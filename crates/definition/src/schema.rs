//! The JSON Schema of a workflow's document, for editors and for [`shape`](super::shape): one source for both,
//! the types of [`document`](super::document). Derived, then made flat: each type of step becomes one object
//! that lists all its fields and allows no other.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::document::Workflow;

/// The keywords of JSON Schema that the check of a document's shape looks at.
pub(super) struct Keyword;

impl Keyword {
    pub(super) const REF: &str = "$ref";
    pub(super) const TYPE: &str = "type";
    pub(super) const PROPERTIES: &str = "properties";
    pub(super) const ADDITIONAL_PROPERTIES: &str = "additionalProperties";
    pub(super) const REQUIRED: &str = "required";
    pub(super) const ITEMS: &str = "items";
    pub(super) const MIN_ITEMS: &str = "minItems";
    pub(super) const MAX_ITEMS: &str = "maxItems";
    pub(super) const MIN_LENGTH: &str = "minLength";
    pub(super) const MAX_LENGTH: &str = "maxLength";
    pub(super) const MINIMUM: &str = "minimum";
    pub(super) const MAXIMUM: &str = "maximum";
    pub(super) const ENUM: &str = "enum";
    pub(super) const CONST: &str = "const";
    pub(super) const ONE_OF: &str = "oneOf";
    pub(super) const ANY_OF: &str = "anyOf";
}

static SCHEMA: LazyLock<Value> = LazyLock::new(derive);

/// The JSON Schema (draft 2020-12) of a workflow.
pub fn json_schema() -> Value {
    SCHEMA.clone()
}

/// The JSON Schema of a type whose objects allow no fields but their own. For [`misfits`](super::misfits).
pub fn closed_schema<T: JsonSchema>() -> Value {
    let derived = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let mut root = Value::from(derived);
    tighten(&mut root);
    root
}

pub(super) fn shared() -> &'static Value {
    &SCHEMA
}

fn derive() -> Value {
    let derived = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Workflow>();
    let mut root = Value::from(derived);
    for union in ["Step", "MapStep", "Member"] {
        flatten(&mut root, union);
    }
    let fields = root["properties"].as_object_mut().expect("a workflow is an object");
    fields.insert(
        "$schema".to_owned(),
        json!({"type": "string", "description": "Where this schema is, for editors."}),
    );
    tighten(&mut root);
    let used = definitions_used(&root);
    definitions(&mut root).retain(|name, _| used.contains(name));
    root
}

fn definitions(root: &mut Value) -> &mut Map<String, Value> {
    root["$defs"].as_object_mut().expect("a workflow has parts")
}

/// Turns "these fields, and those of one of the following" into one of several closed objects.
fn flatten(root: &mut Value, union: &str) {
    let step = definitions(root)[union].take();
    let mut choices = Vec::new();
    for variant in step["oneOf"].as_array().expect("a step is one of its types") {
        let part = variant["$ref"].as_str().and_then(part_name).expect("every type of step has its own part");
        let tag = variant["properties"]["type"]["const"].as_str().expect("a type is told by its name");
        let flat = flat_step(&step, &definitions(root)[part], tag);
        // Parts of their own have the name of the union already.
        let name = format!("{union}{}", part.strip_prefix(union).unwrap_or(part));
        choices.push(json!({"$ref": format!("#/$defs/{name}")}));
        definitions(root).insert(name, flat);
    }
    definitions(root)[union] = json!({"description": step["description"], "oneOf": choices});
}

fn flat_step(step: &Value, part: &Value, tag: &str) -> Value {
    let mut fields = Map::new();
    fields.insert("type".to_owned(), type_field(tag));
    let mut required = vec![Value::from("type")];
    for source in [step, part] {
        fields.extend(source["properties"].as_object().cloned().unwrap_or_default());
        required.extend(source["required"].as_array().cloned().unwrap_or_default());
    }
    json!({
        "title": tag,
        "description": part["description"],
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": false,
    })
}

/// Types that are read under another name too: the word that people try first.
pub(super) const ALIASES: [(&str, &str); 3] =
    [("wait", "sleep"), ("external_event", "wait_for_signal"), ("workflow", "child")];

fn type_field(tag: &str) -> Value {
    match ALIASES.iter().find(|(known, _)| *known == tag) {
        Some((tag, alias)) => json!({"type": "string", "enum": [tag, alias]}),
        None => json!({"type": "string", "const": tag}),
    }
}

/// Closes every object, and writes out the ranges that only a `format` tells.
fn tighten(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(tighten),
        Value::Object(keywords) => {
            if keywords.contains_key("properties") && keywords.get("type") == Some(&json!("object")) {
                keywords.entry("additionalProperties").or_insert(json!(false));
            }
            if keywords.get("format") == Some(&json!("uint32")) {
                keywords.entry("maximum").or_insert(json!(u32::MAX));
            }
            keywords.values_mut().for_each(tighten);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn definitions_used(root: &Value) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut open = vec![root];
    while let Some(schema) = open.pop() {
        match schema {
            Value::Array(schemas) => open.extend(schemas),
            Value::Object(keywords) => {
                if let Some(part) = keywords.get("$ref").and_then(Value::as_str).and_then(part_name)
                    && used.insert(part.to_owned())
                {
                    open.push(&root["$defs"][part]);
                }
                open.extend(
                    keywords.iter().filter(|(keyword, _)| *keyword != "$defs").map(|(_, schema)| schema),
                );
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    used
}

/// `#/$defs/Task` → `Task`.
pub(super) fn part_name(reference: &str) -> Option<&str> {
    reference.strip_prefix("#/$defs/")
}
