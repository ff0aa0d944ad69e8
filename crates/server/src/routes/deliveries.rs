//! Deliveries: what a webhook was told, and what came of it.

use abide_core::id::{DeliveryId, RunId, WebhookId};
use abide_core::webhook_message::Topic;
use abide_engine::stored::{Attempt, Delivery, DeliveryFilter, DeliveryStatus, Page};
use axum::extract::State;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::page_size;
use super::webhooks::ADMIN;
use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::problem::{Code, Problem};
use crate::request::{Id, Pair, Query, cursor};
use crate::shape::{Answer, List, words};

const LIST: &str = "deliveries";

pub(super) fn routes() -> Group {
    let new = |verb, path, summary| Endpoint::new(verb, path, ADMIN, summary).codes(&[Code::UnknownWebhook]);
    Group::new("deliveries", "What webhooks were told: each attempt, and how it was answered.")
        .add(
            new(Verb::Get, "/webhooks/{id}/deliveries", "List what a webhook was told, the newest first")
                .query::<ListQuery>()
                .ok::<List<DeliveryBody>>("A page.")
                .codes(&[Code::BadCursor]),
            list,
        )
        .add(
            new(Verb::Get, "/webhooks/{id}/deliveries/{deliveryId}", "Get a delivery, with what is sent")
                .ok::<WholeDelivery>("The delivery.")
                .codes(&[Code::UnknownDelivery]),
            get,
        )
        .add(
            new(Verb::Post, "/webhooks/{id}/deliveries/{deliveryId}/replay", "Send a delivery again")
                .about("With the same id, so that a receiver can tell that it has seen it.")
                .ok::<Replayed>("It is due now.")
                .codes(&[Code::UnknownDelivery, Code::DeliveryPending]),
            replay,
        )
        .add(
            new(Verb::Post, "/webhooks/{id}/replay", "Send every failed delivery of a webhook again")
                .ok::<Replayed>("They are due now."),
            replay_all,
        )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "DeliveryQuery")]
struct ListQuery {
    #[schemars(schema_with = "words::delivery_status")]
    #[serde(default)]
    status: Option<DeliveryStatus>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Items at most; 50 if absent.
    #[schemars(range(min = 1, max = super::LARGEST_PAGE))]
    limit: Option<u32>,
}

/// One thing a webhook is told.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Delivery")]
struct DeliveryBody {
    /// Sent as `webhook-id`, the same at every attempt.
    #[schemars(with = "String")]
    id: DeliveryId,
    #[schemars(with = "String")]
    webhook_id: WebhookId,
    #[schemars(schema_with = "words::topic")]
    event: Topic,
    #[schemars(with = "String")]
    run_id: RunId,
    #[schemars(schema_with = "words::delivery_status")]
    status: DeliveryStatus,
    created_at: Timestamp,
    /// Null when nothing more is to be done, or while the webhook is disabled.
    next_attempt_at: Option<Timestamp>,
    /// The last attempts, the oldest first.
    attempts: Vec<AttemptBody>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Attempt")]
struct AttemptBody {
    at: Timestamp,
    took_ms: u64,
    /// The status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// The beginning of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<String>,
    /// Why there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct WholeDelivery {
    #[serde(flatten)]
    delivery: DeliveryBody,
    /// What is sent.
    body: Value,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Replayed {
    /// How many are sent again.
    replayed: usize,
}

impl From<Delivery> for DeliveryBody {
    fn from(delivery: Delivery) -> DeliveryBody {
        let Delivery {
            id,
            webhook,
            topic,
            run,
            body: _,
            created_at,
            status,
            next_attempt_at,
            attempts: _,
            log,
        } = delivery;
        let attempts = log.into_iter().map(|Attempt { at, took_ms, status, response, error }| AttemptBody {
            at,
            took_ms,
            status,
            response,
            error,
        });
        DeliveryBody {
            id,
            webhook_id: webhook,
            event: topic,
            run_id: run,
            status,
            created_at,
            next_attempt_at,
            attempts: attempts.collect(),
        }
    }
}

impl App {
    async fn delivery(
        &self,
        caller: &Caller,
        webhook: WebhookId,
        id: DeliveryId,
    ) -> Result<Delivery, Problem> {
        self.webhook(caller, webhook).await?;
        let found = self.engine.workspace(caller.workspace).webhooks().delivery(webhook, id).await?;
        let unknown =
            || Problem::new(Code::UnknownDelivery, format!("{webhook} was told nothing under the id {id}"));
        found.ok_or_else(unknown)
    }
}

async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Id(webhook): Id<WebhookId>,
    Query(query): Query<ListQuery>,
) -> Result<Answer<List<DeliveryBody>>, Problem> {
    let ListQuery { status, cursor, limit } = query;
    app.webhook(&caller, webhook).await?;
    let filter = DeliveryFilter { webhook, status };
    let page = Page { after: cursor::read::<DeliveryId>(LIST, cursor.as_deref())?, limit: page_size(limit) };
    let size = page.limit;
    let found = app.engine.workspace(caller.workspace).webhooks().deliveries(filter, page).await?;
    let last = found.last().filter(|_| found.len() == size);
    let next_cursor = last.map(|last| cursor::write(LIST, &last.id));
    Ok(Answer::ok(List { data: found.into_iter().map(DeliveryBody::from).collect(), next_cursor }))
}

async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Pair(webhook, id): Pair<WebhookId, DeliveryId>,
) -> Result<Answer<WholeDelivery>, Problem> {
    let delivery = app.delivery(&caller, webhook, id).await?;
    let body = serde_json::from_str(&delivery.body).expect("what is sent is JSON");
    Ok(Answer::ok(WholeDelivery { delivery: delivery.into(), body }))
}

async fn replay(
    State(app): State<Shared>,
    caller: Caller,
    Pair(webhook, id): Pair<WebhookId, DeliveryId>,
) -> Result<Answer<Replayed>, Problem> {
    let delivery = app.delivery(&caller, webhook, id).await?;
    let replayed = app.engine.workspace(caller.workspace).webhooks().replay(webhook, Some(id)).await?;
    if replayed == 0 {
        let current = json!({ "status": delivery.status, "nextAttemptAt": delivery.next_attempt_at });
        let detail = format!("{id} is pending: it is tried again by itself");
        return Err(Problem::new(Code::DeliveryPending, detail).current(current));
    }
    Ok(Answer::ok(Replayed { replayed }))
}

async fn replay_all(
    State(app): State<Shared>,
    caller: Caller,
    Id(webhook): Id<WebhookId>,
) -> Result<Answer<Replayed>, Problem> {
    app.webhook(&caller, webhook).await?;
    let replayed = app.engine.workspace(caller.workspace).webhooks().replay(webhook, None).await?;
    Ok(Answer::ok(Replayed { replayed }))
}
