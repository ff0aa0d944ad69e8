//! Waits for other code.

use abide_core::id::{WaitpointId, WorkspaceId};

use crate::code::{WAIT_CODE, WAIT_PENDING};
use crate::code_waits::{CodeRange, ranges};
use crate::postgres::Handle;
use crate::postgres::column::{self};
use crate::roles::CodeWaits;
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
        let sql = format!("SELECT run, number, listens, filter FROM waitpoints
        WHERE status = {WAIT_PENDING} AND kind = {WAIT_CODE} AND workspace = $1 AND (listens, run, number) > ($2, $3, $4) AND listens < $5
        ORDER BY listens, run, number LIMIT $6");
        let place = column::workspace(workspace);
        let mut found = Vec::new();
        for CodeRange { after: (listens, WaitpointId { run, number }), before } in
            ranges(handler, build, after)
        {
            let room = column::limit(limit.saturating_sub(found.len()));
            let (listens, before) = (column::name(&listens), column::name(&before));
            let (run, number) = (column::run(run), i64::from(number));
            let rows = self.connection.ask(async |session| {
                session.rows(&sql, &[&place, &listens, &run, &number, &before, &room]).await
            })?;
            for row in &rows {
                found.push(CodeWait::read(row)?);
            }
        }
        Ok(found)
    }
}
