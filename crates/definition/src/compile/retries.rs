//! Retry policies. Their ranges are part of the shape; here is what the ranges cannot say.

use super::Compiler;
use crate::document::{self, Retry, StepKind};
use crate::problem::{Code, Problem, pointer};
use crate::retry::RetryPolicy;
use crate::time::Millis;

impl Compiler<'_> {
    pub(super) fn retry_range(&mut self, at: &str, retry: &Retry) {
        for (field, given) in [("backoffMs", retry.backoff_ms), ("maxBackoffMs", retry.max_backoff_ms)] {
            let max_wait = self.findings.max_wait();
            if let Some(length) = given.map(Millis).filter(|length| *length > max_wait) {
                self.findings.problem(|| {
                    let message = format!("{length} is longer than the limit of {max_wait}");
                    Problem::new(pointer(at, field), Code::LimitExceeded, message)
                });
            }
        }
        if let (Some(first), Some(most)) = (retry.backoff_ms, retry.max_backoff_ms)
            && most < first
        {
            self.findings.problem(|| {
                let message = format!("`maxBackoffMs` is less than `backoffMs`, which is {first}");
                Problem::new(pointer(at, "maxBackoffMs"), Code::Contradiction, message)
                    .expected(format!("a whole number of at least {first}"))
            });
        }
    }

    pub(super) fn retry_policy(&self, step: &document::Step) -> RetryPolicy {
        let policy = RetryPolicy::new(step.retry.as_ref(), self.document.default_retry.as_ref());
        // People are asked again only by a step that says so itself.
        match (&step.kind, &step.retry) {
            (StepKind::Approval(_), None) => RetryPolicy::ONCE,
            (StepKind::Approval(_), Some(Retry { max_attempts: None, .. })) => {
                RetryPolicy { max_attempts: 1, ..policy }
            }
            (_, _) => policy,
        }
    }
}
