//! Webhooks, and the outbox of what they are told.

use abide_core::id::{DeliveryId, WebhookId, WorkspaceId};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Transaction, params, params_from_iter};

use crate::code::DELIVERY_PENDING;
use crate::roles::{Webhooks, WriteWebhooks};
use crate::sqlite::admin::check_workspaces;
use crate::sqlite::column;
use crate::sqlite::query::{collect, first};
use crate::sqlite::{Handle, Sqlite};
use crate::webhooks::{DELIVERIES, WEBHOOKS};
use crate::{AttemptWrite, Delivery, DeliveryFilter, DeliveryStatus, Error, Health, Page, Webhook};

impl<Role: Send> Webhooks for Handle<Role> {
    fn webhooks(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<Webhook>, Error> {
        match workspace {
            Some(workspace) => {
                let sql = format!("{WEBHOOKS} WHERE workspace = ? ORDER BY created_at, id");
                collect(self.connection.prepare_cached(&sql)?.query([workspace.0])?, |row| Webhook::read(row))
            }
            None => {
                let sql = format!("{WEBHOOKS} ORDER BY workspace, created_at, id");
                collect(self.connection.prepare_cached(&sql)?.query([])?, |row| Webhook::read(row))
            }
        }
    }

    fn webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, Error> {
        let mut statement = self.connection.prepare_cached(&format!("{WEBHOOKS} WHERE id = ?"))?;
        first(statement.query([column::webhook(id)])?, |row| Webhook::read(row))
    }

    fn deliveries(
        &mut self,
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
        let mut statement = self.connection.prepare_cached(&sql)?;
        collect(statement.query(params_from_iter(given))?, |row| Delivery::read(row))
    }

    fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, Error> {
        let mut statement = self.connection.prepare_cached(&format!("{DELIVERIES} WHERE id = ?"))?;
        first(statement.query([column::delivery(id)])?, |row| Delivery::read(row))
    }

    fn due_deliveries(
        &mut self,
        webhook: WebhookId,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Delivery>, Error> {
        let sql = format!(
            "{DELIVERIES} WHERE webhook = ? AND next_attempt_at <= ? ORDER BY next_attempt_at, id LIMIT ?"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query(params![
            column::webhook(webhook),
            column::instant(until),
            column::limit(limit)
        ])?;
        collect(rows, |row| Delivery::read(row))
    }
}

impl WriteWebhooks for Sqlite {
    fn put_webhook(&mut self, webhook: &Webhook) -> Result<(), Error> {
        self.change(|transaction| {
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
})
    }

    fn put_health(&mut self, id: WebhookId, health: &Health, now: Timestamp) -> Result<bool, Error> {
        self.change(|transaction| {
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
                .prepare_cached(&format!(
                    "UPDATE deliveries INDEXED BY deliveries_by_status SET next_attempt_at = ?3
             WHERE webhook = ?1 AND status = {DELIVERY_PENDING} AND (next_attempt_at IS NOT NULL) = ?2",
                ))?
                .execute(params![column::webhook(id), held, (!held).then_some(column::instant(now))])?;
            Ok(is_there == 1)
        })
    }

    fn remove_webhook(&mut self, id: WebhookId) -> Result<bool, Error> {
        self.change(|transaction| {
            let id = column::webhook(id);
            let removed = transaction.prepare_cached("DELETE FROM webhooks WHERE id = ?")?.execute([id])?;
            transaction.prepare_cached("DELETE FROM deliveries WHERE webhook = ?")?.execute([id])?;
            Ok(removed == 1)
        })
    }

    /// A webhook that was disabled meanwhile keeps what is left to do for later.
    fn put_attempts(&mut self, attempts: &[AttemptWrite]) -> Result<(), Error> {
        self.change(|transaction| {
            for AttemptWrite { based_on, delivery } in attempts {
                transaction
                    .prepare_cached(&format!(
                "UPDATE deliveries SET status = ?3, attempts = ?5, log = ?6, next_attempt_at = CASE WHEN
                     (SELECT disabled_at FROM webhooks WHERE webhooks.id = webhook) IS NULL THEN ?4 END
                 WHERE id = ?1 AND status = {DELIVERY_PENDING} AND attempts = ?2",
            ))?
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
        })
    }

    fn replay(
        &mut self,
        webhook: WebhookId,
        one: Option<DeliveryId>,
        now: Timestamp,
    ) -> Result<usize, Error> {
        self.change(|connection| {
            let sql = |which: &str| {
                format!(
            "UPDATE deliveries SET status = {DELIVERY_PENDING}, attempts = 0, next_attempt_at = CASE WHEN
                 (SELECT disabled_at FROM webhooks WHERE webhooks.id = webhook) IS NULL THEN ?2 END
             WHERE webhook = ?1 AND {which}"
        )
            };
            let (webhook, now) = (column::webhook(webhook), column::instant(now));
            match one {
                Some(id) => {
                    let mut statement = connection
                        .prepare_cached(&sql(&format!("id = ?3 AND status <> {DELIVERY_PENDING}")))?;
                    Ok(statement.execute(params![webhook, now, column::delivery(id)])?)
                }
                None => {
                    let failed = column::delivery_status(DeliveryStatus::Failed);
                    let mut statement = connection.prepare_cached(&sql("status = ?3"))?;
                    Ok(statement.execute(params![webhook, now, failed])?)
                }
            }
        })
    }
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
