//! Steps that wait: for a time, a signal, an event, a call or people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Reply;

/// Suspends the run durably: for a time, until an instant, or until the next time of a cron line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// How long to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// How long to wait: `30s`, `2d 4h`, `PT30M`, or a template that gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// The instant to wait for, in RFC 3339, or a template that gives one. A past instant goes on at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_timestamp: Option<String>,
    /// Waits for the next time of this cron line, in `timezone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// An IANA zone such as `Europe/Berlin`; UTC if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
}

/// Waits for a signal sent to this run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalEvent {
    /// The signal's type, such as `payment.received`.
    #[schemars(length(min = 1, max = 200))]
    pub signal_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// Waits for an event that is sent to everyone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitForEvent {
    /// The event's id; templates allowed, such as `order-{{ input.orderId }}`.
    #[schemars(length(min = 1, max = 200))]
    pub event_id: String,
    /// An expression over `event`, the event's data, and the run; only events for which it is true count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#match: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Events received up to this long before the wait begins count too, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback_ms: Option<u64>,
    /// `lookbackMs` as a duration. Without either, every event since the run was created counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback: Option<String>,
    /// What happens when the time is over; `continue` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// Waits for a call on its resume URL.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// The reply given at once to the caller that started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_to_send: Option<Reply>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// Let a plain GET resume the run. Off by default: link scanners open every link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_get: bool,
    /// Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by
    /// default. They never get the run's output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_sync: bool,
    /// Headers of the call that are kept, beside those that always are: `content-type`, `user-agent`, `webhook-id`,
    /// `webhook-timestamp` and `webhook-signature`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 100)))]
    pub keep_headers: Option<Vec<String>>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// Waits for people to approve, reject or edit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The key of `state` whose value is shown, and replaced when it is edited.
    #[schemars(length(min = 1, max = 100))]
    pub content_key: String,
    /// A JSON Schema that edited content must satisfy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_schema: Option<Value>,
    /// What is asked; templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Who may decide: people by name, or `scope:approve` and `scope:admin` for any key with that scope. Every
    /// key with the scope `approve`, and whoever has a link, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 200)))]
    pub approvers: Option<Vec<String>>,
    /// Whether whoever started the run may decide; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_self_approval: Option<bool>,
    /// When those who may decide are reminded, after they were asked: `["4h", "1d"]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10))]
    pub remind_after: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub escalate_after_ms: Option<u64>,
    /// When others may decide too, after it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate_after: Option<String>,
    /// Who may decide from then on, besides the approvers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 200)))]
    pub escalate_to: Option<Vec<String>>,
    /// How many must approve; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub quorum: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnApprovalTimeout>,
    /// What happens when it is rejected; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_reject: Option<OnTimeout>,
}

/// What happens when a wait's time is over, or an approval is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTimeout {
    /// The step fails; it is not tried again.
    Fail,
    /// The run goes on with the output `{"timeout": true}`.
    Continue,
    /// The run goes on with this step.
    Goto(String),
}

/// What happens when nobody decided in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnApprovalTimeout {
    Fail,
    Continue,
    Approve,
    Reject,
    Goto(String),
}
