//! A name that people give: of a tag, an event, a signal, a handler, a worker.

use std::borrow::Cow;
use std::sync::Arc;

use abide_core::limits;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

/// A name. Its length is checked with the schema, its characters when it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(String);

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

impl From<Name> for Arc<str> {
    fn from(name: Name) -> Arc<str> {
        name.0.into()
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name.chars().any(char::is_control) {
            return Err(serde::de::Error::custom("a name has no control characters"));
        }
        Ok(Name(name))
    }
}

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": limits::NAME_CHARS,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
        })
    }
}
