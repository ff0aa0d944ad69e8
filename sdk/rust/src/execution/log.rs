//! The lines that a handler writes to the log of its run: gathered for a moment, and sent beside everything else.

use std::sync::Arc;
use std::time::Duration;

use super::Execution;
use crate::wire::{LogLevel, LogLine, TaskReportLog};

/// What is kept of a line, and how many lines go into one report.
const LINE_BYTES: usize = 8_000;
const MOST_LINES: usize = 500;
/// How long lines are gathered.
const DELAY: Duration = Duration::from_millis(200);

tokio::task_local! {
    /// The execution whose handler is being polled.
    static POLLED: Arc<Execution>;
}

/// Writes a line to the log of the run whose handler calls; nothing if none does.
#[cfg(feature = "tracing-layer")]
pub(crate) fn log_of_handler(level: LogLevel, line: impl FnOnce() -> String) {
    if let Ok(execution) = POLLED.try_with(Arc::clone) {
        execution.log(level, line());
    }
}

impl Execution {
    /// Polls the handler, so that what it tells its logger is known to be its own.
    pub(super) fn polled<T>(self: &Arc<Execution>, poll: impl FnOnce() -> T) -> T {
        POLLED.sync_scope(self.clone(), poll)
    }

    /// Writes a line to the run's log, unless an earlier execution has.
    pub(crate) fn log(self: &Arc<Execution>, level: LogLevel, mut message: String) {
        message.truncate(message.floor_char_boundary(LINE_BYTES));
        let is_first = self.locked(|state| {
            if self.is_rehearsal() || !state.unasked.is_empty() || state.goes_on().is_err() {
                return false;
            }
            state.lines.push(LogLine::new(message).level(level));
            state.lines.len() == 1
        });
        if !is_first {
            return;
        }
        let execution = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(DELAY).await;
            execution.send_log().await;
        });
    }

    /// Sends what was written. A line that is lost is no reason to fail.
    pub(super) async fn send_log(&self) {
        // One at a time, so that lines stay in their order.
        let _sending = self.logging.lock().await;
        loop {
            let lines = self.locked(|state| {
                let count = state.lines.len().min(MOST_LINES);
                state.lines.drain(..count).collect::<Vec<_>>()
            });
            if lines.is_empty() {
                return;
            }
            let report = TaskReportLog::new(&self.task.lease_token, lines);
            if let Some(reports) = &self.reports {
                drop(reports.send(report).await);
            }
        }
    }
}
