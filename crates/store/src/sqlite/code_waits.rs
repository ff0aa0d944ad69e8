//! Waits for other code.

use abide_core::id::{WaitpointId, WorkspaceId};
use rusqlite::params;

use crate::code::{WAIT_CODE, WAIT_PENDING};
use crate::code_waits::{CodeRange, ranges};
use crate::roles::CodeWaits;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::collect;
use crate::{CodeWait, Error};

impl<Role: Send> CodeWaits for Handle<Role> {
    fn code_waits(
        &mut self,
        workspace: WorkspaceId,
        handler: &str,
        build: &str,
        after: Option<&CodeWait>,
        limit: usize,
    ) -> Result<Vec<CodeWait>, Error> {
        let mut statement = self.connection.prepare_cached(&format!(
        "SELECT run, number, listens, filter FROM waitpoints INDEXED BY waitpoints_by_code
         WHERE status = {WAIT_PENDING} AND kind = {WAIT_CODE} AND workspace = ? AND (listens, run, number) > (?, ?, ?) AND listens < ?
         ORDER BY listens, run, number LIMIT ?",
    ))?;
        let mut found = Vec::new();
        for CodeRange { after: (listens, WaitpointId { run, number }), before } in
            ranges(handler, build, after)
        {
            let room = column::limit(limit.saturating_sub(found.len()));
            let rows =
                statement.query(params![workspace.0, listens, column::run(run), number, before, room])?;
            found.append(&mut collect(rows, |row| CodeWait::read(row))?);
        }
        Ok(found)
    }
}
