//! What administrators keep: workspaces, API keys and settings.

use std::collections::BTreeSet;

use abide_core::id::{KeyId, WorkspaceId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use crate::admin::KEYS;
use crate::roles::{Admin, WriteAdmin};
use crate::row::RowReader;
use crate::sqlite::column;
use crate::sqlite::query::{collect, first};
use crate::sqlite::{Handle, Sqlite};
use crate::{ApiKey, Error, KeyHash, Workspace};

impl<Role: Send> Admin for Handle<Role> {
    fn workspaces(&mut self) -> Result<Vec<Workspace>, Error> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT number, name, created_at FROM workspaces ORDER BY number")?;
        collect(statement.query([])?, |row| Workspace::read(row))
    }

    fn key_by_hash(&mut self, hash: &KeyHash) -> Result<Option<ApiKey>, Error> {
        let mut statement = self.connection.prepare_cached(&format!("{KEYS} WHERE hash = ?"))?;
        first(statement.query([hash])?, |row| ApiKey::read(row))
    }

    fn keys(&mut self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, Error> {
        let sql = format!("{KEYS} WHERE workspace = ? ORDER BY created_at, id");
        let mut statement = self.connection.prepare_cached(&sql)?;
        collect(statement.query([workspace.0])?, |row| ApiKey::read(row))
    }

    fn setting(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        setting(&self.connection, name)
    }
}

impl WriteAdmin for Sqlite {
    fn add_workspace(&mut self, name: &str, now: Timestamp) -> Result<WorkspaceId, Error> {
        self.change(|connection| {
            let mut statement = connection.prepare_cached(
        "INSERT INTO workspaces (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING number",
    )?;
            let added = first(statement.query(params![name, column::instant(now)])?, |row| row.workspace(0))?;
            added.ok_or_else(|| Error::WorkspaceExists(name.to_owned()))
        })
    }

    fn add_key(&mut self, key: &ApiKey) -> Result<(), Error> {
        self.change(|transaction| {
            check_workspaces(transaction, [key.workspace])?;
            let added = transaction
        .prepare_cached(
            "INSERT INTO api_keys (id, workspace, name, hash, prefix, scopes, created_at, last_used_at,
                 revoked_at, expires_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            column::key(key.id),
            key.workspace.0,
            key.name,
            key.hash,
            key.prefix,
            column::scopes(&key.scopes),
            column::instant(key.created_at),
            key.last_used_at.map(column::instant),
            key.revoked_at.map(column::instant),
            key.expires_at.map(column::instant),
        ])?;
            if added == 0 {
                return Err(Error::KeyExists(key.id));
            }
            Ok(())
        })
    }

    fn revoke_key(&mut self, id: KeyId, now: Timestamp) -> Result<bool, Error> {
        self.change(|connection| {
            let mut statement = connection
                .prepare_cached("UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1")?;
            Ok(statement.execute(params![column::key(id), column::instant(now)])? == 1)
        })
    }

    fn touch_key(&mut self, id: KeyId, now: Timestamp) -> Result<(), Error> {
        self.change(|connection| {
            let mut statement = connection.prepare_cached(
                "UPDATE api_keys SET last_used_at = ?2
         WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)",
            )?;
            statement.execute(params![column::key(id), column::instant(now)])?;
            Ok(())
        })
    }

    fn put_setting(&mut self, name: &str, value: &[u8]) -> Result<(), Error> {
        self.change(|transaction| put_setting(transaction, name, value))
    }
}

/// What is in a workspace that is not there would be in no list.
pub(super) fn check_workspaces(
    transaction: &Transaction<'_>,
    workspaces: impl IntoIterator<Item = WorkspaceId>,
) -> Result<(), Error> {
    let workspaces: BTreeSet<WorkspaceId> = workspaces.into_iter().collect();
    for workspace in workspaces.into_iter().filter(|workspace| *workspace != WorkspaceId::DEFAULT) {
        let mut statement = transaction.prepare_cached("SELECT 1 FROM workspaces WHERE number = ?")?;
        if !statement.exists([workspace.0])? {
            return Err(Error::UnknownWorkspace(workspace));
        }
    }
    Ok(())
}

pub(super) fn setting(connection: &Connection, name: &str) -> Result<Option<Vec<u8>>, Error> {
    let mut statement = connection.prepare_cached("SELECT value FROM settings WHERE name = ?")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

pub(super) fn put_setting(transaction: &Transaction<'_>, name: &str, value: &[u8]) -> Result<(), Error> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    )?;
    statement.execute(params![name, value])?;
    Ok(())
}
