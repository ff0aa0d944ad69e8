//! Webhooks and what they are told: plain data. When something is sent, and what is made of the answer, is decided by
//! whoever sends it.

use std::collections::BTreeSet;
use std::fmt;

use abide_core::id::{DeliveryId, RunId, WebhookId, WorkspaceId};
use abide_core::notice::Topic;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Somebody outside who is told what happens in a workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Webhook {
    pub id: WebhookId,
    pub workspace: WorkspaceId,
    pub url: String,
    pub description: Option<String>,
    pub topics: BTreeSet<Topic>,
    /// The newest first.
    pub secrets: Vec<Secret>,
    pub created_at: Timestamp,
    pub health: Health,
}

/// What calls are signed with.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    pub key: String,
    /// Another has taken its place; it signs beside it until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("until", &self.until).finish_non_exhaustive()
    }
}

/// Whether a webhook is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Since when every attempt has failed.
    pub failing_since: Option<Timestamp>,
    pub disabled: Option<Disabled>,
}

/// It is told nothing, and what it was still to be told is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disabled {
    pub at: Timestamp,
    pub why: String,
}

/// One thing that a webhook is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub id: DeliveryId,
    pub webhook: WebhookId,
    pub topic: Topic,
    pub run: RunId,
    /// What is sent, to the letter: JSON.
    pub body: String,
    pub created_at: Timestamp,
    pub status: DeliveryStatus,
    /// Absent when there is nothing more to do, or while the webhook is disabled.
    pub next_attempt_at: Option<Timestamp>,
    /// Since it was created or replayed.
    pub attempts: u32,
    /// The last attempts, the oldest first.
    pub log: Vec<Attempt>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DeliveryStatus {
    Pending,
    Delivered,
    /// It was tried as often as things are tried.
    Failed,
}

impl DeliveryStatus {
    pub const ALL: [DeliveryStatus; 3] =
        [DeliveryStatus::Pending, DeliveryStatus::Delivered, DeliveryStatus::Failed];
}

/// One call, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    pub at: Timestamp,
    pub took_ms: u64,
    /// The status of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The beginning of the answer's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Why there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Which deliveries to list; an absent field does not narrow it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeliveryFilter {
    pub webhook: WebhookId,
    pub status: Option<DeliveryStatus>,
}

/// What an attempt made of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptWrite {
    /// The attempts there were before it: if there are others, somebody else was quicker.
    pub based_on: u32,
    pub delivery: Delivery,
}
