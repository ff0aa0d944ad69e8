//! JSON Schemas that authors write: for a run's input, a model's answer, a tool's arguments. A schema refers to
//! nothing outside itself, its patterns take linear time, and what checking a value costs is known before it is done.

mod work;

use jsonschema::PatternOptions;
use serde_json::Value;
use work::Graph;

use crate::limits;

/// A compiled pattern. The patterns of a schema come from strangers.
const PATTERN_BYTES: usize = 512 * 1024;
/// What is wrong with one value, at most.
const ERRORS: usize = 100;

/// A compiled JSON Schema.
pub struct Schema {
    graph: Graph,
    validator: jsonschema::Validator,
}

/// Checking the value would take more than [`limits::SCHEMA_WORK`] steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "checking this value against the schema takes more than {} steps; make the value smaller, or refer to a \
     subschema once where the schema does it several times",
    limits::SCHEMA_WORK
)]
pub struct TooMuchWork;

impl Schema {
    /// Compiles a JSON Schema; refuses one whose checks could cost too much.
    pub fn compile(schema: &Value) -> Result<Schema, String> {
        if !schema.is_object() && !schema.is_boolean() {
            return Err("a JSON Schema is an object or a boolean".to_owned());
        }
        let graph = Graph::of(schema)?;
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
        jsonschema::options()
            .offline()
            .with_pattern_options(patterns)
            .should_validate_formats(true)
            .build(schema)
            .map(|validator| Schema { graph, validator })
            .map_err(|error| error.to_string())
    }

    /// What is wrong with the value: the place, as a JSON pointer, and why. Empty when it satisfies the schema. One that
    /// would be too much work is not looked into, which is what is wrong with it.
    pub fn errors(&self, value: &Value) -> Vec<(String, String)> {
        self.check(value).unwrap_or_else(|too_much| vec![(String::new(), too_much.to_string())])
    }

    /// What is wrong with a value, by its place; [`TooMuchWork`] if finding out would take more than the limit.
    pub fn check(&self, value: &Value) -> Result<Vec<(String, String)>, TooMuchWork> {
        let work = self.graph.work(value, limits::SCHEMA_WORK).ok_or(TooMuchWork)?;
        if self.validator.is_valid(value) {
            return Ok(Vec::new());
        }
        // Every error of a large value is as much work again, and nobody reads them.
        let most = if work <= limits::SCHEMA_WORK_EXPLAINED { ERRORS } else { 1 };
        let errors = self.validator.iter_errors(value).take(most);
        Ok(errors.map(|error| (error.instance_path().to_string(), message(&error))).collect())
    }

    /// Whether checking the value takes so little that nobody has to wait for it.
    pub fn is_quick(&self, value: &Value) -> bool {
        self.graph.work(value, limits::SCHEMA_WORK_QUICK).is_some()
    }
}

/// Shows the value it is about, unless that is too long to be read.
fn message(error: &jsonschema::ValidationError<'_>) -> String {
    const SHOWN_BYTES: usize = 300;
    let message = error.to_string();
    if message.len() <= SHOWN_BYTES { message } else { error.masked().to_string() }
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Schema")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_error_has_its_place() {
        let schema =
            json!({"type": "object", "required": ["a"], "properties": {"b": {"items": {"type": "integer"}}}});
        let errors = Schema::compile(&schema).unwrap().errors(&json!({"b": [1, "2", 3.5]}));
        let places: Vec<&str> = errors.iter().map(|(place, _)| place.as_str()).collect();
        assert_eq!(places, ["", "/b/1", "/b/2"]);
        assert_eq!(errors[1].1, "\"2\" is not of type \"integer\"");
    }

    #[test]
    fn formats_are_checked() {
        let schema = Schema::compile(&json!({"type": "string", "format": "email"})).unwrap();
        assert_eq!(schema.errors(&json!("a@example.com")), []);
        assert_ne!(schema.errors(&json!("nobody")), []);
    }

    #[test]
    fn a_long_value_is_not_repeated_in_its_error() {
        let schema = Schema::compile(&json!({"type": "integer"})).unwrap();
        let errors = schema.errors(&json!("x".repeat(10_000)));
        assert_eq!(errors[0].1, "value is not of type \"integer\"");
    }
}
