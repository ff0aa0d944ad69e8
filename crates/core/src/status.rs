//! The three life cycles and the transition tables that govern them (R10): which status may follow which.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A life cycle: a status of which only some values may follow each other.
pub trait LifeCycle: Copy + fmt::Display + 'static {
    /// What has this status, in a word: `run`, `step` or `waitpoint`.
    const WHAT: &'static str;

    /// The statuses that may directly follow this one.
    fn next(self) -> &'static [Self];

    /// Whether two statuses are the same.
    fn same(self, other: Self) -> bool;
}

/// Allows or refuses a transition from one status to another. This is the one place that does.
pub fn transition<S: LifeCycle>(from: S, to: S) -> Result<S, IllegalMove> {
    if from.next().iter().any(|allowed| allowed.same(to)) {
        Ok(to)
    } else {
        Err(IllegalMove { what: S::WHAT, from: from.to_string(), to: to.to_string() })
    }
}

/// A transition that the tables do not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a {what} cannot go from {from} to {to}")]
pub struct IllegalMove {
    /// What has the status: `run`, `step` or `waitpoint`.
    pub what: &'static str,
    /// The status before.
    pub from: String,
    /// The status that was asked for.
    pub to: String,
}

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RunStatus {
    /// The run is created, and its first step has not begun: a delayed start.
    Pending,
    /// Something in the run is at work.
    Running,
    /// Nothing in the run is at work, and something waits.
    Waiting,
    /// An operator has paused the run.
    Paused,
    /// The run has its output.
    Completed,
    /// A step, the run's deadline or its output failed; a retry leads back to RUNNING.
    Failed,
    /// Somebody cancelled the run.
    Cancelled,
}

impl RunStatus {
    /// Every status of a run.
    pub const ALL: [RunStatus; 7] = [
        RunStatus::Pending,
        RunStatus::Running,
        RunStatus::Waiting,
        RunStatus::Paused,
        RunStatus::Completed,
        RunStatus::Failed,
        RunStatus::Cancelled,
    ];

    /// Whether the run has ended: nothing more happens by itself. A FAILED run can still be retried.
    pub fn has_ended(self) -> bool {
        match self {
            RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled => true,
            RunStatus::Pending | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => false,
        }
    }
}

impl LifeCycle for RunStatus {
    const WHAT: &'static str = "run";

    fn next(self) -> &'static [RunStatus] {
        use RunStatus::{Cancelled, Completed, Failed, Paused, Pending, Running, Waiting};
        match self {
            Pending => &[Running, Cancelled],
            Running => &[Waiting, Paused, Completed, Failed, Cancelled],
            Waiting => &[Running, Cancelled, Failed],
            Paused => &[Running, Cancelled],
            Failed => &[Running],
            Completed | Cancelled => &[],
        }
    }

    fn same(self, other: RunStatus) -> bool {
        self == other
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RunStatus::Pending => "PENDING",
            RunStatus::Running => "RUNNING",
            RunStatus::Waiting => "WAITING",
            RunStatus::Paused => "PAUSED",
            RunStatus::Completed => "COMPLETED",
            RunStatus::Failed => "FAILED",
            RunStatus::Cancelled => "CANCELLED",
        })
    }
}

/// The status of a step run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StepStatus {
    /// The step has not begun.
    #[default]
    Pending,
    /// The step is at work: its task is out, or its items are.
    Running,
    /// The step waits: for its own waitpoint, for those of its handler, or for a back-off.
    Waiting,
    /// The step has its output.
    Completed,
    /// The step failed for good; a retry of the run leads back to RUNNING.
    Failed,
    /// The step was not run: its `when` was false, or the way to it was not taken.
    Skipped,
    /// The step was under way when the run was cancelled.
    Cancelled,
}

impl StepStatus {
    /// Every status of a step.
    pub const ALL: [StepStatus; 7] = [
        StepStatus::Pending,
        StepStatus::Running,
        StepStatus::Waiting,
        StepStatus::Completed,
        StepStatus::Failed,
        StepStatus::Skipped,
        StepStatus::Cancelled,
    ];

    /// Whether the step is done, so that what comes after it may start.
    pub fn is_settled(self) -> bool {
        match self {
            StepStatus::Completed | StepStatus::Skipped | StepStatus::Cancelled => true,
            StepStatus::Pending | StepStatus::Running | StepStatus::Waiting | StepStatus::Failed => false,
        }
    }

    /// Whether work or a wait of the step is under way.
    pub fn is_active(self) -> bool {
        match self {
            StepStatus::Running | StepStatus::Waiting => true,
            StepStatus::Pending
            | StepStatus::Completed
            | StepStatus::Failed
            | StepStatus::Skipped
            | StepStatus::Cancelled => false,
        }
    }
}

impl LifeCycle for StepStatus {
    const WHAT: &'static str = "step";

    fn next(self) -> &'static [StepStatus] {
        use StepStatus::{Cancelled, Completed, Failed, Pending, Running, Skipped, Waiting};
        match self {
            Pending => &[Running, Skipped, Cancelled],
            Running => &[Waiting, Completed, Failed, Cancelled],
            Waiting => &[Running, Completed, Failed, Cancelled],
            Failed => &[Running],
            Completed | Skipped | Cancelled => &[],
        }
    }

    fn same(self, other: StepStatus) -> bool {
        self == other
    }
}

impl fmt::Display for StepStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StepStatus::Pending => "PENDING",
            StepStatus::Running => "RUNNING",
            StepStatus::Waiting => "WAITING",
            StepStatus::Completed => "COMPLETED",
            StepStatus::Failed => "FAILED",
            StepStatus::Skipped => "SKIPPED",
            StepStatus::Cancelled => "CANCELLED",
        })
    }
}

/// The status of a waitpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitStatus {
    /// What the waitpoint waits for has not come.
    Pending,
    /// What the waitpoint waits for has come; of a DELAY, its instant.
    Completed,
    /// The deadline passed first.
    TimedOut,
    /// An operator, or the end of the step or the run, ended the wait.
    Cancelled,
}

impl LifeCycle for WaitStatus {
    const WHAT: &'static str = "waitpoint";

    fn next(self) -> &'static [WaitStatus] {
        match self {
            WaitStatus::Pending => &[WaitStatus::Completed, WaitStatus::TimedOut, WaitStatus::Cancelled],
            WaitStatus::Completed | WaitStatus::TimedOut | WaitStatus::Cancelled => &[],
        }
    }

    fn same(self, other: WaitStatus) -> bool {
        self == other
    }
}

impl fmt::Display for WaitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitStatus::Pending => "PENDING",
            WaitStatus::Completed => "COMPLETED",
            WaitStatus::TimedOut => "TIMED_OUT",
            WaitStatus::Cancelled => "CANCELLED",
        })
    }
}
