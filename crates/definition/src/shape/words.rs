//! What a schema says, in words: "a whole number from 1 to 20", and the small questions the walk asks of one.

use serde_json::{Number, Value};

use crate::findings::quoted;
use crate::problem::{Code, Problem};
use crate::schema::{self, Keyword};

#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) parts: &'static Value,
}

impl Words {
    pub(super) fn resolved(self, schema: &'static Value) -> &'static Value {
        match schema.get(Keyword::REF).and_then(Value::as_str).and_then(schema::part_name) {
            Some(part) => self.resolved(&self.parts[part]),
            None => schema,
        }
    }

    pub(super) fn wrong_type(self, at: &str, value: &Value, schema: &'static Value) -> Problem {
        let expected = self.expected(schema);
        let hint = match value {
            Value::Number(number) if accepts(schema, "string") => format!(": in quotes, \"{number}\""),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => String::new(),
        };
        let problem = Problem::new(at, Code::WrongType, format!("found {}", found(value)));
        let problem = problem.expected(format!("{expected}{hint}"));
        // Whoever writes text where milliseconds belong means the field that takes a duration.
        match at.rsplit('/').next().and_then(|field| field.strip_suffix("Ms")) {
            Some(field) if value.is_string() && !field.to_lowercase().ends_with("backoff") => {
                problem.nearest(field, [field])
            }
            Some(_) | None => problem,
        }
    }

    pub(super) fn expected(self, schema: &'static Value) -> String {
        let schema = self.resolved(schema);
        if let Some(choices) = choices(schema) {
            return self.expected_choice(choices);
        }
        let allowed = allowed(schema);
        if !allowed.is_empty() {
            return one_of(&allowed);
        }
        let types: Vec<String> = names(schema, Keyword::TYPE)
            .filter(|kind| *kind != "null")
            .map(|kind| expected_type(kind, schema))
            .collect();
        if types.is_empty() { "a value".to_owned() } else { types.join(" or ") }
    }

    pub(super) fn expected_choice(self, choices: impl IntoIterator<Item = &'static Value>) -> String {
        let choices: Vec<&'static Value> = choices.into_iter().collect();
        if choices.iter().all(|choice| !tags(self.resolved(choice)).is_empty()) {
            return format!("an object with a `{TAG}`");
        }
        let mut texts = Vec::new();
        let mut others = Vec::new();
        for choice in
            choices.into_iter().map(|choice| self.resolved(choice)).filter(|choice| !is_null(choice))
        {
            let allowed = allowed(choice);
            if allowed.is_empty() { others.push(self.expected(choice)) } else { texts.extend(allowed) }
        }
        if !texts.is_empty() {
            others.insert(0, one_of(&texts));
        }
        others.join(" or ")
    }
}

/// The field that tells which of several objects is meant.
pub(super) const TAG: &str = "type";

/// The values of `type` that tell this choice.
pub(super) fn tags(choice: &'static Value) -> Vec<&'static str> {
    choice.get(Keyword::PROPERTIES).and_then(|fields| fields.get(TAG)).map(allowed).unwrap_or_default()
}

fn expected_type(kind: &str, schema: &Value) -> String {
    let range = |least: &str, most: &str, unit: &str| match (schema.get(least), schema.get(most)) {
        (Some(least), Some(most)) => {
            format!(" {} {least} to {most}{unit}", if unit.is_empty() { "from" } else { "of" })
        }
        (Some(least), None) => format!(" of at least {least}{unit}"),
        (None, Some(most)) => format!(" of at most {most}{unit}"),
        (None, None) => String::new(),
    };
    match kind {
        "string" => format!("text{}", range(Keyword::MIN_LENGTH, Keyword::MAX_LENGTH, " characters")),
        "integer" => format!("a whole number{}", range(Keyword::MINIMUM, Keyword::MAXIMUM, "")),
        "number" => format!("a number{}", range(Keyword::MINIMUM, Keyword::MAXIMUM, "")),
        "boolean" => "true or false".to_owned(),
        "array" if schema.get(Keyword::MAX_ITEMS).is_none() && schema.get(Keyword::MIN_ITEMS).is_some() => {
            "a list that is not empty".to_owned()
        }
        "array" => format!("a list{}", range(Keyword::MIN_ITEMS, Keyword::MAX_ITEMS, " items")),
        _ => match names(schema, Keyword::REQUIRED).map(|name| format!("`{name}`")).collect::<Vec<_>>() {
            required if required.is_empty() => "an object".to_owned(),
            required => format!("an object with {}", required.join(", ")),
        },
    }
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {}", quoted(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

pub(super) fn one_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

pub(super) fn choices(schema: &'static Value) -> Option<&'static [Value]> {
    let choices = schema.get(Keyword::ONE_OF).or_else(|| schema.get(Keyword::ANY_OF))?;
    choices.as_array().map(Vec::as_slice)
}

/// The only texts a schema allows; empty when it allows any.
pub(super) fn allowed(schema: &Value) -> Vec<&str> {
    let one = schema.get(Keyword::CONST).and_then(Value::as_str);
    one.into_iter().chain(names(schema, Keyword::ENUM)).collect()
}

/// The texts under a keyword that holds one or a list of them.
pub(super) fn names<'s>(schema: &'s Value, keyword: &str) -> impl Iterator<Item = &'s str> {
    let value = schema.get(keyword);
    let list = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    value.and_then(Value::as_str).into_iter().chain(list.iter().filter_map(Value::as_str))
}

pub(super) fn has_type(value: &Value, schema: &Value) -> bool {
    if schema.get(Keyword::TYPE).is_none() {
        return true;
    }
    names(schema, Keyword::TYPE).any(|kind| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    })
}

pub(super) fn is_null(schema: &Value) -> bool {
    schema.get(Keyword::TYPE).and_then(Value::as_str) == Some("null")
}

pub(super) fn accepts(schema: &Value, kind: &str) -> bool {
    names(schema, Keyword::TYPE).any(|named| named == kind)
}

pub(super) fn less(number: &Number, bound: &Value) -> bool {
    match (number.as_i128(), bound.as_i64()) {
        (Some(number), Some(bound)) => number < i128::from(bound),
        (None, _) | (_, None) => number.as_f64() < bound.as_f64(),
    }
}

pub(super) fn more(number: &Number, bound: &Value) -> bool {
    match (number.as_i128(), bound.as_i64()) {
        (Some(number), Some(bound)) => number > i128::from(bound),
        (None, _) | (_, None) => number.as_f64() > bound.as_f64(),
    }
}
