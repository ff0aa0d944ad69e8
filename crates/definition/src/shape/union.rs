//! One of several shapes. Which one is meant is told by `type`, or by what kind of value it is; the problems
//! reported are those of the one that was meant.

use serde_json::{Map, Value};

use super::Walk;
use super::words::{self, TAG, tags};
use crate::findings::quoted;
use crate::problem::{Code, Problem, pointer};
use crate::schema::Keyword;

impl Walk<'_> {
    pub(super) fn union(&mut self, at: &str, value: &Value, choices: &'static [Value]) {
        let resolved: Vec<&'static Value> =
            choices.iter().map(|choice| self.words.resolved(choice)).collect();
        if value.is_null() && resolved.iter().any(|choice| words::is_null(choice)) {
            return;
        }
        let real: Vec<&'static Value> =
            resolved.into_iter().filter(|choice| !words::is_null(choice)).collect();
        match (real.as_slice(), value) {
            ([one], _) => self.value(at, value, one),
            (choices, Value::Object(fields)) if choices.iter().all(|choice| !tags(choice).is_empty()) => {
                self.tagged(at, fields, value, choices);
            }
            (choices, _) => self.untagged(at, value, choices),
        }
    }

    fn tagged(&mut self, at: &str, fields: &Map<String, Value>, value: &Value, choices: &[&'static Value]) {
        let known: Vec<&str> = choices.iter().flat_map(|choice| tags(choice)).collect();
        match fields.get(TAG) {
            Some(Value::String(tag)) => {
                if let Some(choice) = choices.iter().find(|choice| tags(choice).contains(&tag.as_str())) {
                    return self.value(at, value, choice);
                }
                self.one_of(&pointer(at, TAG), tag, &known);
            }
            Some(other) => {
                let tag_schema = &choices[0][Keyword::PROPERTIES][TAG];
                self.findings.problem(|| {
                    let problem = self.words.wrong_type(&pointer(at, TAG), other, tag_schema);
                    problem.expected(words::one_of(&known))
                });
            }
            None => self.findings.problem(|| {
                Problem::new(at, Code::MissingField, format!("the field `{TAG}` is missing"))
                    .expected(format!("`{TAG}`: {}", words::one_of(&known)))
            }),
        }
        self.shared_fields(at, fields, choices);
    }

    /// The fields that every choice has can be checked without knowing which one was meant.
    fn shared_fields(&mut self, at: &str, fields: &Map<String, Value>, choices: &[&'static Value]) {
        let [first, others @ ..] = choices else { return };
        for (name, value) in fields.iter().filter(|(name, _)| *name != TAG) {
            let field = |choice: &'static Value| choice[Keyword::PROPERTIES].get(name);
            if let Some(schema) = field(first)
                && others.iter().all(|choice| field(choice) == Some(schema))
            {
                self.value(&pointer(at, name), value, schema);
            }
        }
        let required_by_all = |name: &&str| {
            others
                .iter()
                .all(|choice| words::names(choice, Keyword::REQUIRED).any(|required| required == *name))
        };
        let missing = words::names(first, Keyword::REQUIRED)
            .filter(|name| *name != TAG && !fields.contains_key(*name))
            .filter(required_by_all);
        for name in missing {
            self.findings.problem(|| {
                let field = self.words.expected(&first[Keyword::PROPERTIES][name]);
                Problem::new(at, Code::MissingField, format!("the field `{name}` is missing"))
                    .expected(format!("`{name}`: {field}"))
            });
        }
    }

    fn untagged(&mut self, at: &str, value: &Value, choices: &[&'static Value]) {
        let fitting: Vec<&'static Value> =
            choices.iter().copied().filter(|choice| words::has_type(value, choice)).collect();
        match (fitting.as_slice(), value) {
            ([], _) => self.findings.problem(|| {
                let found = self.words.wrong_type(at, value, choices[0]);
                found.expected(self.words.expected_choice(choices.iter().copied()))
            }),
            (fitting, Value::String(text)) => {
                let allowed: Vec<&str> = fitting.iter().flat_map(|choice| words::allowed(choice)).collect();
                if allowed.contains(&text.as_str()) {
                    return;
                }
                self.findings.problem(|| {
                    Problem::new(at, Code::UnknownValue, format!("{} is not known here", quoted(text)))
                        .expected(self.words.expected_choice(choices.iter().copied()))
                        .nearest(text, allowed.iter().copied())
                });
            }
            ([first, ..], _) => self.value(at, value, first),
        }
    }
}
