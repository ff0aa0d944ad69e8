//! The API keys of a workspace.

use abide_core::id::KeyId;
use abide_store::ApiKey;

use super::WorkspaceHandle;
use crate::error::Error;

/// The API keys of a workspace. Made by [`WorkspaceHandle::keys`].
#[derive(Clone, Copy, Debug)]
pub struct ApiKeys<'e>(pub(super) WorkspaceHandle<'e>);

impl ApiKeys<'_> {
    /// All keys of the workspace, the oldest first, revoked ones included.
    pub async fn list(self) -> Result<Vec<ApiKey>, Error> {
        let WorkspaceHandle { engine, id } = self.0;
        engine.readers.read(Some(id), move |store| store.keys(id)).await
    }

    /// Adds a key. When it returns, the key is on disk.
    pub async fn add(self, key: ApiKey) -> Result<(), Error> {
        let key = ApiKey { workspace: self.0.id, ..key };
        self.0.engine.write(move |store| store.add_key(&key)).await
    }

    /// Revokes a key of this workspace. The first revocation stands. Says whether there is such a key.
    pub async fn revoke(self, key: KeyId) -> Result<bool, Error> {
        if !self.list().await?.iter().any(|known| known.id == key) {
            return Ok(false);
        }
        let engine = self.0.engine;
        let now = engine.now();
        engine.write(move |store| store.revoke_key(key, now)).await
    }
}
