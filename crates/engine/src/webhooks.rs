//! Webhooks: outgoing subscriptions, and their deliveries.
//!
//! ```text
//!   round ── what it tells, to whom ──▶ the same commit ──▶ outbox (rows) ──▶ sender ── signed POST ──▶ receiver
//!                                                              ▲                │
//!                                                              └── attempts ────┘
//! ```
//!
//! A delivery is in the store before anything is sent, and stays there until it was received: at least once, whatever
//! is restarted in between. When it is tried again is in the store too.

mod backoff;
mod call;
mod links;
mod sender;

use std::collections::{BTreeSet, HashMap};

use abide_core::history::Record;
use abide_core::id::{DeliveryId, WebhookId, WorkspaceId};
use abide_core::random::Random;
use abide_core::run::Run;
use abide_core::time::Millis;
use abide_core::webhook_message::{Topic, webhook_messages};
use abide_store::{Delivery, DeliveryStatus, Webhook};
use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::request::Answer;

pub use backoff::TRIES;
pub(crate) use links::Linking;
pub(crate) use links::revoke_links_of;
pub use links::{LinkGeneration, LinkMaker};
pub(crate) use sender::Sender;

/// How long every attempt to reach a webhook must have failed before it is disabled.
pub const LONG_FAILURE: Millis = Millis::from_days(5);

/// The webhooks that subscribe to something, by workspace. Empty where there are none, so that nothing is looked at
/// on their behalf.
#[derive(Debug, Default)]
pub(crate) struct Subscribed(HashMap<WorkspaceId, Vec<Subscription>>);

#[derive(Debug)]
struct Subscription {
    id: WebhookId,
    topics: BTreeSet<Topic>,
}

impl Subscribed {
    pub(crate) fn new(webhooks: &[Webhook]) -> Subscribed {
        let mut subscribed: HashMap<WorkspaceId, Vec<Subscription>> = HashMap::new();
        for webhook in webhooks.iter().filter(|webhook| webhook.health.disabled.is_none()) {
            let subscription = Subscription { id: webhook.id, topics: webhook.topics.clone() };
            subscribed.entry(webhook.workspace).or_default().push(subscription);
        }
        Subscribed(subscribed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The deliveries that these records make, one for each webhook that subscribes to them.
    pub(crate) fn address(&self, run: &Run, records: &[Record], random: &mut Random) -> Vec<Delivery> {
        let Some(webhooks) = self.0.get(&run.workspace) else { return Vec::new() };
        let mut deliveries = Vec::new();
        for message in webhook_messages(run, records) {
            let mut body = None;
            for webhook in webhooks.iter().filter(|webhook| webhook.topics.contains(&message.topic)) {
                let body: &String =
                    body.get_or_insert_with(|| serde_json::to_string(&message).expect("a notice is JSON"));
                deliveries.push(Delivery {
                    id: DeliveryId::new(message.timestamp, random.draw_u128()),
                    webhook: webhook.id,
                    topic: message.topic,
                    run: run.id,
                    body: body.clone(),
                    created_at: message.timestamp,
                    status: DeliveryStatus::Pending,
                    next_attempt_at: Some(message.timestamp),
                    attempts: 0,
                    log: Vec::new(),
                });
            }
        }
        deliveries
    }
}

/// A message to the sender.
pub(crate) enum Wake {
    /// Look for deliveries that are due to these webhooks.
    LookAt(BTreeSet<WebhookId>),
    /// Say when the next attempt is due, as soon as none is due now.
    Settle(Answer<Option<Timestamp>>),
}

/// The writer's end of the channel to the sender, which stops when this is dropped.
#[derive(Debug)]
pub(crate) struct Outbox(mpsc::UnboundedSender<Wake>);

impl Outbox {
    pub(crate) fn new() -> (Outbox, mpsc::UnboundedReceiver<Wake>) {
        let (wakes, heard) = mpsc::unbounded_channel();
        (Outbox(wakes), heard)
    }

    pub(crate) fn look_at(&self, webhooks: BTreeSet<WebhookId>) {
        if !webhooks.is_empty() {
            self.tell(Wake::LookAt(webhooks));
        }
    }

    pub(crate) fn settle(&self, answer: Answer<Option<Timestamp>>) {
        self.tell(Wake::Settle(answer));
    }

    fn tell(&self, wake: Wake) {
        // It lives as long as this does, unless its runtime is gone; then nothing can be sent.
        let _ = self.0.send(wake);
    }
}
