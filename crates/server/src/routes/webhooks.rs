//! Webhooks: those outside who are told what happens in the workspace.

use std::collections::BTreeSet;

use abide_calls::signing;
use abide_core::id::WebhookId;
use abide_core::limits;
use abide_core::time::Millis;
use abide_core::webhook_message::Topic;
use abide_engine::stored::{Disabled, Health, Scope, Secret, Webhook};
use abide_engine::vault::WEBHOOK_SECRET;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app::{App, Shared};
use crate::audit::{Noted, noted};
use crate::caller::Caller;
use crate::endpoint::{Endpoint, Group, Verb};
use crate::guard::Access;
use crate::links;
use crate::problem::{Code, Problem};
use crate::quotas::exceeded;
use crate::request::{Body, Id};
use crate::shape::{Answer, List, words};

pub(super) const ADMIN: Access = Access::Key(&[Scope::Admin]);
/// Webhooks of one workspace.
/// How long the secret before signs beside a new one, if the request does not say.
const OVERLAP: Millis = Millis::from_days(1);
const LONGEST_OVERLAP: Millis = Millis::from_days(30);
const SECRET_BYTES: usize = 32;

pub(super) fn routes() -> Group {
    let one = |verb, path, summary| Endpoint::new(verb, path, ADMIN, summary).codes(&[Code::UnknownWebhook]);
    Group::new(
        "webhooks",
        "Those outside who are told what happens: signed as Standard Webhooks, at least once, tried again for days.",
    )
    .add(
        Endpoint::new(Verb::Post, "/webhooks", ADMIN, "Make a webhook")
            .about("What happens from then on is told to it.")
            .body::<NewWebhook>()
            .answer::<MadeWebhook>(StatusCode::CREATED, "The webhook, with its secret: it is shown only here.")
            .codes(&[Code::QuotaExceeded]),
        make,
    )
    .add(
        Endpoint::new(Verb::Get, "/webhooks", ADMIN, "List the webhooks of the workspace, the oldest first")
            .ok::<List<WebhookBody>>("All of them."),
        list,
    )
    .add(one(Verb::Get, "/webhooks/{id}", "Get a webhook").ok::<WebhookBody>("The webhook."), get)
    .add(
        one(Verb::Patch, "/webhooks/{id}", "Change a webhook")
            .about("What is not named stays as it is.")
            .body::<ChangeBody>()
            .ok::<WebhookBody>("The webhook after it."),
        change,
    )
    .add(
        one(Verb::Delete, "/webhooks/{id}", "Remove a webhook")
            .about("With all its deliveries; what it was still to be told is not sent.")
            .empty(StatusCode::NO_CONTENT, "Removed."),
        remove,
    )
    .add(
        one(Verb::Post, "/webhooks/{id}/enable", "Enable a webhook that was disabled")
            .about("What was kept for it is sent at once. What happened while it was disabled was not kept.")
            .ok::<WebhookBody>("The webhook after it."),
        enable,
    )
    .add(
        one(Verb::Post, "/webhooks/{id}/rotate-secret", "Sign with a new secret from now on")
            .about("The one before signs beside it for a while, so that receivers can change over.")
            .optional_body::<RotateBody>()
            .ok::<MadeWebhook>("The webhook, with its new secret: it is shown only here."),
        rotate,
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewWebhook {
    /// Where to send: `http` or `https`.
    #[schemars(length(min = 1, max = abide_calls::http::URL_BYTES))]
    url: String,
    /// What to tell.
    #[schemars(schema_with = "words::topics")]
    events: BTreeSet<Topic>,
    #[schemars(length(max = limits::DESCRIPTION_CHARS))]
    description: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "ChangeWebhook")]
struct ChangeBody {
    #[schemars(length(min = 1, max = abide_calls::http::URL_BYTES))]
    url: Option<String>,
    #[schemars(schema_with = "words::topics")]
    #[serde(default)]
    events: Option<BTreeSet<Topic>>,
    #[schemars(length(max = limits::DESCRIPTION_CHARS))]
    description: Option<String>,
    /// `false`: nothing is sent, and what was still to be sent is kept.
    enabled: Option<bool>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "RotateSecret")]
struct RotateBody {
    /// How long the secret before signs beside the new one; a day if absent.
    #[schemars(range(max = LONGEST_OVERLAP.0))]
    overlap_ms: Option<u64>,
}

/// A webhook, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Webhook")]
struct WebhookBody {
    #[schemars(with = "String")]
    id: WebhookId,
    url: String,
    #[schemars(schema_with = "words::topics")]
    events: BTreeSet<Topic>,
    description: Option<String>,
    status: Status,
    created_at: Timestamp,
    /// Since when every attempt has failed.
    failing_since: Option<Timestamp>,
    disabled_at: Option<Timestamp>,
    /// Why it was disabled: by whom, or because nothing reached it for days.
    disabled_reason: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(rename = "WebhookStatus")]
enum Status {
    Enabled,
    /// The last attempt failed, and so did all since `failingSince`.
    Failing,
    Disabled,
}

/// A webhook, with a secret that was just made.
#[derive(Debug, Serialize, JsonSchema)]
struct MadeWebhook {
    /// Shown once.
    secret: String,
    #[serde(flatten)]
    webhook: WebhookBody,
}

impl From<Webhook> for WebhookBody {
    fn from(webhook: Webhook) -> WebhookBody {
        let Webhook { id, workspace: _, url, description, topics, secrets: _, created_at, health } = webhook;
        let Health { failing_since, disabled } = health;
        let status = match (&disabled, failing_since) {
            (Some(_), _) => Status::Disabled,
            (None, Some(_)) => Status::Failing,
            (None, None) => Status::Enabled,
        };
        let (disabled_at, disabled_reason) = disabled.map(|Disabled { at, why }| (at, why)).unzip();
        WebhookBody {
            id,
            url,
            events: topics,
            description,
            status,
            created_at,
            failing_since,
            disabled_at,
            disabled_reason,
        }
    }
}

impl App {
    pub(super) async fn webhook(&self, caller: &Caller, id: WebhookId) -> Result<Webhook, Problem> {
        let found = self.engine.workspace(caller.workspace).webhooks().get(id).await?;
        found.ok_or_else(|| unknown(id))
    }

    /// Changes a webhook of the caller's workspace, and says what it is then.
    async fn change_webhook(
        &self,
        caller: &Caller,
        id: WebhookId,
        change: impl FnOnce(&mut Webhook) + Send + 'static,
    ) -> Result<Webhook, Problem> {
        let changed = self.engine.workspace(caller.workspace).webhooks().change(id, change);
        changed.await?.ok_or_else(|| unknown(id))
    }

    /// A webhook's secret as it is stored.
    fn sealed(&self, secret: &str) -> Result<String, Problem> {
        self.engine.vault().seal(WEBHOOK_SECRET, secret).map_err(|error| {
            tracing::error!(%error, "a webhook's secret could not be sealed");
            Problem::new(Code::Internal, "the secret could not be sealed")
        })
    }

    fn check_webhook_url(&self, url: &str) -> Result<(), Problem> {
        self.engine.check_url(url).map_err(|error| Problem::malformed("/url", format!("/url: {error}")))
    }
}

fn unknown(id: WebhookId) -> Problem {
    Problem::new(Code::UnknownWebhook, format!("there is no webhook {id}"))
}

fn new_secret() -> Result<String, Problem> {
    let mut bytes = [0; SECRET_BYTES];
    links::fill(&mut bytes)?;
    Ok(signing::new_key(bytes))
}

async fn make(
    State(app): State<Shared>,
    caller: Caller,
    Body(body): Body<NewWebhook>,
) -> Result<Noted<Answer<MadeWebhook>>, Problem> {
    let NewWebhook { url, events, description } = body;
    app.check_webhook_url(&url)?;
    let secret = new_secret()?;
    let mut random = [0; 16];
    links::fill(&mut random)?;
    let now = app.engine.now();
    let webhook = Webhook {
        id: WebhookId::new(now, u128::from_be_bytes(random)),
        workspace: caller.workspace,
        url,
        description,
        topics: events,
        secrets: vec![Secret { key: app.sealed(&secret)?, until: None }],
        created_at: now,
        health: Health::default(),
    };
    let limit = app.quotas.of(caller.workspace).webhooks;
    let most = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    if !app.engine.workspace(caller.workspace).webhooks().add(webhook.clone(), most).await? {
        let limit = limit.unwrap_or_default();
        return Err(exceeded("webhooks", limit.into(), u64::from(limit) + 1));
    }
    let detail = json!({ "id": webhook.id.to_string(), "url": webhook.url });
    Ok(noted(detail, Answer(StatusCode::CREATED, MadeWebhook { secret, webhook: webhook.into() })))
}

async fn list(State(app): State<Shared>, caller: Caller) -> Result<Answer<List<WebhookBody>>, Problem> {
    let webhooks = app.engine.workspace(caller.workspace).webhooks().list().await?;
    Ok(Answer::ok(List { data: webhooks.into_iter().map(WebhookBody::from).collect(), next_cursor: None }))
}

async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WebhookId>,
) -> Result<Answer<WebhookBody>, Problem> {
    Ok(Answer::ok(app.webhook(&caller, id).await?.into()))
}

async fn change(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WebhookId>,
    Body(body): Body<ChangeBody>,
) -> Result<Answer<WebhookBody>, Problem> {
    let ChangeBody { url, events, description, enabled } = body;
    if let Some(url) = &url {
        app.check_webhook_url(url)?;
    }
    let (by, now) = (caller.actor.clone(), app.engine.now());
    let changed = app.change_webhook(&caller, id, move |webhook| {
        webhook.url = url.unwrap_or_else(|| std::mem::take(&mut webhook.url));
        webhook.topics = events.unwrap_or_else(|| std::mem::take(&mut webhook.topics));
        webhook.description = description.or_else(|| webhook.description.take());
        match enabled {
            Some(true) => webhook.health = Health::default(),
            Some(false) if webhook.health.disabled.is_none() => {
                webhook.health.disabled = Some(Disabled { at: now, why: format!("by {by}") });
            }
            Some(false) | None => {}
        }
    });
    Ok(Answer::ok(changed.await?.into()))
}

async fn remove(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WebhookId>,
) -> Result<StatusCode, Problem> {
    match app.engine.workspace(caller.workspace).webhooks().remove(id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(unknown(id)),
    }
}

async fn enable(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WebhookId>,
) -> Result<Answer<WebhookBody>, Problem> {
    let enabled = app.change_webhook(&caller, id, |webhook| webhook.health = Health::default());
    Ok(Answer::ok(enabled.await?.into()))
}

async fn rotate(
    State(app): State<Shared>,
    caller: Caller,
    Id(id): Id<WebhookId>,
    Body(body): Body<RotateBody>,
) -> Result<Answer<MadeWebhook>, Problem> {
    let secret = new_secret()?;
    let now = app.engine.now();
    let until = body.overlap_ms.map_or(OVERLAP, Millis).after(now);
    let key = app.sealed(&secret)?;
    let rotated = app.change_webhook(&caller, id, move |webhook| {
        let newest = Secret { key, until: None };
        let before = std::mem::take(&mut webhook.secrets).into_iter();
        let before = before.map(|old| Secret { until: Some(old.until.unwrap_or(until)), ..old });
        let valid = before.filter(|old| old.until.is_some_and(|until| until > now));
        webhook.secrets = std::iter::once(newest).chain(valid).take(signing::KEYS).collect();
    });
    Ok(Answer::ok(MadeWebhook { secret, webhook: rotated.await?.into() }))
}
