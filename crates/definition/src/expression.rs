//! The expression language: one language for conditions, `when`, `match` and the `{{ … }}` of templates.
//!
//! An expression reads a run's data by reference and gives a value. It has no loops, no variables and no side
//! effects, so that evaluating one ends, and always gives the same for the same data. It deliberately knows
//! nothing of runs: what a name means is the business of a [`Scope`].
//!
//! ```text
//! conditional = or [ "?" conditional ":" conditional ]
//! or          = and { ( "or" | "||" ) and }                      gives a boolean, stops at the first true
//! and         = not { ( "and" | "&&" ) not }                     gives a boolean, stops at the first false
//! not         = ( "not" | "!" ) not | comparison
//! comparison  = coalesce [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in" ) coalesce ]
//! coalesce    = sum { "??" sum }                                 the first that is neither undefined nor null
//! sum         = product { ( "+" | "-" ) product }
//! product     = filtered { ( "*" | "/" | "%" ) filtered }
//! filtered    = unary { "|" function [ arguments ] }             x | f(a) is f(x, a)
//! unary       = "-" unary | postfix
//! postfix     = primary { "." name | "[" conditional "]" }
//! primary     = number | string | "true" | "false" | "null" | name | function arguments
//!             | "[" [ conditional { "," conditional } ] "]" | "(" conditional ")"
//! arguments   = "(" [ conditional { "," conditional } ] ")"
//! name        = ( letter | "_" ) { letter | digit | "_" | "-" directly before a letter }
//! ```
//!
//! | binds | operators | |
//! |---|---|---|
//! | loosest | `c ? a : b` | right to left |
//! | | `or` `\|\|` | |
//! | | `and` `&&` | |
//! | | `not` `!` | of a whole comparison: `not a == b` is `not (a == b)` |
//! | | `==` `!=` `<` `<=` `>` `>=` `in` `not in` | do not chain |
//! | | `??` | |
//! | | `+` `-` | |
//! | | `*` `/` `%` | |
//! | | `x \| filter(…)` | `a + b \| abs` is `a + (b \| abs)` |
//! | | `-x` | |
//! | tightest | `.name` `[index]` | a negative index counts from the end |
//!
//! **Names.** `steps.call-api.output` is one path; a subtraction of names needs spaces (`total - paid`), and
//! `score-1` is a subtraction. Where a name holds anything else it is written in brackets: `steps["step 2"]`.
//!
//! **Undefined.** A path that leads nowhere is undefined, which is falsy and equals `null`. Ordering anything with
//! undefined or null is false, and so is looking for something `in` it. Arithmetic and functions refuse undefined,
//! naming the path; `default`, `length` (0) and `??` take it.
//!
//! **Truth.** Undefined, `null`, `false`, `0`, `""`, `[]` and `{}` are falsy.
//!
//! **Equality** is strict and deep: `"1" != 1`, but `1 == 1.0`, and large integers are compared exactly. **Ordering**
//! is for two numbers or two strings. `+` adds numbers or joins strings; [`string`](Function::String) makes a string of
//! anything. Integers are exact to 64 bits and refuse to go further; `7 / 2` is `3.5`, `6 / 2` is `3`.
//!
//! An expression has at most [`EXPRESSION_BYTES`](crate::limits::EXPRESSION_BYTES) and is nested at most
//! [`EXPRESSION_DEPTH`](crate::limits::EXPRESSION_DEPTH) deep; an evaluation produces at most [`EVALUATION_BYTES`].
//!
//! **Functions** (each described at [`Function`]): `default` `length` `lower` `upper` `trim` `contains` `starts_with` `ends_with` `join` `split`
//! `round` `floor` `ceil` `abs` `min` `max` `number` `string` `json` `keys` `values` `first` `last`.

mod budget;
mod compare;
mod evaluator;
mod function;
mod lexer;
mod member;
mod name;
mod number;
mod operator;
mod parser;
mod secret;
mod syntax;
mod template;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use budget::Budget;
use evaluator::Evaluation;
use member::Operand;
use syntax::{Kind, Node};

pub use budget::{EVALUATION_BYTES, EVALUATION_READ_BYTES};
pub use function::Function;
pub use secret::ROOT as SECRET;
pub use secret::{SecretPlace, placeholder};
pub use template::{Template, TemplateProblem};

/// A parsed expression. Cheap to clone; equal to another of the same source.
#[derive(Clone)]
pub struct Expression {
    parsed: Arc<Parsed>,
}

struct Parsed {
    source: String,
    root: Node,
}

impl Expression {
    /// Reads an expression.
    pub fn parse(source: &str) -> Result<Expression, ParseError> {
        let root = parser::parse(source)?;
        Ok(Expression { parsed: Arc::new(Parsed { source: source.to_owned(), root }) })
    }

    /// The expression as it was written.
    pub fn source(&self) -> &str {
        &self.parsed.source
    }

    /// The value; `None` is undefined.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<Option<Value>, EvaluationError> {
        let mut budget = Budget::new();
        let value = self.operand(scope, &mut budget)?;
        value.map(|value| budget.own(value)).transpose()
    }

    /// Whether the expression holds for these values.
    pub fn is_true(&self, scope: &dyn Scope) -> Result<bool, EvaluationError> {
        self.is_true_at(scope).0
    }

    /// Whether the expression is true, and what that cost in bytes that were looked at or made.
    pub fn is_true_at(&self, scope: &dyn Scope) -> (Result<bool, EvaluationError>, usize) {
        let mut budget = Budget::new();
        (self.is_true_within(scope, &mut budget), budget.spent())
    }

    fn is_true_within(&self, scope: &dyn Scope, budget: &mut Budget) -> Result<bool, EvaluationError> {
        let value = self.operand(scope, budget)?;
        Ok(evaluator::is_truthy(value.as_deref()))
    }

    /// Every path the expression reads, in the order written, up to its first segment in brackets that is not a
    /// string: exactly what it asks its [`Scope`] for.
    pub fn paths(&self) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        self.parsed.root.collect_paths(&mut paths);
        paths
    }

    /// Whether the expression is nothing but one path.
    fn is_path(&self) -> bool {
        matches!(*self.parsed.root.kind, Kind::Path(_))
    }

    fn operand<'a>(
        &'a self,
        scope: &'a dyn Scope,
        budget: &mut Budget,
    ) -> Result<Operand<'a>, EvaluationError> {
        Evaluation::new(self.source(), scope, budget).value(&self.parsed.root)
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.source()).finish()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.source() == other.source()
    }
}

impl Eq for Expression {}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.source())
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Expression, D::Error> {
        let source = Cow::<str>::deserialize(deserializer)?;
        Expression::parse(&source).map_err(serde::de::Error::custom)
    }
}

/// What names mean.
pub trait Scope {
    /// Resolves the longest prefix it can of a path of at least one segment: the value, and how many segments it
    /// used. The evaluator walks the rest. `None`: the path is undefined.
    fn resolve<'a>(&'a self, path: &[&str]) -> Option<(Cow<'a, Value>, usize)>;
}

/// The fields of an object, by name.
impl Scope for Value {
    fn resolve<'a>(&'a self, path: &[&str]) -> Option<(Cow<'a, Value>, usize)> {
        Some((Cow::Borrowed(self.get(path.first()?)?), 1))
    }
}

/// Why a source is not an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// In bytes, from the start of the source.
    pub offset: usize,
    pub message: String,
    column: usize,
}

impl ParseError {
    fn new(source: &str, offset: usize, message: impl Into<String>) -> ParseError {
        ParseError { offset, message: message.into(), column: column(source, offset) }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Counted in characters, from 1.
fn column(source: &str, offset: usize) -> usize {
    source.char_indices().take_while(|(start, _)| *start < offset).count() + 1
}

/// Why an expression has no value for these data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    pub message: String,
    /// The path it is about, as written.
    pub path: Option<String>,
}

impl EvaluationError {
    fn new(message: impl Into<String>) -> EvaluationError {
        EvaluationError { message: message.into(), path: None }
    }
}

#[cfg(test)]
mod tests;
