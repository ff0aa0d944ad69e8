//! The workflows of a workspace: deployed, listed, looked up.

use std::sync::Arc;

use abide_core::definition::document::Workflow;
use abide_core::definition::{Checked, Definition};
use abide_core::history::DefinitionRef;
use abide_core::id::{DefinitionId, WorkspaceId};
use abide_store::{DefinitionSummary, Page, Read, StoredDefinition};

use super::WorkspaceHandle;
use crate::deploy::{self, Deployed};
use crate::error::Error;
use crate::known::KnownDefinition;
use crate::request::Control;

/// The workflows that are deployed in a workspace. Made by [`WorkspaceHandle::definitions`].
#[derive(Clone, Copy, Debug)]
pub struct Definitions<'e>(pub(super) WorkspaceHandle<'e>);

impl Definitions<'_> {
    /// Stores a workflow under its name and version. Once stored, it never changes.
    pub async fn deploy(self, workflow: Workflow) -> Result<Deployed, Error> {
        let max_wait = self.0.engine.max_wait;
        self.deploy_checked(workflow.check_within(max_wait)?).await
    }

    /// Stores a checked workflow under its name and version. Once stored, it never changes.
    pub async fn deploy_checked(self, checked: Checked) -> Result<Deployed, Error> {
        let WorkspaceHandle { engine, id: workspace } = self.0;
        let definition = Arc::new(checked.definition);
        if !definition.started_at_once().is_empty() {
            let deployed = Arc::clone(&definition);
            self.read(move |store, workspace| Ok(deploy::check_cycle(store, workspace, &deployed))).await??;
        }
        engine.ask_in(workspace, |answer| Control::Deploy { workspace, definition, answer }).await
    }

    pub(crate) async fn read<T: Send + 'static>(
        self,
        read: impl FnOnce(&mut dyn Read, WorkspaceId) -> Result<T, abide_store::Error> + Send + 'static,
    ) -> Result<T, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine.readers.read(Some(id), move |store| read(store, id)).await
    }

    /// The stored definition of this name and version; without a version, the newest.
    pub async fn get(self, name: &str, version: Option<&str>) -> Result<Option<StoredDefinition>, Error> {
        let (name, version) = (name.to_owned(), version.map(str::to_owned));
        self.read(move |store, id| store.definition(id, &name, version.as_deref())).await
    }

    /// The stored definition of this id.
    pub async fn by_id(self, definition: DefinitionId) -> Result<Option<StoredDefinition>, Error> {
        let found = self.read(move |store, _| store.definition_by_id(definition)).await?;
        Ok(found.filter(|found| found.workspace == self.0.id))
    }

    /// Versions of the workflow of this name, or of all, the newest first.
    pub async fn list(
        self,
        name: Option<String>,
        page: Page<DefinitionId>,
    ) -> Result<Vec<DefinitionSummary>, Error> {
        self.read(move |store, id| store.definitions(id, name.as_deref(), &page)).await
    }

    /// The compiled definition of this name and version.
    pub async fn version(self, name: &str, version: &str) -> Result<Arc<Definition>, Error> {
        let stored = self.get(name, Some(version)).await?;
        let unknown =
            || Error::UnknownDefinition { name: name.to_owned(), version: Some(version.to_owned()) };
        let stored = stored.ok_or_else(unknown)?;
        Ok(Arc::new(Definition::from_stored(&stored.document)?.definition))
    }

    /// The compiled definition of the newest version; `None` if there is no such workflow.
    pub async fn newest(self, name: &str) -> Result<Option<Arc<Definition>>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        let (name, known) = (name.to_owned(), Arc::clone(&engine.readers.known));
        engine.readers.read(Some(id), move |store| known.newest(store, id, &name)).await
    }

    /// The compiled definition that a run names, from memory if it was looked up before.
    pub async fn of_run(self, definition: &DefinitionRef) -> Result<KnownDefinition, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        if let Some(found) = engine.readers.known.get(id, definition) {
            return Ok(found);
        }
        let (known, definition) = (Arc::clone(&engine.readers.known), definition.clone());
        self.read(move |store, id| known.find(store, id, &definition)).await
    }
}
