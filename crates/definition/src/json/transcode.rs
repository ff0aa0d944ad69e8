//! JSON text handed to a serializer, value by value: nothing of it is kept.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{self, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::de::StrRead;
use serde_json::{Deserializer, Value};

fn reader(text: &str) -> Deserializer<StrRead<'_>> {
    let mut reader = Deserializer::from_str(text);
    // It was written from a value that was there: it is as deep as that was.
    reader.disable_recursion_limit();
    reader
}

/// The value that was written as this text.
pub(super) fn value(text: &str) -> Value {
    Value::deserialize(&mut reader(text)).expect("it was written as JSON")
}

pub(super) fn text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    reader(text).deserialize_any(Forward(serializer)).map_err(ser::Error::custom)
}

/// Takes a value and hands it on.
struct Forward<S>(S);

impl<'de, S: Serializer> Visitor<'de> for Forward<S> {
    type Value = S::Ok;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<S::Ok, E> {
        self.0.serialize_bool(value).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<S::Ok, E> {
        self.0.serialize_i64(value).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<S::Ok, E> {
        self.0.serialize_u64(value).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<S::Ok, E> {
        self.0.serialize_f64(value).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<S::Ok, E> {
        self.0.serialize_str(value).map_err(E::custom)
    }

    fn visit_unit<E: de::Error>(self) -> Result<S::Ok, E> {
        self.0.serialize_unit().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<S::Ok, A::Error> {
        let mut list = self.0.serialize_seq(items.size_hint()).map_err(de::Error::custom)?;
        while items.next_element_seed(Item(&mut list))?.is_some() {}
        list.end().map_err(de::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<S::Ok, A::Error> {
        let mut object = self.0.serialize_map(entries.size_hint()).map_err(de::Error::custom)?;
        while let Some(key) = entries.next_key::<String>()? {
            object.serialize_key(&key).map_err(de::Error::custom)?;
            entries.next_value_seed(Entry(&mut object))?;
        }
        object.end().map_err(de::Error::custom)
    }
}

struct Item<'s, S>(&'s mut S);

impl<'de, S: SerializeSeq> DeserializeSeed<'de> for Item<'_, S> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.serialize_element(&Once::of(deserializer)).map_err(de::Error::custom)
    }
}

struct Entry<'s, S>(&'s mut S);

impl<'de, S: SerializeMap> DeserializeSeed<'de> for Entry<'_, S> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.serialize_value(&Once::of(deserializer)).map_err(de::Error::custom)
    }
}

/// What is read next, to be written once.
struct Once<D>(RefCell<Option<D>>);

impl<D> Once<D> {
    fn of(deserializer: D) -> Once<D> {
        Once(RefCell::new(Some(deserializer)))
    }
}

impl<'de, D: serde::Deserializer<'de>> Serialize for Once<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let deserializer = self.0.take().ok_or_else(|| ser::Error::custom("it was written already"))?;
        deserializer.deserialize_any(Forward(serializer)).map_err(ser::Error::custom)
    }
}
