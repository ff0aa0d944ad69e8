//! What `notify` and webhooks send, as events of the workspace, and what a wait that ended hands to the SDK.

use abide_core::command::{ChildOutcome, WaitFor};
use abide_core::json::Json;
use abide_core::time::Millis;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};

/// The key under which an event of the gateway carries its data.
const KEY: &str = "upstash";

/// An event for whoever waits now.
pub(crate) fn to_all(body: &[u8], now: Timestamp) -> Value {
    json!({ KEY: { "at": now.as_millisecond(), "out": STANDARD.encode(body) } })
}

/// An event for one run, which also a later wait of it takes.
pub(crate) fn to_run(body: &[u8]) -> Value {
    json!({ KEY: { "stored": true, "out": STANDARD.encode(body) } })
}

/// The wait for an event: one to all is only for those who waited when it came; one to the run is kept for it. An
/// event that somebody else sent is as any event of abide.
pub(crate) fn wait(event_id: &str, timeout: Option<Millis>, now: Timestamp) -> WaitFor {
    let since = now.as_millisecond();
    WaitFor::Event {
        event_id: event_id.into(),
        matching: Some(format!("not event.{KEY} or event.{KEY}.stored or event.{KEY}.at >= {since}")),
        fields: [].into(),
        lookback: None,
        timeout,
    }
}

/// What the SDK is given of an event: base64 of its data.
pub(crate) fn out(data: &Json) -> String {
    match data.get(KEY).and_then(|own| own.get("out")).and_then(Value::as_str) {
        Some(out) => out.to_owned(),
        None if data.is_null() => String::new(),
        None => STANDARD.encode(Value::clone(data).to_string()),
    }
}

/// What the SDK is given of a run that it invoked.
pub(crate) fn invoked(outcome: Option<&Json>) -> Value {
    let outcome = outcome.and_then(|outcome| serde_json::from_value(Value::clone(outcome)).ok());
    match outcome {
        Some(ChildOutcome::Completed { output }) if output.is_null() => {
            json!({ "isCanceled": false, "isFailed": false })
        }
        Some(ChildOutcome::Completed { output }) => {
            json!({ "body": Value::clone(&output).to_string(), "isCanceled": false, "isFailed": false })
        }
        Some(ChildOutcome::Failed { .. }) => json!({ "isCanceled": false, "isFailed": true }),
        Some(ChildOutcome::Cancelled | ChildOutcome::Started { .. }) | None => {
            json!({ "isCanceled": true, "isFailed": false })
        }
    }
}
