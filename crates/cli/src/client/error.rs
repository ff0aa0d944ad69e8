//! Why a command came to nothing, and the exit code that says so.

use std::io;
use std::process::ExitCode;

use abide_sdk::ProblemKind;

use super::explained;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Failed(String),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    NotFound(String),
    #[error(
        "{server} cannot be reached ({why})\nIs `abide serve` running? Another server is named with --server or ABIDE_SERVER."
    )]
    Unreachable { server: String, why: String },
    /// The server said no.
    #[error("{}", explained(.0))]
    Problem(Box<abide_sdk::Problem>),
    #[error("the answer is not understood: {0}")]
    NotUnderstood(String),
    /// Nothing is wrong, but it is not over.
    #[error("{0}")]
    NotOver(String),
    /// What was to be said has been said.
    #[error("")]
    Said(Exit),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What the exit codes mean; `docs/reference/cli.md` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    Failed = 1,
    Usage = 2,
    NotFound = 3,
    Refused = 4,
    Unreachable = 5,
    NotAllowed = 6,
    NotOver = 7,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl Error {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Error::Failed(_) | Error::NotUnderstood(_) | Error::Io(_) => Exit::Failed,
            Error::Usage(_) => Exit::Usage,
            Error::NotFound(_) => Exit::NotFound,
            Error::Unreachable { .. } => Exit::Unreachable,
            Error::Problem(problem) => match problem.kind() {
                ProblemKind::NotAllowed => Exit::NotAllowed,
                ProblemKind::NotFound => Exit::NotFound,
                ProblemKind::Busy => Exit::Unreachable,
                ProblemKind::Conflict | ProblemKind::Gone | ProblemKind::Invalid => Exit::Refused,
                ProblemKind::Other if problem.status < 500 => Exit::Refused,
                ProblemKind::Other => Exit::Failed,
            },
            Error::NotOver(_) => Exit::NotOver,
            Error::Said(exit) => *exit,
        }
    }
}

impl From<abide_sdk::Error> for Error {
    fn from(error: abide_sdk::Error) -> Error {
        match error {
            abide_sdk::Error::Refused(problem) => Error::Problem(problem),
            abide_sdk::Error::Unreachable { server, reason } => Error::Unreachable { server, why: reason },
            abide_sdk::Error::NotJson { reason, .. } => Error::NotUnderstood(reason),
            abide_sdk::Error::RunNotCompleted(_) | abide_sdk::Error::Unusable(_) => {
                Error::Failed(error.to_string())
            }
        }
    }
}
