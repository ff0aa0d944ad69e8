//! A JSON value that is shared, not copied, and knows its encoded size.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Runs, history and effects hold the same payload by reference, so that a decision never copies one.
#[derive(Clone)]
pub struct Json {
    value: Arc<Value>,
    bytes: usize,
}

impl Json {
    pub fn new(value: Value) -> Json {
        let mut counter = Counter(0);
        serde_json::to_writer(&mut counter, &value).expect("a counter accepts every byte");
        Json { value: Arc::new(value), bytes: counter.0 }
    }

    pub fn null() -> Json {
        Json::new(Value::Null)
    }

    /// The length of the value written as compact JSON.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The whole number that a value is, also written as `5.0` or `5e3`. A float that is too large to be exact is none.
pub fn whole(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = value.as_number()?;
    let float = || number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT);
    number.as_i64().or_else(|| float().map(|float| float as i64))
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)
    }
}

impl Deref for Json {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Json {
        Json::new(value)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        Arc::ptr_eq(&self.value, &other.value) || self.value == other.value
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        Value::deserialize(deserializer).map(Json::new)
    }
}

/// Reads an optional value that is there, even if it is `null`: a payload of `null` is not the same as none.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
