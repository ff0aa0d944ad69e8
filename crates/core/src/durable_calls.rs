//! The durable calls of a handler, in the order in which it came to them: what its journal holds, results and waits
//! alike, as people are shown it. What SDKs record for themselves is left out.

use std::sync::Arc;

use jiff::Timestamp;

use crate::history::{Failure, JournalResult};
use crate::id::StepAddress;
use crate::json::Json;
use crate::run::{JournalEntry, Journalled, Run};
use crate::status::WaitStatus;
use crate::waitpoint::{Kind, Waitpoint};

/// What SDKs begin the names of their own entries with: `!charge` is how the durable call `charge` failed.
const SDK_ENTRY: char = '!';

/// The durable call whose outcome a journal entry is, with its error if it failed; `None` if the entry is its SDK's
/// own.
pub fn outcome_in(entry: &JournalResult) -> Option<(&str, Option<&str>)> {
    outcome(&entry.name, &entry.result)
}

fn outcome<'e>(name: &'e str, result: &'e Json) -> Option<(&'e str, Option<&'e str>)> {
    match name.strip_prefix(SDK_ENTRY) {
        None => Some((name, None)),
        Some(call) => Some((call, Some(result.get("message")?.as_str()?))),
    }
}

/// A durable call: one `ctx.…` of a handler, by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct DurableCall {
    /// The name that the code gives the call; unique in its step.
    pub name: Arc<str>,
    /// Whether the call works or waits.
    pub kind: CallKind,
    /// How far the call is.
    pub status: CallStatus,
    /// When the call began. Of a [`CallKind::Run`]: since when the handler may have been at its last attempt.
    pub started_at: Option<Timestamp>,
    /// When the call's result was recorded, or its wait ended.
    pub ended_at: Option<Timestamp>,
    /// When the call's wait ends, or its deadline; of a call that failed and is retried, when the next attempt
    /// begins.
    pub until: Option<Timestamp>,
    /// The attempts of the call so far, as far as they were recorded.
    pub attempts: u32,
    /// Why the call failed, or why its last attempt did.
    pub error: Option<String>,
    /// The number of the call's waitpoint; `None` if the call has never waited.
    pub waitpoint: Option<u32>,
}

/// What a durable call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// A `ctx.run`: a call that works and records its result.
    Run,
    /// A call that waits, with the kind of its waitpoint.
    Wait(Kind),
}

/// How far a durable call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallStatus {
    /// The call waits, or is to be retried.
    Pending,
    /// The call has a result.
    Completed,
    /// The call failed for good.
    Failed,
    /// The call's wait ended at its deadline.
    TimedOut,
    /// The call's wait was cancelled.
    Cancelled,
}

impl From<WaitStatus> for CallStatus {
    fn from(status: WaitStatus) -> CallStatus {
        match status {
            WaitStatus::Pending => CallStatus::Pending,
            WaitStatus::Completed => CallStatus::Completed,
            WaitStatus::TimedOut => CallStatus::TimedOut,
            WaitStatus::Cancelled => CallStatus::Cancelled,
        }
    }
}

impl Run {
    /// The durable calls of the handler at a step address, in the order in which it came to them; of a step that waits for
    /// several things, its waits in the order of their names.
    pub fn durable_calls(&self, at: StepAddress) -> Vec<DurableCall> {
        if self.defined(at).action.group().is_some() {
            let waits = self.step(at).into_iter().flat_map(|step| step.waits.values());
            return waits.filter_map(|number| waited(self.waitpoint(*number)?)).collect();
        }
        let Some(task) = self.step(at).and_then(|step| step.task.as_deref()) else { return Vec::new() };
        let mut entries: Vec<(&Arc<str>, &JournalEntry)> = task.journal.iter().collect();
        entries.sort_by_key(|(_, entry)| entry.order);
        let mut calls: Vec<DurableCall> = Vec::new();
        for (name, entry) in entries {
            let Some(call) = self.durable_call(name, entry) else { continue };
            // The back-offs of a call and its result are one call, at the place of its first attempt.
            match calls.iter_mut().find(|known| known.name == call.name && known.kind == CallKind::Run) {
                Some(known) => {
                    let attempts = known.attempts.max(call.attempts);
                    let attempts = if call.ended_at.is_some() { known.attempts + 1 } else { attempts };
                    *known = DurableCall { attempts, ..call };
                }
                None => calls.push(call),
            }
        }
        calls
    }

    fn durable_call(&self, name: &Arc<str>, entry: &JournalEntry) -> Option<DurableCall> {
        match &entry.what {
            Journalled::Result(result) => ran(name, entry, result),
            Journalled::Wait(number) => {
                let wait = self.waitpoint(*number)?;
                wait.next_attempt().map_or_else(|| waited(wait), |next| backs_off(wait, entry, next.attempt))
            }
        }
    }
}

fn ran(name: &str, entry: &JournalEntry, result: &Json) -> Option<DurableCall> {
    let (name, error) = outcome(name, result)?;
    let error = error.map(str::to_owned);
    Some(DurableCall {
        name: name.into(),
        kind: CallKind::Run,
        status: if error.is_some() { CallStatus::Failed } else { CallStatus::Completed },
        started_at: entry.since,
        ended_at: entry.recorded_at,
        until: None,
        attempts: 1,
        error,
        waitpoint: None,
    })
}

fn waited(wait: &Waitpoint) -> Option<DurableCall> {
    let name = wait.call()?;
    Some(DurableCall {
        name: Arc::clone(name),
        kind: CallKind::Wait(wait.kind),
        status: wait.status.into(),
        started_at: Some(wait.created_at),
        ended_at: wait.resolved_at,
        until: wait.resume_at,
        attempts: 1,
        error: None,
        waitpoint: Some(wait.number),
    })
}

/// A call that failed and is retried when its back-off is over.
fn backs_off(wait: &Waitpoint, entry: &JournalEntry, attempt: u32) -> Option<DurableCall> {
    let error = wait.next_attempt().map(|next| &next.error);
    Some(DurableCall {
        name: Arc::clone(wait.call()?),
        kind: CallKind::Run,
        status: CallStatus::Pending,
        started_at: entry.since,
        ended_at: None,
        until: wait.resume_at.filter(|_| wait.is_pending()),
        attempts: attempt,
        error: error.map(|Failure { message, .. }| message.clone()),
        waitpoint: wait.is_pending().then_some(wait.number),
    })
}
