//! A tree and a scope into a value. Values are read in place: only what an operator makes anew is owned.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::budget::{Budget, weight};
use super::compare::{equal, holds, order, type_name};
use super::function::{Argument, Function};
use super::member::{Member, Operand, member_of};
use super::name::Name;
use super::number::{Numeric, Operator};
use super::syntax::{Comparison, Filter, Kind, Node, Path, Segment};
use super::{EvaluationError, Scope};

type Evaluated<'a> = Result<Operand<'a>, EvaluationError>;

pub(super) struct Evaluation<'a, 'b> {
    source: &'a str,
    scope: &'a dyn Scope,
    budget: &'b mut Budget,
}

impl<'a, 'b> Evaluation<'a, 'b> {
    pub(super) fn new(source: &'a str, scope: &'a dyn Scope, budget: &'b mut Budget) -> Evaluation<'a, 'b> {
        Evaluation { source, scope, budget }
    }

    pub(super) fn value(&mut self, node: &'a Node) -> Evaluated<'a> {
        match &*node.kind {
            Kind::Literal(value) => Ok(Some(Cow::Borrowed(value))),
            Kind::List(items) => self.list(items),
            Kind::Path(path) => self.path(path),
            Kind::Member(inner, segments) => self.member(inner, segments),
            Kind::Conditional { arms, otherwise } => self.conditional(arms, otherwise),
            Kind::Or(operands) => self.first_that_is(true, operands),
            Kind::And(operands) => self.first_that_is(false, operands),
            Kind::Not(inner) => Ok(boolean(!self.is_true(inner)?)),
            Kind::Compare(left, comparison, right) => self.compare(left, *comparison, right),
            Kind::Coalesce(operands) => self.coalesce(operands),
            Kind::Arithmetic(first, rest) => self.arithmetic(node.start, first, rest),
            Kind::Negate(inner) => self.negate(inner),
            Kind::Call(function, arguments) => self.call(*function, arguments),
            Kind::Filtered(first, filters) => self.filtered(first, filters),
        }
    }

    fn is_true(&mut self, node: &'a Node) -> Result<bool, EvaluationError> {
        Ok(is_truthy(self.value(node)?.as_deref()))
    }

    /// The value of an operand that may not be undefined.
    fn defined(&mut self, node: &'a Node) -> Result<Cow<'a, Value>, EvaluationError> {
        self.value(node)?.ok_or_else(|| self.name_of(node).undefined())
    }

    fn list(&mut self, items: &'a [Node]) -> Evaluated<'a> {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            let value = self.defined(item)?;
            list.push(self.budget.own(value)?);
        }
        Ok(Some(Cow::Owned(Value::Array(list))))
    }

    fn path(&mut self, path: &'a Path) -> Evaluated<'a> {
        /// Most paths are short, and need no allocation to be asked for.
        const SHORT: usize = 8;
        let mut short = [""; SHORT];
        let long: Vec<&str>;
        let names: &[&str] = if path.names.len() <= SHORT {
            short.iter_mut().zip(&path.names).for_each(|(slot, name)| *slot = name);
            &short[..path.names.len()]
        } else {
            long = path.names.iter().map(String::as_str).collect();
            &long
        };
        let Some((mut value, used)) = self.scope.resolve(names) else { return Ok(None) };
        if let Cow::Owned(made) = &value {
            self.budget.produce(weight(made))?;
        }
        for name in names.iter().skip(used) {
            let Some(inner) = member_of(value, Member::Name(name)) else { return Ok(None) };
            value = inner;
        }
        self.walk(value, &path.rest)
    }

    fn member(&mut self, inner: &'a Node, segments: &'a [Segment]) -> Evaluated<'a> {
        match self.value(inner)? {
            Some(value) => self.walk(value, segments),
            None => Ok(None),
        }
    }

    fn walk(&mut self, mut value: Cow<'a, Value>, segments: &'a [Segment]) -> Evaluated<'a> {
        for segment in segments {
            let inner = match segment {
                Segment::Name(name) => member_of(value, Member::Name(name)),
                Segment::Index(index) => member_of(value, Member::Index(*index)),
                Segment::Computed(node) => self.computed_member(value, node)?,
            };
            let Some(inner) = inner else { return Ok(None) };
            value = inner;
        }
        Ok(Some(value))
    }

    fn computed_member(&mut self, value: Cow<'a, Value>, node: &'a Node) -> Evaluated<'a> {
        let Some(segment) = self.value(node)? else { return Ok(None) };
        match segment.as_ref() {
            Value::Null => Ok(None),
            Value::String(name) => Ok(member_of(value, Member::Name(name))),
            Value::Number(number) => {
                Ok(Numeric::from(number).as_index().and_then(|index| member_of(value, Member::Index(index))))
            }
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                let name = self.name_of(node);
                let found = type_name(&segment);
                Err(name.error(format!(
                    "what is in brackets must be a string or a number, but {name} is {found}"
                )))
            }
        }
    }

    fn conditional(&mut self, arms: &'a [(Node, Node)], otherwise: &'a Node) -> Evaluated<'a> {
        for (condition, then) in arms {
            if self.is_true(condition)? {
                return self.value(then);
            }
        }
        self.value(otherwise)
    }

    fn first_that_is(&mut self, wanted: bool, operands: &'a [Node]) -> Evaluated<'a> {
        for operand in operands {
            if self.is_true(operand)? == wanted {
                return Ok(boolean(wanted));
            }
        }
        Ok(boolean(!wanted))
    }

    fn coalesce(&mut self, operands: &'a [Node]) -> Evaluated<'a> {
        let mut value = None;
        for operand in operands {
            value = self.value(operand)?;
            if !is_missing(value.as_deref()) {
                break;
            }
        }
        Ok(value)
    }

    fn compare(&mut self, left: &'a Node, comparison: Comparison, right: &'a Node) -> Evaluated<'a> {
        let left_value = self.value(left)?;
        let right_value = self.value(right)?;
        let (a, b) = (left_value.as_deref(), right_value.as_deref());
        let result = match comparison {
            Comparison::Equal => self.are_equal(a, b)?,
            Comparison::NotEqual => !self.are_equal(a, b)?,
            Comparison::In => self.is_in(a, b, right)?,
            Comparison::NotIn => !self.is_in(a, b, right)?,
            Comparison::Less => self.order(left, a, right, b)?.is_some_and(Ordering::is_lt),
            Comparison::LessOrEqual => self.order(left, a, right, b)?.is_some_and(Ordering::is_le),
            Comparison::Greater => self.order(left, a, right, b)?.is_some_and(Ordering::is_gt),
            Comparison::GreaterOrEqual => self.order(left, a, right, b)?.is_some_and(Ordering::is_ge),
        };
        Ok(boolean(result))
    }

    fn are_equal(&mut self, left: Option<&Value>, right: Option<&Value>) -> Result<bool, EvaluationError> {
        equal(left.unwrap_or(&Value::Null), right.unwrap_or(&Value::Null), self.budget)
    }

    /// `None` where either is undefined or null: then no order holds.
    fn order(
        &mut self,
        left: &Node,
        left_value: Option<&Value>,
        right: &Node,
        right_value: Option<&Value>,
    ) -> Result<Option<Ordering>, EvaluationError> {
        let (Some(a), Some(b)) = (left_value, right_value) else { return Ok(None) };
        if a.is_null() || b.is_null() {
            return Ok(None);
        }
        if let Some(order) = order(a, b, self.budget)? {
            return Ok(Some(order));
        }
        let (left, right) = (self.name_of(left), self.name_of(right));
        let (a, b) = (type_name(a), type_name(b));
        let named = if left.is_path() { left } else { right };
        Err(named.error(format!(
            "only two numbers or two strings have an order, but {left} is {a} and {right} is {b}"
        )))
    }

    fn is_in(
        &mut self,
        item: Option<&Value>,
        container: Option<&Value>,
        container_node: &Node,
    ) -> Result<bool, EvaluationError> {
        let Some(container) = container.filter(|container| !container.is_null()) else { return Ok(false) };
        let item = item.unwrap_or(&Value::Null);
        if let Some(held) = holds(container, item, self.budget)? {
            return Ok(held);
        }
        let is_container = container.is_object() || container.is_string();
        if is_container && item.is_null() {
            return Ok(false);
        }
        let name = self.name_of(container_node);
        let (item, container) = (type_name(item), type_name(container));
        Err(name.error(format!(
            "`in` looks for anything in a list, and for a string in a string or an object, but {name} is {container} \
             and {item} is looked for"
        )))
    }

    fn arithmetic(&mut self, start: usize, first: &'a Node, rest: &'a [(Operator, Node)]) -> Evaluated<'a> {
        let mut left = self.defined(first)?;
        let mut left_name = self.name_of(first);
        for (operator, node) in rest {
            let right = self.defined(node)?;
            let right_name = self.name_of(node);
            left = Cow::Owned(self.operate((left, left_name), *operator, (right, right_name))?);
            left_name = Name::of_part(&self.source[start..node.end]);
        }
        Ok(Some(left))
    }

    fn operate(
        &mut self,
        (left, left_name): (Cow<'a, Value>, Name<'a>),
        operator: Operator,
        (right, right_name): (Cow<'a, Value>, Name<'a>),
    ) -> Result<Value, EvaluationError> {
        if let (Value::Number(a), Value::Number(b)) = (left.as_ref(), right.as_ref()) {
            let result = Numeric::from(a).apply(operator, b.into());
            let symbol = operator.symbol();
            return result.map(Numeric::into_value).map_err(|problem| {
                let named = if right_name.is_path() { right_name } else { left_name };
                named.error(format!("{left_name} {symbol} {right_name} is {problem}"))
            });
        }
        if operator == Operator::Add && left.is_string() && right.is_string() {
            return self.join(left, &right);
        }
        let (a, b, symbol) = (type_name(&left), type_name(&right), operator.symbol());
        let named = if left.is_number() || (left.is_string() && operator == Operator::Add) {
            right_name
        } else {
            left_name
        };
        let hint = match operator {
            Operator::Add if left.is_string() => format!("; write `string({right_name:#})`"),
            Operator::Add if right.is_string() => format!("; write `string({left_name:#})`"),
            Operator::Add => ", which is for two numbers or two strings".to_owned(),
            Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder => {
                ", which is for two numbers".to_owned()
            }
        };
        Err(named.error(format!("{left_name} is {a} and {right_name} is {b}: they have no `{symbol}`{hint}")))
    }

    /// Appends in place where it can, so that a long sum of strings costs what it makes.
    fn join(&mut self, left: Cow<'a, Value>, right: &Value) -> Result<Value, EvaluationError> {
        let right = right.as_str().unwrap_or_default();
        self.budget.produce(right.len())?;
        let mut joined = self.budget.own(left)?;
        if let Value::String(text) = &mut joined {
            text.push_str(right);
        }
        Ok(joined)
    }

    fn negate(&mut self, inner: &'a Node) -> Evaluated<'a> {
        let value = self.defined(inner)?;
        let name = self.name_of(inner);
        let Value::Number(number) = value.as_ref() else {
            return Err(name.error(format!("`-` needs a number, but {name} is {}", type_name(&value))));
        };
        let negated = Numeric::from(number).negate();
        let negated = negated.map_err(|problem| name.error(format!("-{name:#} is {problem}")))?;
        Ok(Some(Cow::Owned(negated.into_value())))
    }

    fn call(&mut self, function: Function, arguments: &'a [Node]) -> Evaluated<'a> {
        let (first, rest) = arguments.split_first().expect("every function takes an argument");
        let value = self.value(first)?;
        let name = self.name_of(first);
        self.apply(function, value, name, rest)
    }

    fn filtered(&mut self, first: &'a Node, filters: &'a [Filter]) -> Evaluated<'a> {
        let mut value = self.value(first)?;
        let mut name = self.name_of(first);
        for filter in filters {
            value = self.apply(filter.function, value, name, &filter.arguments)?;
            name = Name::of_part(&self.source[first.start..filter.end]);
        }
        Ok(value)
    }

    fn apply(
        &mut self,
        function: Function,
        first: Operand<'a>,
        name: Name<'a>,
        rest: &'a [Node],
    ) -> Evaluated<'a> {
        if function == Function::Default {
            return if is_missing(first.as_deref()) { self.value(&rest[0]) } else { Ok(first) };
        }
        if function == Function::Length && is_missing(first.as_deref()) {
            return Ok(Some(Cow::Owned(0.into())));
        }
        let mut arguments = Vec::with_capacity(rest.len() + 1);
        arguments.push(Argument { value: first.ok_or_else(|| name.undefined())?, name });
        for node in rest {
            arguments.push(Argument { value: self.defined(node)?, name: self.name_of(node) });
        }
        function.apply(arguments, self.budget)
    }

    fn name_of(&self, node: &Node) -> Name<'a> {
        let text = &self.source[node.start..node.end];
        if matches!(*node.kind, Kind::Path(_)) { Name::of_path(text) } else { Name::of_part(text) }
    }
}

pub(super) fn is_truthy(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => !Numeric::from(number).is_zero(),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(fields)) => !fields.is_empty(),
    }
}

fn is_missing(value: Option<&Value>) -> bool {
    value.is_none_or(Value::is_null)
}

fn boolean<'a>(value: bool) -> Operand<'a> {
    const TRUE: &Value = &Value::Bool(true);
    const FALSE: &Value = &Value::Bool(false);
    Some(Cow::Borrowed(if value { TRUE } else { FALSE }))
}
