//! The functions of the language: a small fixed set, known by name and number of arguments when an expression is
//! parsed.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write;
use std::ops::RangeInclusive;

use serde_json::{Map, Number, Value};

use super::EvaluationError;
use super::budget::{Budget, weight};
use super::compare::{holds, order, type_name};
use super::member::Operand;
use super::name::{Name, excerpt};
use super::number::Numeric;

/// A function that expressions may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `default(x, y)`: `x`, or `y` where `x` is undefined or null.
    Default,
    /// Characters of a string, items of a list, fields of an object; 0 for undefined and null.
    Length,
    Lower,
    Upper,
    /// Without white space at either end.
    Trim,
    /// `contains(container, x)`: an item of a list, a part of a string, a key of an object.
    Contains,
    StartsWith,
    EndsWith,
    /// `join(list, separator)`: the items as text.
    Join,
    /// `split(text, separator)`
    Split,
    /// `round(x)`, `round(x, places)`: halves away from zero.
    Round,
    Floor,
    Ceil,
    Abs,
    /// The least of a list, or of the arguments; undefined for an empty list.
    Min,
    Max,
    /// A number from its text.
    Number,
    /// A value as it stands in a text: strings as they are, null as nothing, all else as JSON.
    String,
    /// A value as compact JSON.
    Json,
    Keys,
    Values,
    /// The first item of a list; undefined if it has none.
    First,
    Last,
}

const MANY: usize = usize::MAX;

impl Function {
    /// Every function there is.
    pub const ALL: [Function; 23] = [
        Function::Default,
        Function::Length,
        Function::Lower,
        Function::Upper,
        Function::Trim,
        Function::Contains,
        Function::StartsWith,
        Function::EndsWith,
        Function::Join,
        Function::Split,
        Function::Round,
        Function::Floor,
        Function::Ceil,
        Function::Abs,
        Function::Min,
        Function::Max,
        Function::Number,
        Function::String,
        Function::Json,
        Function::Keys,
        Function::Values,
        Function::First,
        Function::Last,
    ];

    /// The name that expressions call the function by.
    pub fn name(self) -> &'static str {
        self.signature().0
    }

    pub(super) fn by_name(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name)
    }

    pub(super) fn arity(self) -> RangeInclusive<usize> {
        self.signature().1
    }

    fn signature(self) -> (&'static str, RangeInclusive<usize>) {
        match self {
            Function::Default => ("default", 2..=2),
            Function::Length => ("length", 1..=1),
            Function::Lower => ("lower", 1..=1),
            Function::Upper => ("upper", 1..=1),
            Function::Trim => ("trim", 1..=1),
            Function::Contains => ("contains", 2..=2),
            Function::StartsWith => ("starts_with", 2..=2),
            Function::EndsWith => ("ends_with", 2..=2),
            Function::Join => ("join", 1..=2),
            Function::Split => ("split", 2..=2),
            Function::Round => ("round", 1..=2),
            Function::Floor => ("floor", 1..=1),
            Function::Ceil => ("ceil", 1..=1),
            Function::Abs => ("abs", 1..=1),
            Function::Min => ("min", 1..=MANY),
            Function::Max => ("max", 1..=MANY),
            Function::Number => ("number", 1..=1),
            Function::String => ("string", 1..=1),
            Function::Json => ("json", 1..=1),
            Function::Keys => ("keys", 1..=1),
            Function::Values => ("values", 1..=1),
            Function::First => ("first", 1..=1),
            Function::Last => ("last", 1..=1),
        }
    }

    /// Of arguments that are defined, as many as its arity says.
    pub(super) fn apply<'a>(
        self,
        mut arguments: Vec<Argument<'a>>,
        budget: &mut Budget,
    ) -> Result<Operand<'a>, EvaluationError> {
        let first = &arguments[0];
        let value = match self {
            Function::Default => return Ok(Some(arguments.swap_remove(0).value)),
            Function::First => {
                first.list(self)?;
                return Ok(item(arguments.swap_remove(0).value, 0));
            }
            Function::Last => {
                let last = first.list(self)?.len().saturating_sub(1);
                return Ok(item(arguments.swap_remove(0).value, last));
            }
            Function::Min => return self.extreme(arguments, Ordering::Less, budget),
            Function::Max => return self.extreme(arguments, Ordering::Greater, budget),
            Function::String => return as_text(arguments.swap_remove(0).value, budget).map(Some),
            Function::Length => first.length(budget)?.into(),
            Function::Lower => text(first.text(self)?.to_lowercase(), budget)?,
            Function::Upper => text(first.text(self)?.to_uppercase(), budget)?,
            Function::Trim => text(first.text(self)?.trim().to_owned(), budget)?,
            Function::Contains => self.contains(first, &arguments[1], budget)?.into(),
            Function::StartsWith => first.text(self)?.starts_with(arguments[1].text(self)?).into(),
            Function::EndsWith => first.text(self)?.ends_with(arguments[1].text(self)?).into(),
            Function::Join => self.join(first, arguments.get(1), budget)?.into(),
            Function::Split => self.split(first, &arguments[1], budget)?,
            Function::Round => first.number(self)?.round(self.places(arguments.get(1))?).into_value(),
            Function::Floor => first.number(self)?.whole(f64::floor).into_value(),
            Function::Ceil => first.number(self)?.whole(f64::ceil).into_value(),
            Function::Abs => first.number(self)?.abs().into_value(),
            Function::Number => self.read_number(first)?.into(),
            Function::Json => text(first.value.to_string(), budget)?,
            Function::Keys => {
                let fields = first.fields(self)?;
                budget.produce(fields.keys().map(|key| key.len() + 1).sum())?;
                fields.keys().map(String::as_str).collect()
            }
            Function::Values => {
                let fields = first.fields(self)?;
                budget.produce(fields.values().map(weight).sum())?;
                fields.values().cloned().collect()
            }
        };
        Ok(Some(Cow::Owned(value)))
    }

    fn contains(
        self,
        container: &Argument,
        item: &Argument,
        budget: &mut Budget,
    ) -> Result<bool, EvaluationError> {
        holds(&container.value, &item.value, budget)?.ok_or_else(|| {
            let (found, looked_for) = (type_name(&container.value), type_name(&item.value));
            container.name.error(format!(
                "`contains` looks for anything in a list, and for a string in a string or an object, but {} is {found} \
                 and {looked_for} is looked for",
                container.name
            ))
        })
    }

    fn join(
        self,
        list: &Argument,
        separator: Option<&Argument>,
        budget: &mut Budget,
    ) -> Result<String, EvaluationError> {
        let separator = separator.map_or(Ok(""), |separator| separator.text(self))?;
        let mut joined = String::new();
        for (place, item) in list.list(self)?.iter().enumerate() {
            if place > 0 {
                joined.push_str(separator);
            }
            let before = joined.len();
            write_text(item, &mut joined);
            budget.produce(joined.len() - before + separator.len())?;
        }
        Ok(joined)
    }

    fn split(
        self,
        whole: &Argument,
        separator: &Argument,
        budget: &mut Budget,
    ) -> Result<Value, EvaluationError> {
        /// What each part costs besides its text.
        const PART_BYTES: usize = 24;
        let (text, by) = (whole.text(self)?, separator.text(self)?);
        if by.is_empty() {
            return Err(separator.name.error("`split` needs a separator that is not empty".to_owned()));
        }
        budget.read(text.len())?;
        let mut parts = Vec::new();
        for part in text.split(by) {
            budget.produce(part.len() + PART_BYTES)?;
            parts.push(Value::String(part.to_owned()));
        }
        Ok(Value::Array(parts))
    }

    fn places(self, argument: Option<&Argument>) -> Result<u8, EvaluationError> {
        /// A float has no more.
        const PLACES: u8 = 15;
        let Some(argument) = argument else { return Ok(0) };
        let places = argument.number(self)?.as_index().and_then(|places| u8::try_from(places).ok());
        places.filter(|places| *places <= PLACES).ok_or_else(|| {
            argument
                .name
                .error(format!("`round` needs 0 to {PLACES} places, but {} is something else", argument.name))
        })
    }

    fn read_number(self, argument: &Argument) -> Result<Number, EvaluationError> {
        match argument.value.as_ref() {
            Value::Number(number) => Ok(number.clone()),
            Value::String(text) => text.trim().parse().map_err(|_| {
                let (name, text) = (argument.name, excerpt(text));
                name.error(format!("`number` needs the text of a number, but {name} is {text:?}"))
            }),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                Err(argument.wrong(self, "a number or its text"))
            }
        }
    }

    /// The least or the greatest of one list, or of several arguments.
    fn extreme<'a>(
        self,
        mut arguments: Vec<Argument<'a>>,
        wanted: Ordering,
        budget: &mut Budget,
    ) -> Result<Operand<'a>, EvaluationError> {
        let whole = if arguments.len() == 1 { Some(arguments[0].list(self)?) } else { None };
        let values: Vec<&Value> = match whole {
            Some(items) => items.iter().collect(),
            None => arguments.iter().map(|argument| argument.value.as_ref()).collect(),
        };
        let mut found = 0;
        for (place, value) in values.iter().enumerate() {
            // Compared with itself where it stands alone, so that a single item is checked too.
            let Some(order) = order(value, values[found], budget)? else {
                let (name, one, other) = (self.name(), type_name(value), type_name(values[found]));
                let message = format!("`{name}` needs numbers only or strings only, not {one} and {other}");
                return Err(arguments[if whole.is_some() { 0 } else { place }].name.error(message));
            };
            if order == wanted {
                found = place;
            }
        }
        Ok(match whole {
            Some(_) => item(arguments.swap_remove(0).value, found),
            None => Some(arguments.swap_remove(found).value),
        })
    }
}

/// A defined value, and what it is called.
pub(super) struct Argument<'a> {
    pub(super) value: Cow<'a, Value>,
    pub(super) name: Name<'a>,
}

impl Argument<'_> {
    fn text(&self, function: Function) -> Result<&str, EvaluationError> {
        self.value.as_str().ok_or_else(|| self.wrong(function, "a string"))
    }

    fn list(&self, function: Function) -> Result<&Vec<Value>, EvaluationError> {
        self.value.as_array().ok_or_else(|| self.wrong(function, "a list"))
    }

    fn fields(&self, function: Function) -> Result<&Map<String, Value>, EvaluationError> {
        self.value.as_object().ok_or_else(|| self.wrong(function, "an object"))
    }

    fn number(&self, function: Function) -> Result<Numeric, EvaluationError> {
        match self.value.as_number() {
            Some(number) => Ok(number.into()),
            None => Err(self.wrong(function, "a number")),
        }
    }

    fn length(&self, budget: &mut Budget) -> Result<usize, EvaluationError> {
        match self.value.as_ref() {
            Value::String(text) => {
                budget.read(text.len())?;
                Ok(text.chars().count())
            }
            Value::Array(items) => Ok(items.len()),
            Value::Object(fields) => Ok(fields.len()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                Err(self.wrong(Function::Length, "a string, a list or an object"))
            }
        }
    }

    fn wrong(&self, function: Function, needed: &str) -> EvaluationError {
        let (function, name, found) = (function.name(), self.name, type_name(&self.value));
        name.error(format!("`{function}` needs {needed}, but {name} is {found}"))
    }
}

/// One item of a list, taken out of it if it is owned; undefined where there is none.
fn item(list: Cow<'_, Value>, place: usize) -> Operand<'_> {
    match list {
        Cow::Borrowed(list) => list.get(place).map(Cow::Borrowed),
        Cow::Owned(mut list) => list.get_mut(place).map(|item| Cow::Owned(item.take())),
    }
}

fn text(text: String, budget: &mut Budget) -> Result<Value, EvaluationError> {
    budget.produce(text.len())?;
    Ok(Value::String(text))
}

fn as_text<'a>(value: Cow<'a, Value>, budget: &mut Budget) -> Result<Cow<'a, Value>, EvaluationError> {
    if value.is_string() {
        return Ok(value);
    }
    let mut written = String::new();
    write_text(&value, &mut written);
    text(written, budget).map(Cow::Owned)
}

/// As it stands in a text: strings as they are, null as nothing, all else as compact JSON.
pub(super) fn write_text(value: &Value, text: &mut String) {
    match value {
        Value::Null => {}
        Value::String(string) => text.push_str(string),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            write!(text, "{value}").expect("a string takes everything");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Expression;
    use super::*;

    fn evaluate(source: &str) -> Result<Option<Value>, String> {
        let scope = json!({
            "name": "  Ada Lovelace ", "tags": ["vip", 2, null], "scores": [7, 30, 4.5], "empty": [],
            "user": {"id": 1, "mail": "ada@example.com"}, "nothing": null,
        });
        Expression::parse(source).unwrap().evaluate(&scope).map_err(|error| error.message)
    }

    #[test]
    fn each_function_does_what_its_name_says() {
        for (source, expected) in [
            ("default(missing, 'x')", json!("x")),
            ("default(nothing, 'x')", json!("x")),
            ("default('', 'x')", json!("")),
            ("length(name)", json!(15)),
            ("length('äö😀')", json!(3)),
            ("length(tags)", json!(3)),
            ("length(user)", json!(2)),
            ("length(missing)", json!(0)),
            ("length(nothing)", json!(0)),
            ("lower('ÄB')", json!("äb")),
            ("upper('äb')", json!("ÄB")),
            ("trim(name)", json!("Ada Lovelace")),
            ("contains(tags, 2.0)", json!(true)),
            ("contains(name, 'Love')", json!(true)),
            ("contains(user, 'mail')", json!(true)),
            ("contains(tags, 'x')", json!(false)),
            ("starts_with('abc', 'ab')", json!(true)),
            ("ends_with('abc', 'bc')", json!(true)),
            ("join(tags, '-')", json!("vip-2-")),
            ("join(scores)", json!("7304.5")),
            ("split('a,b,,c', ',')", json!(["a", "b", "", "c"])),
            ("round(2.5)", json!(3)),
            ("round(2.345, 2)", json!(2.35)),
            ("floor(-1.5)", json!(-2)),
            ("ceil(1.2)", json!(2)),
            ("abs(-3)", json!(3)),
            ("min(scores)", json!(4.5)),
            ("max(scores)", json!(30)),
            ("max(1, 2, 3)", json!(3)),
            ("min('b', 'a')", json!("a")),
            ("number(' 42 ')", json!(42)),
            ("number('1.5e3')", json!(1500.0)),
            ("number(7)", json!(7)),
            ("string(7)", json!("7")),
            ("string('a')", json!("a")),
            ("string(nothing)", json!("")),
            ("string([1, 'a'])", json!("[1,\"a\"]")),
            ("json('a')", json!("\"a\"")),
            ("json(user)", json!("{\"id\":1,\"mail\":\"ada@example.com\"}")),
            ("keys(user)", json!(["id", "mail"])),
            ("values(user)", json!([1, "ada@example.com"])),
            ("first(scores)", json!(7)),
            ("last(scores)", json!(4.5)),
            ("last(split('a b', ' '))", json!("b")),
        ] {
            assert_eq!(evaluate(source), Ok(Some(expected)), "{source}");
        }
    }

    #[test]
    fn the_first_the_last_and_the_extremes_of_nothing_are_undefined() {
        for source in ["first(empty)", "last(empty)", "min(empty)", "max([])", "last([])"] {
            assert_eq!(evaluate(source), Ok(None), "{source}");
        }
    }

    #[test]
    fn a_wrong_argument_is_named_with_its_type() {
        for (source, expected) in [
            ("lower(user.id)", "`lower` needs a string, but `user.id` is a number"),
            ("upper(missing)", "`missing` is undefined; give a default: `missing ?? …`"),
            ("length(5)", "`length` needs a string, a list or an object, but `5` is a number"),
            ("join(name)", "`join` needs a list, but `name` is a string"),
            ("join(tags, 1)", "`join` needs a string, but `1` is a number"),
            ("split('a', '')", "`split` needs a separator that is not empty"),
            ("round(1, 99)", "`round` needs 0 to 15 places, but `99` is something else"),
            ("number('x1')", "`number` needs the text of a number, but `'x1'` is \"x1\""),
            ("number(true)", "`number` needs a number or its text, but `true` is a boolean"),
            ("min(tags)", "`min` needs numbers only or strings only, not a number and a string"),
            ("max(1, 'a')", "`max` needs numbers only or strings only, not a string and a number"),
            ("min([null])", "`min` needs numbers only or strings only, not null and null"),
            ("max(1)", "`max` needs a list, but `1` is a number"),
            ("keys(tags)", "`keys` needs an object, but `tags` is a list"),
            ("first(name)", "`first` needs a list, but `name` is a string"),
            ("name | trim | keys", "`keys` needs an object, but `name | trim` is a string"),
        ] {
            assert_eq!(evaluate(source), Err(expected.to_owned()), "{source}");
        }
    }

    #[test]
    fn every_function_is_found_by_its_name() {
        for function in Function::ALL {
            assert_eq!(Function::by_name(function.name()), Some(function));
        }
    }
}
