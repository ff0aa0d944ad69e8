//! Definitions.

use abide_core::id::{DefinitionId, WorkspaceId};

use crate::definitions::DEFINITIONS;
use crate::postgres::Handle;
use crate::postgres::column::{self};
use crate::postgres::connection::values;
use crate::postgres::lists::Query;
use crate::roles::Definitions;
use crate::{DefinitionSummary, Error, Page, StoredDefinition};

impl<Role: Send> Definitions for Handle<Role> {
    fn definition(
        &mut self,
        workspace: WorkspaceId,
        name: &str,
        version: Option<&str>,
    ) -> Result<Option<StoredDefinition>, Error> {
        let (workspace, name) = (column::workspace(workspace), column::name(name));
        let found = self.connection.ask(async |session| match version.map(column::name) {
        Some(version) => {
            let sql = format!("{DEFINITIONS} WHERE workspace = $1 AND name = $2 AND version = $3");
            session.first(&sql, &[&workspace, &name, &version]).await
        }
        None => {
            let sql =
                format!("{DEFINITIONS} WHERE workspace = $1 AND name = $2 ORDER BY workspace, name, number DESC LIMIT 1");
            session.first(&sql, &[&workspace, &name]).await
        }
    })?;
        found.as_ref().map(StoredDefinition::read).transpose()
    }

    fn definition_by_id(&mut self, id: DefinitionId) -> Result<Option<StoredDefinition>, Error> {
        let sql = format!("{DEFINITIONS} WHERE id = $1");
        let found =
            self.connection.ask(async |session| session.first(&sql, &[&column::definition(id)]).await)?;
        found.as_ref().map(StoredDefinition::read).transpose()
    }

    /// In the order they came, backwards; the cursor is looked up, for an id does not say when it came. Of two that came at
    /// the same time to different processes, either may be the last.
    fn definitions(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<DefinitionId>,
    ) -> Result<Vec<DefinitionSummary>, Error> {
        let mut query = Query::default();
        let order = if name.is_some() {
            "workspace DESC, name DESC, number DESC"
        } else {
            "workspace DESC, number DESC"
        };
        let select = "SELECT id, name, version, created_at FROM definitions WHERE workspace = ?";
        query.push(select, values![column::workspace(workspace)]);
        query.push_if(" AND name = ?", name.map(|name| column::name(name).into_owned()));
        let after = page.after.map(column::definition);
        query.push_if(" AND number < (SELECT number FROM definitions WHERE id = ?)", after);
        query.push(&format!(" ORDER BY {order} LIMIT ?"), values![column::limit(page.limit)]);
        self.connection
            .ask(async |session| query.rows(session).await)?
            .iter()
            .map(DefinitionSummary::read)
            .collect()
    }
}
