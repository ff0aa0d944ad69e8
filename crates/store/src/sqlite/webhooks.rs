//! Webhooks, and the outbox of what they are told.

use abide_core::id::{DeliveryId, RunId, WebhookId, WorkspaceId};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, Transaction, params, params_from_iter};

use crate::sqlite::admin::check_workspaces;
use crate::sqlite::column::{self, Column};
use crate::sqlite::find::{collect, first};
use crate::{AttemptWrite, Delivery, DeliveryFilter, DeliveryStatus, Disabled, Error, Health, Page, Webhook};

const WEBHOOKS: &str = "SELECT id, workspace, url, description, topics, secrets, created_at, failing_since,
    disabled_at, disabled_why FROM webhooks";

fn read_webhook(row: &Row<'_>) -> Result<Webhook, Error> {
    let disabled = match row.optional_instant(8)? {
        Some(at) => Some(Disabled { at, why: row.get(9)? }),
        None => None,
    };
    Ok(Webhook {
        id: WebhookId(row.id(0)?),
        workspace: row.workspace(1)?,
        url: row.get(2)?,
        description: row.get(3)?,
        topics: row.topics(4)?,
        secrets: row.json(5)?,
        created_at: row.instant(6)?,
        health: Health { failing_since: row.optional_instant(7)?, disabled },
    })
}

pub(super) fn webhooks(
    connection: &Connection,
    workspace: Option<WorkspaceId>,
) -> Result<Vec<Webhook>, Error> {
    match workspace {
        Some(workspace) => {
            let sql = format!("{WEBHOOKS} WHERE workspace = ? ORDER BY created_at, id");
            collect(connection.prepare_cached(&sql)?.query([workspace.0])?, read_webhook)
        }
        None => {
            let sql = format!("{WEBHOOKS} ORDER BY workspace, created_at, id");
            collect(connection.prepare_cached(&sql)?.query([])?, read_webhook)
        }
    }
}

pub(super) fn webhook(connection: &Connection, id: WebhookId) -> Result<Option<Webhook>, Error> {
    let mut statement = connection.prepare_cached(&format!("{WEBHOOKS} WHERE id = ?"))?;
    first(statement.query([column::webhook(id)])?, read_webhook)
}

pub(super) fn put_webhook(transaction: &Transaction<'_>, webhook: &Webhook) -> Result<(), Error> {
    check_workspaces(transaction, [webhook.workspace])?;
    let secrets = serde_json::to_string(&webhook.secrets).expect("secrets are JSON");
    transaction
        .prepare_cached(
            "INSERT INTO webhooks (id, workspace, url, description, topics, secrets, created_at, failing_since,
                 disabled_at, disabled_why)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET url = excluded.url, description = excluded.description,
                 topics = excluded.topics, secrets = excluded.secrets",
        )?
        .execute(params![
            column::webhook(webhook.id),
            webhook.workspace.0,
            webhook.url,
            webhook.description,
            column::topics(&webhook.topics),
            secrets,
            column::instant(webhook.created_at),
            webhook.health.failing_since.map(column::instant),
            webhook.health.disabled.as_ref().map(|disabled| column::instant(disabled.at)),
            webhook.health.disabled.as_ref().map(|disabled| disabled.why.as_str()),
        ])?;
    Ok(())
}

pub(super) fn put_health(
    transaction: &Transaction<'_>,
    id: WebhookId,
    health: &Health,
    now: Timestamp,
) -> Result<bool, Error> {
    let is_there = transaction
        .prepare_cached(
            "UPDATE webhooks SET failing_since = ?2, disabled_at = ?3, disabled_why = ?4 WHERE id = ?1",
        )?
        .execute(params![
            column::webhook(id),
            health.failing_since.map(column::instant),
            health.disabled.as_ref().map(|disabled| column::instant(disabled.at)),
            health.disabled.as_ref().map(|disabled| disabled.why.as_str()),
        ])?;
    let held = health.disabled.is_some();
    transaction
        .prepare_cached(
            "UPDATE deliveries INDEXED BY deliveries_by_status SET next_attempt_at = ?3
             WHERE webhook = ?1 AND status = 0 AND (next_attempt_at IS NOT NULL) = ?2",
        )?
        .execute(params![column::webhook(id), held, (!held).then_some(column::instant(now))])?;
    Ok(is_there == 1)
}

pub(super) fn remove_webhook(transaction: &Transaction<'_>, id: WebhookId) -> Result<bool, Error> {
    let id = column::webhook(id);
    let removed = transaction.prepare_cached("DELETE FROM webhooks WHERE id = ?")?.execute([id])?;
    transaction.prepare_cached("DELETE FROM deliveries WHERE webhook = ?")?.execute([id])?;
    Ok(removed == 1)
}

const DELIVERIES: &str =
    "SELECT id, webhook, topic, run, body, created_at, status, next_attempt_at, attempts, log
    FROM deliveries";

fn read_delivery(row: &Row<'_>) -> Result<Delivery, Error> {
    Ok(Delivery {
        id: DeliveryId(row.id(0)?),
        webhook: WebhookId(row.id(1)?),
        topic: row.topic(2)?,
        run: RunId(row.id(3)?),
        body: row.get(4)?,
        created_at: row.instant(5)?,
        status: row.delivery_status(6)?,
        next_attempt_at: row.optional_instant(7)?,
        attempts: row.number(8)?,
        log: row.json(9)?,
    })
}

/// For a webhook that is there; one that was disabled meanwhile keeps it for later.
pub(super) fn insert_delivery(transaction: &Transaction<'_>, delivery: &Delivery) -> Result<(), Error> {
    transaction
        .prepare_cached(
            "INSERT INTO deliveries (id, webhook, topic, run, body, created_at, status, next_attempt_at, attempts,
                 log)
             SELECT ?1, id, ?3, ?4, ?5, ?6, ?7, CASE WHEN disabled_at IS NULL THEN ?8 END, ?9, ?10
             FROM webhooks WHERE id = ?2",
        )?
        .execute(params![
            column::delivery(delivery.id),
            column::webhook(delivery.webhook),
            column::topic(delivery.topic),
            column::run(delivery.run),
            delivery.body,
            column::instant(delivery.created_at),
            column::delivery_status(delivery.status),
            delivery.next_attempt_at.map(column::instant),
            delivery.attempts,
            serde_json::to_string(&delivery.log).expect("attempts are JSON"),
        ])?;
    Ok(())
}

pub(super) fn deliveries(
    connection: &Connection,
    filter: &DeliveryFilter,
    page: &Page<DeliveryId>,
) -> Result<Vec<Delivery>, Error> {
    let mut sql = format!("{DELIVERIES} WHERE webhook = ?");
    let mut given = vec![Value::from(column::webhook(filter.webhook).to_vec())];
    if let Some(status) = filter.status {
        sql.push_str(" AND status = ?");
        given.push(column::delivery_status(status).into());
    }
    if let Some(after) = page.after {
        sql.push_str(" AND id < ?");
        given.push(column::delivery(after).to_vec().into());
    }
    sql.push_str(" ORDER BY id DESC LIMIT ?");
    given.push(column::limit(page.limit).into());
    let mut statement = connection.prepare_cached(&sql)?;
    collect(statement.query(params_from_iter(given))?, read_delivery)
}

pub(super) fn delivery(connection: &Connection, id: DeliveryId) -> Result<Option<Delivery>, Error> {
    let mut statement = connection.prepare_cached(&format!("{DELIVERIES} WHERE id = ?"))?;
    first(statement.query([column::delivery(id)])?, read_delivery)
}

pub(super) fn due_deliveries(
    connection: &Connection,
    webhook: WebhookId,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<Delivery>, Error> {
    let sql = format!(
        "{DELIVERIES} WHERE webhook = ? AND next_attempt_at <= ? ORDER BY next_attempt_at, id LIMIT ?"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows =
        statement.query(params![column::webhook(webhook), column::instant(until), column::limit(limit)])?;
    collect(rows, read_delivery)
}

/// A webhook that was disabled meanwhile keeps what is left to do for later.
pub(super) fn put_attempts(transaction: &Transaction<'_>, attempts: &[AttemptWrite]) -> Result<(), Error> {
    for AttemptWrite { based_on, delivery } in attempts {
        transaction
            .prepare_cached(
                "UPDATE deliveries SET status = ?3, attempts = ?5, log = ?6, next_attempt_at = CASE WHEN
                     (SELECT disabled_at FROM webhooks WHERE webhooks.id = webhook) IS NULL THEN ?4 END
                 WHERE id = ?1 AND status = 0 AND attempts = ?2",
            )?
            .execute(params![
                column::delivery(delivery.id),
                based_on,
                column::delivery_status(delivery.status),
                delivery.next_attempt_at.map(column::instant),
                delivery.attempts,
                serde_json::to_string(&delivery.log).expect("attempts are JSON"),
            ])?;
    }
    Ok(())
}

pub(super) fn replay(
    connection: &Connection,
    webhook: WebhookId,
    one: Option<DeliveryId>,
    now: Timestamp,
) -> Result<usize, Error> {
    let sql = |which: &str| {
        format!(
            "UPDATE deliveries SET status = 0, attempts = 0, next_attempt_at = CASE WHEN
                 (SELECT disabled_at FROM webhooks WHERE webhooks.id = webhook) IS NULL THEN ?2 END
             WHERE webhook = ?1 AND {which}"
        )
    };
    let (webhook, now) = (column::webhook(webhook), column::instant(now));
    match one {
        Some(id) => {
            let mut statement = connection.prepare_cached(&sql("id = ?3 AND status <> 0"))?;
            Ok(statement.execute(params![webhook, now, column::delivery(id)])?)
        }
        None => {
            let failed = column::delivery_status(DeliveryStatus::Failed);
            let mut statement = connection.prepare_cached(&sql("status = ?3"))?;
            Ok(statement.execute(params![webhook, now, failed])?)
        }
    }
}
