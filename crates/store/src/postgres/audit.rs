//! The audit log.

use abide_core::id::WorkspaceId;

use crate::audit::{AuditEntry, AuditHash, AuditNote, next};
use crate::postgres::column::{self};
use crate::postgres::{Handle, Postgres};
use crate::roles::{Audit, WriteAudit};
use crate::row::RowReader;
use crate::{Error, Page};

impl<Role: Send> Audit for Handle<Role> {
    fn audit(&mut self, workspace: Option<WorkspaceId>, page: &Page<u64>) -> Result<Vec<AuditEntry>, Error> {
        let before = page.after.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
        let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
        let rows = match workspace {
            Some(workspace) => {
                let sql = "SELECT number, note, hash FROM audit WHERE workspace = $1 AND number < $2
                ORDER BY number DESC LIMIT $3";
                let workspace = column::workspace(workspace);
                self.connection
                    .ask(async |session| session.rows(sql, &[&workspace, &before, &limit]).await)?
            }
            None => {
                let sql =
                    "SELECT number, note, hash FROM audit WHERE number < $1 ORDER BY number DESC LIMIT $2";
                self.connection.ask(async |session| session.rows(sql, &[&before, &limit]).await)?
            }
        };
        rows.iter().map(AuditEntry::read).collect()
    }

    fn audit_chain(&mut self, after: u64, limit: usize) -> Result<Vec<(u64, String, AuditHash)>, Error> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = "SELECT number, note, hash FROM audit WHERE number > $1 ORDER BY number LIMIT $2";
        let rows = self.connection.ask(async |session| session.rows(sql, &[&after, &limit]).await)?;
        rows.iter().map(|row| Ok((row.number(0)?, row.text(1)?.to_owned(), row.hash(2)?))).collect()
    }
}

impl WriteAudit for Postgres {
    /// Those who append at the same time do it one after the other: each needs the hash of the one before.
    fn append_audit(&mut self, note: &AuditNote) -> Result<(), Error> {
        let insert = "INSERT INTO audit (number, workspace, note, hash) VALUES ($1, $2, $3, $4)";
        self.connection.ask(async |session| {
            session
                .transaction("BEGIN; LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE", async |session| {
                    let last = "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1";
                    let last = session.first(last, &[]).await?;
                    let last = last
                        .map(|row| Ok::<(i64, AuditHash), Error>((row.integer(0)?, row.hash(1)?)))
                        .transpose()?;
                    let entry = next(last, note);
                    let workspace = column::workspace(note.workspace);
                    let hash = entry.hash.as_slice();
                    session.count(insert, &[&entry.number, &workspace, &entry.note, &hash]).await.map(|_| ())
                })
                .await
        })
    }
}
