//! Schedules, and their waits.

use abide_core::id::{ScheduleId, WorkspaceId};
use abide_core::schedule::Schedule;
use rusqlite::{OptionalExtension, Transaction, params};

use crate::roles::Schedules;
use crate::row::RowReader;
use crate::sqlite::Handle;
use crate::sqlite::column;
use crate::sqlite::query::{collect, first};
use crate::{Error, Page, ScheduleWrite};

impl<Role: Send> Schedules for Handle<Role> {
    fn schedule(&mut self, id: ScheduleId) -> Result<Option<Schedule>, Error> {
        let mut statement = self.connection.prepare_cached("SELECT document FROM schedules WHERE id = ?")?;
        first(statement.query([column::run(id.owner().id())])?, |row| row.json(0))
    }

    fn schedule_by_name(&mut self, workspace: WorkspaceId, name: &str) -> Result<Option<Schedule>, Error> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT document FROM schedules WHERE workspace = ? AND name = ?")?;
        first(statement.query(params![workspace.0, name])?, |row| row.json(0))
    }

    fn schedules(&mut self, workspace: WorkspaceId, page: &Page<String>) -> Result<Vec<Schedule>, Error> {
        let mut statement = self.connection.prepare_cached(
            "SELECT document FROM schedules WHERE workspace = ? AND name > ? ORDER BY name LIMIT ?",
        )?;
        // No name is empty.
        let after = page.after.as_deref().unwrap_or_default();
        collect(statement.query(params![workspace.0, after, column::limit(page.limit)])?, |row| row.json(0))
    }
}

pub(super) fn write(transaction: &Transaction<'_>, write: &ScheduleWrite<'_>) -> Result<(), Error> {
    let ScheduleWrite { based_on, schedule, removed } = write;
    let id = column::run(schedule.id.owner().id());
    let seq: Option<i64> = transaction
        .prepare_cached("SELECT seq FROM schedules WHERE id = ?")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    if seq.unwrap_or(0) != column::count(*based_on) {
        return Err(Error::Conflict(schedule.id.owner().id()));
    }
    if *removed {
        for removal in ["DELETE FROM schedules WHERE id = ?", "DELETE FROM waitpoints WHERE run = ?"] {
            transaction.prepare_cached(removal)?.execute([id])?;
        }
        return Ok(());
    }
    transaction
        .prepare_cached(
            "INSERT INTO schedules (id, workspace, name, seq, document) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, seq = excluded.seq, document = excluded.document",
        )?
        .execute(params![
            id,
            schedule.workspace.0,
            schedule.plan.name,
            column::count(schedule.seq),
            serde_json::to_string(schedule).expect("a schedule is JSON"),
        ])?;
    write_waits(transaction, &id, schedule)
}

/// Few, and most of them as they were.
fn write_waits(transaction: &Transaction<'_>, id: &column::Id, schedule: &Schedule) -> Result<(), Error> {
    for wait in schedule.waits() {
        transaction
            .prepare_cached(
                "INSERT INTO waitpoints (run, number, workspace, kind, status, created_at, resume_at)
                 VALUES (?, ?, ?, ?, ?, ?, ?)
                 ON CONFLICT DO UPDATE SET status = excluded.status, resume_at = excluded.resume_at
                 WHERE status <> excluded.status OR resume_at IS NOT excluded.resume_at",
            )?
            .execute(params![
                id,
                wait.number,
                schedule.workspace.0,
                column::kind(wait.kind),
                column::wait_status(wait.status),
                column::instant(wait.created_at),
                wait.resume_at.map(column::instant),
            ])?;
    }
    let first = schedule.waits().next().map_or(0, |wait| wait.number);
    transaction
        .prepare_cached("DELETE FROM waitpoints WHERE run = ? AND number < ?")?
        .execute(params![id, first])?;
    Ok(())
}
