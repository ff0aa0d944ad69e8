//! Webhooks, and the outbox of what they are told.

use abide_core::id::{DeliveryId, WebhookId, WorkspaceId};
use jiff::Timestamp;

use crate::code::DELIVERY_PENDING;
use crate::postgres::admin::check_workspaces;
use crate::postgres::column;
use crate::postgres::connection::{Step, values};
use crate::postgres::lists::Query;
use crate::postgres::{Handle, Postgres};
use crate::roles::{Webhooks, WriteWebhooks};
use crate::webhooks::{DELIVERIES, WEBHOOKS};
use crate::{AttemptWrite, Delivery, DeliveryFilter, DeliveryStatus, Error, Health, Page, Webhook, code};

impl<Role: Send> Webhooks for Handle<Role> {
    fn webhooks(&mut self, workspace: Option<WorkspaceId>) -> Result<Vec<Webhook>, Error> {
        let rows = self.connection.ask(async |session| match workspace.map(column::workspace) {
            Some(workspace) => {
                let sql = format!("{WEBHOOKS} WHERE workspace = $1 ORDER BY created_at, id");
                session.rows(&sql, &[&workspace]).await
            }
            None => session.rows(&format!("{WEBHOOKS} ORDER BY workspace, created_at, id"), &[]).await,
        })?;
        rows.iter().map(Webhook::read).collect()
    }

    fn webhook(&mut self, id: WebhookId) -> Result<Option<Webhook>, Error> {
        let sql = format!("{WEBHOOKS} WHERE id = $1");
        let found =
            self.connection.ask(async |session| session.first(&sql, &[&column::webhook(id)]).await)?;
        found.as_ref().map(Webhook::read).transpose()
    }

    fn deliveries(
        &mut self,
        filter: &DeliveryFilter,
        page: &Page<DeliveryId>,
    ) -> Result<Vec<Delivery>, Error> {
        let mut query = Query::default();
        query.push(&format!("{DELIVERIES} WHERE webhook = ?"), values![column::webhook(filter.webhook)]);
        query.push_if(" AND status = ?", filter.status.map(code::delivery_status));
        query.push_if(" AND id < ?", page.after.map(column::delivery));
        query.push(" ORDER BY id DESC LIMIT ?", values![column::limit(page.limit)]);
        let rows = self.connection.ask(async |session| query.rows(session).await)?;
        rows.iter().map(Delivery::read).collect()
    }

    fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, Error> {
        let sql = format!("{DELIVERIES} WHERE id = $1");
        let found =
            self.connection.ask(async |session| session.first(&sql, &[&column::delivery(id)]).await)?;
        found.as_ref().map(Delivery::read).transpose()
    }

    fn due_deliveries(
        &mut self,
        webhook: WebhookId,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Delivery>, Error> {
        let sql = format!(
            "{DELIVERIES} WHERE webhook = $1 AND next_attempt_at <= $2 ORDER BY next_attempt_at, id LIMIT $3"
        );
        let (webhook, until, limit) =
            (column::webhook(webhook), column::instant(until), column::limit(limit));
        let rows =
            self.connection.ask(async |session| session.rows(&sql, &[&webhook, &until, &limit]).await)?;
        rows.iter().map(Delivery::read).collect()
    }
}

impl WriteWebhooks for Postgres {
    fn put_webhook(&mut self, webhook: &Webhook) -> Result<(), Error> {
        let sql =
        "INSERT INTO webhooks (id, workspace, url, description, topics, secrets, created_at, failing_since,
            disabled_at, disabled_why)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (id) DO UPDATE SET url = excluded.url, description = excluded.description,
            topics = excluded.topics, secrets = excluded.secrets";
        let secrets = serde_json::to_string(&webhook.secrets).expect("secrets are JSON");
        let (failing_since, disabled_at, why) = health_columns(&webhook.health);
        self.connection.ask(async |session| {
            check_workspaces(session, [webhook.workspace]).await?;
            let description = webhook.description.as_deref().map(column::name);
            session
                .count(
                    sql,
                    &[
                        &column::webhook(webhook.id),
                        &column::workspace(webhook.workspace),
                        &column::name(&webhook.url),
                        &description,
                        &code::topics(&webhook.topics),
                        &secrets,
                        &column::instant(webhook.created_at),
                        &failing_since,
                        &disabled_at,
                        &why,
                    ],
                )
                .await
        })?;
        Ok(())
    }

    fn put_health(&mut self, id: WebhookId, health: &Health, now: Timestamp) -> Result<bool, Error> {
        let noted =
            "UPDATE webhooks SET failing_since = $2, disabled_at = $3, disabled_why = $4 WHERE id = $1";
        let (failing_since, disabled_at, why) = health_columns(health);
        let (id, held) = (column::webhook(id), health.disabled.is_some());
        let due = (!held).then_some(column::instant(now));
        let moved = format!(
            "UPDATE deliveries SET next_attempt_at = $3
        WHERE webhook = $1 AND status = {DELIVERY_PENDING} AND (next_attempt_at IS NOT NULL) = $2"
        );
        self.connection.ask(async |session| {
            session
                .transaction("BEGIN", async |session| {
                    let is_there = session.count(noted, &[&id, &failing_since, &disabled_at, &why]).await?;
                    session.count(&moved, &[&id, &held, &due]).await?;
                    Ok(is_there == 1)
                })
                .await
        })
    }

    fn remove_webhook(&mut self, id: WebhookId) -> Result<bool, Error> {
        let id = column::webhook(id);
        self.connection.ask(async |session| {
            session
                .transaction("BEGIN", async |session| {
                    let removed = session.count("DELETE FROM webhooks WHERE id = $1", &[&id]).await?;
                    session.count("DELETE FROM deliveries WHERE webhook = $1", &[&id]).await?;
                    Ok(removed == 1)
                })
                .await
        })
    }

    /// A webhook that was disabled meanwhile keeps what is left to do for later.
    fn put_attempts(&mut self, attempts: &[AttemptWrite]) -> Result<(), Error> {
        let sql = format!(
            "UPDATE deliveries SET status = $3, attempts = $5, log = $6, next_attempt_at = CASE WHEN
            (SELECT disabled_at FROM webhooks WHERE webhooks.id = webhook) IS NULL THEN $4::bigint END
        WHERE id = $1 AND status = {DELIVERY_PENDING} AND attempts = $2"
        );
        self.connection.ask(async |session| {
            session
                .transaction("BEGIN", async |session| {
                    for AttemptWrite { based_on, delivery } in attempts {
                        let log = serde_json::to_string(&delivery.log).expect("attempts are JSON");
                        session
                            .count(
                                &sql,
                                &[
                                    &column::delivery(delivery.id),
                                    &i64::from(*based_on),
                                    &code::delivery_status(delivery.status),
                                    &delivery.next_attempt_at.map(column::instant),
                                    &i64::from(delivery.attempts),
                                    &log,
                                ],
                            )
                            .await?;
                    }
                    Ok(())
                })
                .await
        })
    }

    fn replay(
        &mut self,
        webhook: WebhookId,
        one: Option<DeliveryId>,
        now: Timestamp,
    ) -> Result<usize, Error> {
        let sql = |which: &str| {
            format!(
                "UPDATE deliveries SET status = {DELIVERY_PENDING}, attempts = 0, next_attempt_at = CASE WHEN
                (SELECT disabled_at FROM webhooks WHERE webhooks.id = webhook) IS NULL THEN $2::bigint END
            WHERE webhook = $1 AND {which}"
            )
        };
        let (webhook, now) = (column::webhook(webhook), column::instant(now));
        let replayed = self.connection.ask(async |session| match one {
            Some(id) => {
                session
                    .count(
                        &sql(&format!("id = $3 AND status <> {DELIVERY_PENDING}")),
                        &[&webhook, &now, &column::delivery(id)],
                    )
                    .await
            }
            None => {
                let failed = code::delivery_status(DeliveryStatus::Failed);
                session.count(&sql("status = $3"), &[&webhook, &now, &failed]).await
            }
        })?;
        usize::try_from(replayed).map_err(|error| Error::Corrupt(error.to_string()))
    }
}

fn health_columns(health: &Health) -> (Option<i64>, Option<i64>, Option<String>) {
    let disabled = health.disabled.as_ref();
    (
        health.failing_since.map(column::instant),
        disabled.map(|disabled| column::instant(disabled.at)),
        disabled.map(|disabled| column::name(&disabled.why).into_owned()),
    )
}

/// For webhooks that are there; one that was disabled meanwhile keeps it for later.
pub(super) fn insert_deliveries<'a>(deliveries: &[&'a Delivery]) -> Step<'a> {
    let each = || deliveries.iter();
    let log = |delivery: &Delivery| serde_json::to_string(&delivery.log).expect("attempts are JSON");
    Step {
        sql: "INSERT INTO deliveries (id, webhook, topic, run, body, created_at, status, next_attempt_at, attempts, log)
            SELECT new.id, new.webhook, new.topic, new.run, new.body, new.created_at, new.status,
                CASE WHEN webhooks.disabled_at IS NULL THEN new.next_attempt_at END, new.attempts, new.log
            FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::text[], $6::bigint[], $7::bigint[],
                    $8::bigint[], $9::bigint[], $10::text[])
                AS new (id, webhook, topic, run, body, created_at, status, next_attempt_at, attempts, log)
                CROSS JOIN LATERAL (SELECT disabled_at FROM webhooks WHERE webhooks.id = new.webhook OFFSET 0)
                    AS webhooks".into(),
        values: values![
            each().map(|delivery| column::delivery(delivery.id)).collect::<Vec<_>>(),
            each().map(|delivery| column::webhook(delivery.webhook)).collect::<Vec<_>>(),
            each().map(|delivery| code::topic(delivery.topic)).collect::<Vec<_>>(),
            each().map(|delivery| column::run(delivery.run)).collect::<Vec<_>>(),
            each().map(|delivery| delivery.body.as_str()).collect::<Vec<_>>(),
            each().map(|delivery| column::instant(delivery.created_at)).collect::<Vec<_>>(),
            each().map(|delivery| code::delivery_status(delivery.status)).collect::<Vec<_>>(),
            each().map(|delivery| delivery.next_attempt_at.map(column::instant)).collect::<Vec<_>>(),
            each().map(|delivery| i64::from(delivery.attempts)).collect::<Vec<_>>(),
            each().map(|delivery| log(delivery)).collect::<Vec<_>>(),
        ],
    }
}
