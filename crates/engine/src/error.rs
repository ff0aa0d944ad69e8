//! What a caller of the engine can be told instead of an answer.

use std::time::Duration;

use abide_core::definition::Rejected;
use abide_core::id::RunId;
use abide_core::refusal::Refusal;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no run {0}")]
    UnknownRun(RunId),
    #[error("there is no workflow `{name}`{}", version.as_ref().map(|version| format!(" of version `{version}`")).unwrap_or_default())]
    UnknownDefinition { name: String, version: Option<String> },
    #[error("workflow `{name}` of version `{version}` exists and is another; change the version")]
    DefinitionExists { name: String, version: String },
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("overloaded; try again in {} ms", retry_after.as_millis())]
    Overloaded { retry_after: Duration },
    /// Nothing was changed.
    #[error("{0}")]
    Store(String),
    #[error("the engine has been shut down")]
    Stopped,
}

impl From<abide_store::Error> for Error {
    fn from(error: abide_store::Error) -> Error {
        Error::Store(error.to_string())
    }
}
