//! The idempotency key of a request (R14): a header, or a field of the body.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::app::Shared;
use crate::problem::Problem;

pub(crate) const HEADER: &str = "idempotency-key";
/// Longer keys are refused.
pub(crate) const KEY_CHARS: usize = 255;

/// The header, if there is one.
#[derive(Debug)]
pub(crate) struct IdempotencyKey(Option<String>);

impl FromRequestParts<Shared> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<IdempotencyKey, Problem> {
        let Some(value) = parts.headers.get(HEADER) else { return Ok(IdempotencyKey(None)) };
        let text = value.to_str().map_err(|_| bad("must be ASCII"))?;
        check(text)?;
        Ok(IdempotencyKey(Some(text.to_owned())))
    }
}

impl IdempotencyKey {
    /// The key of the header or of the body's field; not two different ones.
    pub(crate) fn or(self, field: Option<String>) -> Result<Option<String>, Problem> {
        field.as_deref().map_or(Ok(()), check)?;
        match (self.0, field) {
            (Some(header), Some(field)) if header != field => {
                Err(bad("differs between the header `Idempotency-Key` and the field"))
            }
            (Some(key), _) | (None, Some(key)) => Ok(Some(key)),
            (None, None) => Ok(None),
        }
    }

    pub(crate) fn only(self) -> Option<String> {
        self.0
    }
}

pub(crate) fn check(key: &str) -> Result<(), Problem> {
    if key.is_empty() || key.chars().count() > KEY_CHARS || key.chars().any(char::is_control) {
        return Err(bad(&format!("must have 1 to {KEY_CHARS} characters, none of them a control character")));
    }
    Ok(())
}

fn bad(what: &str) -> Problem {
    Problem::malformed("/idempotencyKey", format!("/idempotencyKey: the idempotency key {what}"))
}
