//! What belongs to no single workspace: workspaces, keys as callers show them, settings, the audit log, copies.

use std::collections::HashSet;
use std::path::PathBuf;

use abide_core::id::{KeyId, WorkspaceId};
use abide_core::status::RunStatus;
use abide_store::audit::{self, Verified};
use abide_store::{ApiKey, AuditEntry, AuditNote, KeyHash, Page, Scope, Workspace};

use super::Engine;
use crate::error::Error;

/// The setting that names the first key of a store. Of nodes that start at the same time, one writes it.
const FIRST_KEY: &str = "first-key";

/// What belongs to no single workspace. Made by [`Engine::admin`].
#[derive(Clone, Copy, Debug)]
pub struct Admin<'e>(pub(super) &'e Engine);

impl Admin<'_> {
    /// Checks that the store answers.
    pub async fn ping(self) -> Result<(), Error> {
        self.0.readers.read(None, |store| store.setting("ready").map(drop)).await
    }

    /// All workspaces, by number. The default one always exists.
    pub async fn workspaces(self) -> Result<Vec<Workspace>, Error> {
        self.0.readers.read(None, |store| store.workspaces()).await
    }

    /// Makes a workspace; `None` if there is one of that name.
    pub async fn add_workspace(self, name: &str) -> Result<Option<Workspace>, Error> {
        let (name, created_at) = (name.to_owned(), self.0.now());
        let add = move |store: &mut dyn abide_store::Store| {
            if store.workspaces()?.iter().any(|known| known.name == name) {
                return Ok(None);
            }
            let id = store.add_workspace(&name, created_at)?;
            Ok(Some(Workspace { id, name, created_at }))
        };
        self.0.write(add).await
    }

    /// How many runs there are of each status, in all workspaces.
    pub async fn count_runs(self) -> Result<Vec<(RunStatus, u64)>, Error> {
        self.0.readers.read(None, |store| store.counts(None)).await
    }

    /// The key with this hash, whatever its workspace; `None` if there is none.
    pub async fn key_by_hash(self, hash: KeyHash) -> Result<Option<ApiKey>, Error> {
        self.0.readers.look_up(move |store| store.key_by_hash(&hash)).await
    }

    /// The hashes of all keys of all workspaces.
    pub async fn key_hashes(self) -> Result<HashSet<KeyHash>, Error> {
        let read = self.0.readers.read(None, |store| {
            let mut hashes = HashSet::new();
            for workspace in store.workspaces()? {
                hashes.extend(store.keys(workspace.id)?.into_iter().map(|key| key.hash));
            }
            Ok(hashes)
        });
        read.await
    }

    /// Notes that a key was used. Every call is synced: not for every request.
    pub async fn touch_key(self, key: KeyId) -> Result<(), Error> {
        let now = self.0.now();
        self.0.write(move |store| store.touch_key(key, now)).await
    }

    /// Adds the first admin key of the default workspace, with its entry in the audit log, unless a valid one is there. Says
    /// whether it did. Of nodes that try at the same time, one does.
    pub async fn add_first_key(self, key: ApiKey, note: AuditNote) -> Result<bool, Error> {
        let now = self.0.now();
        let is_valid = move |key: &ApiKey| {
            key.revoked_at.is_none()
                && key.expires_at.is_none_or(|at| now < at)
                && key.scopes.contains(&Scope::Admin)
        };
        let add = move |store: &mut dyn abide_store::Store| {
            // Read before the keys: a key that another node adds later is seen by one of the two.
            let was = store.setting(FIRST_KEY)?;
            if store.keys(WorkspaceId::DEFAULT)?.iter().any(is_valid) {
                return Ok(false);
            }
            store.add_key(&key)?;
            if !store.change_setting(FIRST_KEY, was.as_deref(), key.id.to_string().as_bytes())? {
                store.revoke_key(key.id, now)?;
                return Ok(false);
            }
            store.append_audit(&note)?;
            Ok(true)
        };
        self.0.write(add).await
    }

    /// A setting of the store; `None` if it was never put.
    pub async fn setting(self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let name = name.to_owned();
        self.0.readers.look_up(move |store| store.setting(&name)).await
    }

    /// Compares and sets a setting; `was` is `None` if there must be none yet. Says whether it was set.
    pub async fn change_setting(
        self,
        name: &str,
        was: Option<Vec<u8>>,
        value: Vec<u8>,
    ) -> Result<bool, Error> {
        let name = name.to_owned();
        self.0.write(move |store| store.change_setting(&name, was.as_deref(), &value)).await
    }

    /// Appends to the audit log. Entries are never changed or removed.
    pub async fn append_audit(self, note: AuditNote) -> Result<(), Error> {
        self.0.write(move |store| store.append_audit(&note)).await
    }

    /// The audit entries of a workspace or of all, the last one first.
    pub async fn audit(
        self,
        workspace: Option<WorkspaceId>,
        page: Page<u64>,
    ) -> Result<Vec<AuditEntry>, Error> {
        self.0.readers.read(workspace, move |store| store.audit(workspace, &page)).await
    }

    /// Checks the hash chain of the audit log.
    pub async fn verify_audit(self) -> Result<Verified, Error> {
        self.0.readers.read(None, audit::verify).await
    }

    /// Writes a copy of the whole store, as of one instant between two commits, to a file that does not exist yet.
    /// When it returns, the copy is synced to disk.
    pub async fn backup(self, to: impl Into<PathBuf>) -> Result<(), Error> {
        let to = to.into();
        self.0.readers.read(None, move |store| store.backup(&to)).await
    }
}
