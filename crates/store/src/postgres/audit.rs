//! The audit log.

use abide_core::id::WorkspaceId;
use tokio_postgres::Row;

use crate::audit::{AuditEntry, AuditHash, AuditNote, next};
use crate::postgres::column::{self, Column};
use crate::postgres::link::Link;
use crate::{Error, Page};

/// Those who append at the same time do it one after the other: each needs the hash of the one before.
pub(super) fn append(link: &mut Link, note: &AuditNote) -> Result<(), Error> {
    let insert = "INSERT INTO audit (number, workspace, note, hash) VALUES ($1, $2, $3, $4)";
    link.ask(async |session| {
        session
            .transaction("BEGIN; LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE", async |session| {
                let last = "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1";
                let last = session.first(last, &[]).await?;
                let last = last.map(|row| Ok::<_, Error>((row.try_get(0)?, hash(&row, 1)?))).transpose()?;
                let entry = next(last, note);
                let workspace = column::workspace(note.workspace);
                let hash = entry.hash.as_slice();
                session.count(insert, &[&entry.number, &workspace, &entry.note, &hash]).await.map(|_| ())
            })
            .await
    })
}

fn hash(row: &Row, index: usize) -> Result<AuditHash, Error> {
    let bytes: &[u8] = row.try_get(index)?;
    bytes.try_into().map_err(|_| Error::Corrupt("a hash of the wrong length".to_owned()))
}

fn read(row: &Row) -> Result<AuditEntry, Error> {
    Ok(AuditEntry { number: row.number(0)?, note: row.json(1)?, hash: hash(row, 2)? })
}

pub(super) fn list(
    link: &mut Link,
    workspace: Option<WorkspaceId>,
    page: &Page<u64>,
) -> Result<Vec<AuditEntry>, Error> {
    let before = page.after.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    let rows = match workspace {
        Some(workspace) => {
            let sql = "SELECT number, note, hash FROM audit WHERE workspace = $1 AND number < $2
                ORDER BY number DESC LIMIT $3";
            let workspace = column::workspace(workspace);
            link.ask(async |session| session.rows(sql, &[&workspace, &before, &limit]).await)?
        }
        None => {
            let sql = "SELECT number, note, hash FROM audit WHERE number < $1 ORDER BY number DESC LIMIT $2";
            link.ask(async |session| session.rows(sql, &[&before, &limit]).await)?
        }
    };
    rows.iter().map(read).collect()
}

pub(super) fn chain(
    link: &mut Link,
    after: u64,
    limit: usize,
) -> Result<Vec<(u64, String, AuditHash)>, Error> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let sql = "SELECT number, note, hash FROM audit WHERE number > $1 ORDER BY number LIMIT $2";
    let rows = link.ask(async |session| session.rows(sql, &[&after, &limit]).await)?;
    rows.iter().map(|row| Ok((row.number(0)?, row.try_get(1)?, hash(row, 2)?))).collect()
}
