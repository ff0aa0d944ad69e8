//! What can go wrong with a store, by what can be done about it.

use abide_core::id::{DefinitionId, KeyId, RunId, WorkspaceId};

use crate::holds::Owner;

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
    /// What was acknowledged is not there.
    #[error(
        "{path} ends {missing} commits before the last one that was acknowledged: its log was cut short or damaged, or an \
         older copy was put in its place; restore what is missing, or open it with --accept-loss to go on without it"
    )]
    Lost { path: String, missing: u64 },
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
    /// What there is of one run or schedule does not make sense: it is damaged. Others are not concerned.
    #[error("{} is damaged: {what}", Owner::of(*owner))]
    Damaged { owner: RunId, what: String },
    /// What was read does not make sense: a defect, or damage.
    #[error("the store holds something unreadable: {0}")]
    Corrupt(String),
}

impl Error {
    /// Whether something is damaged that does not mend itself.
    pub fn is_damage(&self) -> bool {
        match self {
            Error::Damaged { .. } | Error::Corrupt(_) => true,
            Error::Unavailable(_)
            | Error::InUse(_)
            | Error::Unusable { .. }
            | Error::Lost { .. }
            | Error::Conflict(_)
            | Error::KeyUsed(_)
            | Error::DefinitionExists { .. }
            | Error::WorkspaceExists(_)
            | Error::KeyExists(_)
            | Error::UnknownWorkspace(_)
            | Error::BackupFailed { .. } => false,
        }
    }

    /// Damage that was met while something of this run or schedule was read or written is its own.
    pub(crate) fn of(self, owner: RunId) -> Error {
        match self {
            Error::Corrupt(what) => Error::Damaged { owner, what },
            Error::Unavailable(_)
            | Error::InUse(_)
            | Error::Unusable { .. }
            | Error::Lost { .. }
            | Error::Conflict(_)
            | Error::KeyUsed(_)
            | Error::DefinitionExists { .. }
            | Error::WorkspaceExists(_)
            | Error::KeyExists(_)
            | Error::UnknownWorkspace(_)
            | Error::BackupFailed { .. }
            | Error::Damaged { .. } => self,
        }
    }
}
