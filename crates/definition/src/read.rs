//! Text to JSON. Bounded in bytes and nesting before anything is built from it, aliases included; a key given
//! twice is refused. What the JSON means is not looked at here.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};

use super::findings::quoted;
use crate::limits;
use crate::problem::{Code, Problem, pointer};

/// The JSON pointers of everything in a document, together. One long key over many values would make each of
/// them costly to name.
const POINTER_BYTES: usize = 64 * limits::DEFINITION_BYTES;

/// JSON if it begins like a JSON object or list, else YAML.
pub(super) fn text(text: &str) -> Result<Value, Problem> {
    match without_mark(text).trim_start().chars().next() {
        Some('{' | '[') => json(text),
        _ => yaml(text),
    }
}

pub(super) fn json(text: &str) -> Result<Value, Problem> {
    let text = bounded(text)?;
    let progress = Progress::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    Node { progress: &progress, depth: 0 }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| {
            progress.refusal.take().unwrap_or_else(|| {
                Problem::new("", Code::Unreadable, format!("the document is not JSON: {error}"))
                    .expected("a JSON object")
            })
        })
}

/// YAML 1.2, so that `on` and `no` are text.
pub(super) fn yaml(text: &str) -> Result<Value, Problem> {
    let text = bounded(text)?;
    let progress = Progress::default();
    serde_saphyr::with_deserializer_from_str_with_options(text, yaml_options(), |reader| {
        Node { progress: &progress, depth: 0 }.deserialize(reader)
    })
    .map_err(|error| progress.refusal.take().unwrap_or_else(|| not_yaml(&error, &progress)))
}

pub(super) fn yaml_options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: limits::NESTING,
            flow_nesting_limit: limits::NESTING,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        duplicate_keys: DuplicateKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        with_snippet: false,
    }
}

fn not_yaml(error: &serde_saphyr::Error, progress: &Progress) -> Problem {
    use serde_saphyr::Error;

    let line = error.location().map(|location| format!(" at line {}", location.line())).unwrap_or_default();
    #[expect(clippy::wildcard_enum_match_arm, reason = "an open enum of another crate")]
    match error.without_snippet() {
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("?");
            twice(&pointer(&progress.pointer.borrow(), key), key)
        }
        Error::MultipleDocuments { .. } => {
            let message = format!("a second document begins{line}");
            Problem::new("", Code::Unreadable, message).expected("one document a file")
        }
        Error::Budget { .. }
        | Error::AliasError { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => Problem::new(
            "",
            Code::LimitExceeded,
            format!("the document is too large once it is unfolded: {error}"),
        ),
        _ => Problem::new("", Code::Unreadable, format!("the document is not YAML: {error}"))
            .expected("a YAML mapping"),
    }
}

/// Fails when the value is nested more deeply than [`limits::NESTING`], or when naming all its places would take
/// far more room than the value itself. Needs no stack, however deep it is.
pub(super) fn check_nesting(value: &Value) -> Result<(), Problem> {
    let mut room = POINTER_BYTES;
    let mut open = vec![(value, 1, 0)];
    while let Some((value, depth, pointer_bytes)) = open.pop() {
        if depth > limits::NESTING && (value.is_object() || value.is_array()) {
            return Err(too_deep(""));
        }
        room = room.checked_sub(pointer_bytes).ok_or_else(too_winding)?;
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1, pointer_bytes + 1))),
            Value::Object(fields) => {
                open.extend(
                    fields.iter().map(|(name, field)| (field, depth + 1, pointer_bytes + name.len())),
                );
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

/// Drops a value without recursion, which a deeply nested one would not survive.
pub(super) fn dismantle(value: Value) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.into_iter().map(|(_, field)| field)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

pub(super) fn check_bytes(bytes: usize) -> Result<(), Problem> {
    if bytes <= limits::DEFINITION_BYTES { Ok(()) } else { Err(too_large()) }
}

fn bounded(text: &str) -> Result<&str, Problem> {
    check_bytes(text.len())?;
    let text = without_mark(text);
    if text.trim().is_empty() {
        return Err(Problem::new("", Code::Unreadable, "the document is empty").expected("a workflow"));
    }
    Ok(text)
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn too_large() -> Problem {
    let message = format!("the document is larger than {} bytes", limits::DEFINITION_BYTES);
    Problem::new("", Code::LimitExceeded, message)
}

fn too_deep(pointer: &str) -> Problem {
    let message = format!("objects and lists are nested more than {} deep", limits::NESTING);
    Problem::new(pointer, Code::LimitExceeded, message)
}

fn too_winding() -> Problem {
    Problem::new("", Code::LimitExceeded, "the document's keys are too long for how much lies below them")
}

fn twice(pointer: &str, key: &str) -> Problem {
    Problem::new(pointer, Code::DuplicateName, format!("the field {} is given twice", quoted(key)))
}

/// Where the reader is, what it has used of its limits, and why it stopped.
struct Progress {
    bytes_left: Cell<usize>,
    pointer: RefCell<String>,
    refusal: RefCell<Option<Problem>>,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress {
            bytes_left: Cell::new(limits::DEFINITION_BYTES),
            pointer: RefCell::default(),
            refusal: RefCell::default(),
        }
    }
}

impl Progress {
    /// An alias repeats text that the document holds once, so the text is counted as it is built.
    fn spend<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        match self.bytes_left.get().checked_sub(bytes) {
            Some(left) => {
                self.bytes_left.set(left);
                Ok(())
            }
            None => self.refuse(too_large()),
        }
    }

    fn refuse<T, E: serde::de::Error>(&self, problem: Problem) -> Result<T, E> {
        let error = E::custom(&problem);
        self.refusal.replace(Some(problem));
        Err(error)
    }

    /// Runs `inside` with the pointer one segment longer. The pointer stays where an error happened.
    fn within<T, E>(
        &self,
        segment: impl fmt::Display,
        inside: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let parent = self.pointer.borrow().len();
        self.pointer.borrow_mut().push_str(&pointer("", segment));
        let value = inside()?;
        self.pointer.borrow_mut().truncate(parent);
        Ok(value)
    }
}

#[derive(Clone, Copy)]
struct Node<'p> {
    progress: &'p Progress,
    depth: usize,
}

impl<'p> Node<'p> {
    fn deeper<E: serde::de::Error>(self) -> Result<Node<'p>, E> {
        if self.depth == limits::NESTING {
            return self.progress.refuse(too_deep(&self.progress.pointer.borrow()));
        }
        Ok(Node { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        self.deserialize(reader)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.progress.spend(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<Value, E> {
        self.progress.spend(value.len())?;
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = self.progress.within(list.len(), || items.next_element_seed(inside))? {
            self.progress.spend(1)?;
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let inside = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            self.progress.spend(key.len() + 1)?;
            if object.contains_key(&key) {
                let pointer = pointer(&self.progress.pointer.borrow(), &key);
                return self.progress.refuse(twice(&pointer, &key));
            }
            let value = self.progress.within(&key, || fields.next_value_seed(inside))?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
