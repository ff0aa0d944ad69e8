//! The audit log.

use abide_core::id::WorkspaceId;
use rusqlite::{OptionalExtension, params};

use crate::audit::{AuditEntry, AuditHash, AuditNote, next};
use crate::roles::{Audit, WriteAudit};
use crate::row::RowReader;
use crate::sqlite::query::collect;
use crate::sqlite::{Handle, Sqlite};
use crate::{Error, Page};

impl<Role: Send> Audit for Handle<Role> {
    fn audit(&mut self, workspace: Option<WorkspaceId>, page: &Page<u64>) -> Result<Vec<AuditEntry>, Error> {
        let before = page.after.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
        let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
        match workspace {
            Some(workspace) => {
                let mut statement = self.connection.prepare_cached(
                    "SELECT number, note, hash FROM audit WHERE workspace = ? AND number < ?
                 ORDER BY number DESC LIMIT ?",
                )?;
                collect(statement.query(params![workspace.0, before, limit])?, |row| AuditEntry::read(row))
            }
            None => {
                let mut statement = self.connection.prepare_cached(
                    "SELECT number, note, hash FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?",
                )?;
                collect(statement.query(params![before, limit])?, |row| AuditEntry::read(row))
            }
        }
    }

    fn audit_chain(&mut self, after: u64, limit: usize) -> Result<Vec<(u64, String, AuditHash)>, Error> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare_cached(
            "SELECT number, note, hash FROM audit WHERE number > ? ORDER BY number LIMIT ?",
        )?;
        collect(statement.query(params![after, limit])?, |row| {
            Ok((row.number(0)?, row.get(1)?, row.hash(2)?))
        })
    }
}

impl WriteAudit for Sqlite {
    fn append_audit(&mut self, note: &AuditNote) -> Result<(), Error> {
        self.change(|transaction| {
            let last: Option<(i64, AuditHash)> = transaction
                .prepare_cached("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1")?
                .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let entry = next(last, note);
            transaction
                .prepare_cached("INSERT INTO audit (number, workspace, note, hash) VALUES (?, ?, ?, ?)")?
                .execute(params![entry.number, note.workspace.0, entry.note, entry.hash])?;
            Ok(())
        })
    }
}
