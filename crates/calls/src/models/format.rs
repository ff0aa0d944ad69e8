//! How a model is told to answer in JSON: by the provider's own means where they take the schema, else in words.

use serde_json::{Value, json};

use super::call::{Call, Format};

/// What the chat and responses protocols call strict: every object closed, every property required, and none of the
/// words that they do not know.
pub(super) fn is_strict(schema: &Value) -> bool {
    const UNKNOWN: [&str; 12] = [
        "allOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "patternProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "propertyNames",
    ];
    match schema {
        Value::Object(map) => {
            if UNKNOWN.iter().any(|word| map.contains_key(*word)) {
                return false;
            }
            if map.get("type") == Some(&json!("object")) || map.contains_key("properties") {
                let empty = serde_json::Map::new();
                let properties = map.get("properties").and_then(Value::as_object).unwrap_or(&empty);
                let required = map.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let all = properties.keys().all(|name| required.iter().any(|given| given == name));
                if !all || map.get("additionalProperties") != Some(&Value::Bool(false)) {
                    return false;
                }
            }
            subschemas(map).all(is_strict)
        }
        Value::Bool(_) => false,
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => true,
    }
}

fn subschemas(map: &serde_json::Map<String, Value>) -> impl Iterator<Item = &Value> {
    let named =
        ["properties", "$defs", "definitions"].into_iter().filter_map(|word| map.get(word)?.as_object());
    let single = ["items"].into_iter().filter_map(|word| map.get(word));
    let listed = ["anyOf", "prefixItems"].into_iter().filter_map(|word| map.get(word)?.as_array());
    named.flat_map(serde_json::Map::values).chain(single).chain(listed.flatten())
}

/// All three protocols take only objects.
pub(super) fn is_of_object(schema: &Value) -> bool {
    schema.get("type") == Some(&json!("object"))
}

/// The schema as the messages protocol takes it: objects closed, bounds left out. What satisfies the given schema
/// may be written under it; the answer is checked against the given one. `None` if it cannot be said so.
pub(super) fn narrowed(schema: &Value) -> Option<Value> {
    const BOUNDS: [&str; 13] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "pattern",
    ];
    const UNKNOWN: [&str; 9] = [
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "patternProperties",
        "dependentSchemas",
        "unevaluatedProperties",
        "propertyNames",
    ];
    let Value::Object(map) = schema else { return None };
    let mut narrow = serde_json::Map::new();
    for (word, value) in map {
        match word.as_str() {
            word if BOUNDS.contains(&word) => {}
            word if UNKNOWN.contains(&word) => return None,
            "additionalProperties" if *value != Value::Bool(false) => return None,
            "properties" | "$defs" | "definitions" => {
                let members = value.as_object()?.iter();
                let members: Option<serde_json::Map<String, Value>> =
                    members.map(|(name, member)| Some((name.clone(), narrowed(member)?))).collect();
                narrow.insert(word.clone(), Value::Object(members?));
            }
            "items" => {
                narrow.insert(word.clone(), narrowed(value)?);
            }
            "anyOf" | "allOf" | "prefixItems" => {
                let members: Option<Vec<Value>> = value.as_array()?.iter().map(narrowed).collect();
                narrow.insert(word.clone(), Value::Array(members?));
            }
            _ => {
                narrow.insert(word.clone(), value.clone());
            }
        }
    }
    if map.get("type") == Some(&json!("object")) {
        narrow.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Some(Value::Object(narrow))
}

/// The system prompt, with the format in words where the provider is not told in its own.
pub(super) fn system(call: &Call, told: bool) -> Option<String> {
    let words = match &call.format {
        Format::Text => None,
        Format::Json => Some("Answer with one JSON object and nothing else.".to_owned()),
        Format::Schema(_) if told => None,
        Format::Schema(schema) => Some(format!(
            "Answer with one JSON value and nothing else. It satisfies this JSON Schema: {schema}"
        )),
    };
    match (call.system.clone(), words) {
        (Some(system), Some(words)) => Some(format!("{system}\n\n{words}")),
        (system, words) => system.or(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_strict_when_every_object_is_closed_and_every_property_required() {
        let point = json!({"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"],
            "additionalProperties": false});
        assert!(is_strict(&point));
        assert!(is_strict(&json!({"type": "object", "properties": {"at": point}, "required": ["at"],
            "additionalProperties": false})));
        let mut open = point.clone();
        open["additionalProperties"] = json!(true);
        let mut optional = point.clone();
        optional["required"] = json!([]);
        for loose in
            [open, optional, json!({"oneOf": [point]}), json!({"type": "array", "items": {"type": "object"}})]
        {
            assert!(!is_strict(&loose), "{loose}");
        }
    }

    #[test]
    fn bounds_are_left_out_and_objects_closed_for_the_messages_protocol() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}});
        let narrow = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false});
        assert_eq!(narrowed(&schema), Some(narrow));
        assert_eq!(narrowed(&json!({"type": "object", "additionalProperties": {"type": "string"}})), None);
        assert_eq!(narrowed(&json!(true)), None);
    }
}
