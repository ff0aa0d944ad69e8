//! An OpenAPI document as a list of places: operations, parameters, fields, values and variants, each with its type.
//!
//! ```text
//!   POST /api/v1/workflow-runs: operation
//!   POST /api/v1/workflow-runs body: StartRun! (in)
//!   StartRun.name: null|string (in)
//!   Run.status = "WAITING": value (out)
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// Who writes what stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    In,
    Out,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) kind: String,
    pub(super) required: bool,
    pub(super) ways: BTreeSet<Way>,
}

#[derive(Debug, Default)]
pub(super) struct Surface {
    pub(super) lines: BTreeMap<String, Line>,
    /// Named schemas that were met and are not written yet.
    open: Vec<(String, Way)>,
}

impl Surface {
    pub(super) fn of(document: &Value) -> Surface {
        let mut surface = Surface::default();
        for (path, methods) in fields(&document["paths"]) {
            for (method, operation) in fields(methods) {
                surface.operation(&format!("{} {path}", method.to_uppercase()), operation);
            }
        }
        let mut met = BTreeSet::new();
        while let Some((name, way)) = surface.open.pop() {
            if met.insert((name.clone(), way)) {
                surface.schema(&name, &document["components"]["schemas"][&name], true, way);
            }
        }
        surface
    }

    fn operation(&mut self, place: &str, operation: &Value) {
        self.lines.insert(place.to_owned(), Line { kind: "operation".to_owned(), ..Line::default() });
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            let place = format!("{place} {}:{name}", parameter["in"].as_str().unwrap());
            self.schema(&place, &parameter["schema"], parameter["required"] == true, Way::In);
        }
        let body = &operation["requestBody"];
        for (_, content) in fields(&body["content"]) {
            self.schema(&format!("{place} body"), &content["schema"], body["required"] == true, Way::In);
        }
        for (status, answer) in fields(&operation["responses"]) {
            for (_, content) in fields(&answer["content"]) {
                self.schema(&format!("{place} {status}"), &content["schema"], true, Way::Out);
            }
        }
    }

    fn schema(&mut self, place: &str, schema: &Value, required: bool, way: Way) {
        let kind = self.kind(schema, way);
        let line = self.lines.entry(place.to_owned()).or_default();
        line.required = required;
        line.ways.insert(way);
        line.kind = kind;
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, field) in fields(&schema["properties"]) {
            self.schema(&format!("{place}.{name}"), field, required.contains(&name.as_str()), way);
        }
        if schema["additionalProperties"].is_object() {
            self.schema(&format!("{place}.*"), &schema["additionalProperties"], false, way);
        }
        if !schema["items"].is_null() {
            self.schema(&format!("{place}[]"), &schema["items"], false, way);
        }
        let values = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
        for value in values.filter(|value| !value.is_null()) {
            let line = self.lines.entry(format!("{place} = {value}")).or_default();
            line.kind = "value".to_owned();
            line.ways.insert(way);
        }
        for (index, variant) in
            variants(schema).enumerate().filter(|(_, variant)| !is_a_name_or_null(variant))
        {
            let named =
                ["type", "kind"].iter().find_map(|field| variant["properties"][field]["const"].as_str());
            let place = format!("{place}|{}", named.map_or_else(|| index.to_string(), str::to_owned));
            self.schema(&place, variant, false, way);
        }
    }

    /// What may stand there, in a word.
    fn kind(&mut self, schema: &Value, way: Way) -> String {
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            self.open.push((name.to_owned(), way));
            return name.to_owned();
        }
        let mut kinds: BTreeSet<String> = BTreeSet::new();
        match &schema["type"] {
            Value::String(kind) => drop(kinds.insert(kind.clone())),
            Value::Array(several) => {
                kinds.extend(several.iter().filter_map(Value::as_str).map(str::to_owned))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        for variant in variants(schema) {
            kinds.insert(self.kind(variant, way));
        }
        match kinds.is_empty() {
            true => "any".to_owned(),
            false => kinds.into_iter().collect::<Vec<_>>().join("|"),
        }
    }
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf", "allOf"].into_iter().flat_map(|word| schema[word].as_array().into_iter().flatten())
}

fn is_a_name_or_null(variant: &Value) -> bool {
    variant["$ref"].is_string() || variant["type"] == "null"
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, Line { kind, required, ways }) in &self.lines {
            let required = if *required { "!" } else { "" };
            let ways: Vec<_> = ways
                .iter()
                .map(|way| match way {
                    Way::In => "in",
                    Way::Out => "out",
                })
                .collect();
            writeln!(f, "{place}: {kind}{required} ({})", ways.join(" "))?;
        }
        Ok(())
    }
}

impl FromStr for Surface {
    type Err = String;

    fn from_str(text: &str) -> Result<Surface, String> {
        let line = |line: &str| {
            let (rest, ways) = line.strip_suffix(')')?.rsplit_once(" (")?;
            let (place, kind) = rest.rsplit_once(": ")?;
            let way = |word: &str| match word {
                "in" => Some(Way::In),
                "out" => Some(Way::Out),
                _ => None,
            };
            let ways = ways.split_whitespace().map(way).collect::<Option<_>>()?;
            let bare = kind.strip_suffix('!');
            let known = Line { kind: bare.unwrap_or(kind).to_owned(), required: bare.is_some(), ways };
            Some((place.to_owned(), known))
        };
        let lines = text.lines().map(|text| line(text).ok_or_else(|| format!("no place: {text}")));
        Ok(Surface { lines: lines.collect::<Result<_, _>>()?, open: Vec::new() })
    }
}
