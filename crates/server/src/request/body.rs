//! A JSON body: bounded in bytes, time and nesting before anything is made of it.

use std::time::Duration;

use abide_core::limits;
use axum::body::{self, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema;
use crate::app::Shared;
use crate::problem::{Code, Problem};

/// One payload, and what is said beside it.
pub(crate) const BODY_BYTES: usize = limits::PAYLOAD_BYTES + 64 * 1024;
/// A definition's document, as JSON or YAML.
pub(crate) const DOCUMENT_BYTES: usize = limits::DEFINITION_BYTES + 64 * 1024;
/// Many reports at once, each with its payload.
pub(crate) const REPORTS_BYTES: usize = 8 * limits::PAYLOAD_BYTES;

/// A JSON body of this type. An empty body is an empty object.
#[derive(Debug)]
pub(crate) struct Body<T, const LIMIT: usize = BODY_BYTES>(pub(crate) T);

impl<T, const LIMIT: usize> FromRequest<Shared> for Body<T, LIMIT>
where
    T: DeserializeOwned + JsonSchema + 'static,
{
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Shared) -> Result<Self, Problem> {
        check_json(request.headers())?;
        let bytes = read(request.into_body(), LIMIT, app.settings.limits.body_time).await?;
        let value = if bytes.iter().all(u8::is_ascii_whitespace) {
            Value::Object(serde_json::Map::new())
        } else {
            parse(&bytes)?
        };
        schema::fit(value).map(Body)
    }
}

/// All of a body, if it is not too large and does not take too long.
pub(crate) async fn read(body: body::Body, limit: usize, time: Duration) -> Result<Bytes, Problem> {
    let collected = tokio::time::timeout(time, Limited::new(body, limit).collect());
    match collected.await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Problem::new(Code::BodyTooLarge, format!("the body is larger than {limit} bytes")))
        }
        Ok(Err(_)) => Err(Problem::new(Code::BadRequest, "the body ended before it was complete")),
        Err(_) => {
            let detail = format!("the body did not arrive within {} s", time.as_secs());
            Err(Problem::new(Code::BodyTimeout, detail))
        }
    }
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Problem> {
    if nesting(bytes) > limits::NESTING {
        let detail = format!("objects and lists are nested more than {} deep", limits::NESTING);
        return Err(Problem::new(Code::Malformed, detail));
    }
    serde_json::from_slice(bytes)
        .map_err(|error| Problem::new(Code::NotJson, format!("the body is not JSON: {error}")))
}

/// How deep objects and lists are nested, at most. Counted before anything is built.
fn nesting(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => drop(bytes.next()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    deepest
}

/// A web page can send a form or plain text to any server; JSON it cannot.
fn check_json(headers: &HeaderMap) -> Result<(), Problem> {
    match media_type(headers).as_deref() {
        None | Some("application/json") => Ok(()),
        Some(other) if other.ends_with("+json") => Ok(()),
        Some(other) => Err(Problem::new(
            Code::UnsupportedMediaType,
            format!("`{other}` is not JSON; send `Content-Type: application/json` (with curl: `--json`)"),
        )),
    }
}

/// The media type without its parameters, in lower case.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let media_type = value.split(';').next().unwrap_or(value).trim().to_ascii_lowercase();
    (!media_type.is_empty()).then_some(media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_counted_outside_of_texts() {
        assert_eq!(nesting(br#"{"a": ["[[[[", "\"[[", {"b": 1}]}"#), 3);
        assert_eq!(nesting(b"1"), 0);
        assert_eq!(nesting(b"]]]["), 1);
    }

    #[test]
    fn a_million_brackets_are_refused_without_being_read() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(parse(deep.as_bytes()).unwrap_err().code, Code::Malformed);
    }

    #[test]
    fn numbers_that_no_number_can_hold_are_refused() {
        assert_eq!(parse(b"1e999").unwrap_err().code, Code::NotJson);
    }
}
