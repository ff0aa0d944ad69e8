//! The tree of a parsed expression. Chains of one operator are one node, so that the tree is no deeper than the
//! nesting of its source, however long that is.

use serde_json::Value;

use super::function::Function;
use super::number::Operator;

/// Small, because it is handed up through the parser, and the stack is.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Box<Kind>,
    /// Where it stands in the source.
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug)]
pub(super) enum Kind {
    Literal(Value),
    List(Vec<Node>),
    Path(Path),
    /// Members of something computed.
    Member(Node, Vec<Segment>),
    /// The value of the first arm whose condition holds.
    Conditional {
        arms: Vec<(Node, Node)>,
        otherwise: Node,
    },
    Or(Vec<Node>),
    And(Vec<Node>),
    Not(Node),
    Compare(Node, Comparison, Node),
    Coalesce(Vec<Node>),
    /// From left to right.
    Arithmetic(Node, Vec<(Operator, Node)>),
    Negate(Node),
    Call(Function, Vec<Node>),
    Filtered(Node, Vec<Filter>),
}

#[derive(Debug)]
pub(super) struct Path {
    /// What the scope is asked for: at least one name.
    pub(super) names: Vec<String>,
    /// From the first segment on that is not a name.
    pub(super) rest: Vec<Segment>,
}

#[derive(Debug)]
pub(super) enum Segment {
    Name(String),
    /// Negative: from the end.
    Index(i64),
    Computed(Node),
}

/// `| function(arguments)`
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) function: Function,
    pub(super) arguments: Vec<Node>,
    pub(super) end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

impl Node {
    pub(super) fn new(kind: Kind, start: usize, end: usize) -> Node {
        Node { kind: Box::new(kind), start, end }
    }

    pub(super) fn collect_paths(&self, paths: &mut Vec<Vec<String>>) {
        match &*self.kind {
            Kind::Literal(_) => {}
            Kind::List(nodes)
            | Kind::Or(nodes)
            | Kind::And(nodes)
            | Kind::Coalesce(nodes)
            | Kind::Call(_, nodes) => {
                collect_all(nodes, paths);
            }
            Kind::Path(path) => {
                paths.push(path.names.clone());
                collect_computed(&path.rest, paths);
            }
            Kind::Member(inner, segments) => {
                inner.collect_paths(paths);
                collect_computed(segments, paths);
            }
            Kind::Conditional { arms, otherwise } => {
                for (condition, then) in arms {
                    condition.collect_paths(paths);
                    then.collect_paths(paths);
                }
                otherwise.collect_paths(paths);
            }
            Kind::Not(inner) | Kind::Negate(inner) => inner.collect_paths(paths),
            Kind::Compare(left, _, right) => {
                left.collect_paths(paths);
                right.collect_paths(paths);
            }
            Kind::Arithmetic(first, rest) => {
                first.collect_paths(paths);
                rest.iter().for_each(|(_, node)| node.collect_paths(paths));
            }
            Kind::Filtered(first, filters) => {
                first.collect_paths(paths);
                filters.iter().for_each(|filter| collect_all(&filter.arguments, paths));
            }
        }
    }
}

fn collect_all(nodes: &[Node], paths: &mut Vec<Vec<String>>) {
    nodes.iter().for_each(|node| node.collect_paths(paths));
}

fn collect_computed(segments: &[Segment], paths: &mut Vec<Vec<String>>) {
    for segment in segments {
        match segment {
            Segment::Name(_) | Segment::Index(_) => {}
            Segment::Computed(node) => node.collect_paths(paths),
        }
    }
}
