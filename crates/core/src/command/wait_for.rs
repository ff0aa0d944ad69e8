//! What durable code in a handler can wait for.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::capacity::Policy;
use crate::definition::{HttpCall, LimitScope};
use crate::history::Failure;
use crate::json::Json;
use crate::retry::RetryPolicy;
use crate::time::Millis;

/// What a handler waits for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WaitFor {
    /// A sleep of a length.
    Sleep {
        /// How long the handler sleeps, from now on.
        duration: Millis,
    },
    /// A sleep until an instant.
    Instant {
        /// The instant; a past one is over at once.
        at: Timestamp,
    },
    /// A signal to this run.
    Signal {
        /// The type of the signal.
        signal_type: Arc<str>,
        /// How long the wait lasts at most; `None`: no deadline.
        timeout: Option<Millis>,
    },
    /// An event.
    Event {
        /// The name of the event, such as `order.paid`.
        event_id: Arc<str>,
        /// An expression that the event must satisfy; `None`: any event of that name will do.
        matching: Option<String>,
        /// The values that fields of the event must have, by their paths: values that only the code knows, beside
        /// `matching`.
        fields: BTreeMap<String, Json>,
        /// How far before now events are looked at; `None`: back to when the run was created.
        lookback: Option<Millis>,
        /// How long the wait lasts at most; `None`: no deadline.
        timeout: Option<Millis>,
    },
    /// A call on the resume link of a waitpoint, created before or now.
    Call {
        /// Whether a GET on the link resolves the wait.
        allow_get: bool,
        /// How long the wait lasts at most; `None`: no deadline.
        timeout: Option<Millis>,
    },
    /// The waitpoint of this name that was created before, whatever ends it.
    Created,
    /// The end of a provider's rate limit: the same attempt goes on then.
    RateLimit {
        /// When the limit ends.
        until: Timestamp,
    },
    /// A child run, which is started; its outcome is the wait's payload.
    Child {
        /// The name of the child's workflow.
        definition: Arc<str>,
        /// The version of the child's workflow; `None`: the newest.
        version: Option<Arc<str>>,
        /// The input of the child run.
        input: Json,
        /// How long the wait lasts at most; `None`: no deadline.
        timeout: Option<Millis>,
        /// Whether the wait is over when the child is started, so that the child goes on by itself.
        detached: bool,
        /// Labels that the child can be listed by.
        tags: Vec<Arc<str>>,
    },
    /// An HTTP call that the engine makes; its outcome is the wait's payload.
    Http(Box<HttpCall>),
    /// The back-off of a durable call that failed: the handler is resumed to make the call again.
    Retry {
        /// The name of the durable call.
        call: Arc<str>,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// The retry policy of the call.
        policy: RetryPolicy,
        /// The back-off, instead of the policy's.
        retry_after: Option<Millis>,
        /// Why the attempt failed.
        error: Failure,
    },
    /// Room under a limit, for a durable call that is made when there is some.
    Capacity {
        /// The name of the durable call.
        call: Arc<str>,
        /// The limit.
        limit: CallLimit,
        /// How long the wait lasts at most; `None`: no deadline.
        timeout: Option<Millis>,
    },
    /// A decision of people.
    Approval {
        /// The question, for people.
        prompt: Option<String>,
        /// What is decided about.
        content: Json,
        /// The JSON Schema that edited content must satisfy; the caller checks it before a vote comes here.
        content_schema: Option<Json>,
        /// Who may decide; empty: anyone with the right to approve.
        approvers: Vec<Arc<str>>,
        /// How many must approve.
        quorum: u32,
        /// How long the wait lasts at most; `None`: no deadline.
        timeout: Option<Millis>,
    },
}

/// A limit that a durable call asks for room under.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallLimit {
    /// The name of the limit.
    pub name: Arc<str>,
    /// The key; empty where all share the room.
    pub key: Arc<str>,
    /// Who shares the limit.
    pub scope: LimitScope,
    /// How much room there is.
    pub policy: Policy,
}
