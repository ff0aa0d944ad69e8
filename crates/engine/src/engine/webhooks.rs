//! The webhooks of a workspace, and their deliveries.

use abide_core::id::{DeliveryId, WebhookId};
use abide_store::{Delivery, DeliveryFilter, Page, Webhook};

use super::{Engine, WorkspaceHandle};
use crate::error::Error;
use crate::request::Control;

/// The webhooks of a workspace. Made by [`WorkspaceHandle::webhooks`]. When a change returns, it is on disk, and
/// counts for every later commit.
#[derive(Clone, Copy, Debug)]
pub struct Webhooks<'e>(pub(super) WorkspaceHandle<'e>);

impl Webhooks<'_> {
    /// All webhooks of the workspace, the oldest first.
    pub async fn list(self) -> Result<Vec<Webhook>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine.readers.read(Some(id), move |store| store.webhooks(Some(id))).await
    }

    /// The webhook of this id; `None` if there is none.
    pub async fn get(self, webhook: WebhookId) -> Result<Option<Webhook>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let found = engine.readers.read(Some(id), move |store| store.webhook(webhook)).await?;
        Ok(found.filter(|found| found.workspace == id))
    }

    /// Adds a webhook, unless there are `most` already. Says whether it was added.
    pub async fn add(self, webhook: Webhook, most: usize) -> Result<bool, Error> {
        let id = self.0.id;
        let webhook = Webhook { workspace: id, ..webhook };
        let add = move |store: &mut dyn abide_store::Store| {
            if store.webhooks(Some(id))?.len() >= most {
                return Ok(false);
            }
            store.put_webhook(&webhook).map(|()| true)
        };
        self.write(add).await
    }

    /// Changes a webhook and returns it; `None` if there is none.
    pub async fn change(
        self,
        webhook: WebhookId,
        change: impl FnOnce(&mut Webhook) + Send + 'static,
    ) -> Result<Option<Webhook>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let now = engine.now();
        // Looked up and changed in one go: nobody else writes in between.
        let change = move |store: &mut dyn abide_store::Store| {
            let found = store.webhook(webhook)?.filter(|found| found.workspace == id);
            let Some(mut found) = found else { return Ok(None) };
            let before = found.health.clone();
            change(&mut found);
            store.put_webhook(&found)?;
            if found.health != before {
                store.put_health(webhook, &found.health, now)?;
            }
            Ok(Some(found))
        };
        self.write(change).await
    }

    /// Removes a webhook and all its deliveries. Says whether there was one.
    pub async fn remove(self, webhook: WebhookId) -> Result<bool, Error> {
        if self.get(webhook).await?.is_none() {
            return Ok(false);
        }
        self.write(move |store| store.remove_webhook(webhook)).await
    }

    /// The deliveries of a webhook, sent or to be sent, the newest first. Does not check the webhook's workspace.
    pub async fn deliveries(
        self,
        filter: DeliveryFilter,
        page: Page<DeliveryId>,
    ) -> Result<Vec<Delivery>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine.readers.read(Some(id), move |store| store.deliveries(&filter, &page)).await
    }

    /// One delivery of a webhook; `None` if there is none. Does not check the webhook's workspace.
    pub async fn delivery(self, webhook: WebhookId, delivery: DeliveryId) -> Result<Option<Delivery>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let found = engine.readers.read(Some(id), move |store| store.delivery(delivery)).await?;
        Ok(found.filter(|found| found.webhook == webhook))
    }

    /// Makes a delivery that is not pending, or all failed ones of a webhook, due again now, as if it had never been
    /// tried. Says how many. Does not check the webhook's workspace.
    pub async fn replay(self, webhook: WebhookId, one: Option<DeliveryId>) -> Result<usize, Error> {
        let now = self.0.engine.now();
        self.write(move |store| store.replay(webhook, one, now)).await
    }

    async fn write<T: Send + 'static>(
        self,
        write: impl FnOnce(&mut dyn abide_store::Store) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let engine: &Engine = self.0.engine;
        let written = engine.write(write).await?;
        engine.ask(|answer| Control::WebhooksChanged { answer }).await?;
        Ok(written)
    }
}
