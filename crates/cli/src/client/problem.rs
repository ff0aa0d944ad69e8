//! The server's no: what it said, and where it stands.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use super::error::Exit;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Problem {
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) detail: String,
    #[serde(default)]
    pub(crate) problems: Vec<Finding>,
    #[serde(default)]
    pub(crate) outcome: Value,
}

/// One thing that is wrong with what was sent.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Finding {
    pub(crate) pointer: String,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) expected: Option<String>,
    pub(crate) nearest: Option<String>,
}

impl Problem {
    pub(crate) fn exit(&self) -> Exit {
        match self.status {
            401 | 403 => Exit::NotAllowed,
            404 => Exit::NotFound,
            429 | 503 => Exit::Unreachable,
            status if status < 500 => Exit::Refused,
            _ => Exit::Failed,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.detail, self.code)?;
        if self.problems.len() > 1 {
            for finding in &self.problems {
                write!(f, "\n  {finding}")?;
            }
        }
        if let (Some(status), Some(by)) =
            (self.outcome["status"].as_str(), self.outcome["resolvedBy"].as_str())
        {
            let at = self.outcome["resolvedAt"].as_str().unwrap_or_default();
            write!(f, "\n{status} by {by} at {at}")?;
            if !self.outcome["payload"].is_null() {
                write!(f, ": {}", self.outcome["payload"])?;
            }
        }
        match self.code.as_str() {
            "UNAUTHENTICATED" => {
                f.write_str("\nGive a key with --key or ABIDE_API_KEY; `abide keys make` makes one.")
            }
            "UNKNOWN_DEFINITION" => f.write_str("\n`abide deploy FILE` stores a workflow."),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.pointer, self.message, self.code)?;
        if let Some(expected) = &self.expected {
            write!(f, "; expected {expected}")?;
        }
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}
