//! Limits, and their lines.

use abide_core::capacity::Limit;
use abide_core::id::{LimitId, RunId, WaitpointId, WorkspaceId};
use rusqlite::{OptionalExtension, Transaction, params};

use crate::code::{WAIT_CAPACITY, WAIT_PENDING};
use crate::limits::range;
use crate::roles::Limits;
use crate::row::RowReader;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::{collect, first};
use crate::{Error, InLine, LimitPlace, LimitWrite, Page};

impl<Role: Send> Limits for Handle<Role> {
    fn limit(&mut self, id: LimitId) -> Result<Option<Limit>, Error> {
        let mut statement = self.connection.prepare_cached("SELECT document FROM limits WHERE id = ?")?;
        first(statement.query([column::run(RunId(id.0))])?, |row| row.json(0))
    }

    fn limits(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<LimitPlace>,
    ) -> Result<Vec<Limit>, Error> {
        let only = if name.is_some() { "name = ?2 AND" } else { "?2 IS NULL AND" };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT document FROM limits
             WHERE workspace = ?1 AND {only} (name, key, id) > (?3, ?4, ?5) ORDER BY name, key, id LIMIT ?6",
        ))?;
        let (after_name, key, id) =
            page.after.as_ref().map_or(("", "", 0), |after| (&*after.name, &*after.key, after.id.0));
        let id = column::run(RunId(id));
        let rows =
            statement.query(params![workspace.0, name, after_name, key, id, column::limit(page.limit)])?;
        collect(rows, |row| row.json(0))
    }

    fn line(&mut self, id: LimitId, after: Option<&InLine>, limit: usize) -> Result<Vec<InLine>, Error> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT run, number, filter FROM waitpoints INDEXED BY waitpoints_by_line
             WHERE status = {WAIT_PENDING} AND kind = {WAIT_CAPACITY} AND (filter, run, number) > (?, ?, ?) AND filter < ?
             ORDER BY filter, run, number LIMIT ?",
        ))?;
        let (from, WaitpointId { run, number }, before) = range(id, after);
        let rows = statement.query(params![from, column::run(run), number, before, column::limit(limit)])?;
        collect(rows, |row| InLine::read(row))
    }
}

pub(super) fn write(transaction: &Transaction<'_>, write: &LimitWrite<'_>) -> Result<(), Error> {
    let LimitWrite { based_on, limit, removed } = write;
    let id = column::run(RunId(limit.id.0));
    let version: Option<i64> = transaction
        .prepare_cached("SELECT version FROM limits WHERE id = ?")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    if version.unwrap_or(0) != column::count(*based_on) {
        return Err(Error::Conflict(RunId(limit.id.0)));
    }
    if *removed {
        transaction.prepare_cached("DELETE FROM limits WHERE id = ?")?.execute([id])?;
        return Ok(());
    }
    let (version, due_at) = (column::count(limit.version), limit.due_at.map(column::instant));
    let document = serde_json::to_string(limit).expect("a limit is JSON");
    if *based_on > 0 {
        transaction
            .prepare_cached("UPDATE limits SET version = ?2, due_at = ?3, document = ?4 WHERE id = ?1")?
            .execute(params![id, version, due_at, document])?;
        return Ok(());
    }
    transaction
        .prepare_cached(
            "INSERT INTO limits (id, workspace, name, key, version, due_at, document) VALUES (?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![id, limit.workspace.0, limit.name, limit.key, version, due_at, document])?;
    Ok(())
}
