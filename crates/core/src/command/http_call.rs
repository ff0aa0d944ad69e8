//! Limits of the HTTP calls that durable code may ask the engine to make: the same as those of an `http` step.

use crate::command::task_suspended::malformed;
use crate::definition::document::{Retry, StatusPattern};
use crate::definition::{HttpCall, is_header_name};
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::time::Millis;

pub(super) fn check_call(call: &HttpCall, max_wait: Millis) -> Result<(), Refusal> {
    let begins =
        |scheme: &str| call.url.get(..scheme.len()).is_some_and(|is| is.eq_ignore_ascii_case(scheme));
    if !begins("http://") && !begins("https://") {
        return Err(malformed("/waits/url", "a whole URL is needed, with `https://` or `http://`"));
    }
    within("the URL's size in bytes", call.url.len(), limits::HTTP_URL_BYTES)?;
    within("the number of headers", call.headers.len(), limits::HTTP_HEADERS)?;
    if let Some(name) = call.headers.keys().find(|name| !is_header_name(name)) {
        return Err(malformed("/waits/headers", format!("`{name}` is not the name of a header")));
    }
    let patterns = call.fail_on.iter().flatten();
    within("the number of statuses in `failOn`", patterns.clone().count(), limits::HTTP_FAIL_ON)?;
    if patterns.clone().any(|pattern| !is_status(pattern)) {
        let message = "a status from 100 to 599, or a class of them: `1xx`, `2xx`, `3xx`, `4xx` or `5xx`";
        return Err(malformed("/waits/failOn", message));
    }
    if let Some(timeout) = call.timeout_ms.map(Millis).filter(|given| given.0 == 0 || *given > max_wait) {
        return Err(malformed("/waits/timeoutMs", format!("{timeout} is not between 1 ms and {max_wait}")));
    }
    check_retry(&call.retry, max_wait)?;
    within("the request's size in bytes", call.request().bytes(), limits::PAYLOAD_BYTES)
}

fn is_status(pattern: &StatusPattern) -> bool {
    match pattern {
        StatusPattern::One(status) => (100..=599).contains(status),
        StatusPattern::Class(class) => ["1xx", "2xx", "3xx", "4xx", "5xx"].contains(&class.as_str()),
    }
}

fn check_retry(retry: &Retry, max_wait: Millis) -> Result<(), Refusal> {
    let Retry { max_attempts, backoff_ms, backoff_multiplier, max_backoff_ms } = retry;
    let most = limits::RETRY_ATTEMPTS;
    if max_attempts.is_some_and(|attempts| !(1..=most).contains(&attempts)) {
        return Err(malformed("/waits/retry/maxAttempts", format!("a number from 1 to {most} is needed")));
    }
    if backoff_multiplier.is_some_and(|times| !(1.0..=limits::BACKOFF_MULTIPLIER).contains(&times)) {
        let message = format!("a number from 1 to {} is needed", limits::BACKOFF_MULTIPLIER);
        return Err(malformed("/waits/retry/backoffMultiplier", message));
    }
    let lengths = [("/waits/retry/backoffMs", backoff_ms), ("/waits/retry/maxBackoffMs", max_backoff_ms)];
    for (pointer, given) in lengths {
        if given.is_some_and(|ms| !(limits::BACKOFF_MS..=max_wait.0).contains(&ms)) {
            let message = format!("a length from {} ms to {max_wait} is needed", limits::BACKOFF_MS);
            return Err(malformed(pointer, message));
        }
    }
    Ok(())
}
