//! Where in a text a JSON pointer leads, so that a problem can be shown as `file:line:column`. Reads JSON as the
//! YAML that it nearly is; what cannot be located is simply not located.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::read;
use crate::limits;

/// Counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    pub line: u64,
    pub column: u64,
}

/// The places of a document's values.
#[derive(Debug)]
pub struct Locations {
    root: Option<Spanned<Node>>,
}

#[derive(Debug)]
enum Node {
    Leaf,
    List(Vec<Spanned<Node>>),
    Object(HashMap<String, Spanned<Node>>),
}

impl Locations {
    /// The places of all values in a text.
    pub fn of(text: &str) -> Locations {
        let root = (text.len() <= limits::DEFINITION_BYTES)
            .then(|| serde_saphyr::from_str_with_options(text, read::yaml_options()).ok())
            .flatten();
        Locations { root }
    }

    /// The value the pointer leads to, or the innermost there is on the way.
    pub fn find(&self, pointer: &str) -> Option<Location> {
        let mut at = self.root.as_ref()?;
        for segment in pointer.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            let inner = match &at.value {
                Node::Leaf => None,
                Node::List(items) => segment.parse::<usize>().ok().and_then(|index| items.get(index)),
                Node::Object(fields) => fields.get(&segment),
            };
            let Some(inner) = inner else { break };
            at = inner;
        }
        Some(Location { line: at.referenced.line(), column: at.referenced.column() })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Node, D::Error> {
        reader.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Node, A::Error> {
        let mut object = HashMap::new();
        while let Some((name, value)) = fields.next_entry()? {
            object.insert(name, value);
        }
        Ok(Node::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_located_in_yaml_and_in_json() {
        let yaml = "name: a\nsteps:\n  - name: b\n    type: task\n    handler: h\n";
        let json = "{\n  \"name\": \"a\",\n  \"steps\": [\n    {\"name\": \"b\", \"type\": \"task\"}\n  ]\n}";
        let (yaml, json) = (Locations::of(yaml), Locations::of(json));
        assert_eq!(yaml.find("/steps/0/type"), Some(Location { line: 4, column: 11 }));
        assert_eq!(json.find("/steps/0/type"), Some(Location { line: 4, column: 27 }));
        assert_eq!(json.find("/steps/0/handler").map(|at| at.line), Some(4), "the innermost there is");
        assert_eq!(Locations::of("{").find(""), None);
    }
}
