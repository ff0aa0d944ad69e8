//! What can go wrong with a request. The server's refusals have a stable `code`; `docs/reference/errors.md` lists them all.

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use crate::wire::{self, RunStatus};

/// Why a request did not give what was asked for.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The server refused it.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// The server did not answer.
    #[error("{server} does not answer: {reason}")]
    Unreachable {
        /// Where it should be.
        server: String,
        /// What the connection came to.
        reason: String,
    },
    /// A run that was waited for did not complete.
    #[error("{0}")]
    RunNotCompleted(Box<RunNotCompleted>),
    /// A value that was given, or came, is not the JSON that it should be.
    #[error("{what} cannot be read or written as JSON: {reason}")]
    NotJson {
        /// Which value.
        what: String,
        /// What stands against it.
        reason: String,
    },
    /// A setting of the client, the worker or the test server is not usable.
    #[error("{0}")]
    Unusable(String),
}

impl Error {
    /// The stable code of a refusal, or of the failure of a run.
    pub fn code(&self) -> Option<&str> {
        match self {
            Error::Refused(problem) => Some(&problem.code),
            Error::RunNotCompleted(ended) => Some(&ended.code),
            Error::Unreachable { .. } | Error::NotJson { .. } | Error::Unusable(_) => None,
        }
    }

    /// The refusal, if it is one.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Error::Refused(problem) => Some(problem),
            Error::Unreachable { .. }
            | Error::RunNotCompleted(_)
            | Error::NotJson { .. }
            | Error::Unusable(_) => None,
        }
    }

    pub(crate) fn not_json(what: impl Into<String>, error: &serde_json::Error) -> Error {
        Error::NotJson { what: what.into(), reason: error.to_string() }
    }

    pub(crate) fn too_large(event: abide_sse::TooLarge) -> Error {
        Error::NotJson { what: "the stream".to_owned(), reason: event.to_string() }
    }

    /// The server is away, or asks to be left alone for a while.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Error::Unreachable { .. }) || self.is_busy()
    }

    /// Nothing was changed.
    pub(crate) fn is_busy(&self) -> bool {
        self.problem().is_some_and(|problem| problem.kind() == ProblemKind::Busy)
    }
}

/// What would help where no key was given, or not the right one.
const NO_KEY: &str = "; give a key with `ClientBuilder::api_key`, or in ABIDE_API_KEY";

/// A request that the server refused. Its fields are those of the answer: `code`, `detail`, `pointer`, `problems`, …
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    body: wire::Problem,
    /// How long the server asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// What a caller can do about a refusal, by its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// 401, 403: no key, or one that may not do this.
    NotAllowed,
    /// 404: there is no such thing in this workspace.
    NotFound,
    /// 409: the state of things stands against it.
    Conflict,
    /// 410: it was there, and its time is over.
    Gone,
    /// 400, 405, 413, 415, 422, 431: the request itself is wrong.
    Invalid,
    /// 429, 503: come back later. Nothing was changed.
    Busy,
    /// Something else.
    Other,
}

impl Problem {
    pub(crate) fn new(body: wire::Problem, retry_after: Option<Duration>) -> Problem {
        Problem { body, retry_after }
    }

    /// What can be done about it.
    pub fn kind(&self) -> ProblemKind {
        match self.status {
            401 | 403 => ProblemKind::NotAllowed,
            404 => ProblemKind::NotFound,
            409 => ProblemKind::Conflict,
            410 => ProblemKind::Gone,
            400 | 405 | 413 | 415 | 422 | 431 => ProblemKind::Invalid,
            429 | 503 => ProblemKind::Busy,
            _ => ProblemKind::Other,
        }
    }
}

impl Deref for Problem {
    type Target = wire::Problem;

    fn deref(&self) -> &wire::Problem {
        &self.body
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)?;
        f.write_str(if self.code == "UNAUTHENTICATED" { NO_KEY } else { "" })
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Error {
        Error::Refused(Box::new(problem))
    }
}

/// A run that was waited for did not complete.
#[derive(Debug, Clone, PartialEq)]
pub struct RunNotCompleted {
    /// The run, as it ended.
    pub run: wire::Run,
    /// Of the failure; `RUN_CANCELLED` if it was cancelled.
    pub code: String,
}

impl RunNotCompleted {
    pub(crate) fn new(run: wire::Run) -> RunNotCompleted {
        let code = match &run.error {
            Some(failure) => failure.code.clone(),
            None if run.status == RunStatus::Cancelled => "RUN_CANCELLED".to_owned(),
            None => "RUN_FAILED".to_owned(),
        };
        RunNotCompleted { run, code }
    }
}

impl fmt::Display for RunNotCompleted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wire::Run { id, definition, status, error, .. } = &self.run;
        write!(f, "{id} of {} is {status:?}: {}", definition.name, self.code)?;
        error.as_ref().map_or(Ok(()), |failure| write!(f, ": {}", failure.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_key_is_told_where_one_is_read_from() {
        let problem = |code: &str| {
            let body = serde_json::json!({ "type": "", "title": "", "status": 401, "code": code, "detail": "this needs an API key" });
            Problem::new(serde_json::from_value(body).unwrap(), None).to_string()
        };
        assert_eq!(
            problem("UNAUTHENTICATED"),
            "UNAUTHENTICATED: this needs an API key; give a key with `ClientBuilder::api_key`, or in ABIDE_API_KEY"
        );
        assert_eq!(problem("FORBIDDEN"), "FORBIDDEN: this needs an API key");
    }
}
