//! One request to a provider and what became of it.

use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use jiff::Timestamp;
use serde_json::Value;

use super::call::{Answer, Call};
use super::failure::{Class, Failure};
use super::settings::{Protocol, Served};
use super::{ANSWER_BYTES, RETRY_AFTER, WHOLE};
use crate::http::{Bounds, Client, Request, Response, Streaming};

const VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
/// Of an error's body, what is shown when it is not the JSON that was expected.
const SHOWN_CHARS: usize = 300;

pub(super) async fn whole(client: &Client, served: Served<'_>, call: &Call) -> Result<Answer, Failure> {
    let response = client.send(request(served, call, false)?).await?;
    if response.status != StatusCode::OK {
        return Err(refused(served, &response));
    }
    let body = serde_json::from_slice(&response.body).map_err(Failure::malformed)?;
    served.provider.protocol.answer(body)
}

pub(super) async fn streamed(
    client: &Client,
    served: Served<'_>,
    call: &Call,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Result<Answer, Failure> {
    let response = client.open(request(served, call, true)?).await?;
    if response.status != StatusCode::OK {
        return Err(refused(served, &response.collect().await?));
    }
    if !is_event_stream(&response.headers) {
        // A server that does not stream answers in one piece.
        let response = response.collect().await?;
        let answer = served
            .provider
            .protocol
            .answer(serde_json::from_slice(&response.body).map_err(Failure::malformed)?)?;
        on_text(&answer.text);
        return Ok(answer);
    }
    let mut answer = served.provider.protocol.accumulate();
    match read(response, answer.as_mut(), on_text).await {
        Err(failure) => Err(failure.with_usage(answer.usage())),
        Ok(()) => {
            let usage = answer.usage();
            let cut = || Failure::new(Class::Cut, "the stream ended before the answer did").with_usage(usage);
            answer.finish().map_err(|failure| failure.with_usage(usage))?.ok_or_else(cut)
        }
    }
}

async fn read(
    mut response: Streaming,
    answer: &mut dyn super::protocol::Accumulate,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Result<(), Failure> {
    let mut events = abide_sse::Parser::default();
    while let Some(chunk) = response.chunk().await? {
        // Providers repeat the name of an event inside its data, so that the data is enough.
        let come = events.take(&chunk).map_err(Failure::malformed)?;
        for data in come.into_iter().map(|event| event.data).filter(|data| !data.is_empty()) {
            if data == "[DONE]" {
                return Ok(());
            }
            let event = serde_json::from_str(&data).map_err(Failure::malformed)?;
            if let Some(text) = answer.take(event)?.filter(|text| !text.is_empty()) {
                on_text(&text);
            }
        }
    }
    Ok(())
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

fn request(served: Served<'_>, call: &Call, stream: bool) -> Result<Request, Failure> {
    let protocol = served.provider.protocol;
    let mut request = Request::new(Method::POST, served.url());
    request.bounds =
        Bounds { whole: call.timeout.unwrap_or(WHOLE), response_bytes: ANSWER_BYTES, redirects: 0 };
    request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let name = match protocol {
        Protocol::Anthropic => {
            let (name, version) = VERSION;
            request.headers.insert(name, version);
            HeaderName::from_static("x-api-key")
        }
        Protocol::OpenaiResponses | Protocol::OpenaiChat | Protocol::OpenaiCompatible => {
            header::AUTHORIZATION
        }
    };
    if let Some(key) = &served.provider.key {
        let key = key.expose();
        let value = if name == header::AUTHORIZATION { format!("Bearer {key}") } else { key.to_owned() };
        let mut value = HeaderValue::try_from(value).map_err(|_| {
            Failure::new(Class::Auth, "the provider's key has characters that no header can carry")
        })?;
        value.set_sensitive(true);
        request.headers.insert(name, value);
    }
    request.body = protocol.request(call, served.name, stream).to_string().into();
    Ok(request)
}

/// A response that is not an answer.
fn refused(served: Served<'_>, response: &Response) -> Failure {
    let body: Option<Value> = serde_json::from_slice(&response.body).ok();
    let told = body.as_ref().and_then(|body| body.pointer("/error"));
    let text = |name: &str| told.and_then(|error| error.get(name)).and_then(Value::as_str);
    let message = match (text("message").or(told.and_then(Value::as_str)), response.body.is_empty()) {
        (Some(message), _) => message.to_owned(),
        (None, true) => "no reason was given".to_owned(),
        (None, false) => String::from_utf8_lossy(&response.body).chars().take(SHOWN_CHARS).collect(),
    };
    let message = match &served.provider.key {
        Some(key) => message.replace(key.expose(), "[redacted]"),
        None => message,
    };
    let class = class(response.status, text("type"), text("code"), &message);
    let mut failure =
        Failure::new(class, format!("{} answered {}: {message}", served.url(), response.status));
    failure.status = Some(response.status.as_u16());
    failure.retry_after_ms = retry_after_ms(&response.headers, Timestamp::now());
    failure
}

/// What an error means: by its kind where one is given, also in the middle of a stream, else by the status.
pub(super) fn class(status: StatusCode, kind: Option<&str>, code: Option<&str>, message: &str) -> Class {
    let is = |name: &str| kind == Some(name) || code == Some(name);
    if is("insufficient_quota") || is("billing_error") || message.contains("credit balance is too low") {
        return Class::QuotaUsedUp;
    }
    if is("context_length_exceeded") || is("request_too_large") || message.contains("prompt is too long") {
        return Class::TooLong;
    }
    if is("model_not_found") {
        return Class::UnknownModel;
    }
    match status.as_u16() {
        401 | 403 => Class::Auth,
        402 => Class::QuotaUsedUp,
        404 => Class::UnknownModel,
        408 | 409 | 425 | 500..=599 => Class::Overloaded,
        413 => Class::TooLong,
        429 => Class::RateLimited,
        _ => Class::BadRequest,
    }
}

/// In milliseconds, in seconds, or as a date: as providers and proxies say it.
pub fn retry_after_ms(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let most = u64::try_from(RETRY_AFTER.as_millis()).expect("a day");
    if let Some(ms) = text("retry-after-ms").and_then(|given| given.parse::<f64>().ok()) {
        return Some(whole_ms(ms).min(most));
    }
    let after = text("retry-after")?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Some(whole_ms(seconds * 1000.0).min(most));
    }
    let at = jiff::fmt::rfc2822::parse(after).ok()?.timestamp();
    let ms = at.as_millisecond().saturating_sub(now.as_millisecond()).max(0);
    Some(u64::try_from(ms).expect("not negative").min(most))
}

/// Upwards: nobody is asked too early.
fn whole_ms(ms: f64) -> u64 {
    if ms.is_finite() && ms > 0.0 { ms.ceil() as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_wait_is_read_in_every_form() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        let read = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            retry_after_ms(&headers, now)
        };
        assert_eq!(read("retry-after", "7"), Some(7000));
        assert_eq!(read("retry-after", "0.25"), Some(250));
        assert_eq!(read("retry-after-ms", "12.5"), Some(13));
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(37_000));
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:48:37 GMT"), Some(0));
        assert_eq!(read("retry-after", "99999999"), Some(86_400_000));
        assert_eq!(read("retry-after", "soon"), None);
        assert_eq!(read("retry-after", "NaN"), Some(0));
    }

    #[test]
    fn errors_are_told_apart_by_kind_and_by_status() {
        let of = |status: u16, kind: &str, message: &str| {
            class(StatusCode::from_u16(status).unwrap(), Some(kind), None, message)
        };
        assert_eq!(of(400, "invalid_request_error", "no"), Class::BadRequest);
        assert_eq!(of(400, "invalid_request_error", "prompt is too long: 9 > 8"), Class::TooLong);
        assert_eq!(of(401, "authentication_error", ""), Class::Auth);
        assert_eq!(of(404, "not_found_error", ""), Class::UnknownModel);
        assert_eq!(of(429, "rate_limit_error", ""), Class::RateLimited);
        assert_eq!(of(429, "insufficient_quota", ""), Class::QuotaUsedUp);
        assert_eq!(of(529, "overloaded_error", ""), Class::Overloaded);
        assert_eq!(of(503, "", ""), Class::Overloaded);
    }
}
