//! Templates: JSON whose strings may hold `{{ … }}`, an expression each.
//!
//! A string that is exactly one `{{ … }}` becomes the value itself, with its own type; in a longer string every
//! value becomes text. Only strings are templates: the keys of objects are as written. A template has no loops and
//! no conditions of its own; `{% … %}` is text.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::budget::Budget;
use super::function::write_text;
use super::name::excerpt;
use super::{EvaluationError, Expression, Scope, column};
use crate::json::Json;
use crate::limits::{NESTING, PAYLOAD_BYTES};
use crate::problem::pointer;

/// As many are told of one string: finding the column of each is linear in its length.
const TEXT_PROBLEMS: usize = 20;

/// A parsed template.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(super) part: Part,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// Nothing in it is templated.
    Constant(Json),
    /// A string that is exactly one expression.
    Value(Expression),
    Text(Vec<Piece>),
    List(Vec<Part>),
    Object(Vec<(String, Part)>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Value(Expression),
}

/// Something wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateProblem {
    /// Within the template; empty for the whole of it.
    pub pointer: String,
    pub message: String,
}

impl Template {
    /// All problems at once.
    pub fn parse(value: &Value) -> Result<Template, Vec<TemplateProblem>> {
        let mut problems = Vec::new();
        let part = Part::parse(value, "", 0, &mut problems).unwrap_or_else(|| Part::constant(value));
        if problems.is_empty() { Ok(Template { part }) } else { Err(problems) }
    }

    /// The value as it is: braces in it mean nothing.
    pub fn constant(value: Value) -> Template {
        Template { part: Part::Constant(Json::new(value)) }
    }

    /// An object put together from parts; of two fields of one name the later counts.
    pub fn object(fields: Vec<(String, Template)>) -> Template {
        let constants: Option<Map<String, Value>> = fields
            .iter()
            .map(|(name, field)| Some((name.clone(), Value::clone(field.as_constant()?))))
            .collect();
        match constants {
            Some(constants) => Template::constant(constants.into()),
            None => {
                let parts = fields.into_iter().map(|(name, field)| (name, field.part));
                Template { part: Part::Object(parts.collect()) }
            }
        }
    }

    /// The value, if nothing in it is templated.
    pub fn as_constant(&self) -> Option<&Json> {
        match &self.part {
            Part::Constant(value) => Some(value),
            Part::Value(_) | Part::Text(_) | Part::List(_) | Part::Object(_) => None,
        }
    }

    /// The value of the template with these values filled in.
    pub fn render(&self, scope: &dyn Scope) -> Result<Json, EvaluationError> {
        let rendered = match &self.part {
            Part::Constant(value) => value.clone(),
            part @ (Part::Value(_) | Part::Text(_) | Part::List(_) | Part::Object(_)) => {
                Json::new(part.render(scope, &mut Budget::new())?)
            }
        };
        if rendered.bytes() > PAYLOAD_BYTES {
            let bytes = rendered.bytes();
            return Err(EvaluationError::new(format!(
                "the rendered template has {bytes} bytes; the limit of a payload is {PAYLOAD_BYTES}"
            )));
        }
        Ok(rendered)
    }

    /// Every path the template reads, each with the pointer of the string that reads it.
    pub fn paths(&self) -> Vec<(String, Vec<String>)> {
        let mut paths = Vec::new();
        self.part.collect_paths("", &mut paths);
        paths
    }
}

impl Part {
    /// `None` where nothing is templated.
    fn parse(value: &Value, place: &str, depth: usize, problems: &mut Vec<TemplateProblem>) -> Option<Part> {
        if depth > NESTING {
            let message = format!("nested deeper than the limit of {NESTING}");
            problems.push(TemplateProblem { pointer: place.to_owned(), message });
            return None;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
            Value::String(text) => Part::parse_text(text, &mut |message| {
                problems.push(TemplateProblem { pointer: place.to_owned(), message });
            }),
            Value::Array(items) => {
                let parse = |(i, item)| Part::parse(item, &pointer(place, i), depth + 1, problems);
                let parts: Vec<Option<Part>> = items.iter().enumerate().map(parse).collect();
                let parts = Part::unless_constant(parts, items.iter())?;
                Some(Part::List(parts.collect()))
            }
            Value::Object(fields) => {
                let parse = |(name, field)| Part::parse(field, &pointer(place, name), depth + 1, problems);
                let parts: Vec<Option<Part>> = fields.iter().map(parse).collect();
                let parts = Part::unless_constant(parts, fields.values())?;
                Some(Part::Object(fields.keys().cloned().zip(parts).collect()))
            }
        }
    }

    /// The parts of a list or an object, if any of them is templated.
    fn unless_constant<'v>(
        parts: Vec<Option<Part>>,
        values: impl Iterator<Item = &'v Value>,
    ) -> Option<impl Iterator<Item = Part>> {
        let any = parts.iter().any(Option::is_some);
        any.then(|| {
            parts.into_iter().zip(values).map(|(part, value)| part.unwrap_or_else(|| Part::constant(value)))
        })
    }

    fn constant(value: &Value) -> Part {
        Part::Constant(Json::new(value.clone()))
    }

    fn parse_text(text: &str, problem: &mut dyn FnMut(String)) -> Option<Part> {
        let mut pieces = Vec::new();
        let mut at = 0;
        let mut problems = 0;
        while let Some(found) = text[at..].find("{{") {
            let (open, start) = (at + found, at + found + 2);
            let end = closing_braces(text, start).map_err(&mut *problem).ok()?;
            if open > at {
                pieces.push(Piece::Text(text[at..open].to_owned()));
            }
            let inner = text[start..end].trim_start();
            match Expression::parse(inner.trim_end()) {
                Ok(expression) => pieces.push(Piece::Value(expression)),
                Err(error) => {
                    let column = column(text, end - inner.len() + error.offset);
                    problem(format!("column {column}: {}", error.message));
                    problems += 1;
                    if problems == TEXT_PROBLEMS {
                        return None;
                    }
                }
            }
            at = end + 2;
        }
        if at == 0 {
            return None;
        }
        if at < text.len() {
            pieces.push(Piece::Text(text[at..].to_owned()));
        }
        Some(match &pieces[..] {
            [Piece::Value(expression)] => Part::Value(expression.clone()),
            _ => Part::Text(pieces),
        })
    }

    fn render(&self, scope: &dyn Scope, budget: &mut Budget) -> Result<Value, EvaluationError> {
        match self {
            Part::Constant(value) => {
                budget.produce(value.bytes())?;
                Ok(Value::clone(value))
            }
            Part::Value(expression) => {
                let value = defined(expression, scope, budget)?;
                budget.own(value)
            }
            Part::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    let before = text.len();
                    match piece {
                        Piece::Text(piece) => text.push_str(piece),
                        Piece::Value(expression) => {
                            write_text(defined(expression, scope, budget)?.as_ref(), &mut text);
                        }
                    }
                    budget.produce(text.len() - before)?;
                }
                Ok(Value::String(text))
            }
            Part::List(items) => items.iter().map(|item| item.render(scope, budget)).collect(),
            Part::Object(fields) => {
                let mut object = Map::new();
                for (name, field) in fields {
                    budget.produce(name.len())?;
                    object.insert(name.clone(), field.render(scope, budget)?);
                }
                Ok(Value::Object(object))
            }
        }
    }

    fn collect_paths(&self, place: &str, paths: &mut Vec<(String, Vec<String>)>) {
        let mut read = |expression: &Expression| {
            paths.extend(expression.paths().into_iter().map(|path| (place.to_owned(), path)));
        };
        match self {
            Part::Constant(_) => {}
            Part::Value(expression) => read(expression),
            Part::Text(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Text(_) => {}
                        Piece::Value(expression) => read(expression),
                    }
                }
            }
            Part::List(items) => {
                for (place_in_list, item) in items.iter().enumerate() {
                    item.collect_paths(&pointer(place, place_in_list), paths);
                }
            }
            Part::Object(fields) => {
                for (name, field) in fields {
                    field.collect_paths(&pointer(place, name), paths);
                }
            }
        }
    }
}

pub(super) fn defined<'a>(
    expression: &'a Expression,
    scope: &'a dyn Scope,
    budget: &mut Budget,
) -> Result<Cow<'a, Value>, EvaluationError> {
    let source = expression.source();
    expression.operand(scope, budget)?.ok_or_else(|| EvaluationError {
        message: format!("`{0}` is undefined; give a default: `{{{{ {0} ?? \"…\" }}}}`", excerpt(source)),
        path: expression.is_path().then(|| source.to_owned()),
    })
}

/// Where the `}}` that belongs to a `{{` stands; braces in a quoted string do not count.
fn closing_braces(text: &str, start: usize) -> Result<usize, String> {
    let mut quote: Option<(usize, char)> = None;
    let mut characters = text[start..].char_indices().map(|(offset, c)| (start + offset, c));
    while let Some((offset, c)) = characters.next() {
        match quote {
            Some(_) if c == '\\' => {
                characters.next();
            }
            Some((_, opening)) if c == opening => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some((offset, c)),
            None if text[offset..].starts_with("}}") => return Ok(offset),
            None => {}
        }
    }
    let open = column(text, start - 2);
    Err(match quote {
        Some((offset, _)) => {
            format!(
                "column {}: a string that is not closed, in the `{{{{` of column {open}",
                column(text, offset)
            )
        }
        None => format!(
            "column {open}: a `{{{{` that is not closed by `}}}}`; to write one, use `{{{{ \"{{{{\" }}}}`"
        ),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope() -> Value {
        json!({
            "input": {"orderId": "A-7", "amount": 12.5, "count": 3, "nothing": null, "vip": true, "lines": [1, 2]},
            "braces": "{{ input.orderId }}",
        })
    }

    fn render(template: Value) -> Result<Value, EvaluationError> {
        Template::parse(&template).unwrap().render(&scope()).map(|rendered| Value::clone(&rendered))
    }

    fn problems(template: Value) -> Vec<(String, String)> {
        let problems = Template::parse(&template).unwrap_err();
        problems.into_iter().map(|problem| (problem.pointer, problem.message)).collect()
    }

    #[test]
    fn a_string_that_is_one_expression_keeps_the_type_of_its_value() {
        for (template, expected) in [
            ("{{ input.amount }}", json!(12.5)),
            ("{{input.lines}}", json!([1, 2])),
            ("{{ input.nothing }}", json!(null)),
            ("{{ input }}", scope()["input"].clone()),
            ("{{ input.count * 2 }}", json!(6)),
            ("{{ input.count > 2 }}", json!(true)),
        ] {
            assert_eq!(render(json!(template)), Ok(expected), "{template}");
        }
    }

    #[test]
    fn in_a_longer_string_every_value_is_text() {
        for (template, expected) in [
            ("order-{{ input.orderId }}", "order-A-7"),
            (" {{ input.count }}", " 3"),
            ("{{ input.count }}{{ input.vip }}", "3true"),
            ("[{{ input.nothing }}]", "[]"),
            ("lines: {{ input.lines }}", "lines: [1,2]"),
            ("{{ input.amount }} €", "12.5 €"),
            ("a }} b { { c", "a }} b { { c"),
            ("{% for x in y %}", "{% for x in y %}"),
        ] {
            assert_eq!(render(json!(template)), Ok(json!(expected)), "{template}");
        }
    }

    #[test]
    fn braces_are_written_as_a_string_and_what_is_rendered_is_not_rendered_again() {
        assert_eq!(render(json!(r#"{{ "{{" }}"#)), Ok(json!("{{")));
        assert_eq!(render(json!(r#"{{ '}}' }} and {{ "\"}}" }}"#)), Ok(json!("}} and \"}}")));
        assert_eq!(render(json!("{{ braces }}!")), Ok(json!("{{ input.orderId }}!")));
    }

    #[test]
    fn lists_and_objects_are_rendered_inside_and_keys_are_not() {
        let template = json!({"{{ input.orderId }}": [{"id": "{{ input.orderId }}"}, 1, "plain"], "fixed": {"a": [true]}});
        let expected = json!({"{{ input.orderId }}": [{"id": "A-7"}, 1, "plain"], "fixed": {"a": [true]}});
        assert_eq!(render(template), Ok(expected));
    }

    #[test]
    fn an_undefined_path_is_an_error_that_names_it_unless_there_is_a_default() {
        let error = render(json!({"to": "{{ input.email }}"})).unwrap_err();
        assert_eq!(error.path.as_deref(), Some("input.email"));
        assert_eq!(error.message, "`input.email` is undefined; give a default: `{{ input.email ?? \"…\" }}`");
        assert!(render(json!("Hi {{ input.email }}")).is_err());
        assert_eq!(render(json!("Hi {{ input.email ?? 'friend' }}")), Ok(json!("Hi friend")));
        assert_eq!(render(json!("Hi {{ input.email | default('friend') }}")), Ok(json!("Hi friend")));
    }

    #[test]
    fn all_problems_are_found_at_once_each_with_its_place() {
        assert_eq!(
            problems(json!({
                "a/b": ["ok {{ input.x }}", "ü {{ input. }} and {{ lenght(1) }}"],
                "open": "{{ input.x",
                "empty": "{{ }}",
                "quote": "it {{ user's }}",
                "bytes": "{{ 1 + }}",
            })),
            [
                ("/a~1b/1", "column 12: expected a name, found the end"),
                ("/a~1b/1", "column 23: there is no function `lenght`; did you mean `length`?"),
                ("/bytes", "column 7: expected a value, found the end"),
                ("/empty", "column 4: the expression is empty"),
                ("/open", "column 1: a `{{` that is not closed by `}}`; to write one, use `{{ \"{{\" }}`"),
                ("/quote", "column 11: a string that is not closed, in the `{{` of column 4"),
            ]
            .map(|(pointer, message)| (pointer.to_owned(), message.to_owned()))
        );
    }

    #[test]
    fn a_string_full_of_problems_is_given_up_on() {
        let started = std::time::Instant::now();
        assert_eq!(problems(json!("{{}}".repeat(500_000))).len(), TEXT_PROBLEMS);
        assert!(started.elapsed() < std::time::Duration::from_secs(2));
    }

    #[test]
    fn a_constant_is_built_once_and_shared() {
        let constant = Template::parse(&json!({"a": [1, "text }}"]})).unwrap();
        let rendered = constant.render(&Value::Null).unwrap();
        assert!(std::ptr::eq::<Value>(&**constant.as_constant().unwrap(), &*rendered));
        assert!(Template::parse(&json!(["{{ a }}"])).unwrap().as_constant().is_none());
        let braces = Template::constant(json!("{{ never }}"));
        assert_eq!(**braces.as_constant().unwrap(), json!("{{ never }}"));
    }

    #[test]
    fn an_object_is_put_together_from_parts() {
        let part = |value: Value| Template::parse(&value).unwrap();
        let constant = Template::object(vec![("a".to_owned(), part(json!(1)))]);
        assert_eq!(constant.as_constant().map(|json| Value::clone(json)), Some(json!({"a": 1})));
        let mixed = Template::object(vec![
            ("url".to_owned(), part(json!("/{{ input.orderId }}"))),
            ("body".to_owned(), Template::constant(json!("{{"))),
        ]);
        assert!(mixed.as_constant().is_none());
        assert_eq!(*mixed.render(&scope()).unwrap(), json!({"url": "/A-7", "body": "{{"}));
        assert_eq!(mixed.paths(), [("/url".to_owned(), vec!["input".to_owned(), "orderId".to_owned()])]);
    }

    #[test]
    fn paths_come_with_the_place_that_reads_them() {
        let template =
            Template::parse(&json!({"a": ["x", "{{ b }}-{{ c.d[0].e ?? f }}"], "g": "{{ h }}"})).unwrap();
        let paths: Vec<String> = template
            .paths()
            .into_iter()
            .map(|(pointer, path)| format!("{pointer} {}", path.join(".")))
            .collect();
        assert_eq!(paths, ["/a/1 b", "/a/1 c.d", "/a/1 f", "/g h"]);
    }

    #[test]
    fn a_rendered_template_is_at_most_a_payload() {
        let scope = json!({"big": "x".repeat(PAYLOAD_BYTES / 2)});
        let rendered = |template: Value| Template::parse(&template).unwrap().render(&scope);
        assert!(rendered(json!("{{ big }}")).is_ok());
        let error = rendered(json!(["{{ big }}", "{{ big }}"])).unwrap_err();
        assert_eq!(
            error.message,
            "the rendered template has 1048583 bytes; the limit of a payload is 1048576"
        );
        let many = rendered(json!(vec!["{{ big }}"; 1000])).unwrap_err();
        assert!(many.message.contains("more than the limit of 8388608 bytes"), "{many}");
        let constant = Template::constant(json!("x".repeat(PAYLOAD_BYTES)));
        assert!(constant.render(&scope).is_err());
    }

    #[test]
    fn a_template_that_is_nested_too_deeply_is_refused() {
        let nested = (0..NESTING + 1).fold(json!("{{ a }}"), |inner, _| json!([inner]));
        assert!(problems(nested)[0].1.contains("limit of 100"));
        let allowed = (0..NESTING).fold(json!("{{ a }}"), |inner, _| json!([inner]));
        assert!(Template::parse(&allowed).is_ok());
    }
}
