//! What durable code in a task waits for.

use std::sync::Arc;

use abide_core::command::{WaitFor, WaitSpec};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::report::needed_length;
use crate::problem::Problem;
use crate::request::{Name, instant, length};
use crate::shape::words;

/// A wait, by its type.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
#[schemars(rename = "TaskWait")]
pub(super) enum WaitBody {
    Sleep(Sleep),
    Until(Until),
    Signal(Signal),
    Event(Event),
    /// A waitpoint with a resume URL, created before or now.
    Webhook(Webhook),
    /// A waitpoint of this name that was made with `POST /waitpoints`, whatever ends it.
    Waitpoint(Waitpoint),
    Approval(Approval),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Sleep {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    duration_ms: Option<u64>,
    /// The same as text: `2d 4h`.
    duration: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Until {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    /// A past instant is over at once.
    #[serde(deserialize_with = "instant")]
    at: Timestamp,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Signal {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    signal_type: Name,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Event {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    event_id: Name,
    /// An expression that the event must satisfy.
    #[serde(rename = "match")]
    matching: Option<String>,
    /// How far back to look for events; to the run's creation if absent.
    lookback_ms: Option<u64>,
    lookback: Option<String>,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Webhook {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    #[serde(default)]
    allow_get: bool,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Waitpoint {
    name: Name,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Approval {
    name: Name,
    /// What the code asks for, in its own words. A recorded wait answers only code that asks the same.
    asked: Option<Name>,
    prompt: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "words::any")]
    content: Value,
    /// Anyone with the scope `approve` if absent.
    #[serde(default)]
    approvers: Vec<String>,
    /// Approvals that are needed; 1 if absent.
    quorum: Option<u32>,
    timeout_ms: Option<u64>,
    timeout: Option<String>,
}

impl WaitBody {
    pub(super) fn spec(self) -> Result<WaitSpec, Problem> {
        let (name, asked, wait) = match self {
            WaitBody::Sleep(wait) => {
                let duration = needed_length("duration", wait.duration_ms, wait.duration.as_deref())?;
                (wait.name, wait.asked, WaitFor::Sleep { duration })
            }
            WaitBody::Until(Until { name, asked, at }) => (name, asked, WaitFor::Instant { at }),
            WaitBody::Signal(wait) => {
                let timeout = length("timeout", wait.timeout_ms, wait.timeout.as_deref())?;
                (wait.name, wait.asked, WaitFor::Signal { signal_type: wait.signal_type.into(), timeout })
            }
            WaitBody::Event(wait) => {
                let timeout = length("timeout", wait.timeout_ms, wait.timeout.as_deref())?;
                let lookback = length("lookback", wait.lookback_ms, wait.lookback.as_deref())?;
                let (event_id, matching) = (wait.event_id.into(), wait.matching);
                (wait.name, wait.asked, WaitFor::Event { event_id, matching, lookback, timeout })
            }
            WaitBody::Webhook(wait) => {
                let timeout = length("timeout", wait.timeout_ms, wait.timeout.as_deref())?;
                (wait.name, wait.asked, WaitFor::Call { allow_get: wait.allow_get, timeout })
            }
            WaitBody::Waitpoint(Waitpoint { name }) => (name, None, WaitFor::Created),
            WaitBody::Approval(wait) => {
                let timeout = length("timeout", wait.timeout_ms, wait.timeout.as_deref())?;
                let (content, quorum) = (wait.content.into(), wait.quorum.unwrap_or(1));
                let approvers = wait.approvers.into_iter().map(Arc::from).collect();
                let prompt = wait.prompt;
                (wait.name, wait.asked, WaitFor::Approval { prompt, content, approvers, quorum, timeout })
            }
        };
        Ok(WaitSpec { name: name.into(), wait, asked: asked.map(Into::into) })
    }
}
