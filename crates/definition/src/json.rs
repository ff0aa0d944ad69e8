//! A JSON value that is shared, not copied, and knows its encoded size. A large one is kept as text, which takes a
//! fraction of the room, and read only if somebody looks into it.

mod transcode;

use std::fmt;
use std::io;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// What is not larger is kept as it was read. What is, is kept as text: 1 MB of numbers takes 17 MB when it is read.
const SMALL_BYTES: usize = 8 * 1024;

/// Runs, history and effects hold the same payload by reference, so that a decision never copies one.
#[derive(Clone)]
pub struct Json {
    shared: Arc<Shared>,
    bytes: usize,
}

struct Shared {
    /// Of a large one: all there is to know.
    text: Option<Arc<str>>,
    /// As somebody has read it.
    value: OnceLock<Value>,
}

impl Json {
    /// A value as a payload.
    pub fn new(value: Value) -> Json {
        let mut counter = Counter(0);
        serde_json::to_writer(&mut counter, &value).expect("a counter accepts every byte");
        let bytes = counter.0;
        let text = (bytes > SMALL_BYTES).then(|| value.to_string().into());
        Json { shared: Arc::new(Shared { text, value: value.into() }), bytes }
    }

    /// The payload `null`.
    pub fn null() -> Json {
        Json::new(Value::Null)
    }

    /// The length of the value written as compact JSON.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Kept as text: reading it takes many times its length.
    pub fn is_large(&self) -> bool {
        self.shared.text.is_some()
    }

    /// Lets go of what was read of a large value. Whoever looks into it next reads it again.
    pub fn fold(&mut self) {
        if let Some(text) = &self.shared.text
            && self.shared.value.get().is_some()
        {
            self.shared = Arc::new(Shared { text: Some(Arc::clone(text)), value: OnceLock::new() });
        }
    }

    fn value(&self) -> &Value {
        self.shared.value.get_or_init(|| {
            let text = self.shared.text.as_deref().expect("what has no text has a value");
            transcode::value(text)
        })
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
        match &self.shared.text {
            Some(text) => f.write_str(text),
            None => fmt::Display::fmt(self.value(), f),
        }
    }
}

impl Deref for Json {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.value()
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Json {
        Json::new(value)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
            || (self.is_large() && self.shared.text == other.shared.text)
            || self.value() == other.value()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.shared.value.get(), &self.shared.text) {
            (None, Some(text)) => transcode::text(text, serializer),
            (Some(_), _) | (None, None) => self.value().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        let mut json = Value::deserialize(deserializer).map(Json::new)?;
        // It may well be that nobody looks into it.
        json.fold();
        Ok(json)
    }
}

/// Reads an optional value that is there, even if it is `null`: a payload of `null` is not the same as none.
pub fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn large() -> Value {
        json!({ "list": vec![1.5; 5_000], "text": "ä\"\u{1}".repeat(2_000), "none": null, "yes": true, "deep": [[{}]] })
    }

    #[test]
    fn a_large_value_is_text_until_it_is_read_and_the_same_either_way() {
        let read = Json::new(large());
        let mut folded = read.clone();
        folded.fold();
        assert!(folded.is_large() && folded.shared.value.get().is_none());
        assert_eq!(folded, read);
        assert_eq!(serde_json::to_string(&folded).unwrap(), large().to_string());
        assert_eq!(serde_json::to_value(&folded).unwrap(), large());
        assert!(folded.shared.value.get().is_none(), "writing it reads nothing");
        assert_eq!((folded["yes"].as_bool(), folded.bytes()), (Some(true), large().to_string().len()));
        assert!(folded.shared.value.get().is_some());
    }

    #[test]
    fn a_large_value_that_comes_from_a_store_is_not_read() {
        let stored = serde_json::to_string(&json!({ "payload": large() })).unwrap();
        let from = serde_json::from_str::<std::collections::BTreeMap<String, Json>>(&stored).unwrap();
        assert!(from["payload"].shared.value.get().is_none());
        assert_eq!(*from["payload"], large());
    }

    #[test]
    fn a_small_value_has_no_text() {
        let mut small = Json::new(json!({ "a": 1 }));
        small.fold();
        assert!(!small.is_large() && small["a"] == 1);
    }
}
