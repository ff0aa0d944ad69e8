//! A call from outside, on a resume URL or a trigger, as the run gets it: `{body, headers, queryParams}`. What lets
//! somebody in (cookies, keys, tokens) is dropped here, before anything is stored.

use abide_core::trace::Traceparent;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, Method};
use serde_json::{Map, Value, json};

use super::body::{self, BODY_BYTES, media_type};
use crate::app::Shared;
use crate::links::TOKEN;
use crate::problem::{Code, Problem};
use crate::traces::InTrace;

/// Headers that hold a secret, or say only how the call travelled.
const DROPPED: [&str; 20] = [
    "authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "proxy-authorization",
    "proxy-authenticate",
    "x-auth-token",
    "x-csrf-token",
    "x-xsrf-token",
    "x-amz-security-token",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "date",
    "idempotency-key",
    "x-request-id",
    "traceparent",
    "tracestate",
];

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) query: String,
    pub(crate) traceparent: Option<Traceparent>,
}

impl FromRequest<Shared> for Call {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Shared) -> Result<Call, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = body::read(body, BODY_BYTES, app.settings.limits.body_time).await?;
        let media_type = media_type(&parts.headers);
        let body = if bytes.is_empty() { Value::Null } else { read_body(&bytes, media_type.as_deref())? };
        let query = parts.uri.query().unwrap_or_default().to_owned();
        let traceparent = parts.extensions.get::<InTrace>().map(|InTrace(traceparent)| *traceparent);
        Ok(Call { method: parts.method, headers: parts.headers, body, query, traceparent })
    }
}

impl Call {
    /// What the run gets. `own` are the parameters that are the server's.
    pub(crate) fn payload(&self, own: &[&str]) -> Value {
        let params = pairs(self.query.as_bytes(), |name| name != TOKEN && !own.contains(&name));
        json!({ "body": self.body, "headers": self.kept_headers(), "queryParams": params })
    }

    pub(crate) fn param(&self, wanted: &str) -> Option<String> {
        form_urlencoded::parse(self.query.as_bytes())
            .find_map(|(name, value)| (name == wanted).then(|| value.into_owned()))
    }

    fn kept_headers(&self) -> Map<String, Value> {
        let mut kept = Map::new();
        let token = self.param(TOKEN).filter(|token| !token.is_empty());
        for name in self.headers.keys().filter(|name| !DROPPED.contains(&name.as_str())) {
            let values = self.headers.get_all(name).iter();
            let texts: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            let text = texts.join(", ");
            // A referrer, or the URL that a proxy was asked for.
            if token.as_ref().is_none_or(|token| !text.contains(token)) {
                kept.insert(name.to_string(), text.into());
            }
        }
        kept
    }
}

fn read_body(bytes: &[u8], media_type: Option<&str>) -> Result<Value, Problem> {
    match media_type {
        Some("application/x-www-form-urlencoded") => Ok(Value::Object(pairs(bytes, |_| true))),
        Some("application/json") => body::parse(bytes),
        Some(other) if other.ends_with("+json") => body::parse(bytes),
        // A caller that does not say what it sends mostly sends JSON.
        None => body::parse(bytes).or_else(|_| text(bytes)),
        Some(_) => text(bytes),
    }
}

fn text(bytes: &[u8]) -> Result<Value, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Problem::new(Code::UnsupportedMediaType, "the body is neither JSON, a form nor UTF-8 text")
    });
    text.map(Value::from)
}

/// A name that is given more than once has a list.
fn pairs(encoded: &[u8], wanted: impl Fn(&str) -> bool) -> Map<String, Value> {
    let mut pairs = Map::new();
    for (name, value) in form_urlencoded::parse(encoded).filter(|(name, _)| wanted(name)) {
        let value = Value::from(value.into_owned());
        match pairs.get_mut(&*name) {
            None => drop(pairs.insert(name.into_owned(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_dropped_and_repeated_names_become_lists() {
        let mut headers = HeaderMap::new();
        headers.insert("Authorization", "Bearer secret".parse().unwrap());
        headers.insert("Cookie", "session=secret".parse().unwrap());
        headers.insert("x-api-key", "secret".parse().unwrap());
        headers.insert("x-event", "paid".parse().unwrap());
        let query = "token=secret&a=1&a=2&b=3&wait=1s".to_owned();
        let call = Call { method: Method::POST, headers, body: json!({"a": 1}), query, traceparent: None };
        let expected = json!({
            "body": {"a": 1}, "headers": {"x-event": "paid"}, "queryParams": {"a": ["1", "2"], "b": "3"},
        });
        assert_eq!(call.payload(&["wait"]), expected);
    }
}
