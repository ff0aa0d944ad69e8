//! Webhooks and what they are told: plain data. When something is sent, and what is made of the answer, is decided by
//! whoever sends it.

use std::collections::BTreeSet;
use std::fmt;

use abide_core::id::{DeliveryId, RunId, WebhookId, WorkspaceId};
use abide_core::webhook_message::Topic;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::row::RowReader;
use crate::{Error, Page};

/// Finds webhooks and their deliveries.
pub trait Webhooks: Send {
    /// The webhooks of a workspace or of all, oldest first.
    fn webhooks(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<Webhook>, Error>;

    fn webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, Error>;

    /// What a webhook was told, or is to be told, the newest first.
    fn deliveries(
        &mut self,
        filter: &DeliveryFilter,
        page: &Page<DeliveryId>,
    ) -> Result<Vec<Delivery>, Error>;

    fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, Error>;

    /// What a webhook is to be told up to and including `until`, in the order it is due, at most `limit`.
    fn due_deliveries(
        &mut self,
        webhook: WebhookId,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Delivery>, Error>;
}

/// Writes webhooks, and what came of deliveries.
pub trait WriteWebhooks: Send {
    /// Makes a webhook, or replaces all of it but its health.
    fn put_webhook(&mut self, webhook: &Webhook) -> Result<(), Error>;

    /// Notes whether a webhook is reached. What is pending is held as long as it is disabled, and due at `now` when
    /// it no longer is. Says whether there is such a webhook.
    fn put_health(&mut self, id: WebhookId, health: &Health, now: Timestamp) -> Result<bool, Error>;

    /// Removes a webhook and all its deliveries. Says whether there was one.
    fn remove_webhook(&mut self, id: WebhookId) -> Result<bool, Error>;

    /// Writes what came of attempts, all or nothing. One that is based on another number of attempts than there are
    /// is left out, and so is one whose delivery is gone.
    fn put_attempts(&mut self, attempts: &[AttemptWrite]) -> Result<(), Error>;

    /// Makes a delivery that is not pending, or all failed ones of a webhook, due again at `now`, as if it had never
    /// been tried. Says how many.
    fn replay(&mut self, webhook: WebhookId, one: Option<DeliveryId>, now: Timestamp)
    -> Result<usize, Error>;
}

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

/// What is read of a webhook, by [`Webhook::read`].
pub(crate) const WEBHOOKS: &str =
    "SELECT id, workspace, url, description, topics, secrets, created_at, failing_since,
    disabled_at, disabled_why FROM webhooks";

impl Webhook {
    pub(crate) fn read(row: &impl RowReader) -> Result<Webhook, Error> {
        let disabled = match row.optional_instant(8)? {
            Some(at) => Some(Disabled { at, why: row.name(9)? }),
            None => None,
        };
        Ok(Webhook {
            id: WebhookId(row.id(0)?),
            workspace: row.workspace(1)?,
            url: row.name(2)?,
            description: row.optional_name(3)?,
            topics: row.topics(4)?,
            secrets: row.json(5)?,
            created_at: row.instant(6)?,
            health: Health { failing_since: row.optional_instant(7)?, disabled },
        })
    }
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

/// Why and when a webhook was disabled. It is sent nothing, and what is pending is kept.
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

/// What is read of a delivery, by [`Delivery::read`].
pub(crate) const DELIVERIES: &str = "SELECT id, webhook, topic, run, body, created_at, status, next_attempt_at, attempts, log FROM deliveries";

impl Delivery {
    pub(crate) fn read(row: &impl RowReader) -> Result<Delivery, Error> {
        Ok(Delivery {
            id: DeliveryId(row.id(0)?),
            webhook: WebhookId(row.id(1)?),
            topic: row.topic(2)?,
            run: row.run(3)?,
            body: row.text(4)?.to_owned(),
            created_at: row.instant(5)?,
            status: row.delivery_status(6)?,
            next_attempt_at: row.optional_instant(7)?,
            attempts: row.number(8)?,
            log: row.json(9)?,
        })
    }
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DeliveryStatus {
    Pending,
    Delivered,
    /// All attempts of the delivery failed.
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
