//! What a wait that begins is for.

use jiff::Timestamp;

use super::{Teller, instant, reason};
use crate::waitpoint::{CodeMismatch, Kind, ListensFor, NextAttempt, Waitpoint};

impl Teller<'_, '_> {
    pub(super) fn opened(&self, wait: &Waitpoint) -> String {
        let whose = self.whose(wait);
        match &wait.listens_for {
            ListensFor::Time => format!("{whose} {}", by_time(wait)),
            ListensFor::Signal { signal_type } => {
                format!("{whose} waits for signal `{signal_type}`{}", deadline(wait.resume_at))
            }
            ListensFor::Event(filter) => {
                let matching =
                    filter.matching.as_ref().map(|matching| format!(" where {}", matching.source()));
                let (event, matching) = (&filter.event_id, matching.unwrap_or_default());
                format!("{whose} waits for event `{event}`{matching}{}", deadline(wait.resume_at))
            }
            ListensFor::Call { .. } => {
                format!("{whose} waits for a call on its URL{}", deadline(wait.resume_at))
            }
            ListensFor::Approval(_) => {
                format!("{whose} waits for a decision{}", deadline(wait.resume_at))
            }
            ListensFor::Child { run_id } => {
                format!("{whose} waits for child run {run_id}{}", deadline(wait.resume_at))
            }
            ListensFor::Attempt(NextAttempt { call: _, attempt, max_attempts, error }) => {
                let again = wait.resume_at.map(|at| format!("; tried again at {}", instant(at)));
                let (why, again) = (reason(error), again.unwrap_or_default());
                format!("{whose} failed (attempt {attempt} of {max_attempts}): {why}{again}")
            }
            ListensFor::Capacity(request) => {
                let limit = request.awaited().map(|ask| ask.described()).unwrap_or_default();
                format!("{whose} waits for room under `{limit}`{}", deadline(wait.resume_at))
            }
            ListensFor::Starts(_) => {
                let at = wait.resume_at.map(instant).unwrap_or_default();
                format!("{whose} begins at {at}, unless it is started again before")
            }
            ListensFor::Code(CodeMismatch { handler, recorded, found, builds: _, pinned_to }) => {
                let build =
                    pinned_to.as_ref().map(|build| format!(", with build {build}")).unwrap_or_default();
                format!(
                    "{whose} waits for other code of `{handler}`{build}: the journal holds {recorded}, and the code comes \
                     to {found}"
                )
            }
        }
    }
}

/// A wait that only the clock ends.
fn by_time(wait: &Waitpoint) -> String {
    let at = wait.resume_at.map(instant).unwrap_or_default();
    match wait.kind {
        Kind::Retry if wait.is_back_off() => format!("is tried again at {at}"),
        Kind::Retry => format!("waits for the end of a rate limit at {at}"),
        Kind::Pause => format!("is paused by its worker until {at}"),
        Kind::Delay if wait.at.is_none() => format!("waits for its start at {at}"),
        Kind::Delay if wait.is_deadline() => format!("has time until {at}"),
        Kind::Delay
        | Kind::Webhook
        | Kind::Signal
        | Kind::Event
        | Kind::Approval
        | Kind::Child
        | Kind::Schedule
        | Kind::Code
        | Kind::Capacity => format!("sleeps until {at}"),
    }
}

fn deadline(resume_at: Option<Timestamp>) -> String {
    resume_at.map(|at| format!(", until {}", instant(at))).unwrap_or_default()
}
