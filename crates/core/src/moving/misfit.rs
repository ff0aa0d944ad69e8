//! Why a run cannot go on with another version.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One reason why a run's past does not fit another version of its workflow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Misfit {
    /// What kind of misfit it is, for programs.
    pub code: MisfitCode,
    /// The name of the step that does not fit; `None`: the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What does not fit, for people.
    pub reason: String,
}

/// The kind of a misfit. A stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MisfitCode {
    /// The new version belongs to another workflow.
    OtherWorkflow,
    /// Written steps became a graph, or the other way round.
    OrderChanged,
    /// A step that the run has begun, or that a resume was stored for, is not in the new version.
    StepMissing,
    /// A step that the run has begun is of another type.
    StepTypeChanged,
    /// The new order does not lead to where the run is by the steps that it took.
    StepOutOfOrder,
    /// The new order has a step that must come before where the run is, and the run has not done it.
    StepNotDone,
    /// An open wait would wait for something else.
    WaitChanged,
    /// A task or a call under way has another handler, settings or input.
    WorkChanged,
    /// A child that was started is of another workflow, or gets another input.
    ChildChanged,
    /// A map under way has another step inside, or treats failures in another way.
    MapChanged,
    /// The run's input does not satisfy the new `inputSchema`.
    InvalidInput,
}

impl Misfit {
    pub(super) fn of(step: &str, code: MisfitCode, reason: impl Into<String>) -> Misfit {
        Misfit { code, step: Some(step.to_owned()), reason: reason.into() }
    }

    /// A misfit of the run as a whole.
    pub fn of_run(code: MisfitCode, reason: impl Into<String>) -> Misfit {
        Misfit { code, step: None, reason: reason.into() }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.step {
            Some(step) => write!(f, "`{step}`: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}
