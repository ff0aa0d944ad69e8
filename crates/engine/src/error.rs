//! Why the engine did not do what a caller asked for.

use std::sync::Arc;
use std::time::Duration;

use abide_core::apply::BadHistory;
use abide_core::definition::{BadInput, Rejected};
use abide_core::id::{RunId, ScheduleId};
use abide_core::refusal::Refusal;
use abide_store::Owner;

/// Why the engine did not do what a caller asked for.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// There is no such run, or it is of another workspace.
    #[error("there is no run {0}")]
    UnknownRun(RunId),
    /// There is no such workflow, or no such version of it.
    #[error("there is no workflow `{name}`{}", version.as_ref().map(|version| format!(" of version `{version}`")).unwrap_or_default())]
    UnknownDefinition {
        /// The name of the workflow.
        name: String,
        /// The version that was asked for; `None`: the newest.
        version: Option<String>,
    },
    /// There is no such schedule, or it is of another workspace.
    #[error("there is no schedule {0}")]
    UnknownSchedule(ScheduleId),
    /// The workspace has a schedule of this name.
    #[error("there is a schedule `{0}` already; give it another name")]
    ScheduleExists(String),
    /// Another definition is stored under this name and version; definitions are immutable.
    #[error("workflow `{name}` of version `{version}` exists and is another; change the version")]
    DefinitionExists {
        /// The name of the workflow.
        name: String,
        /// The version.
        version: String,
    },
    /// The document of a workflow has problems.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// The core refused the command.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Content that a voter has edited does not satisfy the schema of the approval: where it does not, and why.
    #[error("the edited content is not what the approval takes: {}", listed(.0))]
    InvalidContent(Vec<(String, String)>),
    /// Another child would exceed the limit of descendants.
    #[error(
        "the run {root} has {limit} descendants, which is the limit; start fewer children, or runs of their own"
    )]
    TooManyDescendants {
        /// The run at the root of the tree of children.
        root: RunId,
        /// The limit.
        limit: u64,
    },
    /// Another run would exceed the limit of open runs.
    #[error(
        "the workspace has {limit} open runs, which is the limit; wait until some have ended, or cancel them"
    )]
    TooManyOpenRuns {
        /// The limit of the workspace.
        limit: u64,
    },
    /// The run or the schedule is held: nothing is decided about it until it is released.
    #[error("{owner} is held: {reason}; `abide release {owner}` lets it go on")]
    Held {
        /// The run or the schedule.
        owner: Owner,
        /// Why it is held.
        reason: String,
    },
    /// The run changed in the same moment.
    #[error("{0} has just changed; try again")]
    Busy(RunId),
    /// Too many requests wait.
    #[error("overloaded; try again in {} ms", retry_after.as_millis())]
    Overloaded {
        /// How long the caller should wait before it tries again.
        retry_after: Duration,
    },
    /// The store could not do it, and nothing was acknowledged. Nothing is stored either, unless a sync failed and
    /// the machine then stopped.
    #[error(transparent)]
    Store(Arc<abide_store::Error>),
    /// The engine only reads.
    #[error("the server was started with `--paused`: it shows what there is and changes nothing")]
    Paused,
    /// The store is sealed under another master key.
    #[error("{0}")]
    MasterKey(String),
    /// A thread of the engine could not be started.
    #[error("the engine could not be started: {0}")]
    NotStarted(String),
    /// The engine has been shut down.
    #[error("the engine has been shut down")]
    Stopped,
}

impl From<BadInput> for Error {
    fn from(bad: BadInput) -> Error {
        Error::Refused(bad.into())
    }
}

impl Error {
    /// Whether another node committed first: decided again, on what that node wrote, it will do.
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
