//! How much work it is to check a value against a schema, known before it is done.
//!
//! A schema is read into a graph: a node for each subschema, with what it applies to the same value (`allOf`, `$ref`,
//! …) and to the parts of it (`properties`, `items`, …). A checker that remembers nothing visits a subschema once for
//! each way that leads to it, which may be exponential in a few hundred bytes; counting the ways is not, for each pair
//! of a subschema and a part of the value is counted once.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use crate::limits;

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
    /// It is on the way to itself.
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

/// A schema on its way to a graph. References are resolved when all of it was read.
#[derive(Default)]
struct Reader {
    nodes: Vec<Node>,
    /// By the place in the document: the resource it belongs to, and the JSON pointer within.
    places: HashMap<(usize, String), usize>,
    /// By `$id`, and by the resource and `$anchor`.
    resources: HashMap<String, usize>,
    anchors: HashMap<(usize, String), usize>,
    /// By `$dynamicAnchor` or `$recursiveAnchor`: whichever comes first when it is checked.
    dynamic: HashMap<String, Vec<usize>>,
    /// From, the resource it stands in, the reference, and whether it is a dynamic one.
    references: Vec<(usize, usize, String, bool)>,
    patterns: usize,
    pattern_bytes: usize,
    /// Where the reader is: JSON pointers within each of the resources around it.
    around: Vec<(usize, String)>,
}

/// Where a `$recursiveRef` may lead.
const RECURSIVE: &str = "$recursiveAnchor";

impl Reader {
    fn read(&mut self, schema: &Value, resource: usize) -> Result<usize, String> {
        let index = self.nodes.len();
        if index >= limits::SCHEMA_NODES {
            return Err(format!("it has more than {} subschemas", limits::SCHEMA_NODES));
        }
        self.nodes.push(Node { weight: 1, ..Node::default() });
        let Value::Object(keywords) = schema else {
            self.note_places(index);
            return Ok(index);
        };
        let mut resource = resource;
        if index == 0 {
            self.around.push((0, String::new()));
        }
        if let Some(id) = keywords.get("$id").and_then(Value::as_str) {
            let id = id.trim_end_matches('#');
            if let Some(anchor) = id.strip_prefix('#') {
                self.anchors.insert((resource, anchor.to_owned()), index);
            } else {
                self.resources.insert(id.to_owned(), index);
                if index != 0 {
                    resource = index;
                    self.around.push((index, String::new()));
                }
            }
        }
        self.note_places(index);
        self.read_keywords(keywords, index, resource)?;
        if resource == index && index != 0 {
            self.around.pop();
        }
        Ok(index)
    }

    fn note_places(&mut self, index: usize) {
        for (resource, pointer) in &self.around {
            self.places.insert((*resource, pointer.clone()), index);
        }
    }

    /// Reads what stands under a keyword, so that references find it.
    fn read_at(&mut self, path: &[&str], schema: &Value, resource: usize) -> Result<usize, String> {
        let lengths: Vec<usize> = self.around.iter().map(|(_, pointer)| pointer.len()).collect();
        for (_, pointer) in &mut self.around {
            for segment in path {
                pointer.push('/');
                pointer.push_str(&segment.replace('~', "~0").replace('/', "~1"));
            }
        }
        let read = self.read(schema, resource);
        for ((_, pointer), length) in self.around.iter_mut().zip(lengths) {
            pointer.truncate(length);
        }
        read
    }

    fn read_keywords(
        &mut self,
        keywords: &Map<String, Value>,
        index: usize,
        resource: usize,
    ) -> Result<(), String> {
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    if let Some(reference) = value.as_str() {
                        let is_dynamic = keyword != "$ref";
                        self.references.push((index, resource, reference.to_owned(), is_dynamic));
                    }
                }
                "$anchor" | "$dynamicAnchor" => {
                    if let Some(name) = value.as_str() {
                        self.anchors.insert((resource, name.to_owned()), index);
                        if keyword == "$dynamicAnchor" {
                            self.dynamic.entry(name.to_owned()).or_default().push(index);
                        }
                    }
                }
                RECURSIVE => self.dynamic.entry(RECURSIVE.to_owned()).or_default().push(index),
                "allOf" | "anyOf" | "oneOf" => {
                    let read = self.read_list(keyword, value, resource)?;
                    self.nodes[index].here.extend(read);
                }
                "not" | "if" | "then" | "else" => {
                    let read = self.read_at(&[keyword], value, resource)?;
                    self.nodes[index].here.push(read);
                }
                "dependentSchemas" | "dependencies" => {
                    let read = self.read_members(keyword, value, resource)?;
                    self.nodes[index].here.extend(read.into_iter().map(|(_, read)| read));
                }
                "properties" => {
                    let read = self.read_members(keyword, value, resource)?;
                    self.nodes[index].properties.extend(read);
                }
                "patternProperties" => {
                    for (pattern, _) in value.as_object().into_iter().flatten() {
                        self.note_pattern(pattern)?;
                    }
                    let read = self.read_members(keyword, value, resource)?;
                    self.nodes[index].patterns += read.len() as u64;
                    self.nodes[index].members.extend(read.into_iter().map(|(_, read)| read));
                }
                "additionalProperties" | "unevaluatedProperties" => {
                    let read = self.read_at(&[keyword], value, resource)?;
                    self.nodes[index].members.push(read);
                    self.nodes[index].again |= keyword == "unevaluatedProperties";
                }
                "propertyNames" => {
                    let read = self.read_at(&[keyword], value, resource)?;
                    self.nodes[index].names.push(read);
                }
                "items" if value.is_array() => {
                    self.nodes[index].prefix = self.read_list(keyword, value, resource)?;
                }
                "prefixItems" => self.nodes[index].prefix = self.read_list(keyword, value, resource)?,
                "items" | "additionalItems" | "contains" | "unevaluatedItems" => {
                    let read = self.read_at(&[keyword], value, resource)?;
                    self.nodes[index].items.push(read);
                    self.nodes[index].again |= keyword == "unevaluatedItems";
                }
                "$defs" | "definitions" => drop(self.read_members(keyword, value, resource)?),
                "enum" => {
                    let values = value.as_array().map_or(0, Vec::len);
                    self.nodes[index].weight += u64::try_from(values / 16).unwrap_or(u64::MAX);
                }
                "pattern" => self.note_pattern(value.as_str().unwrap_or_default())?,
                _ => {}
            }
        }
        Ok(())
    }

    fn read_list(&mut self, keyword: &str, value: &Value, resource: usize) -> Result<Vec<usize>, String> {
        let schemas = value.as_array().into_iter().flatten().enumerate();
        schemas
            .map(|(place, schema)| self.read_at(&[keyword, &place.to_string()], schema, resource))
            .collect()
    }

    /// In the old `dependencies`, a list of names is no schema.
    fn read_members(
        &mut self,
        keyword: &str,
        value: &Value,
        resource: usize,
    ) -> Result<Vec<(String, usize)>, String> {
        let members = value.as_object().into_iter().flatten().filter(|(_, schema)| !schema.is_array());
        members
            .map(|(name, schema)| Ok((name.clone(), self.read_at(&[keyword, name], schema, resource)?)))
            .collect()
    }

    fn note_pattern(&mut self, pattern: &str) -> Result<(), String> {
        self.patterns += 1;
        self.pattern_bytes += pattern.len();
        if self.patterns > limits::SCHEMA_PATTERNS || self.pattern_bytes > limits::SCHEMA_PATTERN_BYTES {
            return Err(format!(
                "its patterns are more than {} or longer than {} bytes together; use `enum`, `format` or \
                 `additionalProperties` where they do",
                limits::SCHEMA_PATTERNS,
                limits::SCHEMA_PATTERN_BYTES
            ));
        }
        Ok(())
    }

    fn resolve(mut self) -> Result<Vec<Node>, String> {
        for (from, resource, reference, is_dynamic) in std::mem::take(&mut self.references) {
            let mut targets = Vec::new();
            if is_dynamic {
                let name = reference.rsplit('#').next().filter(|name| !name.is_empty()).unwrap_or(RECURSIVE);
                targets.extend(self.dynamic.get(name).into_iter().flatten());
            }
            targets.extend(self.find(resource, &reference));
            if targets.is_empty() {
                return Err(format!(
                    "`{reference}` leads nowhere in this schema; references are `#`, `#/…`, `#anchor` or an `$id` of it"
                ));
            }
            self.nodes[from].here.extend(targets);
        }
        Ok(self.nodes)
    }

    fn find(&self, resource: usize, reference: &str) -> Option<usize> {
        let (id, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if id.is_empty() { resource } else { *self.resources.get(id)? };
        if fragment.is_empty() {
            return Some(resource);
        }
        let fragment = percent_decoded(fragment);
        match fragment.starts_with('/') {
            true => self.places.get(&(resource, fragment)).copied(),
            false => self.anchors.get(&(resource, fragment)).copied(),
        }
    }
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let hex = (*byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
