//! Limits of an engine that whoever opens it may set. Those that are the same everywhere are in the core.

/// How much may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Runs that begin with one: its children, their children, and so on. A child too many fails as
    /// `CHILD_NOT_STARTED`.
    pub descendants: u64,
    /// Runs of one workspace that have not ended; any number if absent. A start too many is refused as
    /// [`Error::TooManyOpenRuns`](crate::Error::TooManyOpenRuns).
    pub open_runs: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { descendants: 100_000, open_runs: None }
    }
}
