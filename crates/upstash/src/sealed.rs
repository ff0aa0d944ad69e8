//! What must not be readable in a run's history: headers that carry credentials, and what a client asks to redact. It is
//! sealed where a message is accepted, and opened where it is sent.

use abide_core::json::Json;
use abide_engine::vault::{Error, Vault};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize as _;
use serde_json::Value;

use crate::log::{Log, Stored};
use crate::message::{Body, Headers, Message, Purpose};
use crate::{Keys, OpenError};

const PURPOSE: &str = "upstash message";
/// What sealed text begins with.
const MARK: &str = "sealed:";
/// What is shown of what is sealed.
pub(crate) const REDACTED: &str = "REDACTED";
/// Prefixes of headers that are sent on to somebody.
const FORWARDS: [&str; 3] =
    ["upstash-forward-", "upstash-callback-forward-", "upstash-failure-callback-forward-"];
/// Parts of the names of headers that carry credentials.
const CREDENTIALS: [&str; 8] =
    ["authorization", "cookie", "token", "secret", "password", "api-key", "apikey", "credential"];

/// Seals and opens with a key that is derived from the gateway's token: readers of runs do not have it.
#[derive(Clone, Debug)]
pub(crate) struct Sealer(Vault);

impl Sealer {
    pub(crate) fn of(keys: &Keys) -> Result<Sealer, OpenError> {
        Vault::new(&keys.token, None).map(Sealer).map_err(OpenError::Vault)
    }

    pub(crate) fn seal(&self, text: &str) -> Result<String, Error> {
        self.0.seal(PURPOSE, text)
    }

    /// The text that was sealed; text that was not is what it is.
    pub(crate) fn open(&self, text: &str) -> String {
        self.0.open(PURPOSE, text).unwrap_or_else(|_| text.to_owned())
    }

    pub(crate) fn seal_body(&self, body: &Body) -> Result<Body, Error> {
        match body {
            Body::None | Body::Sealed(_) => Ok(body.clone()),
            Body::Text(_) | Body::Base64(_) => {
                let text = serde_json::to_string(body).expect("a body is JSON");
                self.seal(&text).map(Body::Sealed)
            }
        }
    }

    /// The body that was sealed; one that was not is what it is.
    pub(crate) fn open_body(&self, body: &Body) -> Body {
        match body {
            Body::Sealed(sealed) => serde_json::from_str(&self.open(sealed)).unwrap_or_else(|_| body.clone()),
            Body::None | Body::Text(_) | Body::Base64(_) => body.clone(),
        }
    }

    /// A step of a run whose bodies must not be readable: neither is its result.
    pub(crate) fn seal_result(&self, log: &Log, stored: Stored) -> Result<Stored, Error> {
        let Some(out) = stored.result().filter(|_| Redaction::of(&log.started.headers).body) else {
            return Ok(stored);
        };
        let sealed = self.seal(&out)?;
        Ok(stored.with_result(|_| sealed))
    }

    /// The answer to a call of a run whose bodies must not be readable.
    pub(crate) fn seal_answer(&self, log: &Log, answer: Json) -> Result<Json, Error> {
        let body = answer.get("body").and_then(Value::as_str);
        let Some(body) = body.filter(|_| Redaction::of(&log.started.headers).body) else { return Ok(answer) };
        Ok(with_body(&answer, self.seal(body)?))
    }

    /// Opens the body of a call, where the journal holds it sealed.
    pub(crate) fn open_call(&self, asked: &mut Value) {
        let body = asked.get_mut("body").filter(|body| body.get("sealed").is_some());
        if let Some(body) = body
            && let Ok(sealed) = Body::deserialize(&*body)
        {
            *body = serde_json::to_value(self.open_body(&sealed)).expect("a body is JSON");
        }
    }

    /// Headers of a message without anything that must not be readable.
    pub(crate) fn seal_headers(&self, headers: Headers) -> Result<Headers, Error> {
        let redaction = Redaction::of(&headers);
        self.seal_where(headers, |name| redaction.hides(name))
    }

    fn seal_where(&self, headers: Headers, hides: impl Fn(&str) -> bool) -> Result<Headers, Error> {
        let sealed = headers.0.into_iter().map(|(name, value)| {
            let is_hidden = !value.starts_with(MARK) && forwarded(&name).is_some_and(&hides);
            let value = if is_hidden { self.seal(&value)? } else { value };
            Ok((name, value))
        });
        sealed.collect::<Result<_, _>>().map(Headers)
    }

    /// A message without anything that must not be readable. Of a call to somebody else, no header is.
    pub(crate) fn seal_message(&self, message: Message) -> Result<Message, Error> {
        let Message { destination, headers, body } = &message;
        let is_call = message.purpose() == Purpose::Call;
        let body = match Redaction::of(headers).body {
            true if message.purpose() != Purpose::Step => self.seal_body(body)?,
            true | false => body.clone(),
        };
        let headers = match is_call {
            true => self.seal_where(headers.clone(), |_| true)?,
            false => self.seal_headers(headers.clone())?,
        };
        Ok(Message { destination: destination.clone(), headers, body })
    }
}

/// The answer to a call as it is delivered, or, without a sealer, as clients are shown it.
pub(crate) fn open_answer(answer: &Json, sealer: Option<&Sealer>) -> Json {
    match answer.get("body").and_then(Value::as_str).filter(|body| is_sealed(body)) {
        Some(body) => {
            with_body(answer, sealer.map_or_else(|| STANDARD.encode(REDACTED), |sealer| sealer.open(body)))
        }
        None => answer.clone(),
    }
}

fn with_body(answer: &Json, body: String) -> Json {
    let mut answer = Value::clone(answer);
    answer["body"] = Value::String(body);
    answer.into()
}

/// The name under which a header is sent on; `None` if it is not, or is the SDK's own.
fn forwarded(name: &str) -> Option<&str> {
    let sent = FORWARDS.iter().find_map(|prefix| name.strip_prefix(prefix));
    sent.filter(|name| !name.starts_with("upstash-"))
}

/// Whether a text is sealed.
pub(crate) fn is_sealed(text: &str) -> bool {
    text.starts_with(MARK)
}

/// What a header shows to people.
pub(crate) fn shown(value: &str) -> &str {
    if is_sealed(value) { REDACTED } else { value }
}

/// `Upstash-Redact-Fields`: what a client does not want to see in logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Redaction {
    pub(crate) body: bool,
    every_header: bool,
    headers: Vec<String>,
}

impl Redaction {
    pub(crate) fn of(headers: &Headers) -> Redaction {
        let mut redaction = Redaction::default();
        for field in headers.get("upstash-redact-fields").unwrap_or_default().split(',').map(str::trim) {
            match field.strip_prefix("header[").and_then(|rest| rest.strip_suffix(']')) {
                Some(name) => redaction.headers.push(name.to_ascii_lowercase()),
                None if field == "body" => redaction.body = true,
                None if field == "header" => redaction.every_header = true,
                None => {}
            }
        }
        redaction
    }

    fn hides(&self, name: &str) -> bool {
        self.every_header
            || self.headers.iter().any(|hidden| hidden == name)
            || CREDENTIALS.iter().any(|part| name.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sealer() -> Sealer {
        Sealer::of(&Keys::of_development()).unwrap()
    }

    fn message(headers: serde_json::Value) -> Message {
        Message {
            destination: "http://a".to_owned(),
            headers: Headers::of_object(&headers),
            body: Body::Text("secret text".to_owned()),
        }
    }

    #[test]
    fn credentials_and_what_is_redacted_are_sealed_and_opened_again() {
        let sealed = sealer()
            .seal_message(message(json!({
                "Upstash-Forward-Authorization": "Bearer one", "Upstash-Forward-X-Plain": "two",
                "Upstash-Callback-Forward-Cookie": "three", "Upstash-Redact-Fields": "body, header[X-Mine]",
                "Upstash-Forward-X-Mine": "four",
            })))
            .unwrap();
        let text = serde_json::to_string(&(&sealed.headers, &sealed.body)).unwrap();
        for hidden in ["one", "three", "four", "secret text"] {
            assert!(!text.contains(hidden), "{text}");
        }
        assert_eq!(sealed.headers.get("upstash-forward-x-plain"), Some("two"));
        let sealer = sealer();
        assert_eq!(sealer.open(sealed.headers.get("upstash-forward-authorization").unwrap()), "Bearer one");
        assert_eq!(sealer.open_body(&sealed.body), Body::Text("secret text".to_owned()));
        assert_eq!(sealed.body.text(), REDACTED);
    }

    #[test]
    fn every_header_of_a_call_is_sealed_and_what_names_its_step_is_not() {
        let sealed = sealer()
            .seal_message(message(json!({
                "Upstash-Workflow-CallType": "toCallback", "Upstash-Forward-X-Own": "one",
                "Upstash-Callback-Forward-Upstash-Workflow-StepId": "3",
            })))
            .unwrap();
        assert!(sealed.headers.get("upstash-forward-x-own").unwrap().starts_with(MARK));
        assert_eq!(sealed.headers.get("upstash-callback-forward-upstash-workflow-stepid"), Some("3"));
    }
}
