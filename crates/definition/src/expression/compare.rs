//! Equality, order and membership of values.

use std::cmp::Ordering;

use serde_json::Value;

use super::EvaluationError;
use super::budget::Budget;
use super::number::Numeric;

/// Strict and deep; numbers by value.
pub(super) fn equal(left: &Value, right: &Value, budget: &mut Budget) -> Result<bool, EvaluationError> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
        (Value::Number(left), Value::Number(right)) => {
            budget.read(0)?;
            Ok(Numeric::from(left).compare(right.into()).is_eq())
        }
        (Value::String(left), Value::String(right)) => {
            budget.read(left.len().min(right.len()))?;
            Ok(left == right)
        }
        (Value::Array(left), Value::Array(right)) => {
            budget.read(0)?;
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right) {
                if !equal(left, right, budget)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Object(left), Value::Object(right)) => {
            budget.read(0)?;
            if left.len() != right.len() {
                return Ok(false);
            }
            for (key, left) in left {
                budget.read(key.len())?;
                let Some(right) = right.get(key) else { return Ok(false) };
                if !equal(left, right, budget)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (_, _) => Ok(false),
    }
}

/// Two numbers by value, or two strings by their characters; nothing else has an order.
pub(super) fn order(
    left: &Value,
    right: &Value,
    budget: &mut Budget,
) -> Result<Option<Ordering>, EvaluationError> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Ok(Some(Numeric::from(left).compare(right.into()))),
        (Value::String(left), Value::String(right)) => {
            budget.read(left.len().min(right.len()))?;
            Ok(Some(left.cmp(right)))
        }
        (_, _) => Ok(None),
    }
}

/// Whether a list holds an item, an object a key, or a text another; `None` where that makes no sense.
pub(super) fn holds(
    container: &Value,
    item: &Value,
    budget: &mut Budget,
) -> Result<Option<bool>, EvaluationError> {
    match (container, item) {
        (Value::Array(items), item) => {
            for each in items {
                budget.read(0)?;
                if equal(each, item, budget)? {
                    return Ok(Some(true));
                }
            }
            Ok(Some(false))
        }
        (Value::Object(fields), Value::String(key)) => Ok(Some(fields.contains_key(key))),
        (Value::String(text), Value::String(part)) => {
            budget.read(text.len())?;
            Ok(Some(text.contains(part.as_str())))
        }
        (_, _) => Ok(None),
    }
}

/// With its article, for messages.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn are_equal(left: Value, right: Value) -> bool {
        equal(&left, &right, &mut Budget::new()).unwrap()
    }

    #[test]
    fn deep_equality_compares_numbers_by_value_and_nothing_else_loosely() {
        assert!(are_equal(json!({"a": [1, {"b": 2.0}]}), json!({"a": [1.0, {"b": 2}]})));
        assert!(!are_equal(json!({"a": 1}), json!({"a": "1"})));
        assert!(!are_equal(json!([1, 2]), json!([1])));
        assert!(!are_equal(json!({"a": 1}), json!({"b": 1})));
        assert!(!are_equal(json!({"a": 1}), json!({"a": 1, "b": 1})));
        assert!(!are_equal(json!(false), json!(0)));
        assert!(!are_equal(json!(null), json!(false)));
    }

    #[test]
    fn strings_are_ordered_by_their_characters() {
        let order = |left: Value, right: Value| order(&left, &right, &mut Budget::new()).unwrap();
        assert_eq!(order(json!("a"), json!("b")), Some(Ordering::Less));
        assert_eq!(order(json!("10"), json!("9")), Some(Ordering::Less));
        assert_eq!(order(json!("10"), json!(9)), None);
        assert_eq!(order(json!([1]), json!([2])), None);
    }
}
