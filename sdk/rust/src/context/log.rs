//! Lines for the log of a run.

use std::fmt;

use super::Context;
use crate::wire::LogLevel;

impl Context {
    /// A line for the run's log, shown on its page and with `abide logs`. What an earlier execution has written is not
    /// written again. The log of a run is bounded (256 KiB).
    pub fn log(&self, message: impl fmt::Display) {
        self.log_at(LogLevel::Info, message);
    }

    /// Writes a line to the run, as [`log`](Context::log) does, and says how much it matters.
    pub fn log_at(&self, level: LogLevel, message: impl fmt::Display) {
        self.execution.log(level, message.to_string());
    }
}
