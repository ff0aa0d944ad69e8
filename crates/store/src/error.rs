//! What can go wrong with a store, by what can be done about it.

use abide_core::id::{DefinitionId, KeyId, RunId, WorkspaceId};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Try again later: the disk is full, the file is locked for a moment, the database cannot be reached.
    #[error("the store cannot write at the moment: {0}")]
    Unavailable(String),
    /// Another process has the file.
    #[error("{0} is in use by another process; stop it, or give this one a store of its own")]
    InUse(String),
    /// The file is not a store of ours, or it is damaged.
    #[error("{path} cannot be opened as a store: {why}; {what_to_do}")]
    Unusable { path: String, why: String, what_to_do: &'static str },
    /// The run has moved on since it was loaded: load it and decide again.
    #[error("{0} has moved on since it was loaded")]
    Conflict(RunId),
    /// Somebody else has used the key since it was looked up: what they were answered is there to be read.
    #[error("the idempotency key `{0}` has been used meanwhile")]
    KeyUsed(String),
    #[error("version `{version}` of `{name}` is there already, as {id}; give it another version")]
    DefinitionExists { id: DefinitionId, name: String, version: String },
    #[error("there is a workspace `{0}` already; give it another name")]
    WorkspaceExists(String),
    #[error("there is a key {0}, or one with its secret, already")]
    KeyExists(KeyId),
    #[error("there is no workspace {0}")]
    UnknownWorkspace(WorkspaceId),
    #[error("no backup was written to {path}: {why}")]
    BackupFailed { path: String, why: String },
    /// What was read does not make sense: a defect, or damage.
    #[error("the store holds something unreadable: {0}")]
    Corrupt(String),
}
