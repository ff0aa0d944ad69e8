//! What administrators keep: workspaces, API keys and settings.

use std::collections::BTreeSet;

use abide_core::id::{KeyId, WorkspaceId};
use jiff::Timestamp;

use crate::admin::KEYS;
use crate::postgres::column::{self};
use crate::postgres::connection::Session;
use crate::postgres::{Handle, Postgres};
use crate::roles::{Admin, WriteAdmin};
use crate::row::RowReader;
use crate::{ApiKey, Error, KeyHash, Workspace};

impl<Role: Send> Admin for Handle<Role> {
    fn workspaces(&mut self) -> Result<Vec<Workspace>, Error> {
        let sql = "SELECT number, name, created_at FROM workspaces ORDER BY number";
        let rows = self.connection.ask(async |session| session.rows(sql, &[]).await)?;
        rows.iter().map(Workspace::read).collect()
    }

    fn key_by_hash(&mut self, hash: &KeyHash) -> Result<Option<ApiKey>, Error> {
        let sql = format!("{KEYS} WHERE hash = $1");
        let found = self.connection.ask(async |session| session.first(&sql, &[&hash.as_slice()]).await)?;
        found.as_ref().map(ApiKey::read).transpose()
    }

    fn keys(&mut self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, Error> {
        let sql = format!("{KEYS} WHERE workspace = $1 ORDER BY created_at, id");
        let rows = self
            .connection
            .ask(async |session| session.rows(&sql, &[&column::workspace(workspace)]).await)?;
        rows.iter().map(ApiKey::read).collect()
    }

    fn setting(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let sql = "SELECT value FROM settings WHERE name = $1";
        let found = self.connection.ask(async |session| session.first(sql, &[&column::name(name)]).await)?;
        Ok(found.map(|row| row.try_get(0)).transpose()?)
    }
}

impl WriteAdmin for Postgres {
    /// Numbers have no gaps, so those who add workspaces at the same time do it one after the other.
    fn add_workspace(&mut self, name: &str, now: Timestamp) -> Result<WorkspaceId, Error> {
        let sql = "INSERT INTO workspaces (number, name, created_at)
        SELECT max(number) + 1, $1::text, $2 FROM workspaces ON CONFLICT DO NOTHING RETURNING number";
        let added = self.connection.ask(async |session| {
            session
                .transaction("BEGIN; LOCK TABLE workspaces IN SHARE ROW EXCLUSIVE MODE", async |session| {
                    session.first(sql, &[&column::name(name), &column::instant(now)]).await
                })
                .await
        })?;
        added.ok_or_else(|| Error::WorkspaceExists(name.to_owned()))?.workspace(0)
    }

    fn add_key(&mut self, key: &ApiKey) -> Result<(), Error> {
        let sql = "INSERT INTO api_keys (id, workspace, name, hash, prefix, scopes, created_at, last_used_at, revoked_at,
            expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
        let added = self.connection.ask(async |session| {
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

    fn revoke_key(&mut self, id: KeyId, now: Timestamp) -> Result<bool, Error> {
        let sql = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1";
        let values = (column::key(id), column::instant(now));
        self.connection.ask(async |session| Ok(session.count(sql, &[&values.0, &values.1]).await? == 1))
    }

    fn touch_key(&mut self, id: KeyId, now: Timestamp) -> Result<(), Error> {
        let sql = "UPDATE api_keys SET last_used_at = $2
        WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
        let values = (column::key(id), column::instant(now));
        self.connection.ask(async |session| session.count(sql, &[&values.0, &values.1]).await.map(|_| ()))
    }

    fn put_setting(&mut self, name: &str, value: &[u8]) -> Result<(), Error> {
        let sql = "INSERT INTO settings (name, value) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.connection
            .ask(async |session| session.count(sql, &[&column::name(name), &value]).await.map(|_| ()))
    }

    fn change_setting(&mut self, name: &str, was: Option<&[u8]>, value: &[u8]) -> Result<bool, Error> {
        let name = column::name(name);
        let changed = self.connection.ask(async |session| match was {
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
