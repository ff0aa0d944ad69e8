//! Steps that wait for several things at once: for the first of them, for all of them, or for some.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{OnTimeout, Wait};

/// Waits for the first of several waits; the others are cancelled with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitAny {
    /// The waits, by name. Those that come in the same moment count in the order of their names.
    pub waits: BTreeMap<String, Member>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// How long all of them together may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// The step to go on with, by the name of the wait that came; without one, the step that follows in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goto: Option<BTreeMap<String, String>>,
}

/// Waits for all of several waits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitAll {
    /// The waits, by name.
    pub waits: BTreeMap<String, Member>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// How long all of them together may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// Waits for so many of several waits; the others are cancelled with the last of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitSome {
    /// The waits, by name. Those that come in the same moment count in the order of their names.
    pub waits: BTreeMap<String, Member>,
    /// How many of them must come.
    #[schemars(range(min = 1, max = 100))]
    pub count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// How long all of them together may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// What happens when the time is over; `fail` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// The step to go on with, by the name of the wait that came first; without one, the step that follows in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goto: Option<BTreeMap<String, String>>,
}

/// One of several waits of a step. Its deadline is the step's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Member {
    #[serde(alias = "sleep")]
    Wait(Wait),
    #[serde(alias = "wait_for_signal")]
    ExternalEvent(MemberExternalEvent),
    WaitForEvent(MemberWaitForEvent),
    Webhook(MemberWebhook),
    Approval(MemberApproval),
    #[serde(alias = "child")]
    Workflow(MemberWorkflow),
    WaitAny(MemberWaitAny),
    WaitAll(MemberWaitAll),
    WaitSome(MemberWaitSome),
}

/// One of several waits: for a signal sent to this run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberExternalEvent {
    /// The signal's type, such as `payment.received`.
    #[schemars(length(min = 1, max = 200))]
    pub signal_type: String,
}

/// One of several waits: for an event that is sent to everyone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberWaitForEvent {
    /// The event's id; templates allowed, such as `order-{{ input.orderId }}`.
    #[schemars(length(min = 1, max = 200))]
    pub event_id: String,
    /// An expression over `event`, the event's data, and the run; only events for which it is true count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#match: Option<String>,
    /// Events received up to this long before the wait begins count too, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback_ms: Option<u64>,
    /// `lookbackMs` as a duration. Without either, every event since the run was created counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback: Option<String>,
}

/// One of several waits: for a call on its resume URL.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberWebhook {
    /// Let a plain GET resume the run. Off by default: link scanners open every link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_get: bool,
    /// Let whoever has the link call it with `/sync`, and get what a `respond` step or a webhook says next. Off by
    /// default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_sync: bool,
    /// Headers of the call that are kept, beside those that always are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50), inner(length(min = 1, max = 100)))]
    pub keep_headers: Option<Vec<String>>,
}

/// One of several waits: for people to approve, reject or edit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberApproval {
    /// The key of `state` whose value is shown, and replaced when it is edited.
    #[schemars(length(min = 1, max = 100))]
    pub content_key: String,
    /// A JSON Schema that edited content must satisfy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_schema: Option<Value>,
    /// What is asked; templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Who may decide: people by name, or `scope:approve` and `scope:admin` for any key with that scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 200)))]
    pub approvers: Option<Vec<String>>,
    /// Whether whoever started the run may decide; true if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_self_approval: Option<bool>,
    /// How many must approve; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub quorum: Option<u32>,
    /// What a rejection does: `fail` the step at once (if absent), or `continue`: it counts as having come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_reject: Option<OnRejectedMember>,
}

/// What a rejection does to a step that waits for more than the approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnRejectedMember {
    Fail,
    Continue,
}

/// One of several waits: for a child run, which is started with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberWorkflow {
    /// The other workflow's name.
    #[schemars(length(min = 1, max = 200))]
    pub definition: String,
    /// The newest version if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50))]
    pub version: Option<String>,
    /// Templates allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}

/// One of several waits: for the first of others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberWaitAny {
    /// The waits, by name; none of them has others inside.
    pub waits: BTreeMap<String, Member>,
}

/// One of several waits: for all of others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberWaitAll {
    /// The waits, by name; none of them has others inside.
    pub waits: BTreeMap<String, Member>,
}

/// One of several waits: for so many of others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberWaitSome {
    /// The waits, by name; none of them has others inside.
    pub waits: BTreeMap<String, Member>,
    /// How many of them must come.
    #[schemars(range(min = 1, max = 100))]
    pub count: u32,
}
