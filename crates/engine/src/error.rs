//! What a caller of the engine can be told instead of an answer.

use std::sync::Arc;
use std::time::Duration;

use abide_core::apply::BadHistory;
use abide_core::definition::{BadInput, Rejected};
use abide_core::id::{RunId, ScheduleId};
use abide_core::refusal::Refusal;
use abide_store::Owner;

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no run {0}")]
    UnknownRun(RunId),
    #[error("there is no workflow `{name}`{}", version.as_ref().map(|version| format!(" of version `{version}`")).unwrap_or_default())]
    UnknownDefinition { name: String, version: Option<String> },
    #[error("there is no schedule {0}")]
    UnknownSchedule(ScheduleId),
    #[error("there is a schedule `{0}` already; give it another name")]
    ScheduleExists(String),
    #[error("workflow `{name}` of version `{version}` exists and is another; change the version")]
    DefinitionExists { name: String, version: String },
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Content that a voter has edited does not satisfy the schema of the approval: where it does not, and why.
    #[error("the edited content is not what the approval takes: {}", listed(.0))]
    InvalidContent(Vec<(String, String)>),
    #[error(
        "the run {root} has {limit} descendants, which is the limit; start fewer children, or runs of their own"
    )]
    TooManyDescendants { root: RunId, limit: u64 },
    #[error(
        "the workspace has {limit} open runs, which is the limit; wait until some have ended, or cancel them"
    )]
    TooManyOpenRuns { limit: u64 },
    /// Nothing is decided about it until it is released.
    #[error("{owner} is held: {reason}; `abide release {owner}` lets it go on")]
    Held { owner: Owner, reason: String },
    /// Something else was decided about the run in the same moment.
    #[error("{0} has just changed; try again")]
    Busy(RunId),
    #[error("overloaded; try again in {} ms", retry_after.as_millis())]
    Overloaded { retry_after: Duration },
    /// Nothing was acknowledged. Nothing is there either, unless a sync failed and the machine then stopped.
    #[error(transparent)]
    Store(Arc<abide_store::Error>),
    /// The engine only looks.
    #[error("the server was started with `--paused`: it shows what there is and changes nothing")]
    Paused,
    /// The store is sealed under another master key.
    #[error("{0}")]
    MasterKey(String),
    /// A thread could not be started.
    #[error("the engine could not be started: {0}")]
    NotStarted(String),
    #[error("the engine has been shut down")]
    Stopped,
}

impl From<BadInput> for Error {
    fn from(bad: BadInput) -> Error {
        Error::Refused(bad.into())
    }
}

impl Error {
    /// Others were first. RoundBatch again, on what they wrote, it will do.
    pub(crate) fn is_conflict(&self) -> bool {
        match self {
            Error::Store(error) => {
                matches!(**error, abide_store::Error::Conflict(_) | abide_store::Error::KeyUsed(_))
            }
            Error::UnknownRun(_)
            | Error::UnknownDefinition { .. }
            | Error::UnknownSchedule(_)
            | Error::ScheduleExists(_)
            | Error::DefinitionExists { .. }
            | Error::Rejected(_)
            | Error::Refused(_)
            | Error::InvalidContent(_)
            | Error::TooManyDescendants { .. }
            | Error::TooManyOpenRuns { .. }
            | Error::Held { .. }
            | Error::Busy(_)
            | Error::Overloaded { .. }
            | Error::Paused
            | Error::MasterKey(_)
            | Error::NotStarted(_)
            | Error::Stopped => false,
        }
    }

    /// Whether the error may go away by itself in a moment.
    pub(crate) fn passes(&self) -> bool {
        match self {
            Error::Store(error) => !error.is_damage(),
            Error::Overloaded { .. }
            | Error::Busy(_)
            | Error::NotStarted(_)
            | Error::Stopped
            | Error::Paused
            | Error::MasterKey(_) => true,
            Error::UnknownRun(_)
            | Error::UnknownDefinition { .. }
            | Error::UnknownSchedule(_)
            | Error::ScheduleExists(_)
            | Error::DefinitionExists { .. }
            | Error::Rejected(_)
            | Error::Refused(_)
            | Error::InvalidContent(_)
            | Error::TooManyDescendants { .. }
            | Error::TooManyOpenRuns { .. }
            | Error::Held { .. } => false,
        }
    }

    pub(crate) fn unreadable(run: RunId, why: &BadHistory) -> Error {
        let what = format!("its history cannot be replayed: {why}");
        abide_store::Error::Damaged { owner: run, what }.into()
    }
}

impl From<abide_store::Error> for Error {
    fn from(error: abide_store::Error) -> Error {
        Error::Store(Arc::new(error))
    }
}

fn listed(errors: &[(String, String)]) -> String {
    let places: Vec<String> = errors.iter().map(|(place, why)| format!("{place}: {why}")).collect();
    places.join("; ")
}
