//! Reads a schema into the graph whose work is counted.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Node;
use crate::limits;

/// A schema on its way to a graph. References are resolved when all of it was read.
#[derive(Default)]
pub(super) struct Reader {
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
    pub(super) fn read(&mut self, schema: &Value, resource: usize) -> Result<usize, String> {
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

    pub(super) fn resolve(mut self) -> Result<Vec<Node>, String> {
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
