//! A durable call of a handler.

use std::sync::Arc;

use abide_core::durable_calls::{CallKind, CallStatus, DurableCall};
use abide_core::id::{StepAddress, WaitpointId};
use abide_core::run::Run;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::words;

/// Durable calls of one step that are shown with its run; all of them are in the history.
const SHOWN: usize = 100;

/// A durable call of a handler: what it recorded, or what it waits for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StepCall")]
pub(crate) struct CallBody {
    #[schemars(with = "String")]
    name: Arc<str>,
    /// `RUN`, or the kind of its wait.
    #[schemars(schema_with = "words::call_kind")]
    kind: String,
    /// PENDING: it waits, or is to be made again.
    #[schemars(schema_with = "words::call_status")]
    status: &'static str,
    /// When it began. Of a RUN: the earliest instant at which its last attempt can have begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
    /// When time ends it, its deadline, or when it is made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    /// Attempts so far.
    attempts: u32,
    /// Why it failed, or why its last attempt did.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    waitpoint_id: Option<WaitpointId>,
}

/// The last durable calls at a place, and how many there were before them.
pub(super) fn journal(run: &Run, at: StepAddress) -> (Vec<CallBody>, usize) {
    let calls = run.durable_calls(at);
    let omitted = calls.len().saturating_sub(SHOWN);
    (calls.into_iter().skip(omitted).map(|call| body(run, call)).collect(), omitted)
}

fn body(run: &Run, call: DurableCall) -> CallBody {
    let DurableCall { name, kind, status, started_at, ended_at, until, attempts, error, waitpoint } = call;
    CallBody {
        name,
        kind: match kind {
            CallKind::Run => "RUN".to_owned(),
            CallKind::Wait(kind) => kind.to_string(),
        },
        status: match status {
            CallStatus::Pending => "PENDING",
            CallStatus::Completed => "COMPLETED",
            CallStatus::Failed => "FAILED",
            CallStatus::TimedOut => "TIMED_OUT",
            CallStatus::Cancelled => "CANCELLED",
        },
        started_at,
        ended_at,
        until,
        attempts,
        error,
        waitpoint_id: waitpoint.map(|number| run.waitpoint_id(number)),
    }
}
