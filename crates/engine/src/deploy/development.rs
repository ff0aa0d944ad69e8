//! Deploying in development: a workflow that has changed is stored beside its older versions, under a version of its
//! own, and is the newest then. Nobody has to choose a version number.

use abide_core::definition::document::Workflow;
use abide_core::definition::{Checked, Definition};
use abide_core::id::{DefinitionId, WorkspaceId};
use abide_store::Read;

use super::Deployed;
use crate::engine::Definitions;
use crate::error::Error;

/// How often a content may come back after other contents had replaced it.
const AGAIN: usize = 9_999;

/// The version under which a workflow is stored in development, if it is not the newest already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// A version that is made of the workflow's content.
    Made,
    /// The document's own version, if that is free; otherwise one that is made of the content.
    OwnIfFree,
}

/// A workflow as it is stored in development: the newest of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Developed {
    /// The id under which the definition is stored.
    pub id: DefinitionId,
    /// The version under which the definition is stored.
    pub version: String,
    /// Whether the definition was stored now; `false` when the newest was the very same already.
    pub created: bool,
}

enum Place {
    There(DefinitionId, String),
    Free(String),
    Taken,
}

impl Definitions<'_> {
    /// Stores a workflow so that runs that are started by its name use it from here on. What is the newest already
    /// stays as it is.
    pub async fn deploy_for_development(
        self,
        mut checked: Checked,
        versions: Versions,
    ) -> Result<Developed, Error> {
        let document = checked.definition.document.clone();
        let place = self.read(move |store, workspace| place(store, workspace, &document, versions)).await?;
        let version = match place {
            Place::There(id, version) => return Ok(Developed { id, version, created: false }),
            Place::Free(version) => version,
            Place::Taken => {
                let Definition { document, .. } = checked.definition;
                return Err(Error::DefinitionExists { name: document.name, version: document.version });
            }
        };
        checked.definition.document.version.clone_from(&version);
        let Deployed { id, created } = self.deploy_checked(checked).await?;
        Ok(Developed { id, version, created })
    }
}

fn place(
    store: &mut dyn Read,
    workspace: WorkspaceId,
    document: &Workflow,
    versions: Versions,
) -> Result<Place, abide_store::Error> {
    if versions == Versions::OwnIfFree
        && store.definition(workspace, &document.name, Some(&document.version))?.is_none()
    {
        return Ok(Place::Free(document.version.clone()));
    }
    if let Some(newest) = store.definition(workspace, &document.name, None)?
        && Definition::from_stored(&newest.document)
            .is_ok_and(|stored| stored.definition.document.holds_the_same_as(document))
    {
        return Ok(Place::There(newest.id, newest.version));
    }
    for version in (1..=AGAIN).map(|again| document.development_version(again)) {
        if store.definition(workspace, &document.name, Some(&version))?.is_none() {
            return Ok(Place::Free(version));
        }
    }
    Ok(Place::Taken)
}
