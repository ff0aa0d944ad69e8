//! Definitions.

use abide_core::id::{DefinitionId, WorkspaceId};
use rusqlite::params;

use crate::definitions::DEFINITIONS;
use crate::roles::Definitions;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::lists::Where;
use crate::sqlite::query::first;
use crate::{DefinitionSummary, Error, Page, StoredDefinition};

impl<Role: Send> Definitions for Handle<Role> {
    fn definition(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<StoredDefinition>, Error> {
        if let Some(version) = version {
            let sql = format!("{DEFINITIONS} WHERE workspace = ? AND name = ? AND version = ?");
            let mut statement = self.connection.prepare_cached(&sql)?;
            return first(statement.query(params![workspace.0, name, version])?, |row| {
                StoredDefinition::read(row)
            });
        }
        let sql = format!(
            "{DEFINITIONS} INDEXED BY definitions_by_name
         WHERE workspace = ? AND name = ? ORDER BY number DESC LIMIT 1"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        first(statement.query(params![workspace.0, name])?, |row| StoredDefinition::read(row))
    }

    fn definition_by_id(&mut self, id: DefinitionId) -> Result<Option<StoredDefinition>, Error> {
        let mut statement = self.connection.prepare_cached(&format!("{DEFINITIONS} WHERE id = ?"))?;
        first(statement.query([column::definition(id)])?, |row| StoredDefinition::read(row))
    }

    /// In the order they came, backwards; the cursor is looked up, for an id does not say when it came.
    fn definitions(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<DefinitionId>,
    ) -> Result<Vec<DefinitionSummary>, Error> {
        let index = if name.is_some() { "definitions_by_name" } else { "definitions_by_workspace" };
        let select = format!("SELECT id, name, version, created_at FROM definitions INDEXED BY {index}");
        let mut conditions = Where::default();
        conditions.and("workspace = ?", [workspace.0]);
        conditions.and_if("name = ?", name.map(str::to_owned));
        let after = page.after.map(|id| column::definition(id).to_vec());
        conditions.and_if("number < (SELECT number FROM definitions WHERE id = ?)", after);
        conditions
            .find(&self.connection, &select, "number DESC", page.limit, |row| DefinitionSummary::read(row))
    }
}
