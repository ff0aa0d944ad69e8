//! What administrators keep: workspaces, API keys, settings, and revoked links. Each write is a transaction of its
//! own.

use std::collections::BTreeSet;

use abide_core::id::{KeyId, WaitpointId, WorkspaceId};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::sqlite::column::{self, Column};
use crate::sqlite::find::{collect, first};
use crate::{ApiKey, Error, KeyHash, Workspace};

pub(super) fn workspaces(connection: &Connection) -> Result<Vec<Workspace>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT number, name, created_at FROM workspaces ORDER BY number")?;
    collect(statement.query([])?, |row| {
        Ok(Workspace { id: row.workspace(0)?, name: row.get(1)?, created_at: row.instant(2)? })
    })
}

pub(super) fn add_workspace(
    connection: &Connection,
    name: &str,
    now: Timestamp,
) -> Result<WorkspaceId, Error> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO workspaces (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING number",
    )?;
    let added = first(statement.query(params![name, column::instant(now)])?, |row| row.workspace(0))?;
    added.ok_or_else(|| Error::WorkspaceExists(name.to_owned()))
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

const KEYS: &str = "SELECT id, workspace, name, hash, prefix, scopes, created_at, last_used_at, revoked_at,
    expires_at FROM api_keys";

fn read_key(row: &Row<'_>) -> Result<ApiKey, Error> {
    Ok(ApiKey {
        id: KeyId(row.id(0)?),
        workspace: row.workspace(1)?,
        name: row.get(2)?,
        hash: row.get(3)?,
        prefix: row.get(4)?,
        scopes: row.scopes(5)?,
        created_at: row.instant(6)?,
        last_used_at: row.optional_instant(7)?,
        revoked_at: row.optional_instant(8)?,
        expires_at: row.optional_instant(9)?,
    })
}

pub(super) fn key_by_hash(connection: &Connection, hash: &KeyHash) -> Result<Option<ApiKey>, Error> {
    let mut statement = connection.prepare_cached(&format!("{KEYS} WHERE hash = ?"))?;
    first(statement.query([hash])?, read_key)
}

pub(super) fn keys(connection: &Connection, workspace: WorkspaceId) -> Result<Vec<ApiKey>, Error> {
    let sql = format!("{KEYS} WHERE workspace = ? ORDER BY created_at, id");
    let mut statement = connection.prepare_cached(&sql)?;
    collect(statement.query([workspace.0])?, read_key)
}

pub(super) fn add_key(transaction: &Transaction<'_>, key: &ApiKey) -> Result<(), Error> {
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
}

pub(super) fn revoke_key(connection: &Connection, id: KeyId, now: Timestamp) -> Result<bool, Error> {
    let mut statement = connection
        .prepare_cached("UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1")?;
    Ok(statement.execute(params![column::key(id), column::instant(now)])? == 1)
}

pub(super) fn touch_key(connection: &Connection, id: KeyId, now: Timestamp) -> Result<(), Error> {
    let mut statement = connection.prepare_cached(
        "UPDATE api_keys SET last_used_at = ?2
         WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)",
    )?;
    statement.execute(params![column::key(id), column::instant(now)])?;
    Ok(())
}

pub(super) fn setting(connection: &Connection, name: &str) -> Result<Option<Vec<u8>>, Error> {
    let mut statement = connection.prepare_cached("SELECT value FROM settings WHERE name = ?")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

pub(super) fn put_setting(connection: &Connection, name: &str, value: &[u8]) -> Result<(), Error> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    )?;
    statement.execute(params![name, value])?;
    Ok(())
}

pub(super) fn link_generation(connection: &Connection, waitpoint: WaitpointId) -> Result<u32, Error> {
    let mut statement =
        connection.prepare_cached("SELECT generation FROM link_generations WHERE run = ? AND number = ?")?;
    let rows = statement.query(params![column::run(waitpoint.run), waitpoint.number])?;
    Ok(first(rows, |row| row.number(0))?.unwrap_or(0))
}

pub(super) fn bump_link_generation(connection: &Connection, waitpoint: WaitpointId) -> Result<u32, Error> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO link_generations (run, number, generation)
             SELECT run, number, 1 FROM waitpoints WHERE run = ? AND number = ?
         ON CONFLICT DO UPDATE SET generation = generation + 1 RETURNING generation",
    )?;
    let rows = statement.query(params![column::run(waitpoint.run), waitpoint.number])?;
    Ok(first(rows, |row| row.number(0))?.unwrap_or(0))
}
