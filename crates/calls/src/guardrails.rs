//! Checks of a model's answer, as functions of the answer. What a failed check leads to is decided in `tool_loop`.

use abide_core::definition::document::Guardrail;
use abide_core::definition::{Schema, blocked_pattern};
use serde_json::Value;

/// Of what is wrong with an answer, what is told.
const SHOWN_ERRORS: usize = 10;
/// Where an answer says how sure it is, if the guardrail does not say where.
const CONFIDENCE: &str = "confidence";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// Why not, for people and for the model.
    Failed(String),
    /// The check itself is wrong; no answer can pass it.
    Broken(String),
}

/// Everything but a judge, which is a call of its own.
pub fn check(guardrail: &Guardrail, output_schema: Option<&Value>, text: &str, value: &Value) -> Verdict {
    match guardrail {
        Guardrail::SchemaValidation { schema, .. } => match schema.as_ref().or(output_schema) {
            Some(schema) => schema_validation(schema, value),
            None => Verdict::Broken("there is no schema to satisfy".to_owned()),
        },
        Guardrail::ContentSafety { blocked, .. } => {
            content_safety(blocked.as_deref().unwrap_or_default(), text)
        }
        Guardrail::ConfidenceThreshold { path, minimum, .. } => {
            confidence_threshold(path.as_deref().unwrap_or(CONFIDENCE), *minimum, value)
        }
    }
}

pub fn name(guardrail: &Guardrail) -> &'static str {
    match guardrail {
        Guardrail::SchemaValidation { .. } => "schema_validation",
        Guardrail::ContentSafety { .. } => "content_safety",
        Guardrail::ConfidenceThreshold { .. } => "confidence_threshold",
    }
}

pub fn schema_validation(schema: &Value, value: &Value) -> Verdict {
    let schema = match Schema::compile(schema) {
        Ok(schema) => schema,
        Err(why) => return Verdict::Broken(why),
    };
    let errors = schema.errors(value);
    if errors.is_empty() {
        return Verdict::Passed;
    }
    let more = errors.len().saturating_sub(SHOWN_ERRORS);
    let mut told: Vec<String> = errors
        .into_iter()
        .take(SHOWN_ERRORS)
        .map(|(place, why)| if place.is_empty() { why } else { format!("at {place}: {why}") })
        .collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    Verdict::Failed(told.join("; "))
}

pub fn content_safety(blocked: &[String], text: &str) -> Verdict {
    for word in blocked {
        match blocked_pattern(word) {
            Err(why) => return Verdict::Broken(format!("`{word}` is not a pattern: {why}")),
            Ok(pattern) if pattern.is_match(text) => {
                return Verdict::Failed(format!("the answer contains `{word}`, which is blocked"));
            }
            Ok(_) => {}
        }
    }
    Verdict::Passed
}

pub fn confidence_threshold(path: &str, minimum: f64, value: &Value) -> Verdict {
    let found = path.split('.').try_fold(value, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        Value::Object(members) => members.get(name),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    });
    match found.and_then(Value::as_f64) {
        Some(confidence) if confidence >= minimum => Verdict::Passed,
        Some(confidence) => {
            Verdict::Failed(format!("`{path}` is {confidence}, and at least {minimum} is needed"))
        }
        None => {
            Verdict::Failed(format!("there is no number at `{path}`, and at least {minimum} is needed there"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failed(verdict: Verdict) -> String {
        match verdict {
            Verdict::Failed(why) => why,
            verdict @ (Verdict::Passed | Verdict::Broken(_)) => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn a_schema_is_checked_for_real_and_all_errors_are_told() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {"b": {"type": "integer"}}});
        assert_eq!(schema_validation(&schema, &json!({"a": 1, "b": 2})), Verdict::Passed);
        let why = failed(schema_validation(&schema, &json!({"b": "2"})));
        assert!(why.contains("\"a\" is a required property") && why.contains("at /b: "), "{why}");
        assert!(matches!(schema_validation(&json!({"type": "nonsense"}), &json!(1)), Verdict::Broken(_)));
    }

    #[test]
    fn a_blocked_word_is_found_whole_and_in_any_case() {
        let blocked = |words: &[&str], text: &str| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            content_safety(&words, text)
        };
        assert!(failed(blocked(&["ass"], "An ASS, he said")).contains("`ass`"));
        assert_eq!(blocked(&["ass"], "a class of grass"), Verdict::Passed);
        assert!(failed(blocked(&["c++"], "I like C++!")).contains("`c++`"));
        assert!(failed(blocked(&["über"], "ÜBER")).contains("`über`"));
        assert!(failed(blocked(&[r"/\b\d{4}-\d{4}\b/"], "card 1234-5678")).contains("blocked"));
        assert!(matches!(blocked(&["/(/"], "x"), Verdict::Broken(_)));
        assert_eq!(blocked(&[], "anything"), Verdict::Passed);
    }

    #[test]
    fn confidence_is_a_number_at_a_path() {
        assert_eq!(confidence_threshold("confidence", 0.7, &json!({"confidence": 0.7})), Verdict::Passed);
        assert!(
            failed(confidence_threshold("confidence", 0.7, &json!({"confidence": 0.69}))).contains("0.69")
        );
        assert_eq!(confidence_threshold("a.1.b", 0.5, &json!({"a": [0, {"b": 1}]})), Verdict::Passed);
        assert!(failed(confidence_threshold("a.b", 0.5, &json!({"a": "x"}))).contains("no number at `a.b`"));
        assert!(failed(confidence_threshold("a", 0.5, &json!({"a": "0.9"}))).contains("no number"));
    }
}
