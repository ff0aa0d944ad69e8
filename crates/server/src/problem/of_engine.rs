//! What the engine and the core say, as an answer: each refusal keeps its own code.

use std::time::Duration;

use abide_core::problem::{Code as FindingCode, Problem as Finding};
use abide_core::refusal::{Refusal, Resolved};
use abide_core::status::WaitStatus;
use abide_core::time::Millis;
use abide_engine::Error;
use serde_json::json;

use super::{Code, Problem};
use crate::edits;
use crate::quotas::exceeded;

/// When to come back after the store could not be written.
const STORE_RETRY: Duration = Duration::from_secs(2);
const STOPPING_RETRY: Duration = Duration::from_secs(5);
/// When to come back after there was no room, and nobody knows when there is.
const ROOM_RETRY: Duration = Duration::from_secs(1);

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let detail = error.to_string();
        match error {
            Error::UnknownRun(_) => Problem::new(Code::UnknownRun, detail),
            Error::UnknownDefinition { .. } => Problem::new(Code::UnknownDefinition, detail),
            Error::UnknownSchedule(_) => Problem::new(Code::UnknownSchedule, detail),
            Error::ScheduleExists(_) => Problem::new(Code::ScheduleExists, detail).at("/name"),
            Error::DefinitionExists { .. } => Problem::new(Code::DefinitionExists, detail).at("/version"),
            Error::Rejected(rejected) => {
                Problem::found(Code::InvalidDefinition, rejected.problems).warnings(rejected.warnings)
            }
            Error::Refused(refusal) => refusal.into(),
            Error::InvalidContent(errors) => edits::invalid(errors),
            Error::TooManyDescendants { .. } => Problem::new(Code::LimitExceeded, detail),
            Error::TooManyOpenRuns { limit } => exceeded("openRuns", limit, limit.saturating_add(1)),
            Error::Overloaded { retry_after } => {
                Problem::new(Code::Overloaded, detail).retry_after(retry_after)
            }
            Error::Busy(_) => Problem::new(Code::RunBusy, detail),
            Error::Held { .. } => Problem::new(Code::Held, detail),
            Error::Store(why) if why.is_damage() => {
                tracing::error!(error = %why, "something stored is damaged");
                Problem::new(Code::Damaged, detail)
            }
            Error::Store(why) => {
                tracing::error!(error = %why, "the store failed");
                Problem::new(Code::StoreUnavailable, "the store cannot be used at the moment")
                    .retry_after(STORE_RETRY)
            }
            Error::Paused => Problem::new(Code::Paused, detail),
            Error::NotStarted(_) | Error::MasterKey(_) | Error::Stopped => stopping(),
        }
    }
}

/// The engine does not get on.
pub(crate) fn stuck(why: String) -> Problem {
    Problem::new(Code::EngineStuck, why).retry_after(STORE_RETRY)
}

pub(crate) fn stopping() -> Problem {
    Problem::new(Code::Stopping, "the server is shutting down").retry_after(STOPPING_RETRY)
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let detail = refusal.to_string();
        let problem = Problem::new(code(&refusal), detail);
        match refusal {
            Refusal::AlreadyResolved(resolved) => {
                problem.current(json!({ "status": resolved.status })).outcome(outcome(&resolved))
            }
            Refusal::Expired { at, .. } => {
                problem.current(json!({ "status": WaitStatus::Pending, "resumeAt": at }))
            }
            Refusal::NotDue { at, .. } => {
                problem.current(json!({ "status": WaitStatus::Pending, "resumeAt": at }))
            }
            Refusal::WrongKind { kind, .. } => problem.current(json!({ "kind": kind })),
            Refusal::RunEnded(status) | Refusal::NotFailed(status) | Refusal::NotWaiting(status) => {
                problem.current(json!({ "status": status }))
            }
            Refusal::DoesNotFit(misfits) => problem.current(json!({ "misfits": misfits })),
            Refusal::WrongStep { step, status, .. } => {
                problem.current(json!({ "step": step, "status": status }))
            }
            Refusal::StaleLease { step, current, .. } => {
                problem.current(json!({ "step": step, "leaseEpoch": current }))
            }
            Refusal::AlreadyTaken { step, worker, .. } => {
                problem.current(json!({ "step": step, "worker": worker }))
            }
            Refusal::PinnedToBuild { step, build } => {
                problem.current(json!({ "step": step, "build": build }))
            }
            Refusal::Malformed { pointer, .. } => problem.at(pointer),
            Refusal::InvalidInput(errors) => {
                let findings = errors
                    .into_iter()
                    .map(|(place, why)| Finding::new(format!("/input{place}"), FindingCode::WrongType, why));
                Problem::found(Code::InvalidInput, findings.collect())
            }
            Refusal::QuorumNotReached { approvals, quorum, .. } => {
                problem.current(json!({ "approvals": approvals, "quorum": quorum }))
            }
            Refusal::ContentChanged { digest, .. } => problem.current(json!({ "contentDigest": digest })),
            // The key as the engine keeps it is longer than the one that was given.
            Refusal::KeyReused(_) => {
                let detail = "the idempotency key was used for another request";
                Problem::new(Code::IdempotencyKeyReused, detail)
            }
            Refusal::LimitFull { room_in, .. } => {
                problem.retry_after(room_in.map_or(ROOM_RETRY, |Millis(ms)| Duration::from_millis(ms)))
            }
            Refusal::UnknownStep { .. }
            | Refusal::UnknownWaitpoint(_)
            | Refusal::NoSuchTimer
            | Refusal::ReadOnly(_)
            | Refusal::NoMatch(_)
            | Refusal::NotAnApprover { .. }
            | Refusal::SelfApproval { .. }
            | Refusal::MayNotDecide { .. }
            | Refusal::AlreadyDecided { .. }
            | Refusal::JournalConflict { .. }
            | Refusal::JournalMismatch { .. }
            | Refusal::LimitExceeded { .. }
            | Refusal::Illegal(_) => problem,
        }
    }
}

fn outcome(resolved: &Resolved) -> serde_json::Value {
    json!({
        "waitpointId": resolved.waitpoint,
        "status": resolved.status,
        "resolvedBy": resolved.by,
        "resolvedAt": resolved.at,
        "payload": resolved.payload,
    })
}

fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::LimitFull { .. } => Code::LimitFull,
        Refusal::UnknownStep { .. } => Code::UnknownStep,
        Refusal::UnknownWaitpoint(_) => Code::UnknownWaitpoint,
        Refusal::AlreadyResolved(resolved) => match resolved.status {
            WaitStatus::Pending | WaitStatus::Completed => Code::AlreadyResolved,
            WaitStatus::TimedOut => Code::WaitpointTimedOut,
            WaitStatus::Cancelled => Code::WaitpointCancelled,
        },
        Refusal::Expired { .. } => Code::WaitpointExpired,
        Refusal::NotDue { .. } => Code::NotDue,
        Refusal::NoSuchTimer => Code::NoSuchTimer,
        Refusal::WrongKind { .. } => Code::WrongWaitpointKind,
        Refusal::ReadOnly(_) => Code::ReadOnly,
        Refusal::NoMatch(_) => Code::EventDoesNotMatch,
        Refusal::NotAnApprover { .. } => Code::NotAnApprover,
        Refusal::SelfApproval { .. } => Code::SelfApproval,
        Refusal::MayNotDecide { .. } => Code::MayNotDecide,
        Refusal::QuorumNotReached { .. } => Code::QuorumNotReached,
        Refusal::ContentChanged { .. } => Code::ContentChanged,
        Refusal::AlreadyDecided { .. } => Code::AlreadyDecided,
        Refusal::RunEnded(_) => Code::RunEnded,
        Refusal::NotFailed(_) => Code::RunNotFailed,
        Refusal::NotWaiting(_) => Code::RunNotWaiting,
        Refusal::DoesNotFit(_) => Code::RunDoesNotFit,
        Refusal::WrongStep { .. } => Code::WrongStepStatus,
        Refusal::StaleLease { .. } => Code::StaleLease,
        Refusal::AlreadyTaken { .. } => Code::TaskAlreadyTaken,
        Refusal::PinnedToBuild { .. } => Code::PinnedToBuild,
        Refusal::JournalConflict { .. } => Code::JournalConflict,
        Refusal::JournalMismatch { .. } => Code::JournalMismatch,
        Refusal::Malformed { .. } => Code::Malformed,
        // A size in bytes is what HTTP has a status for.
        Refusal::LimitExceeded { what, .. } if what.ends_with("in bytes") => Code::PayloadTooLarge,
        Refusal::LimitExceeded { .. } => Code::LimitExceeded,
        Refusal::InvalidInput(_) => Code::InvalidInput,
        Refusal::KeyReused(_) => Code::IdempotencyKeyReused,
        Refusal::Illegal(_) => Code::IllegalTransition,
    }
}
