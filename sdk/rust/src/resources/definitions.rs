use serde::Serialize;
use serde_json::json;

use crate::client::Client;
use crate::pages::Pages;
use crate::problem::Error;
use crate::transport::at;
use crate::wire;

/// Workflows, as they were posted.
#[derive(Debug, Clone, Copy)]
pub struct Definitions<'a>(pub(crate) &'a Client);

impl Definitions<'_> {
    /// Stores a workflow. The very same again is fine; another one of the same name and version is refused.
    pub async fn deploy(&self, workflow: &impl Serialize) -> Result<wire::DeployedDefinition, Error> {
        let request = self.0.post(at(&["workflow-definitions"])).body(workflow)?.repeatable();
        self.0.transport().json(request).await
    }

    /// Everything that is wrong with a document, without storing it.
    pub async fn check(&self, document: &impl Serialize) -> Result<wire::CheckedDefinition, Error> {
        let request = self.0.post(at(&["workflow-definitions", "check"])).body(document)?.repeatable();
        self.0.transport().json(request).await
    }

    /// Which of the runs that wait would fit a new version, and which it would strand: a page of them, the first or after a
    /// cursor. Stores nothing.
    pub async fn check_runs(
        &self,
        document: &impl Serialize,
        cursor: Option<&str>,
    ) -> Result<wire::CheckedRuns, Error> {
        let request = self.0.post(at(&["workflow-definitions", "check-runs"])).body(document)?.repeatable();
        self.0.transport().json(request.query(&json!({"cursor": cursor}))?).await
    }

    /// All of them, or all versions of one.
    pub fn list(&self, name: Option<&str>) -> Pages<wire::DefinitionSummary> {
        Pages::new(self.0, self.0.get(at(&["workflow-definitions"])).query(&json!({"name": name})))
    }

    /// By id, or by name: its newest version, unless one is given.
    pub async fn find(&self, id_or_name: &str, version: Option<&str>) -> Result<wire::Definition, Error> {
        let request = self.0.get(at(&["workflow-definitions", id_or_name]));
        self.0.transport().json(request.query(&json!({"version": version}))?).await
    }
}
