//! A message as a client submits it: a destination, control headers and a body.

use std::collections::BTreeMap;

use abide_core::time::Millis;
use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::duration;
use crate::sealed::REDACTED;

/// How often a delivery is repeated if nobody says.
pub(crate) const RETRIES: u32 = 3;
/// How often a delivery may be repeated: each retry is a wait of its own.
pub(crate) const MOST_RETRIES: u32 = 500;
const FORWARD: &str = "upstash-forward-";
/// Headers of requests that are about their connection or their sender and mean nothing to the next receiver.
const NOT_FORWARDED: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upstash-message-id",
    "upstash-retried",
    "upstash-signature",
    "upstash-workflow-createdat",
    "upstash-workflow-runid",
    "upstash-workflow-unknown-sdk",
    "user-agent",
];
/// Headers that the gateway has no use for.
const IGNORED: &[&str] = &["upstash-telemetry-", "authorization", "cookie", "x-forwarded-"];

/// Control headers by their names in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Headers(pub(crate) BTreeMap<String, String>);

impl Headers {
    /// The headers of an object: each value a string, or an array that begins with one.
    pub(crate) fn of_object(object: &Value) -> Headers {
        let fields = object.as_object().into_iter().flatten();
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Array(values) => values.first().and_then(Value::as_str).map(str::to_owned),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(truth) => Some(truth.to_string()),
            Value::Null | Value::Object(_) => None,
        };
        Headers::kept(fields.filter_map(|(name, value)| Some((name.to_ascii_lowercase(), text(value)?))))
    }

    /// The headers of a request that are about its message.
    pub(crate) fn of_request(headers: &HeaderMap) -> Headers {
        let named = headers.iter().filter(|(name, _)| {
            let name = name.as_str();
            name.starts_with("upstash-") || name == "content-type"
        });
        let text = |value: &axum::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Headers::kept(named.map(|(name, value)| (name.as_str().to_owned(), text(value))))
    }

    fn kept(headers: impl Iterator<Item = (String, String)>) -> Headers {
        let is_ignored = |name: &str| IGNORED.iter().any(|ignored| name.starts_with(ignored));
        Headers(headers.filter(|(name, _)| !is_ignored(name)).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// These headers, and those of a message over them.
    pub(crate) fn overlaid(&self, message: &Headers) -> Headers {
        let mut all = self.0.clone();
        all.extend(message.0.clone());
        Headers(all)
    }

    /// The headers under a prefix such as `upstash-failure-callback-`, as headers of their own.
    pub(crate) fn under(&self, prefix: &str) -> Headers {
        let inside = self.0.iter().filter_map(|(name, value)| {
            name.strip_prefix(prefix).map(|name| (format!("upstash-{name}"), value.clone()))
        });
        Headers(inside.collect())
    }

    /// The headers that a run needs after it was started, of those that its start had.
    pub(crate) fn of_run(mut self) -> Headers {
        // The last three are put on the deliveries that need them, whatever a start says.
        let only_starts = [
            "upstash-workflow-",
            "upstash-failure-callback-workflow-",
            "upstash-failure-callback-feature-set",
            "upstash-method",
            "upstash-forward-upstash-workflow-sdk-version",
            "upstash-failure-callback-forward-upstash-workflow-is-failure",
            "upstash-failure-callback-forward-upstash-workflow-failure-callback",
        ];
        self.0.retain(|name, _| !only_starts.iter().any(|prefix| name.starts_with(prefix)));
        self
    }

    /// The headers to deliver a message with.
    pub(crate) fn forwarded(&self) -> BTreeMap<String, String> {
        let named = self.0.iter().filter_map(|(name, value)| Some((name.strip_prefix(FORWARD)?, value)));
        let wanted = named.filter(|(name, _)| !NOT_FORWARDED.contains(name));
        wanted.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }

    pub(crate) fn is(&self, name: &str, value: &str) -> bool {
        self.get(name).is_some_and(|given| given.eq_ignore_ascii_case(value))
    }

    pub(crate) fn has_feature(&self, feature: &str) -> bool {
        self.get("upstash-feature-set").is_some_and(|set| set.split(',').any(|it| it.trim() == feature))
    }

    pub(crate) fn retries(&self) -> Option<u32> {
        self.get("upstash-retries")?.trim().parse().ok().map(|given: u32| given.min(MOST_RETRIES))
    }

    pub(crate) fn timeout(&self) -> Option<Millis> {
        self.get("upstash-timeout").and_then(duration::parse).filter(|timeout| timeout.0 > 0)
    }

    /// When the message is to be delivered, if later.
    pub(crate) fn due(&self, now: Timestamp) -> Option<Timestamp> {
        let until = self.get("upstash-not-before").and_then(|at| at.trim().parse::<f64>().ok());
        #[allow(clippy::cast_possible_truncation, reason = "it saturates, and a wait has its own limit")]
        let until = until.and_then(|seconds| Timestamp::from_millisecond((seconds * 1_000.0) as i64).ok());
        let delay = self.get("upstash-delay").and_then(duration::parse).map(|delay| delay.after(now));
        until.or(delay).filter(|due| *due > now)
    }

    pub(crate) fn run_id(&self) -> Option<&str> {
        self.get("upstash-workflow-runid").filter(|id| !id.is_empty())
    }
}

/// A body as it is stored: text, or base64 of what is not text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Body {
    /// Text.
    Text(String),
    /// Base64 of bytes that are not text.
    Base64(String),
    /// A body that must not be readable.
    Sealed(String),
    /// Nothing was sent.
    #[default]
    None,
}

impl Body {
    pub(crate) fn of(bytes: &[u8]) -> Body {
        match std::str::from_utf8(bytes) {
            Ok("") => Body::None,
            Ok(text) => Body::Text(text.to_owned()),
            Err(_) => Body::Base64(STANDARD.encode(bytes)),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Body::Text(text) => text.clone().into_bytes(),
            Body::Base64(text) => STANDARD.decode(text).unwrap_or_default(),
            Body::Sealed(_) => REDACTED.into(),
            Body::None => Vec::new(),
        }
    }

    pub(crate) fn base64(&self) -> String {
        match self {
            Body::Text(text) => STANDARD.encode(text),
            Body::Base64(text) => text.clone(),
            Body::Sealed(_) => STANDARD.encode(REDACTED),
            Body::None => String::new(),
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        *self == Body::None
    }

    /// How large the body is as it is stored.
    pub(crate) fn size(&self) -> usize {
        match self {
            Body::Text(text) | Body::Base64(text) | Body::Sealed(text) => text.len(),
            Body::None => 0,
        }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

/// Whether a destination is a URL, and not the name of a URL group.
pub(crate) fn is_url(destination: &str) -> bool {
    destination.starts_with("http://") || destination.starts_with("https://")
}

/// A message that was submitted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) destination: String,
    pub(crate) headers: Headers,
    pub(crate) body: Body,
}

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Start a run.
    Start,
    /// Add an entry to the log of a run.
    Step,
    /// Call somebody else and tell the run.
    Call,
    /// Be delivered, and nothing more.
    Plain,
}

impl Message {
    /// Whether the message starts a run, and does not confirm a start by somebody else.
    pub(crate) fn is_plain_start(&self) -> bool {
        self.purpose() == Purpose::Start && !self.headers.is("upstash-workflow-trigger-by-sdk", "true")
    }

    pub(crate) fn purpose(&self) -> Purpose {
        let headers = &self.headers;
        if headers.is("upstash-workflow-calltype", "toCallback") {
            Purpose::Call
        } else if headers.is("upstash-workflow-init", "true") {
            Purpose::Start
        } else if headers.is("upstash-workflow-init", "false") {
            Purpose::Step
        } else {
            Purpose::Plain
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_about_a_connection_is_not_forwarded() {
        let headers = Headers::of_object(&json!({
            "Upstash-Forward-Host": "a", "upstash-forward-x-user": ["u"], "Upstash-Forward-Upstash-Signature": "s",
            "Upstash-Telemetry-Sdk": "t", "Authorization": "Bearer x",
        }));
        assert_eq!(headers.forwarded(), [("x-user".to_owned(), "u".to_owned())].into());
        assert_eq!((headers.get("upstash-telemetry-sdk"), headers.get("authorization")), (None, None));
    }

    #[test]
    fn a_run_keeps_what_it_needs_of_the_headers_of_its_start() {
        let given = Headers::of_object(&json!({
            "Upstash-Workflow-Init": "true", "Upstash-Failure-Callback-Workflow-RunId": "r", "Upstash-Retries": "2",
            "Upstash-Failure-Callback": "http://a", "Upstash-Failure-Callback-Forward-X": "x", "Upstash-Feature-Set": "LazyFetch",
            "Upstash-Forward-Upstash-Workflow-Invoke-Count": "1",
        }));
        let kept: Vec<String> = given.of_run().0.into_keys().collect();
        let wanted = [
            "upstash-failure-callback",
            "upstash-failure-callback-forward-x",
            "upstash-feature-set",
            "upstash-forward-upstash-workflow-invoke-count",
            "upstash-retries",
        ];
        assert_eq!(kept, wanted);
    }

    #[test]
    fn an_instant_wins_over_a_delay_and_the_past_is_now() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let due = |headers: Value| {
            Headers::of_object(&headers).due(now).map(|due| due.as_second() - now.as_second())
        };
        assert_eq!(due(json!({ "upstash-delay": "2s" })), Some(2));
        assert_eq!(
            due(json!({ "upstash-delay": "2s", "upstash-not-before": now.as_second() + 60 })),
            Some(60)
        );
        assert_eq!(due(json!({ "upstash-not-before": now.as_second() - 60 })), None);
    }
}
