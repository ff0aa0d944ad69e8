//! The shape of a document: its fields, types, ranges and lengths. Walks the document along its own JSON Schema,
//! of which it knows just the keywords that our types produce, and so reports in the words of the format what
//! a general validator would report in the words of JSON Schema. What passes here can be read as a
//! [`Workflow`](super::document::Workflow).

mod union;
mod whole;
mod words;

use serde_json::{Map, Number, Value};

use super::findings::{Findings, quoted};
use super::schema::{self, Keyword};
use crate::problem::{Code, Problem, pointer};
use words::Words;

pub(super) fn check(document: &Value, findings: &mut Findings) {
    walk(document, schema::shared(), findings);
}

/// Makes the whole numbers of a document plain, wherever its format wants an integer.
pub(super) fn make_whole(document: &mut Value) {
    whole_numbers(document, schema::shared());
}

/// Writes `5.0` as `5` where a schema made by [`closed_schema`](super::closed_schema) wants an integer.
pub fn whole_numbers(value: &mut Value, schema: &'static Value) {
    Words { parts: &schema["$defs"] }.make_whole(value, schema);
}

/// What keeps a value from fitting a schema made by [`closed_schema`](super::closed_schema).
pub fn misfits(value: &Value, schema: &'static Value) -> Vec<Problem> {
    let mut findings = Findings::default();
    walk(value, schema, &mut findings);
    findings.into_problems()
}

fn walk(document: &Value, root: &'static Value, findings: &mut Findings) {
    Walk { words: Words { parts: &root["$defs"] }, findings }.value("", document, root);
}

struct Walk<'w> {
    words: Words,
    findings: &'w mut Findings,
}

impl Walk<'_> {
    fn value(&mut self, at: &str, value: &Value, schema: &'static Value) {
        let schema = self.words.resolved(schema);
        if let Some(choices) = words::choices(schema) {
            return self.union(at, value, choices);
        }
        if !words::has_type(value, schema) {
            return self.findings.problem(|| self.words.wrong_type(at, value, schema));
        }
        match value {
            Value::Object(fields) => self.object(at, fields, schema),
            Value::Array(items) => self.list(at, items, schema),
            Value::String(text) => self.text(at, text, schema),
            Value::Number(number) => self.number(at, number, schema),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn object(&mut self, at: &str, fields: &Map<String, Value>, schema: &'static Value) {
        self.missing_fields(at, fields, schema);
        let known = schema.get(Keyword::PROPERTIES).and_then(Value::as_object);
        let others = schema.get(Keyword::ADDITIONAL_PROPERTIES);
        for (name, value) in fields {
            if self.findings.are_full() {
                return;
            }
            match (known.and_then(|known| known.get(name)), known, others) {
                (Some(field), _, _) => self.value(&pointer(at, name), value, field),
                (None, Some(known), Some(Value::Bool(false))) => {
                    self.findings.problem(|| unknown_field(at, name, fields, known));
                }
                (None, _, Some(other)) => self.value(&pointer(at, name), value, other),
                (None, _, None) => {}
            }
        }
    }

    fn missing_fields(&mut self, at: &str, fields: &Map<String, Value>, schema: &'static Value) {
        for name in words::names(schema, Keyword::REQUIRED).filter(|name| !fields.contains_key(*name)) {
            self.findings.problem(|| {
                let field = self.words.expected(&schema[Keyword::PROPERTIES][name]);
                Problem::new(at, Code::MissingField, format!("the field `{name}` is missing"))
                    .expected(format!("`{name}`: {field}"))
            });
        }
    }

    fn list(&mut self, at: &str, items: &[Value], schema: &'static Value) {
        let count = items.len() as u64;
        if let Some(most) = schema.get(Keyword::MAX_ITEMS).and_then(Value::as_u64)
            && count > most
        {
            return self.findings.problem(|| {
                let message = format!("{count} items are more than the limit of {most}");
                Problem::new(at, Code::LimitExceeded, message).expected(self.words.expected(schema))
            });
        }
        if schema.get(Keyword::MIN_ITEMS).and_then(Value::as_u64).is_some_and(|least| count < least) {
            self.findings.problem(|| {
                let message = if count == 0 { "the list is empty" } else { "the list is too short" };
                Problem::new(at, Code::OutOfRange, message).expected(self.words.expected(schema))
            });
        }
        let Some(item_schema) = schema.get(Keyword::ITEMS) else { return };
        for (index, item) in items.iter().enumerate() {
            if self.findings.are_full() {
                return;
            }
            self.value(&pointer(at, index), item, item_schema);
        }
    }

    fn text(&mut self, at: &str, text: &str, schema: &'static Value) {
        let allowed = words::allowed(schema);
        if !allowed.is_empty() {
            return self.one_of(at, text, &allowed);
        }
        let chars = text.chars().count() as u64;
        let least = schema.get(Keyword::MIN_LENGTH).and_then(Value::as_u64).unwrap_or(0);
        let most = schema.get(Keyword::MAX_LENGTH).and_then(Value::as_u64).unwrap_or(u64::MAX);
        if !(least..=most).contains(&chars) {
            self.findings.problem(|| {
                let message = if chars == 0 {
                    "the text is empty".to_owned()
                } else {
                    format!("{chars} characters are too many")
                };
                Problem::new(at, Code::OutOfRange, message).expected(self.words.expected(schema))
            });
        }
    }

    fn one_of(&mut self, at: &str, text: &str, allowed: &[&str]) {
        if !allowed.contains(&text) {
            self.findings.problem(|| {
                Problem::new(at, Code::UnknownValue, format!("{} is not known here", quoted(text)))
                    .expected(words::one_of(allowed))
                    .nearest(text, allowed.iter().copied())
            });
        }
    }

    fn number(&mut self, at: &str, number: &Number, schema: &'static Value) {
        let below = schema.get(Keyword::MINIMUM).is_some_and(|least| words::less(number, least));
        let above = schema.get(Keyword::MAXIMUM).is_some_and(|most| words::more(number, most));
        if below || above {
            self.findings.problem(|| {
                let message = format!("{number} is too {}", if below { "small" } else { "large" });
                Problem::new(at, Code::OutOfRange, message).expected(self.words.expected(schema))
            });
        }
    }
}

fn unknown_field(at: &str, name: &str, fields: &Map<String, Value>, known: &Map<String, Value>) -> Problem {
    let known: Vec<&str> = known.keys().map(String::as_str).filter(|field| *field != "$schema").collect();
    // A field that is there already is not the one that was meant.
    let absent = known.iter().copied().filter(|field| !fields.contains_key(*field));
    Problem::new(
        pointer(at, name),
        Code::UnknownField,
        format!("the field {} is not known here", quoted(name)),
    )
    .expected(words::one_of(&known))
    .nearest(name, absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A keyword the walker does not know would be exported, and not checked.
    #[test]
    fn every_keyword_of_the_schema_is_checked_or_says_nothing_about_the_shape() {
        const CHECKED: [&str; 11] = [
            Keyword::REF,
            Keyword::TYPE,
            Keyword::REQUIRED,
            Keyword::MIN_ITEMS,
            Keyword::MAX_ITEMS,
            Keyword::MIN_LENGTH,
            Keyword::MAX_LENGTH,
            Keyword::MINIMUM,
            Keyword::MAXIMUM,
            Keyword::ENUM,
            Keyword::CONST,
        ];
        const FOR_READERS: [&str; 5] = ["$schema", "title", "description", "default", "format"];
        let mut open = vec![schema::shared()];
        while let Some(schema) = open.pop() {
            for (keyword, value) in schema.as_object().into_iter().flatten() {
                match keyword.as_str() {
                    "properties" | "$defs" => open.extend(value.as_object().unwrap().values()),
                    "oneOf" | "anyOf" => open.extend(value.as_array().unwrap()),
                    "items" | "additionalProperties" => open.push(value),
                    other => assert!(CHECKED.contains(&other) || FOR_READERS.contains(&other), "{other}"),
                }
            }
        }
    }
}
