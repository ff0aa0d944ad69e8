//! Bytes in JSON: as text where they are text, otherwise as base64 with their type.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// What is sent without a type, and is not text.
const BYTES: &str = "application/octet-stream";

/// Types that are text besides `text/…`.
const TEXTS: [&str; 8] = [
    "application/xml",
    "application/javascript",
    "application/yaml",
    "application/x-yaml",
    "application/graphql",
    "application/x-ndjson",
    "application/jsonl",
    "application/sql",
];

/// Whether what is of this type is text. By the type alone: what arrives must not depend on what happens to be in it.
pub(super) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/") || media_type.ends_with("+xml") || TEXTS.contains(&media_type)
}

pub(super) fn encoded(bytes: &[u8], media_type: Option<&str>) -> Value {
    json!({ "base64": STANDARD.encode(bytes), "contentType": media_type.unwrap_or(BYTES) })
}

/// A text: UTF-8, or what it says it is; bytes where it is neither.
pub(super) fn text(bytes: &[u8], media_type: &str) -> Value {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Value::from(text);
    }
    let lower = media_type.to_ascii_lowercase();
    let charset = lower.split_once("charset=").map(|(_, charset)| charset.trim_matches(['"', ' ']));
    match charset {
        Some(charset) if charset.starts_with("iso-8859-1") && !charset.starts_with("iso-8859-15") => {
            Value::from(bytes.iter().map(|byte| char::from(*byte)).collect::<String>())
        }
        Some(charset) if charset.starts_with("latin1") => {
            Value::from(bytes.iter().map(|byte| char::from(*byte)).collect::<String>())
        }
        Some(_) | None => encoded(bytes, Some(media_type)),
    }
}
