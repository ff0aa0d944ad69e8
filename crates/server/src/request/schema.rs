//! The closed schema of a request's type, made once and kept.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use abide_core::definition::{closed_schema, misfits, whole_numbers};
use abide_core::problem::{Code as FindingCode, Problem as Finding, pointer};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::problem::{Code, Problem};

static SCHEMAS: LazyLock<Mutex<HashMap<TypeId, &'static Value>>> = LazyLock::new(Mutex::default);

/// There are as many as there are types of requests, so they may stay for ever.
pub(super) fn schema_of<T: JsonSchema + 'static>() -> &'static Value {
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    schemas.entry(TypeId::of::<T>()).or_insert_with(|| Box::leak(Box::new(closed_schema::<T>())))
}

/// A value that fits the type's schema, as the type.
pub(crate) fn fit<T: DeserializeOwned + JsonSchema + 'static>(mut value: Value) -> Result<T, Problem> {
    let schema = schema_of::<T>();
    whole_numbers(&mut value, schema);
    let misfits = misfits(&value, schema);
    if !misfits.is_empty() {
        return Err(Problem::found(Code::Malformed, misfits));
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let place = error.path().iter().fold(String::new(), |parent, segment| match segment {
            Segment::Seq { index } => pointer(&parent, index),
            Segment::Map { key } => pointer(&parent, key),
            Segment::Enum { .. } | Segment::Unknown => parent,
        });
        let message = error.inner().to_string();
        Problem::found(Code::Malformed, vec![Finding::new(place, FindingCode::WrongType, message)])
    })
}
