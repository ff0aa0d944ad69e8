//! Refusals (R8): each has its own stable code and says the current state. A refused command changes nothing.

use jiff::Timestamp;
use serde::Serialize;

use crate::apply::BadHistory;
use crate::definition::BadInput;
use crate::id::WaitpointId;
use crate::json::Json;
use crate::moving::Misfit;
use crate::status::{RunStatus, StepStatus, WaitStatus};
use crate::waitpoint::{Actor, Kind, Waitpoint};

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("the run has no step `{name}`{}", hint(nearest.as_deref()))]
    UnknownStep { name: String, nearest: Option<String> },
    #[error("the run has no waitpoint {0}")]
    UnknownWaitpoint(WaitpointId),
    #[error("waitpoint {} is already {}, by {}", .0.waitpoint, .0.status, .0.by)]
    AlreadyResolved(Box<Resolved>),
    #[error("waitpoint {waitpoint} expired at {at}")]
    Expired { waitpoint: WaitpointId, at: Timestamp },
    #[error("waitpoint {waitpoint} is not due before {at}")]
    NotDue { waitpoint: WaitpointId, at: Timestamp },
    #[error("the timer is not set, or not due")]
    NoSuchTimer,
    #[error("waitpoint {waitpoint} is {} {kind}; it cannot be {verb}", kind.article())]
    WrongKind { waitpoint: WaitpointId, kind: Kind, verb: &'static str },
    #[error("waitpoint {0} is resolved by POST; reading it changes nothing")]
    ReadOnly(WaitpointId),
    #[error("the event is not one that waitpoint {0} waits for")]
    NoMatch(WaitpointId),
    #[error("{by} is not one of the approvers: {}", .approvers.join(", "))]
    NotAnApprover { by: Actor, approvers: Vec<String> },
    #[error("{by} may not decide: the run was started by {started_by}, and no one approves their own")]
    SelfApproval { by: Actor, started_by: Actor },
    #[error(
        "to end the wait of approval {waitpoint} is to decide it: it needs a key with the scope `approve`"
    )]
    MayNotDecide { waitpoint: WaitpointId },
    #[error(
        "to let approval {waitpoint} go on now would count as an approval by {by}; that makes {approvals} of the {quorum} \
         it needs"
    )]
    QuorumNotReached { waitpoint: WaitpointId, by: Actor, approvals: u32, quorum: u32 },
    #[error("the content of {waitpoint} is another than the one that was decided on")]
    ContentChanged { waitpoint: WaitpointId, digest: String },
    #[error("{by} has already decided")]
    AlreadyDecided { by: Actor },
    #[error("the run is {0}")]
    RunEnded(RunStatus),
    #[error("the run is {0}; only a FAILED run can be retried")]
    NotFailed(RunStatus),
    #[error(
        "the run is {0}; only one that stands still, WAITING, PAUSED or PENDING with nothing at work, can be moved"
    )]
    NotWaiting(RunStatus),
    #[error("the run does not fit that version: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    DoesNotFit(Vec<Misfit>),
    #[error("step `{step}` is {status}; it cannot be {verb}")]
    WrongStep { step: String, status: StepStatus, verb: &'static str },
    #[error("lease epoch {given} of step `{step}` is over; the last one made is {current}")]
    StaleLease { step: String, given: u32, current: u32 },
    #[error("lease epoch {lease_epoch} of step `{step}` is already taken by {worker}")]
    AlreadyTaken { step: String, lease_epoch: u32, worker: String },
    #[error(
        "step `{step}` is pinned to build `{build}`: a worker of another build is not given it, unless it is unpinned"
    )]
    PinnedToBuild { step: String, build: String },
    #[error("journal entry `{name}` already holds another result")]
    JournalConflict { name: String },
    #[error("`{name}` was recorded as {recorded}, and the code asks for {asked}")]
    JournalMismatch { name: String, recorded: String, asked: String },
    #[error("{pointer}: {message}")]
    Malformed { pointer: &'static str, message: String },
    #[error("{what} is {actual}, over the limit of {limit}")]
    LimitExceeded { what: &'static str, limit: u64, actual: u64 },
    #[error("the input does not satisfy the definition's inputSchema: {}", .0.iter().map(|(at, why)| format!("{at}: {why}")).collect::<Vec<_>>().join("; "))]
    InvalidInput(Vec<(String, String)>),
    #[error("idempotency key `{0}` was used for another request")]
    KeyReused(String),
    /// A defect: a decision tried what the transition tables forbid. The run must be loaded anew.
    #[error("refused by the transition tables: {0}")]
    Illegal(#[from] BadHistory),
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// What became of a waitpoint, told to everyone who comes too late.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    pub waitpoint: WaitpointId,
    pub status: WaitStatus,
    pub by: Actor,
    pub at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Json>,
}

impl Refusal {
    /// The answer to whoever comes after the waitpoint was resolved.
    pub(crate) fn already_resolved(id: WaitpointId, waitpoint: &Waitpoint) -> Refusal {
        Refusal::AlreadyResolved(Box::new(Resolved {
            waitpoint: id,
            status: waitpoint.status,
            by: waitpoint.resolved_by.clone().unwrap_or_else(|| Actor::new("unknown")),
            at: waitpoint.resolved_at.unwrap_or(waitpoint.created_at),
            payload: waitpoint.resume_payload.clone(),
        }))
    }

    /// The stable code of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::UnknownStep { .. } => "UNKNOWN_STEP",
            Refusal::UnknownWaitpoint(_) => "UNKNOWN_WAITPOINT",
            Refusal::AlreadyResolved(resolved) => match resolved.status {
                WaitStatus::Pending | WaitStatus::Completed => "ALREADY_RESOLVED",
                WaitStatus::TimedOut => "WAITPOINT_TIMED_OUT",
                WaitStatus::Cancelled => "WAITPOINT_CANCELLED",
            },
            Refusal::Expired { .. } => "WAITPOINT_EXPIRED",
            Refusal::NotDue { .. } => "NOT_DUE",
            Refusal::NoSuchTimer => "NO_SUCH_TIMER",
            Refusal::WrongKind { .. } => "WRONG_WAITPOINT_KIND",
            Refusal::ReadOnly(_) => "READ_ONLY",
            Refusal::NoMatch(_) => "EVENT_DOES_NOT_MATCH",
            Refusal::NotAnApprover { .. } => "NOT_AN_APPROVER",
            Refusal::SelfApproval { .. } => "SELF_APPROVAL",
            Refusal::MayNotDecide { .. } => "MAY_NOT_DECIDE",
            Refusal::QuorumNotReached { .. } => "QUORUM_NOT_REACHED",
            Refusal::ContentChanged { .. } => "CONTENT_CHANGED",
            Refusal::AlreadyDecided { .. } => "ALREADY_DECIDED",
            Refusal::RunEnded(_) => "RUN_ENDED",
            Refusal::NotFailed(_) => "RUN_NOT_FAILED",
            Refusal::NotWaiting(_) => "RUN_NOT_WAITING",
            Refusal::DoesNotFit(_) => "RUN_DOES_NOT_FIT",
            Refusal::WrongStep { .. } => "WRONG_STEP_STATUS",
            Refusal::StaleLease { .. } => "STALE_LEASE",
            Refusal::AlreadyTaken { .. } => "TASK_ALREADY_TAKEN",
            Refusal::PinnedToBuild { .. } => "PINNED_TO_BUILD",
            Refusal::JournalConflict { .. } => "JOURNAL_CONFLICT",
            Refusal::JournalMismatch { .. } => "JOURNAL_MISMATCH",
            Refusal::Malformed { .. } => "MALFORMED",
            Refusal::LimitExceeded { .. } => "LIMIT_EXCEEDED",
            Refusal::InvalidInput(_) => "INVALID_INPUT",
            Refusal::KeyReused(_) => "IDEMPOTENCY_KEY_REUSED",
            Refusal::Illegal(_) => "ILLEGAL_TRANSITION",
        }
    }
}

impl From<BadInput> for Refusal {
    fn from(bad: BadInput) -> Refusal {
        match bad {
            BadInput::OverLimit { what, limit, actual } => Refusal::LimitExceeded { what, limit, actual },
            BadInput::Invalid(errors) => Refusal::InvalidInput(errors),
        }
    }
}

/// Refuses what is over a limit (R16).
pub(crate) fn within(what: &'static str, actual: usize, limit: usize) -> Result<(), Refusal> {
    if actual <= limit {
        Ok(())
    } else {
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        Err(Refusal::LimitExceeded { what, limit: count(limit), actual: count(actual) })
    }
}
