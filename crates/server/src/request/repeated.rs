//! Names that may be given more than once, as in queries and forms.

use serde_json::{Map, Value};

/// A name that is given more than once has a list.
pub(super) fn put(pairs: &mut Map<String, Value>, name: String, value: Value) {
    match pairs.get_mut(&name) {
        None => drop(pairs.insert(name, value)),
        Some(Value::Array(values)) => values.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}
