//! The three life cycles and the law that governs them (R10): which state may follow which.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A thing with states of which only some may follow each other.
pub trait LifeCycle: Copy + fmt::Display + 'static {
    /// What has this status, in a word.
    const WHAT: &'static str;

    /// The states that may directly follow this one.
    fn next(self) -> &'static [Self];

    /// Whether two statuses are the same.
    fn same(self, other: Self) -> bool;
}

/// The one place where a move from one state to another is allowed or refused.
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
    pub what: &'static str,
    pub from: String,
    pub to: String,
}

/// `PENDING` until the first step; `WAITING` when nothing in it runs and something waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RunStatus {
    Pending,
    Running,
    Waiting,
    Paused,
    Completed,
    Failed,
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

    /// Nothing more happens by itself. A failed run can still be retried.
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

/// How far a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StepStatus {
    #[default]
    Pending,
    Running,
    Waiting,
    Completed,
    Failed,
    Skipped,
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

    /// The step counts as done: what comes after it may start.
    pub fn is_settled(self) -> bool {
        match self {
            StepStatus::Completed | StepStatus::Skipped | StepStatus::Cancelled => true,
            StepStatus::Pending | StepStatus::Running | StepStatus::Waiting | StepStatus::Failed => false,
        }
    }

    /// Work or a wait of it is under way.
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

/// How far a waitpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WaitStatus {
    Pending,
    Completed,
    TimedOut,
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
