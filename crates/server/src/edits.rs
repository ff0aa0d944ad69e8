//! Content that people edit: read from a form, and typed by its schema. Whether it satisfies that, the engine checks.

use abide_core::definition::Schema;
use abide_core::problem::{Code as FindingCode, Problem as Finding};
use abide_core::waitpoint::ApprovalRequest;
use serde_json::{Map, Value};

use crate::problem::{Code, Problem};

/// The field of a call that holds the whole content.
pub(crate) const WHOLE: &str = "editedContent";
/// What the names of fields begin with that hold one property each.
pub(crate) const PROPERTY: &str = "edit/";

/// What a call says the content should be. In a form everything is text: it becomes what the schema says it is or,
/// without one, what the content was.
pub(crate) fn edited(body: &Value, is_form: bool, asked: &ApprovalRequest) -> Result<Option<Value>, Problem> {
    let whole = body.get(WHOLE);
    if !is_form {
        return Ok(whole.cloned());
    }
    let schema = asked.content_schema.as_deref().unwrap_or(&Value::Null);
    let properties: Vec<(&str, &Value)> = body
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.strip_prefix(PROPERTY)?, value)))
        .collect();
    if properties.is_empty() {
        let text = whole.and_then(Value::as_str);
        return text.map(|text| typed(schema, &asked.content, text, "")).transpose();
    }
    // What the form does not show stays as it is.
    let mut content = asked.content.as_object().cloned().unwrap_or_default();
    for (name, given) in properties {
        let of_property = &schema["properties"][name];
        let before = content.get(name).cloned().unwrap_or_default();
        match given.as_str().unwrap_or_default() {
            "" if !is_text(of_property, &before) || before.is_null() => drop(content.remove(name)),
            text => {
                let place = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
                content.insert(name.to_owned(), typed(of_property, &before, text, &place)?);
            }
        }
    }
    Ok(Some(Value::Object(content)))
}

/// A schema that a worker gives must be one.
pub(crate) fn check_schema(schema: &Value) -> Result<(), Problem> {
    let bad = |why| {
        Problem::malformed("/contentSchema", format!("/contentSchema: this is not a JSON Schema: {why}"))
    };
    Schema::compile(schema).map(drop).map_err(bad)
}

/// What is told of content that does not satisfy its schema.
pub(crate) fn invalid(errors: Vec<(String, String)>) -> Problem {
    let finding = |(place, why)| Finding::new(format!("/{WHOLE}{place}"), FindingCode::WrongType, why);
    Problem::found(Code::InvalidContent, errors.into_iter().map(finding).collect())
}

/// The types that a schema allows or, where it says nothing, the type that the value had.
fn types<'s>(schema: &'s Value, before: &Value) -> Vec<&'s str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => match before {
            Value::String(_) => vec!["string"],
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Vec::new()
            }
        },
    }
}

fn is_text(schema: &Value, before: &Value) -> bool {
    types(schema, before).contains(&"string")
}

/// A text of a form as what it stands for.
fn typed(schema: &Value, before: &Value, text: &str, place: &str) -> Result<Value, Problem> {
    let choices = schema["enum"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(chosen) = choices.iter().find(|choice| as_text(choice) == text) {
        return Ok(chosen.clone());
    }
    let types = types(schema, before);
    if types == ["string"] {
        return Ok(text.into());
    }
    match serde_json::from_str::<Value>(text.trim()) {
        // A text that happens to look like a number stays one, unless a number is wanted.
        Ok(value) if types.is_empty() || types.iter().any(|wanted| is_of(wanted, &value)) => Ok(value),
        Ok(_) | Err(_) if types.contains(&"string") => Ok(text.into()),
        Ok(value) => Ok(value),
        Err(_) => {
            let wanted = if types.is_empty() { "JSON".to_owned() } else { types.join(" or ") };
            Err(invalid(vec![(place.to_owned(), format!("`{text}` is not {wanted}"))]))
        }
    }
}

fn is_of(wanted: &str, value: &Value) -> bool {
    match value {
        Value::Null => wanted == "null",
        Value::Bool(_) => wanted == "boolean",
        Value::Number(_) => matches!(wanted, "number" | "integer"),
        Value::String(_) => wanted == "string",
        Value::Array(_) => wanted == "array",
        Value::Object(_) => wanted == "object",
    }
}

/// A value as a form shows it.
pub(crate) fn as_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => serde_json::to_string_pretty(value).expect("a value is JSON"),
    }
}

/// The properties that a form can show one by one, each with its schema, in the order of the schema.
pub(crate) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema["properties"].as_object().filter(|properties| !properties.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(content: Value, schema: Option<Value>) -> ApprovalRequest {
        ApprovalRequest {
            prompt: None,
            content: content.into(),
            content_schema: schema.map(Into::into),
            approvers: Vec::new(),
            quorum: 1,
            allow_self_approval: true,
            decisions: Vec::new(),
        }
    }

    #[test]
    fn a_form_gives_what_the_schema_says_and_keeps_what_it_does_not_show() {
        let schema = json!({ "properties": {
            "cents": { "type": "integer" }, "note": { "type": "string" }, "fast": { "type": "boolean" },
            "size": { "enum": [1, "big"] }, "left": { "type": "number" },
        }});
        let request = asked(json!({ "cents": 4900, "sku": "tea", "left": 2 }), Some(schema));
        let body = json!({ "edit/cents": "4200", "edit/note": "7", "edit/fast": "true", "edit/size": "1", "edit/left": "" });
        let expected = json!({ "cents": 4200, "note": "7", "fast": true, "size": 1, "sku": "tea" });
        assert_eq!(edited(&body, true, &request).unwrap(), Some(expected));
        let wrong = edited(&json!({ "edit/cents": "lots" }), true, &request).unwrap_err();
        assert_eq!(
            (wrong.code, wrong.detail.starts_with("/editedContent/cents: ")),
            (Code::InvalidContent, true)
        );
    }

    #[test]
    fn without_a_schema_a_form_gives_what_the_content_was() {
        let whole = |text: &str| json!({ "editedContent": text });
        let object = asked(json!({ "cents": 1 }), None);
        assert_eq!(edited(&whole("{\"cents\": 2}"), true, &object).unwrap(), Some(json!({ "cents": 2 })));
        assert!(edited(&whole("lots"), true, &object).is_err());
        let text = asked(json!("a draft"), None);
        assert_eq!(edited(&whole("7"), true, &text).unwrap(), Some(json!("7")));
        assert_eq!(edited(&json!({ "decision": "approve" }), true, &text).unwrap(), None);
    }
}
