//! What administrators keep: workspaces, API keys, settings, and revoked links. Each write is a transaction of its
//! own.

use std::collections::BTreeSet;

use abide_core::id::{KeyId, WaitpointId, WorkspaceId};
use jiff::Timestamp;
use tokio_postgres::Row;

use crate::postgres::column::{self, Column};
use crate::postgres::link::{Link, Session};
use crate::{ApiKey, Error, KeyHash, Workspace};

pub(super) fn workspaces(link: &mut Link) -> Result<Vec<Workspace>, Error> {
    let sql = "SELECT number, name, created_at FROM workspaces ORDER BY number";
    let rows = link.ask(async |session| session.rows(sql, &[]).await)?;
    let read =
        |row: &Row| Ok(Workspace { id: row.workspace(0)?, name: row.name(1)?, created_at: row.instant(2)? });
    rows.iter().map(read).collect()
}

/// Numbers have no gaps, so those who add workspaces at the same time do it one after the other.
pub(super) fn add_workspace(link: &mut Link, name: &str, now: Timestamp) -> Result<WorkspaceId, Error> {
    let sql = "INSERT INTO workspaces (number, name, created_at)
        SELECT max(number) + 1, $1::text, $2 FROM workspaces ON CONFLICT DO NOTHING RETURNING number";
    let added = link.ask(async |session| {
        session
            .transaction("BEGIN; LOCK TABLE workspaces IN SHARE ROW EXCLUSIVE MODE", async |session| {
                session.first(sql, &[&column::name(name), &column::instant(now)]).await
            })
            .await
    })?;
    added.ok_or_else(|| Error::WorkspaceExists(name.to_owned()))?.workspace(0)
}

/// What is in a workspace that is not there would be in no list.
pub(super) async fn check_workspaces(
    session: &mut Session,
    workspaces: impl IntoIterator<Item = WorkspaceId>,
) -> Result<(), Error> {
    let workspaces: BTreeSet<WorkspaceId> = workspaces.into_iter().collect();
    for workspace in workspaces {
        if session.workspaces.contains(&workspace) {
            continue;
        }
        let sql = "SELECT number FROM workspaces WHERE number = $1";
        if session.first(sql, &[&column::workspace(workspace)]).await?.is_none() {
            return Err(Error::UnknownWorkspace(workspace));
        }
        session.workspaces.insert(workspace);
    }
    Ok(())
}

const KEYS: &str = "SELECT id, workspace, name, hash, prefix, scopes, created_at, last_used_at, revoked_at,
    expires_at FROM api_keys";

fn read_key(row: &Row) -> Result<ApiKey, Error> {
    let hash: &[u8] = row.try_get(3)?;
    Ok(ApiKey {
        id: KeyId(row.id(0)?),
        workspace: row.workspace(1)?,
        name: row.name(2)?,
        hash: hash.try_into().map_err(|_| Error::Corrupt("a hash of the wrong length".to_owned()))?,
        prefix: row.name(4)?,
        scopes: row.scopes(5)?,
        created_at: row.instant(6)?,
        last_used_at: row.optional_instant(7)?,
        revoked_at: row.optional_instant(8)?,
        expires_at: row.optional_instant(9)?,
    })
}

pub(super) fn key_by_hash(link: &mut Link, hash: &KeyHash) -> Result<Option<ApiKey>, Error> {
    let sql = format!("{KEYS} WHERE hash = $1");
    let found = link.ask(async |session| session.first(&sql, &[&hash.as_slice()]).await)?;
    found.as_ref().map(read_key).transpose()
}

pub(super) fn keys(link: &mut Link, workspace: WorkspaceId) -> Result<Vec<ApiKey>, Error> {
    let sql = format!("{KEYS} WHERE workspace = $1 ORDER BY created_at, id");
    let rows = link.ask(async |session| session.rows(&sql, &[&column::workspace(workspace)]).await)?;
    rows.iter().map(read_key).collect()
}

pub(super) fn add_key(link: &mut Link, key: &ApiKey) -> Result<(), Error> {
    let sql = "INSERT INTO api_keys (id, workspace, name, hash, prefix, scopes, created_at, last_used_at, revoked_at,
            expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
    let added = link.ask(async |session| {
        check_workspaces(session, [key.workspace]).await?;
        session
            .count(
                sql,
                &[
                    &column::key(key.id),
                    &column::workspace(key.workspace),
                    &column::name(&key.name),
                    &key.hash.as_slice(),
                    &column::name(&key.prefix),
                    &column::scopes(&key.scopes),
                    &column::instant(key.created_at),
                    &key.last_used_at.map(column::instant),
                    &key.revoked_at.map(column::instant),
                    &key.expires_at.map(column::instant),
                ],
            )
            .await
    })?;
    if added == 1 { Ok(()) } else { Err(Error::KeyExists(key.id)) }
}

pub(super) fn revoke_key(link: &mut Link, id: KeyId, now: Timestamp) -> Result<bool, Error> {
    let sql = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1";
    let values = (column::key(id), column::instant(now));
    link.ask(async |session| Ok(session.count(sql, &[&values.0, &values.1]).await? == 1))
}

pub(super) fn touch_key(link: &mut Link, id: KeyId, now: Timestamp) -> Result<(), Error> {
    let sql = "UPDATE api_keys SET last_used_at = $2
        WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
    let values = (column::key(id), column::instant(now));
    link.ask(async |session| session.count(sql, &[&values.0, &values.1]).await.map(|_| ()))
}

pub(super) fn setting(link: &mut Link, name: &str) -> Result<Option<Vec<u8>>, Error> {
    let sql = "SELECT value FROM settings WHERE name = $1";
    let found = link.ask(async |session| session.first(sql, &[&column::name(name)]).await)?;
    Ok(found.map(|row| row.try_get(0)).transpose()?)
}

pub(super) fn put_setting(link: &mut Link, name: &str, value: &[u8]) -> Result<(), Error> {
    let sql = "INSERT INTO settings (name, value) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    link.ask(async |session| session.count(sql, &[&column::name(name), &value]).await.map(|_| ()))
}

pub(super) fn change_setting(
    link: &mut Link,
    name: &str,
    was: Option<&[u8]>,
    value: &[u8],
) -> Result<bool, Error> {
    let name = column::name(name);
    let changed = link.ask(async |session| match was {
        None => {
            let sql = "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            session.count(sql, &[&name, &value]).await
        }
        Some(was) => {
            let sql = "UPDATE settings SET value = $2 WHERE name = $1 AND value = $3";
            session.count(sql, &[&name, &value, &was]).await
        }
    })?;
    Ok(changed == 1)
}

pub(super) fn link_generation(link: &mut Link, waitpoint: WaitpointId) -> Result<u32, Error> {
    let sql = "SELECT generation FROM link_generations WHERE run = $1 AND number = $2";
    let (run, number) = (column::run(waitpoint.run), i64::from(waitpoint.number));
    let found = link.ask(async |session| session.first(sql, &[&run, &number]).await)?;
    found.map_or(Ok(0), |row| row.number(0))
}

pub(super) fn bump_link_generation(link: &mut Link, waitpoint: WaitpointId) -> Result<u32, Error> {
    let sql = "INSERT INTO link_generations (run, number, generation)
            SELECT run, number, 1 FROM waitpoints WHERE run = $1 AND number = $2
        ON CONFLICT (run, number) DO UPDATE SET generation = link_generations.generation + 1
        RETURNING generation";
    let (run, number) = (column::run(waitpoint.run), i64::from(waitpoint.number));
    let found = link.ask(async |session| session.first(sql, &[&run, &number]).await)?;
    found.map_or(Ok(0), |row| row.number(0))
}
