//! A call from outside, on a resume URL or a trigger, as the run gets it: `{body, headers, queryParams}`. Of its headers
//! only those are kept that are known to hold no secret, or that the definition names; the token of a link is dropped
//! here, before anything is stored.

use std::sync::Arc;

use abide_core::definition::{KEPT_HEADERS, NEVER_KEPT_HEADERS};
use abide_core::trace::Traceparent;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, Method, header};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::body::{self, BODY_BYTES, media_type};
use super::encoded::{encoded, is_text, text};
use super::parts;
use super::repeated::put;
use crate::app::Shared;
use crate::guard::CheckedLink;
use crate::links::{Link, TOKEN};
use crate::problem::Problem;
use crate::traces::InTrace;

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) query: String,
    /// Whether the call was made under `/flow-runs`.
    pub(crate) is_of_flow_run: bool,
    pub(crate) traceparent: Option<Traceparent>,
    /// Of a call with a token: whether that counts. If not, nothing of the body was read.
    pub(crate) link: Option<Result<Link, Problem>>,
}

impl FromRequest<Shared> for Call {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Shared) -> Result<Call, Problem> {
        let (parts, body) = request.into_parts();
        let link = parts.extensions.get::<CheckedLink>().map(|CheckedLink(link)| link.clone());
        let bytes = match &link {
            Some(Err(_)) => Bytes::new(),
            Some(Ok(_)) | None => body::read(body, BODY_BYTES, app.settings.limits.body_time).await?,
        };
        let body = if bytes.is_empty() { Value::Null } else { read_body(&bytes, &parts.headers)? };
        let query = parts.uri.query().unwrap_or_default().to_owned();
        let traceparent = parts.extensions.get::<InTrace>().map(|InTrace(traceparent)| *traceparent);
        let is_of_flow_run = parts.uri.path().contains("/flow-runs/");
        Ok(Call {
            method: parts.method,
            headers: parts.headers,
            body,
            query,
            is_of_flow_run,
            traceparent,
            link,
        })
    }
}

impl Call {
    /// What the run gets. `own` are the parameters that are the server's, `keep` the headers that the definition keeps
    /// beside the usual ones.
    pub(crate) fn payload(&self, own: &[&str], keep: &[Arc<str>]) -> Value {
        let params = pairs(self.query.as_bytes(), |name| name != TOKEN && !own.contains(&name));
        json!({ "body": self.body, "headers": self.kept_headers(keep), "queryParams": params })
    }

    /// A form sends texts, whatever they stand for.
    pub(crate) fn is_form(&self) -> bool {
        let forms = ["application/x-www-form-urlencoded", "multipart/form-data"];
        media_type(&self.headers).is_some_and(|given| forms.contains(&given.as_str()))
    }

    pub(crate) fn param(&self, wanted: &str) -> Option<String> {
        form_urlencoded::parse(self.query.as_bytes())
            .find_map(|(name, value)| (name == wanted).then(|| value.into_owned()))
    }

    fn kept_headers(&self, keep: &[Arc<str>]) -> Map<String, Value> {
        let mut kept = Map::new();
        let token = self.param(TOKEN).filter(|token| !token.is_empty());
        let wanted = KEPT_HEADERS.into_iter().chain(keep.iter().map(|name| &**name));
        for name in wanted.filter(|name| !NEVER_KEPT_HEADERS.contains(name)) {
            let values = self.headers.get_all(name).iter();
            let texts: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            let text = texts.join(", ");
            // A referrer, or the URL that a proxy was asked for.
            let has_token = token.as_ref().is_some_and(|token| holds(&text, token));
            if !texts.is_empty() && !has_token {
                kept.insert(name.to_owned(), text.into());
            }
        }
        kept
    }
}

/// Whether the token stands in the text, escaped as in a URL or not.
fn holds(text: &str, token: &str) -> bool {
    text.contains(token) || percent_decode_str(text).decode_utf8_lossy().contains(token)
}

/// A body of any type: JSON, a form or text as what it is, all else as `{base64, contentType}`.
fn read_body(bytes: &[u8], headers: &HeaderMap) -> Result<Value, Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    match media_type(headers).as_deref() {
        Some("application/x-www-form-urlencoded") => Ok(Value::Object(pairs(bytes, |_| true))),
        Some("multipart/form-data") => parts::read(headers, bytes),
        Some("application/json") => body::parse(bytes),
        Some(other) if other.ends_with("+json") => body::parse(bytes),
        // A caller that does not say what it sends mostly sends JSON.
        None => Ok(body::parse(bytes).unwrap_or_else(|_| match std::str::from_utf8(bytes) {
            Ok(text) => Value::from(text),
            Err(_) => encoded(bytes, None),
        })),
        Some(other) if is_text(other) => Ok(text(bytes, given.unwrap_or(other))),
        Some(_) => Ok(encoded(bytes, given)),
    }
}

/// A name that is given more than once has a list.
fn pairs(encoded: &[u8], wanted: impl Fn(&str) -> bool) -> Map<String, Value> {
    let mut pairs = Map::new();
    for (name, value) in form_urlencoded::parse(encoded).filter(|(name, _)| wanted(name)) {
        put(&mut pairs, name.into_owned(), Value::from(value.into_owned()));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_headers_are_kept_and_repeated_names_become_lists() {
        let mut headers = HeaderMap::new();
        headers.insert("Authorization", "Bearer secret".parse().unwrap());
        headers.insert("Cookie", "session=secret".parse().unwrap());
        headers.insert("x-api-key", "secret".parse().unwrap());
        headers.insert("x-event", "paid".parse().unwrap());
        headers.insert("x-vault-token", "secret".parse().unwrap());
        headers.insert("x-original-url", "/v1/x?token=a%2Eb".parse().unwrap());
        headers.insert("user-agent", "curl".parse().unwrap());
        let query = "token=a.b&a=1&a=2&b=3&wait=1s".to_owned();
        let call = Call {
            method: Method::POST,
            headers,
            body: json!({"a": 1}),
            query,
            is_of_flow_run: false,
            traceparent: None,
            link: None,
        };
        let params = json!({"a": ["1", "2"], "b": "3"});
        let usual = json!({"user-agent": "curl"});
        let expected = json!({ "body": {"a": 1}, "headers": usual, "queryParams": params });
        assert_eq!(call.payload(&["wait"], &[]), expected);
        let keep = ["x-event", "authorization", "cookie", "x-original-url", "x-absent"].map(Arc::from);
        let named = json!({"user-agent": "curl", "x-event": "paid"});
        assert_eq!(call.payload(&["wait"], &keep)["headers"], named);
    }
}
