//! What administrators keep: workspaces, API keys and settings, as plain data. What a scope allows is decided by whoever
//! asks for it.

use std::collections::BTreeSet;
use std::fmt;

use abide_core::id::{KeyId, WorkspaceId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::row::RowReader;

/// Reads workspaces, API keys and settings.
pub trait Admin: Send {
    /// All of them, by number. The default one is there from the beginning.
    fn workspaces(&mut self) -> Result<Vec<Workspace>, Error>;

    fn key_by_hash(&mut self, hash: &KeyHash) -> Result<Option<ApiKey>, Error>;

    /// The keys of a workspace, oldest first, with those that were revoked.
    fn keys(&mut self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, Error>;

    fn setting(&mut self, name: &str) -> Result<Option<Vec<u8>>, Error>;
}

/// Writes workspaces, API keys and settings, each in a transaction of its own.
pub trait WriteAdmin: Admin {
    /// Makes a workspace. No two have the same name.
    fn add_workspace(&mut self, name: &str, now: Timestamp) -> Result<WorkspaceId, Error>;

    fn add_key(&mut self, key: &ApiKey) -> Result<(), Error>;

    /// Says whether there is such a key. The first revocation stands.
    fn revoke_key(&mut self, id: KeyId, now: Timestamp) -> Result<bool, Error>;

    /// Notes that a key was used. Every call is synced: not for every request.
    fn touch_key(&mut self, id: KeyId, now: Timestamp) -> Result<(), Error>;

    fn put_setting(&mut self, name: &str, value: &[u8]) -> Result<(), Error>;

    /// Puts a setting if it still is what it was; `None`: if there is none yet. Says whether it did.
    fn change_setting(&mut self, name: &str, was: Option<&[u8]>, value: &[u8]) -> Result<bool, Error> {
        // Whoever writes here is the only one.
        let is_as_it_was = self.setting(name)?.as_deref() == was;
        if is_as_it_was {
            self.put_setting(name, value)?;
        }
        Ok(is_as_it_was)
    }
}

/// A part of a store whose names, events and lists are its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    pub id: WorkspaceId,
    pub name: String,
    pub created_at: Timestamp,
}

impl Workspace {
    /// Of `number, name, created_at`.
    pub(crate) fn read(row: &impl RowReader) -> Result<Workspace, Error> {
        Ok(Workspace { id: row.workspace(0)?, name: row.name(1)?, created_at: row.instant(2)? })
    }
}

/// A key without its secret, of which only a hash is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    pub id: KeyId,
    pub workspace: WorkspaceId,
    pub name: String,
    #[serde(skip)]
    pub hash: KeyHash,
    /// The first characters of the secret, by which people tell keys apart.
    pub prefix: String,
    pub scopes: BTreeSet<Scope>,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
}

/// What is read of a key, by [`ApiKey::read`].
pub(crate) const KEYS: &str =
    "SELECT id, workspace, name, hash, prefix, scopes, created_at, last_used_at, revoked_at,
    expires_at FROM api_keys";

impl ApiKey {
    pub(crate) fn read(row: &impl RowReader) -> Result<ApiKey, Error> {
        Ok(ApiKey {
            id: KeyId(row.id(0)?),
            workspace: row.workspace(1)?,
            name: row.name(2)?,
            hash: row.hash(3)?,
            prefix: row.name(4)?,
            scopes: row.scopes(5)?,
            created_at: row.instant(6)?,
            last_used_at: row.optional_instant(7)?,
            revoked_at: row.optional_instant(8)?,
            expires_at: row.optional_instant(9)?,
        })
    }
}

/// The SHA-256 of a key's secret.
pub type KeyHash = [u8; 32];

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    Read,
    /// Store workflows and schedules.
    Deploy,
    /// Start, signal, notify and steer.
    Run,
    Worker,
    Approve,
    Admin,
}

impl Scope {
    pub const ALL: [Scope; 6] =
        [Scope::Read, Scope::Deploy, Scope::Run, Scope::Worker, Scope::Approve, Scope::Admin];
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Read => "read",
            Scope::Deploy => "deploy",
            Scope::Run => "run",
            Scope::Worker => "worker",
            Scope::Approve => "approve",
            Scope::Admin => "admin",
        })
    }
}
