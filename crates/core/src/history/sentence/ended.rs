//! What ended a wait.

use super::{Teller, event_id, somebody};
use crate::json::Json;
use crate::status::WaitStatus;
use crate::waitpoint::{Kind, ListensFor, Waitpoint};

impl Teller<'_, '_> {
    pub(super) fn ended(
        &self,
        number: u32,
        status: WaitStatus,
        payload: Option<&Json>,
        by_signal: bool,
    ) -> String {
        let Some(wait) = (self.waits)(number) else {
            return format!("wait {number} is {}", status.to_string().to_lowercase().replace('_', " "));
        };
        let whose = self.whose(wait);
        if wait.is_deadline() {
            return match (status, somebody(self.by)) {
                (WaitStatus::Completed | WaitStatus::TimedOut, Some(by)) => {
                    format!("{by} ended the time of {whose}")
                }
                (WaitStatus::Completed | WaitStatus::TimedOut, None) => {
                    format!("the time of {whose} is over")
                }
                (WaitStatus::Cancelled | WaitStatus::Pending, _) => {
                    format!("{whose} has no deadline any more")
                }
            };
        }
        match status {
            WaitStatus::Pending => format!("{whose} waits"),
            WaitStatus::Completed => self.completed(wait, payload, by_signal),
            WaitStatus::TimedOut => match somebody(self.by) {
                Some(by) => format!("{by} ended {whose} as if its time were over"),
                None => format!("the time of {whose} is over: {} did not come", awaited(wait)),
            },
            WaitStatus::Cancelled => {
                format!("{whose} is cancelled: nobody waits for {} any more", awaited(wait))
            }
        }
    }

    fn completed(&self, wait: &Waitpoint, payload: Option<&Json>, by_signal: bool) -> String {
        let whose = self.whose(wait);
        let by = self.by;
        let text = |key: &str| payload.and_then(|payload| payload.get(key)).and_then(|value| value.as_str());
        match wait.kind {
            Kind::Signal if by_signal => format!("{whose} was ended by {}", awaited(wait)),
            Kind::Event if wait.event.is_some() => format!("{whose} was ended by {}", awaited(wait)),
            Kind::Webhook => format!("{whose} was ended by a call, by {by}"),
            Kind::Approval => match text("decision") {
                Some("approve") => format!("{whose} is approved"),
                Some("reject") => format!("{whose} is rejected"),
                Some("edit") => format!("{whose} is approved with an edit"),
                Some(_) | None => format!("{whose} was ended by {by}"),
            },
            Kind::Child => match text("status") {
                Some("STARTED") => format!("{whose} started {}", awaited(wait)),
                Some(status) => {
                    let ended = status.to_lowercase();
                    format!(
                        "{whose} was ended by {}, which {}",
                        awaited(wait),
                        if ended == "cancelled" { "was cancelled" } else { &ended }
                    )
                }
                None => format!("{whose} was ended by {by}"),
            },
            Kind::Code => match text("build") {
                Some(build) => format!("{whose} goes to a worker with build {build}"),
                None => format!("{by} lets any code try {whose}"),
            },
            Kind::Capacity => match somebody(by) {
                Some(by) => format!("{by} let {whose} in past the line"),
                None => format!("{whose} got {}", awaited(wait)),
            },
            Kind::Delay | Kind::Pause | Kind::Retry | Kind::Schedule | Kind::Signal | Kind::Event => {
                match somebody(by) {
                    Some(by) => format!("{whose} was ended before its time by {by}"),
                    None if wait.is_aside() => format!("it is time to tell somebody about {whose}"),
                    None => format!("{} of {whose} is over", awaited(wait)),
                }
            }
        }
    }
}

/// What a wait is for, in a few words.
fn awaited(wait: &Waitpoint) -> String {
    match &wait.listens_for {
        ListensFor::Signal { signal_type } => format!("signal `{signal_type}`"),
        ListensFor::Event(_) => format!("event `{}`", event_id(wait).unwrap_or_default()),
        ListensFor::Call { .. } => "a call".to_owned(),
        ListensFor::Approval(_) => "a decision".to_owned(),
        ListensFor::Child { run_id } => format!("child run {run_id}"),
        ListensFor::Attempt(next) => format!("the back-off after attempt {}", next.attempt),
        ListensFor::Code(_) => "other code".to_owned(),
        ListensFor::Starts(_) => "the quiet time".to_owned(),
        ListensFor::Capacity(request) => {
            format!("room under `{}`", request.awaited().map(|ask| ask.described()).unwrap_or_default())
        }
        ListensFor::Time => match wait.kind {
            Kind::Retry if wait.is_back_off() => "the back-off".to_owned(),
            Kind::Retry => "the rate limit".to_owned(),
            Kind::Pause => "the pause".to_owned(),
            Kind::Delay
            | Kind::Webhook
            | Kind::Signal
            | Kind::Event
            | Kind::Approval
            | Kind::Child
            | Kind::Schedule
            | Kind::Code
            | Kind::Capacity => "the sleep".to_owned(),
        },
    }
}
