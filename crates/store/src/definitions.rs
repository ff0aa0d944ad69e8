//! Definitions: the stored, versioned texts of workflows.

use abide_core::definition::AwaitedEvent;
use abide_core::id::{DefinitionId, WorkspaceId};
use jiff::Timestamp;
use serde::Serialize;

use crate::row::RowReader;
use crate::{Error, Page};

/// Finds definitions.
pub trait Definitions: Send {
    /// The document of a definition: of this version, or the one that came last.
    fn definition(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<StoredDefinition>, Error>;

    fn definition_by_id(&mut self, id: DefinitionId) -> Result<Option<StoredDefinition>, Error>;

    /// Definitions, of this name or of all, the one that came last first. The cursor is one of them.
    fn definitions(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<DefinitionId>,
    ) -> Result<Vec<DefinitionSummary>, Error>;
}

/// A version of a workflow. It is written once and never changes.
#[derive(Clone, Copy, Debug)]
pub struct NewDefinition<'a> {
    pub id: DefinitionId,
    pub workspace: WorkspaceId,
    pub name: &'a str,
    pub version: &'a str,
    /// As JSON.
    pub document: &'a str,
    /// Which events its runs may come to wait for.
    pub awaits: &'a [AwaitedEvent],
    pub created_at: Timestamp,
}

/// A version of a workflow as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDefinition {
    pub id: DefinitionId,
    pub workspace: WorkspaceId,
    pub name: String,
    pub version: String,
    pub document: String,
    pub created_at: Timestamp,
}

/// What is read of a definition, by [`StoredDefinition::read`].
pub(crate) const DEFINITIONS: &str =
    "SELECT id, workspace, name, version, document, created_at FROM definitions";

impl StoredDefinition {
    pub(crate) fn read(row: &impl RowReader) -> Result<StoredDefinition, Error> {
        Ok(StoredDefinition {
            id: DefinitionId(row.id(0)?),
            workspace: row.workspace(1)?,
            name: row.name(2)?,
            version: row.name(3)?,
            document: row.text(4)?.to_owned(),
            created_at: row.instant(5)?,
        })
    }
}

/// A definition without its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionSummary {
    pub id: DefinitionId,
    pub name: String,
    pub version: String,
    pub created_at: Timestamp,
}

impl DefinitionSummary {
    /// Of `id, name, version, created_at`.
    pub(crate) fn read(row: &impl RowReader) -> Result<DefinitionSummary, Error> {
        Ok(DefinitionSummary {
            id: DefinitionId(row.id(0)?),
            name: row.name(1)?,
            version: row.name(2)?,
            created_at: row.instant(3)?,
        })
    }
}
