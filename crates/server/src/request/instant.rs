//! Instants that are kept and shown again: as RFC 3339 has them, in years of four digits.

use jiff::Timestamp;
use serde::de::{Deserialize, Deserializer, Error};

/// The beginning of year 0, in seconds from 1970.
const FIRST_SECOND: i64 = -62_167_219_200;

pub(crate) fn instant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    read(&String::deserialize(deserializer)?)
}

pub(crate) fn instant_if_given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    Option::<String>::deserialize(deserializer)?.as_deref().map(read).transpose()
}

fn read<E: Error>(text: &str) -> Result<Timestamp, E> {
    let expected = "RFC 3339 with a zone offset, such as `2026-12-01T09:00:00Z`";
    let at = abide_core::time::instant(text);
    at.ok_or_else(|| E::custom(format!("`{}` is not an instant; expected {expected}", text.escape_debug())))
        .and_then(shown)
}

fn shown<E: Error>(at: Timestamp) -> Result<Timestamp, E> {
    if at.as_second() < FIRST_SECOND {
        return Err(E::custom("the year is before 0; an instant would look like `2026-12-01T09:00:00Z`"));
    }
    Ok(at)
}
