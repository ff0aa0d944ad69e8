//! What a run waits for, answered from the run alone: each open wait, until when, and what would end it.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::id::WaitpointId;
use crate::run::Run;
use crate::waitpoint::{CodeMismatch, Kind, ListensFor, NextAttempt, Waitpoint};

/// An open wait of a run, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFor {
    /// The waitpoint's id.
    pub waitpoint_id: WaitpointId,
    /// The name of the step that waits; `None`: the run has not begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_name: Option<String>,
    /// The durable call of a handler that waits, or that is to be retried; of a step that waits for several things, the name
    /// of the wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Arc<str>>,
    /// The kind of the wait.
    pub kind: Kind,
    /// When the wait began.
    pub since: Timestamp,
    /// When the wait ends by time, or its deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// What would end the wait, in a phrase.
    pub ended_by: String,
    /// What the wait listens for, by kind.
    pub listens_for: ListensFor,
}

impl fmt::Display for WaitingFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.step_name, &self.call) {
            (Some(step), Some(call)) => write!(f, "`{step} › {call}` waits for {}", self.ended_by)?,
            (Some(step), None) => write!(f, "`{step}` waits for {}", self.ended_by)?,
            (None, _) => write!(f, "the run waits for {}", self.ended_by)?,
        }
        match self.until {
            Some(until) if !self.kind.ends_by_time() => write!(f, ", until {until} at the latest"),
            Some(_) | None => Ok(()),
        }
    }
}

/// Every open wait of the run, the oldest first.
pub fn waiting_for(run: &Run) -> Vec<WaitingFor> {
    run.open_waitpoints()
        .map(|waitpoint| WaitingFor {
            waitpoint_id: run.waitpoint_id(waitpoint.number),
            step_name: waitpoint.at.map(|at| run.step_name(at)),
            call: waitpoint.call().cloned(),
            kind: waitpoint.kind,
            since: waitpoint.created_at,
            until: waitpoint.resume_at,
            ended_by: ended_by(waitpoint),
            listens_for: waitpoint.listens_for.clone(),
        })
        .collect()
}

fn ended_by(waitpoint: &Waitpoint) -> String {
    match &waitpoint.listens_for {
        ListensFor::Time => {
            let until = waitpoint.resume_at.map(|at| at.to_string()).unwrap_or_default();
            let what = match waitpoint.kind {
                Kind::Retry if waitpoint.is_back_off() => "its next attempt at",
                Kind::Retry => "the end of a rate limit at",
                Kind::Pause => "the end of its worker's pause at",
                Kind::Delay if waitpoint.at.is_none() => "its start at",
                Kind::Delay if waitpoint.is_deadline() => "the end of its time at",
                Kind::Delay if waitpoint.is_aside() => "the time to remind its approvers or to ask others:",
                Kind::Delay
                | Kind::Webhook
                | Kind::Signal
                | Kind::Event
                | Kind::Approval
                | Kind::Child
                | Kind::Schedule
                | Kind::Code
                | Kind::Capacity => "the clock:",
            };
            format!("{what} {until}")
        }
        ListensFor::Signal { signal_type } => format!("the signal `{signal_type}`"),
        ListensFor::Event(filter) => {
            let matching = filter.matching.as_ref().map(|matching| format!(" where {}", matching.source()));
            // Who waits in vain is told why.
            let forgotten = filter
                .forgotten_before
                .map(|at| format!(" (those received before {at} may have been forgotten)"));
            let (matching, forgotten) = (matching.unwrap_or_default(), forgotten.unwrap_or_default());
            let ends = if waitpoint.is_guard() { ", which would end it" } else { "" };
            format!("an event `{}`{matching}{forgotten}{ends}", filter.event_id)
        }
        ListensFor::Call { .. } => "a call on its resume URL".to_owned(),
        ListensFor::Approval(request) => {
            let who =
                if request.approvers.is_empty() { "anyone".to_owned() } else { request.approvers.join(", ") };
            let votes = request.decisions.len();
            let plural = if request.quorum == 1 { "" } else { "s" };
            format!("{} approval{plural} from {who}, {votes} decided so far", request.quorum)
        }
        ListensFor::Child { run_id } => format!("the child run {run_id} to end"),
        ListensFor::Attempt(NextAttempt { call: _, attempt, max_attempts, error }) => {
            let at = waitpoint.resume_at.map(|at| at.to_string()).unwrap_or_default();
            format!("attempt {} of {max_attempts} at {at}, after: {}", attempt + 1, error.message)
        }
        ListensFor::Capacity(request) => {
            let asks = request.asks.iter().map(|ask| format!("`{}`", ask.described()));
            format!("room under {}", asks.collect::<Vec<_>>().join(" and "))
        }
        ListensFor::Starts(collecting) => {
            let at = waitpoint.resume_at.map(|at| at.to_string()).unwrap_or_default();
            let (starts, until) = (collecting.starts, collecting.until);
            format!(
                "its start at {at}, unless another comes before; {starts} so far, and until {until} at most"
            )
        }
        ListensFor::Code(CodeMismatch { pinned_to: Some(build), recorded, found, .. }) => format!(
            "an operator: it is pinned to build `{build}`, whose code does not fit: the journal holds {recorded}, and the \
             code comes to {found}"
        ),
        ListensFor::Code(CodeMismatch { handler, builds: _, pinned_to: None, recorded, found }) => format!(
            "a worker of `{handler}` whose code fits: the journal holds {recorded}, and the code comes to {found}"
        ),
    }
}
