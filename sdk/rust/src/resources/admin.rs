use reqwest::Method;
use serde_json::json;

use crate::Timestamp;
use crate::client::Client;
use crate::problem::Error;
use crate::stream::Items;
use crate::transport::at;
use crate::wire;

/// Keys, workspaces, and how it goes.
#[derive(Debug, Clone, Copy)]
pub struct Admin<'a>(pub(crate) &'a Client);

impl Admin<'_> {
    /// API keys, without their secrets.
    pub async fn keys(&self) -> Result<wire::KeyList, Error> {
        self.0.transport().json(self.0.get(at(&["keys"]))).await
    }

    /// The secret is in the answer, and nowhere else.
    pub async fn create_key(&self, key: &wire::NewKey) -> Result<wire::MadeKey, Error> {
        self.0.transport().json(self.0.post(at(&["keys"])).body(key)?).await
    }

    /// Makes a key void.
    pub async fn revoke_key(&self, id: &str) -> Result<(), Error> {
        let request = self.0.request(Method::DELETE, at(&["keys", id])).repeatable();
        self.0.transport().send(request).await.map(drop)
    }

    /// New links are signed with a new secret; the old ones stay valid.
    pub async fn rotate_link_secret(&self) -> Result<(), Error> {
        self.0.transport().send(self.0.post(at(&["link-secrets"]))).await.map(drop)
    }

    /// The secrets that links are signed with, without what they are.
    pub async fn link_secrets(&self) -> Result<wire::LinkSecretList, Error> {
        self.0.transport().json(self.0.get(at(&["link-secrets"]))).await
    }

    /// Every link and lease token that was signed with it is refused from then on.
    pub async fn retire_link_secret(&self, id: &str) -> Result<(), Error> {
        let request = self.0.request(Method::DELETE, at(&["link-secrets", id])).repeatable();
        self.0.transport().send(request).await.map(drop)
    }

    /// Makes every link of the workspace void.
    pub async fn revoke_links(&self) -> Result<(), Error> {
        let request = self.0.request(Method::DELETE, at(&["links"])).repeatable();
        self.0.transport().send(request).await.map(drop)
    }

    /// What calls of the workspace are signed with.
    pub async fn signing_key(&self) -> Result<wire::SigningKey, Error> {
        self.0.transport().json(self.0.get(at(&["signing-key"]))).await
    }

    /// Control actions, the last one first: a page of them.
    pub async fn audit(
        &self,
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<wire::AuditEntryList, Error> {
        let query = json!({"cursor": cursor, "limit": limit});
        self.0.transport().json(self.0.get(at(&["audit"])).query(&query)?).await
    }

    /// Whether the audit log is as it was written.
    pub async fn verify_audit(&self) -> Result<wire::AuditVerified, Error> {
        self.0.transport().json(self.0.get(at(&["audit", "verify"]))).await
    }

    /// Runs and schedules that are held, and why: a page of them.
    pub async fn held(&self, cursor: Option<&str>, limit: Option<u32>) -> Result<wire::HeldItemList, Error> {
        let query = json!({"cursor": cursor, "limit": limit});
        self.0.transport().json(self.0.get(at(&["held"])).query(&query)?).await
    }

    /// Holds a run or a schedule: nothing of it goes on until it is released.
    pub async fn hold(&self, hold: &wire::Hold) -> Result<wire::HeldItem, Error> {
        self.0.transport().json(self.0.post(at(&["held"])).body(hold)?).await
    }

    /// Lets what is held go on.
    pub async fn release(&self, id: &str) -> Result<(), Error> {
        let request = self.0.request(Method::DELETE, at(&["held", id])).repeatable();
        self.0.transport().send(request).await.map(drop)
    }

    /// All of them.
    pub async fn workspaces(&self) -> Result<wire::WorkspaceList, Error> {
        self.0.transport().json(self.0.get(at(&["workspaces"]))).await
    }

    /// Makes one.
    pub async fn create_workspace(&self, name: &str) -> Result<wire::Workspace, Error> {
        self.0.transport().json(self.0.post(at(&["workspaces"])).body(&wire::NewWorkspace::new(name))?).await
    }

    /// Changes what a workspace, named or by its id, may have.
    pub async fn change_workspace(
        &self,
        workspace: &str,
        quotas: &wire::Quotas,
    ) -> Result<wire::Workspace, Error> {
        let request = self.0.request(Method::PATCH, at(&["workspaces", workspace]));
        self.0.transport().json(request.body(&wire::ChangeWorkspace::new(quotas.clone()))?.repeatable()).await
    }

    /// Workers that polled lately.
    pub async fn workers(&self) -> Result<wire::WorkerList, Error> {
        self.0.transport().json(self.0.get(at(&["workers"]))).await
    }

    /// How many runs and waits there are, and how it goes.
    pub async fn overview(&self) -> Result<wire::Overview, Error> {
        self.0.transport().json(self.0.get(at(&["overview"]))).await
    }

    /// When waits end, counted over time.
    pub async fn wake_ups(
        &self,
        from: Option<Timestamp>,
        until: Option<Timestamp>,
        buckets: Option<u32>,
    ) -> Result<wire::WakeUps, Error> {
        let query = json!({"buckets": buckets, "from": from, "until": until});
        self.0.transport().json(self.0.get(at(&["wake-ups"])).query(&query)?).await
    }

    /// What calls to models cost, by day, workflow and model.
    pub async fn costs(&self, query: &CostQuery) -> Result<wire::CostSummary, Error> {
        self.0.transport().json(self.0.get(at(&["cost", "summary"])).query(query)?).await
    }

    /// Whether the server is there.
    pub async fn health(&self) -> Result<wire::Health, Error> {
        self.0.transport().json(self.0.get("/health")).await
    }

    /// Whether the server is ready.
    pub async fn ready(&self) -> Result<wire::Health, Error> {
        self.0.transport().json(self.0.get("/ready")).await
    }

    /// A copy of the whole store, as of one instant, in pieces: a file like any other store.
    pub async fn backup(&self) -> Result<Items<Vec<u8>>, Error> {
        let request = self.0.get(at(&["backup"])).accept("application/vnd.sqlite3").unhurried();
        let response = self.0.transport().send(request).await?;
        let client = self.0.clone();
        Ok(Items::new(futures_util::stream::try_unfold(
            (response, client),
            async |(mut response, client)| {
                let piece = response.chunk().await.map_err(|error| client.transport().unreachable(&error))?;
                Ok(piece.map(|bytes| (bytes.to_vec(), (response, client))))
            },
        )))
    }

    /// In the text format of Prometheus.
    pub async fn metrics(&self) -> Result<String, Error> {
        let response = self.0.transport().send(self.0.get("/metrics").accept("text/plain")).await?;
        response.text().await.map_err(|error| self.0.transport().unreachable(&error))
    }
}

/// Which costs are counted.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct CostQuery {
    /// Only the costs of this workflow.
    pub definition: Option<String>,
    /// Only the costs of this model.
    pub model: Option<String>,
    /// Not before this instant.
    pub from: Option<Timestamp>,
    /// Not after this instant.
    pub until: Option<Timestamp>,
}
