use reqwest::Method;
use serde_json::json;

use crate::client::Client;
use crate::pages::Pages;
use crate::problem::Error;
use crate::transport::at;
use crate::wire::{self, DeliveryStatus};

/// URLs of yours that are told what happens, and what they were told.
#[derive(Debug, Clone, Copy)]
pub struct Webhooks<'a>(pub(crate) &'a Client);

impl Webhooks<'_> {
    /// All of them.
    pub fn list(&self) -> Pages<wire::Webhook> {
        Pages::new(self.0, Ok(self.0.get(at(&["webhooks"]))))
    }

    /// The secret is in the answer, and nowhere else.
    pub async fn create(&self, webhook: &wire::NewWebhook) -> Result<wire::MadeWebhook, Error> {
        self.0.transport().json(self.0.post(at(&["webhooks"])).body(webhook)?).await
    }

    /// As it is.
    pub async fn find(&self, id: &str) -> Result<wire::Webhook, Error> {
        self.0.transport().json(self.0.get(at(&["webhooks", id]))).await
    }

    /// What is not named stays as it is.
    pub async fn change(&self, id: &str, change: &wire::ChangeWebhook) -> Result<wire::Webhook, Error> {
        let request = self.0.request(Method::PATCH, at(&["webhooks", id]));
        self.0.transport().json(request.body(change)?.repeatable()).await
    }

    /// With all its deliveries; what it was still to be told is not sent.
    pub async fn remove(&self, id: &str) -> Result<(), Error> {
        self.0.transport().send(self.0.request(Method::DELETE, at(&["webhooks", id]))).await.map(drop)
    }

    /// What was kept for it is sent at once.
    pub async fn enable(&self, id: &str) -> Result<wire::Webhook, Error> {
        self.0.transport().json(self.0.post(at(&["webhooks", id, "enable"])).repeatable()).await
    }

    /// The new secret is in the answer, and nowhere else. The one before signs beside it for a while.
    pub async fn rotate_secret(
        &self,
        id: &str,
        rotation: &wire::RotateSecret,
    ) -> Result<wire::MadeWebhook, Error> {
        self.0.transport().json(self.0.post(at(&["webhooks", id, "rotate-secret"])).body(rotation)?).await
    }

    /// What it was told, the newest first.
    pub fn deliveries(&self, id: &str, status: Option<DeliveryStatus>) -> Pages<wire::Delivery> {
        let request = self.0.get(at(&["webhooks", id, "deliveries"]));
        Pages::new(self.0, request.query(&json!({"status": status})))
    }

    /// One delivery, with what is sent.
    pub async fn find_delivery(&self, id: &str, delivery_id: &str) -> Result<wire::WholeDelivery, Error> {
        self.0.transport().json(self.0.get(at(&["webhooks", id, "deliveries", delivery_id]))).await
    }

    /// Sends a delivery again, with the same id.
    pub async fn replay(&self, id: &str, delivery_id: &str) -> Result<wire::Replayed, Error> {
        let path = at(&["webhooks", id, "deliveries", delivery_id, "replay"]);
        self.0.transport().json(self.0.post(path)).await
    }

    /// Sends every failed delivery again.
    pub async fn replay_failed(&self, id: &str) -> Result<wire::Replayed, Error> {
        self.0.transport().json(self.0.post(at(&["webhooks", id, "replay"]))).await
    }
}
