//! Limits, and their lines.

use abide_core::capacity::{Limit, LimitSettings};
use abide_core::id::{LimitId, RunId, WaitpointId, WorkspaceId};
use rusqlite::{OptionalExtension, Transaction, params};

use crate::code::{WAIT_CAPACITY, WAIT_PENDING};
use crate::limits::range;
use crate::roles::Limits;
use crate::row::RowReader;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::{collect, first};
use crate::{Error, InLine, LimitFigures, LimitPlace, LimitWrite, Page, PressurePlace, SettingsWrite};

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

    fn limits_by_pressure(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        page: &Page<PressurePlace>,
    ) -> Result<Vec<Limit>, Error> {
        let only = if name.is_some() { "name = ?2 AND" } else { "?2 IS NULL AND" };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT document FROM limits INDEXED BY limits_by_waiting
             WHERE workspace = ?1 AND {only} waiting > 0 AND waiting <= ?3 AND (waiting < ?3 OR id > ?4)
             ORDER BY waiting DESC, id LIMIT ?5",
        ))?;
        let place = page.after.unwrap_or(PressurePlace { waiting: u64::MAX >> 1, id: LimitId(0) });
        let (waiting, id) = (column::count(place.waiting), column::run(RunId(place.id.0)));
        let rows = statement.query(params![workspace.0, name, waiting, id, column::limit(page.limit)])?;
        collect(rows, |row| row.json(0))
    }

    fn limit_figures(&mut self, limit: usize) -> Result<Vec<LimitFigures>, Error> {
        let mut statement = self.connection.prepare_cached(
            "SELECT workspace, name, count(*), sum(used), sum(waiting), min(waiting_since) FROM limits
             GROUP BY workspace, name ORDER BY sum(waiting) DESC, workspace, name LIMIT ?",
        )?;
        collect(statement.query([column::limit(limit)])?, |row| LimitFigures::read(row))
    }

    fn limit_settings(&mut self, id: LimitId) -> Result<Option<LimitSettings>, Error> {
        let mut statement =
            self.connection.prepare_cached("SELECT document FROM limit_settings WHERE id = ?")?;
        first(statement.query([column::run(RunId(id.0))])?, |row| row.json(0))
    }

    fn all_limit_settings(
        &mut self,
        workspace: WorkspaceId,
        name: Option<&str>,
        limit: usize,
    ) -> Result<Vec<LimitSettings>, Error> {
        let only = if name.is_some() { "name = ?2" } else { "?2 IS NULL" };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT document FROM limit_settings WHERE workspace = ?1 AND {only} ORDER BY name, id LIMIT ?3",
        ))?;
        collect(statement.query(params![workspace.0, name, column::limit(limit)])?, |row| row.json(0))
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
    if version.unwrap_or(0) != column::count(*based_on)
        || settings_version(transaction, limit.settings_id())? != limit.set_by
    {
        return Err(Error::Conflict(RunId(limit.id.0)));
    }
    if *removed {
        transaction.prepare_cached("DELETE FROM limits WHERE id = ?")?.execute([id])?;
        return Ok(());
    }
    let (version, due_at) = (column::count(limit.version), limit.due_at.map(column::instant));
    let (used, waiting) = (limit.used, column::count(limit.waiting));
    let since = limit.waiting_since.map(column::instant);
    let document = serde_json::to_string(limit).expect("a limit is JSON");
    if *based_on > 0 {
        transaction
            .prepare_cached(
                "UPDATE limits SET version = ?2, due_at = ?3, used = ?4, waiting = ?5, waiting_since = ?6, document = ?7
                 WHERE id = ?1",
            )?
            .execute(params![id, version, due_at, used, waiting, since, document])?;
        return Ok(());
    }
    transaction
        .prepare_cached(
            "INSERT INTO limits (id, workspace, name, key, version, due_at, used, waiting, waiting_since, document)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            id,
            limit.workspace.0,
            limit.name,
            limit.key,
            version,
            due_at,
            used,
            waiting,
            since,
            document
        ])?;
    Ok(())
}

/// The version of what is set for a limit; 0: nothing.
fn settings_version(transaction: &Transaction<'_>, id: LimitId) -> Result<u64, Error> {
    let mut statement = transaction.prepare_cached("SELECT version FROM limit_settings WHERE id = ?")?;
    let version = first(statement.query([column::run(RunId(id.0))])?, |row| row.number(0))?;
    Ok(version.unwrap_or(0))
}

pub(super) fn write_settings(transaction: &Transaction<'_>, write: &SettingsWrite<'_>) -> Result<(), Error> {
    let SettingsWrite { based_on, settings, removed } = write;
    if settings_version(transaction, settings.id)? != *based_on {
        return Err(Error::Conflict(RunId(settings.id.0)));
    }
    let id = column::run(RunId(settings.id.0));
    if *removed {
        transaction.prepare_cached("DELETE FROM limit_settings WHERE id = ?")?.execute([id])?;
        return Ok(());
    }
    let document = serde_json::to_string(settings).expect("settings are JSON");
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO limit_settings (id, workspace, name, version, document) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute(params![id, settings.workspace.0, settings.name, column::count(settings.version), document])?;
    Ok(())
}
