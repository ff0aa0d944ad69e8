//! What joins two operands, and how tightly.

use super::lexer::Symbol;
use super::number::Operator;
use super::syntax::{Comparison, Kind, Node};

/// How tightly an operator binds, from loosest to tightest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Or,
    And,
    Not,
    Comparison,
    Coalesce,
    Sum,
    Product,
    Operand,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Join {
    Or,
    And,
    Compare(Comparison),
    Coalesce,
    Arithmetic(Operator),
}

const JOINS: [(Symbol, Join); 15] = [
    (Symbol::Or, Join::Or),
    (Symbol::And, Join::And),
    (Symbol::Equal, Join::Compare(Comparison::Equal)),
    (Symbol::NotEqual, Join::Compare(Comparison::NotEqual)),
    (Symbol::Less, Join::Compare(Comparison::Less)),
    (Symbol::LessOrEqual, Join::Compare(Comparison::LessOrEqual)),
    (Symbol::Greater, Join::Compare(Comparison::Greater)),
    (Symbol::GreaterOrEqual, Join::Compare(Comparison::GreaterOrEqual)),
    (Symbol::In, Join::Compare(Comparison::In)),
    (Symbol::Coalesce, Join::Coalesce),
    (Symbol::Plus, Join::Arithmetic(Operator::Add)),
    (Symbol::Minus, Join::Arithmetic(Operator::Subtract)),
    (Symbol::Star, Join::Arithmetic(Operator::Multiply)),
    (Symbol::Slash, Join::Arithmetic(Operator::Divide)),
    (Symbol::Percent, Join::Arithmetic(Operator::Remainder)),
];

impl Level {
    /// The next tighter one: what the right operand of an operator of this level is made of.
    pub(super) fn above(self) -> Level {
        match self {
            Level::Or => Level::And,
            Level::And => Level::Not,
            Level::Not => Level::Comparison,
            Level::Comparison => Level::Coalesce,
            Level::Coalesce => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product | Level::Operand => Level::Operand,
        }
    }
}

impl Join {
    pub(super) fn written(symbol: Symbol) -> Option<Join> {
        JOINS.iter().find(|(written, _)| *written == symbol).map(|(_, join)| *join)
    }

    pub(super) fn level(self) -> Level {
        match self {
            Join::Or => Level::Or,
            Join::And => Level::And,
            Join::Compare(_) => Level::Comparison,
            Join::Coalesce => Level::Coalesce,
            Join::Arithmetic(Operator::Add | Operator::Subtract) => Level::Sum,
            Join::Arithmetic(Operator::Multiply | Operator::Divide | Operator::Remainder) => Level::Product,
        }
    }

    pub(super) fn join(self, left: Node, right: Node) -> Node {
        let (start, end) = (left.start, right.end);
        let kind = match self {
            Join::Or => Kind::Or(vec![left, right]),
            Join::And => Kind::And(vec![left, right]),
            Join::Coalesce => Kind::Coalesce(vec![left, right]),
            Join::Compare(comparison) => Kind::Compare(left, comparison, right),
            Join::Arithmetic(operator) => Kind::Arithmetic(left, vec![(operator, right)]),
        };
        Node::new(kind, start, end)
    }

    /// Adds an operand to a chain of this level, which thereby grows longer and not deeper.
    pub(super) fn extend(self, mut chain: Node, right: Node) -> Node {
        let end = right.end;
        match (self, &mut *chain.kind) {
            (Join::Or, Kind::Or(operands))
            | (Join::And, Kind::And(operands))
            | (Join::Coalesce, Kind::Coalesce(operands)) => operands.push(right),
            (Join::Arithmetic(operator), Kind::Arithmetic(_, rest)) => rest.push((operator, right)),
            (_, _) => return self.join(chain, right),
        }
        chain.end = end;
        chain
    }
}
