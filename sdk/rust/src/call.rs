//! How one durable call is made: its attempts, its time, and the key that other services know it by.

use std::time::Duration;

use crate::failure::{Result, TaskError};
use crate::wire::{CallLimit, CallRetry, LimitScope, TaskWaitCapacity, TaskWaitRetry};

const ATTEMPTS: u32 = 3;

/// The attempts of one durable call: a retry policy, as a step has one. Between two of them the handler is suspended, and
/// holds no worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    attempts: u32,
    backoff_ms: Option<u64>,
    multiplier: Option<f64>,
    max_backoff_ms: Option<u64>,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry::attempts(ATTEMPTS)
    }
}

impl Retry {
    /// All attempts together, 1 to 1,000.
    pub fn attempts(attempts: u32) -> Retry {
        Retry { attempts, backoff_ms: None, multiplier: None, max_backoff_ms: None }
    }

    /// The initial back-off, drawn between zero and this (full jitter); a second if absent.
    pub fn backoff(self, backoff: Duration) -> Retry {
        Retry { backoff_ms: Some(millis(backoff)), ..self }
    }

    /// What the back-off is multiplied with after each attempt; 2 if absent.
    pub fn multiplier(self, multiplier: f64) -> Retry {
        Retry { multiplier: Some(multiplier), ..self }
    }

    /// The longest back-off; five minutes if absent.
    pub fn max_backoff(self, longest: Duration) -> Retry {
        Retry { max_backoff_ms: Some(millis(longest)), ..self }
    }
}

impl From<Retry> for CallRetry {
    fn from(retry: Retry) -> CallRetry {
        CallRetry {
            backoff_ms: retry.backoff_ms,
            backoff_multiplier: retry.multiplier,
            max_attempts: Some(retry.attempts),
            max_backoff_ms: retry.max_backoff_ms,
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A limit that a durable call asks for room under.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    limit: CallLimit,
    timeout: Option<Duration>,
}

impl Limit {
    /// A limit with room for so many at the same time. Steps and calls that name the same limit share it.
    pub fn concurrency(name: impl Into<String>, concurrency: u32) -> Limit {
        let mut limit = CallLimit::new(name);
        limit.concurrency = Some(concurrency);
        Limit { limit, timeout: None }
    }

    /// A limit under which so many may begin in a time.
    pub fn rate(name: impl Into<String>, rate: u32, per: Duration) -> Limit {
        let mut limit = CallLimit::new(name);
        (limit.rate, limit.per_ms) = (Some(rate), Some(millis(per)));
        Limit { limit, timeout: None }
    }

    /// Each key has room of its own; without it, all share one.
    pub fn key(mut self, key: impl Into<String>) -> Limit {
        self.limit.key = Some(key.into());
        self
    }

    /// All runs of the workspace share the limit, and not only those of the workflow.
    pub fn of_workspace(mut self) -> Limit {
        self.limit.scope = Some(LimitScope::Workspace);
        self
    }

    /// How many may begin at once after a quiet time; 1 if absent.
    pub fn burst(mut self, burst: u32) -> Limit {
        self.limit.burst = Some(burst);
        self
    }

    /// How long room is waited for at most; then the call fails with `CAPACITY_TIMED_OUT`.
    pub fn timeout(self, timeout: Duration) -> Limit {
        Limit { timeout: Some(timeout), ..self }
    }

    /// The wait of a call for room.
    pub(crate) fn wait(&self, call: &str) -> TaskWaitCapacity {
        let mut wait = TaskWaitCapacity::new(room_name(call), call, self.limit.clone());
        wait.timeout_ms = self.timeout.map(millis);
        wait
    }

    pub(crate) fn is_late(&self, call: &str) -> TaskError {
        let message = format!("there was no room under `{}` for `{call}` in time", self.limit.name);
        TaskError { retryable: false, ..TaskError::own(message).code("CAPACITY_TIMED_OUT") }
    }
}

/// How a call is made: see [`Context::run_with`](crate::Context::run_with).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunOptions {
    retry: Option<Retry>,
    timeout: Option<Duration>,
    pub(crate) limit: Option<Limit>,
}

impl RunOptions {
    /// As [`Context::run`](crate::Context::run) makes one: a failure is the handler's at once, and it may take any time.
    pub fn new() -> RunOptions {
        RunOptions::default()
    }

    /// The attempts of this call alone.
    pub fn retry(self, retry: Retry) -> RunOptions {
        RunOptions { retry: Some(retry), ..self }
    }

    /// How long one attempt may take.
    pub fn timeout(self, timeout: Duration) -> RunOptions {
        RunOptions { timeout: Some(timeout), ..self }
    }

    /// Room that the call needs: it is made when there is some, and gives it back with its result. Until then the handler is
    /// suspended, and holds no worker.
    pub fn limit(self, limit: Limit) -> RunOptions {
        RunOptions { limit: Some(limit), ..self }
    }

    pub(crate) fn attempts(&self) -> u32 {
        self.retry.as_ref().map_or(1, |retry| retry.attempts)
    }

    pub(crate) fn has_policy(&self) -> bool {
        self.retry.is_some()
    }

    /// The back-off after an attempt that failed.
    pub(crate) fn back_off(&self, call: &str, attempt: u32, error: Option<&TaskError>) -> TaskWaitRetry {
        let most = self.attempts().max(attempt + 1);
        let message = error.map(|error| error.message.clone()).unwrap_or_default();
        let mut wait = TaskWaitRetry::new(back_off_name(call, attempt), call, attempt, most, message);
        let retry = self.retry.clone().unwrap_or_default();
        wait.backoff_ms = retry.backoff_ms;
        wait.backoff_multiplier = retry.multiplier;
        wait.max_backoff_ms = retry.max_backoff_ms;
        if let Some(error) = error {
            wait.code.clone_from(&error.code);
            let after = error.retry_after.clone().map_or((None, None), |after| after.parts());
            (wait.retry_after_ms, wait.retry_after) = after;
        }
        wait
    }

    /// Does the work, for no longer than it may take.
    pub(crate) async fn within<T>(&self, name: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        let Some(timeout) = self.timeout else { return work.await };
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| {
            let message = format!("`{name}` took longer than {timeout:?}");
            Err(TaskError { retryable: true, ..TaskError::own(message).code("CALL_TIMED_OUT") })
        })
    }
}

/// The name under which the back-off after an attempt is recorded.
pub(crate) fn back_off_name(call: &str, attempt: u32) -> String {
    format!("{call}#retry-{attempt}")
}

/// The name under which the wait of a call for room is recorded.
pub(crate) fn room_name(call: &str) -> String {
    format!("{call}#room")
}
