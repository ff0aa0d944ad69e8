//! API keys as they are stored: plain data. What a scope allows is decided by whoever asks for it.

use std::collections::BTreeSet;
use std::fmt;

use abide_core::id::{KeyId, WorkspaceId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

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
