//! How much work it is to check a value against a schema, known before it is done.
//!
//! A schema is read into a graph: a node for each subschema, with what it applies to the same value (`allOf`, `$ref`,
//! …) and to the parts of it (`properties`, `items`, …). A checker that remembers nothing visits a subschema once for
//! each way that leads to it, which may be exponential in a few hundred bytes; counting the ways is not, for each pair
//! of a subschema and a part of the value is counted once.

mod reader;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::limits;
use reader::Reader;

/// What a subschema applies where, by index.
#[derive(Debug, Default)]
struct Node {
    /// Of its own keywords.
    weight: u64,
    /// To the value itself.
    here: Vec<usize>,
    /// To the member of this name.
    properties: BTreeMap<String, usize>,
    /// To every member. Which of them a pattern or `additionalProperties` leaves out is not looked at.
    members: Vec<usize>,
    /// To the items, by position, and to every item.
    prefix: Vec<usize>,
    items: Vec<usize>,
    /// To the names of members.
    names: Vec<usize>,
    patterns: u64,
    /// `unevaluated…`: what is applied here is applied again for each part.
    again: bool,
    /// Ways through what is applied to one value, this node included.
    ways: u64,
}

impl Node {
    fn is_leaf(&self) -> bool {
        self.here.is_empty() && !self.has_parts()
    }

    fn has_parts(&self) -> bool {
        !(self.properties.is_empty()
            && self.members.is_empty()
            && self.prefix.is_empty()
            && self.items.is_empty()
            && self.names.is_empty())
    }
}

/// A schema as far as its cost goes.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    /// Refuses what could cost too much with a value of any kind, and says what would be right.
    pub(super) fn of(schema: &Value) -> Result<Graph, String> {
        let mut reader = Reader::default();
        reader.read(schema, 0)?;
        let mut nodes = reader.resolve()?;
        let mut seen = vec![Seen::No; nodes.len()];
        for index in 0..nodes.len() {
            count_ways(&mut nodes, &mut seen, index, 0)?;
        }
        Ok(Graph { nodes })
    }

    /// The work of checking a value; `None` if it is more than `most`.
    pub(super) fn work(&self, value: &Value, most: u64) -> Option<u64> {
        let mut count = Count { graph: self, known: HashMap::new(), steps: 0, most };
        count.work(0, value).filter(|work| *work <= most)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    No,
    /// The node is on the path that is being walked: to meet it again is a cycle.
    Open,
    /// How long the longest way from it is.
    Done(usize),
}

fn count_ways(nodes: &mut [Node], seen: &mut [Seen], index: usize, depth: usize) -> Result<usize, String> {
    let too_deep = || {
        format!(
            "subschemas apply each other to the same value more than {} deep; move them into `properties` or `items`, \
             or name what is needed directly",
            limits::SCHEMA_DEPTH
        )
    };
    match seen[index] {
        Seen::Done(height) => return Ok(height),
        Seen::Open => {
            return Err(
                "it refers to itself without going into the value, and would never be checked to the end; \
                        put the reference into `properties` or `items`"
                    .to_owned(),
            );
        }
        Seen::No if depth > limits::SCHEMA_DEPTH => return Err(too_deep()),
        Seen::No => seen[index] = Seen::Open,
    }
    let (mut ways, mut height) = (nodes[index].weight, 0);
    for next in nodes[index].here.clone() {
        height = height.max(count_ways(nodes, seen, next, depth + 1)? + 1);
        ways = ways.saturating_add(nodes[next].ways);
    }
    if height > limits::SCHEMA_DEPTH {
        return Err(too_deep());
    }
    if ways > limits::SCHEMA_WAYS {
        return Err(format!(
            "{} subschemas are applied to one value, over the limit of {}: a subschema counts once for each way that \
             leads to it. Refer to it once, or use `enum` for many values",
            if ways == u64::MAX { "more than 2^64".to_owned() } else { ways.to_string() },
            limits::SCHEMA_WAYS
        ));
    }
    nodes[index].ways = ways;
    seen[index] = Seen::Done(height);
    Ok(height)
}

/// Counting the work for one value.
struct Count<'g> {
    graph: &'g Graph,
    /// Of lists and objects, by where they are.
    known: HashMap<(usize, *const Value), u64>,
    steps: u64,
    most: u64,
}

impl Count<'_> {
    /// `None` when it is known to be too much.
    fn work(&mut self, index: usize, value: &Value) -> Option<u64> {
        self.steps += 1;
        if self.steps > self.most {
            return None;
        }
        let node = &self.graph.nodes[index];
        let is_container = value.is_object() || value.is_array();
        if !is_container || node.is_leaf() {
            return self.within(node.ways.saturating_mul(size(value)));
        }
        let key = (index, std::ptr::from_ref(value));
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let mut work = node.weight;
        for next in &node.here {
            let more = self.work(*next, value)?;
            work = self.within(work.saturating_add(more))?;
        }
        if node.again {
            work = self.within(work.saturating_mul(parts(value) + 1))?;
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.steps += 1;
                    let names: u64 = node.names.iter().map(|names| self.graph.nodes[*names].ways).sum();
                    let looked_at =
                        node.patterns.saturating_add(names).saturating_mul(1 + chunks(name.len()));
                    work = self.within(work.saturating_add(looked_at))?;
                    for next in node.properties.get(name).into_iter().chain(&node.members) {
                        let more = self.work(*next, member)?;
                        work = self.within(work.saturating_add(more))?;
                    }
                }
            }
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    for next in node.prefix.get(place).into_iter().chain(&node.items) {
                        let more = self.work(*next, item)?;
                        work = self.within(work.saturating_add(more))?;
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        self.known.insert(key, work);
        Some(work)
    }

    fn within(&self, work: u64) -> Option<u64> {
        (work <= self.most).then_some(work)
    }
}

/// Patterns and formats read all of a text, `uniqueItems` and `const` all of a list.
fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => 1 + chunks(text.len()),
        Value::Array(_) | Value::Object(_) => 1 + parts(value) / 8,
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

fn chunks(bytes: usize) -> u64 {
    u64::try_from(bytes / 256).unwrap_or(u64::MAX)
}

fn parts(value: &Value) -> u64 {
    let parts = match value {
        Value::Object(members) => members.len(),
        Value::Array(items) => items.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    u64::try_from(parts).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn doubling(levels: usize) -> Value {
        let mut definitions = Map::new();
        for level in 0..levels {
            let next = format!("#/$defs/n{}", level + 1);
            definitions.insert(format!("n{level}"), json!({"allOf": [{"$ref": next}, {"$ref": next}]}));
        }
        definitions.insert(format!("n{levels}"), json!({"type": "object"}));
        json!({"$ref": "#/$defs/n0", "$defs": definitions})
    }

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!([]), |inner, _| json!([inner]))
    }

    #[test]
    fn a_subschema_that_is_reached_in_too_many_ways_is_refused() {
        assert!(Graph::of(&doubling(10)).is_ok());
        let refused = Graph::of(&doubling(14)).unwrap_err();
        assert!(refused.contains("applied to one value, over the limit of"), "{refused}");
        let refused = Graph::of(&doubling(60)).unwrap_err();
        assert!(refused.contains("deep"), "{refused}");
        let consts: Vec<Value> = (0..200_000).map(|n| json!({"const": n})).collect();
        let refused = Graph::of(&json!({"items": {"anyOf": consts}})).unwrap_err();
        assert!(refused.contains("`enum`") || refused.contains("subschemas"), "{refused}");
    }

    #[test]
    fn a_schema_that_refers_to_itself_in_place_is_refused() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"anyOf": [{"type": "null"}, {"$ref": "#"}]}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}}),
        ] {
            let refused = Graph::of(&schema).unwrap_err();
            assert!(refused.contains("without going into the value"), "{refused}");
        }
    }

    #[test]
    fn two_references_in_a_recursive_schema_are_counted_by_the_depth_of_the_value() {
        let twice = Graph::of(&json!({"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}})).unwrap();
        assert!(twice.work(&nested(8), 100_000).is_some());
        assert_eq!(twice.work(&nested(95), u64::MAX / 2), None);
        let once = Graph::of(&json!({"items": {"$ref": "#"}})).unwrap();
        assert!(once.work(&nested(95), 1_000).is_some());
    }

    #[test]
    fn many_items_times_many_alternatives_are_too_much_work() {
        let consts: Vec<Value> = (0..10_000).map(|n| json!({"const": n})).collect();
        let graph = Graph::of(&json!({"items": {"anyOf": consts}})).unwrap();
        let items: Vec<Value> = (0..2_000).map(Value::from).collect();
        assert_eq!(graph.work(&Value::Array(items), limits::SCHEMA_WORK), None);
        assert!(graph.work(&json!([1, 2, 3]), limits::SCHEMA_WORK).is_some());
    }

    #[test]
    fn a_large_value_and_an_ordinary_schema_are_not_too_much() {
        let schema = json!({"type": "array", "items": {"type": "object", "required": ["id"], "properties": {
            "id": {"type": "integer"}, "name": {"type": "string", "minLength": 1}, "tags": {"items": {"type": "string"}}}}});
        let item = json!({"id": 1, "name": "something", "tags": ["a", "b"]});
        let items = vec![item; 20_000];
        assert!(Graph::of(&schema).unwrap().work(&Value::Array(items), limits::SCHEMA_WORK).is_some());
    }

    #[test]
    fn many_patterns_are_refused() {
        let patterns: Map<String, Value> = (0..60_000).map(|n| (format!("^x{n}$"), json!({}))).collect();
        let refused = Graph::of(&json!({"patternProperties": patterns})).unwrap_err();
        assert!(refused.contains("patterns"), "{refused}");
    }

    #[test]
    fn references_are_found_by_anchor_id_and_pointer() {
        let schema = json!({
            "properties": {"a": {"$ref": "#here"}, "b": {"$ref": "other#/$defs/x~1y"}, "c": {"$ref": "#/$defs/one"}},
            "$defs": {
                "one": {"$anchor": "here"},
                "two": {"$id": "other", "$defs": {"x/y": {"type": "null"}}, "items": {"$ref": "#/$defs/x~1y"}},
            },
        });
        assert!(Graph::of(&schema).is_ok());
        let refused = Graph::of(&json!({"$ref": "https://example.com/x"})).unwrap_err();
        assert!(refused.contains("leads nowhere"), "{refused}");
    }
}
