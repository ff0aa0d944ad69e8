//! Refusals (R8): each has its own stable code and says the current state. A refused command changes nothing.

use jiff::Timestamp;
use serde::Serialize;

use crate::apply::BadHistory;
use crate::definition::BadInput;
use crate::id::WaitpointId;
use crate::json::Json;
use crate::moving::Misfit;
use crate::status::{RunStatus, StepStatus, WaitStatus};
use crate::time::Millis;
use crate::waitpoint::{Actor, Kind, Waitpoint};

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// There is no room under a limit that refuses what finds none.
    #[error("there is no room under the limit `{limit}`{}", from_then(*room_in))]
    LimitFull {
        /// The name of the limit, with its key.
        limit: String,
        /// How long it takes until a rate allows the next one; `None`: nobody knows when somebody gives room back.
        room_in: Option<Millis>,
    },
    /// The run has no step of this name.
    #[error("the run has no step `{name}`{}", hint(nearest.as_deref()))]
    UnknownStep {
        /// The name that was given.
        name: String,
        /// The name of a step that looks like it.
        nearest: Option<String>,
    },
    /// The run has no waitpoint of this number.
    #[error("the run has no waitpoint {0}")]
    UnknownWaitpoint(WaitpointId),
    /// The waitpoint was resolved before (R2).
    #[error("waitpoint {} is already {}, by {}", .0.waitpoint, .0.status, .0.by)]
    AlreadyResolved(Box<Resolved>),
    /// The waitpoint's deadline has passed, even if its timer has not fired yet (R4).
    #[error("waitpoint {waitpoint} expired at {at}")]
    Expired {
        /// The waitpoint.
        waitpoint: WaitpointId,
        /// The deadline of the waitpoint.
        at: Timestamp,
    },
    /// The timer of the waitpoint fired too early (R3).
    #[error("waitpoint {waitpoint} is not due before {at}")]
    NotDue {
        /// The waitpoint.
        waitpoint: WaitpointId,
        /// The instant that it waits for.
        at: Timestamp,
    },
    /// The timer that fired is not one that the run has, or is not due.
    #[error("the timer is not set, or not due")]
    NoSuchTimer,
    /// A waitpoint of this kind cannot be resolved or steered in this way.
    #[error("waitpoint {waitpoint} is {} {kind}; it cannot be {verb}", kind.article())]
    WrongKind {
        /// The waitpoint.
        waitpoint: WaitpointId,
        /// The kind that it is of.
        kind: Kind,
        /// What was tried, as in "resumed by a call".
        verb: &'static str,
    },
    /// A GET or HEAD came for a waitpoint that has no `allowGet` (R7).
    #[error("waitpoint {0} is resolved by POST; reading it changes nothing")]
    ReadOnly(WaitpointId),
    /// The wait does not take the event: of another workspace or run, not accepted by its filter, or taken before.
    #[error("the event is not one that waitpoint {0} waits for")]
    NoMatch(WaitpointId),
    /// Whoever asks is not one of the approvers.
    #[error("{by} is not one of the approvers: {}", .approvers.join(", "))]
    NotAnApprover {
        /// Who asks.
        by: Actor,
        /// Who may decide.
        approvers: Vec<String>,
    },
    /// Whoever asks started the run, and its approval forbids that they decide.
    #[error("{by} may not decide: the run was started by {started_by}, and no one approves their own")]
    SelfApproval {
        /// Who asks.
        by: Actor,
        /// Who started the run.
        started_by: Actor,
    },
    /// Whoever steers the wait of an approval has no right to decide it.
    #[error(
        "to end the wait of approval {waitpoint} is to decide it: it needs a key with the scope `approve`"
    )]
    MayNotDecide {
        /// The waitpoint of the approval.
        waitpoint: WaitpointId,
    },
    /// Completing the wait of an approval would count as one vote, and more are needed.
    #[error(
        "to let approval {waitpoint} go on now would count as an approval by {by}; that makes {approvals} of the {quorum} \
         it needs"
    )]
    QuorumNotReached {
        /// The waitpoint of the approval.
        waitpoint: WaitpointId,
        /// Who asks.
        by: Actor,
        /// The approvals that there would be.
        approvals: u32,
        /// The approvals that are needed.
        quorum: u32,
    },
    /// The content has changed since it was shown to whoever decides.
    #[error("the content of {waitpoint} is another than the one that was decided on")]
    ContentChanged {
        /// The waitpoint of the approval.
        waitpoint: WaitpointId,
        /// The digest of the present content.
        digest: String,
    },
    /// Whoever asks has decided about the present content before.
    #[error("{by} has already decided")]
    AlreadyDecided {
        /// Who asks.
        by: Actor,
    },
    /// The run has ended in this status; nothing can be asked of it.
    #[error("the run is {0}")]
    RunEnded(RunStatus),
    /// A retry was asked of a run that is in this status and not FAILED.
    #[error("the run is {0}; only a FAILED run can be retried")]
    NotFailed(RunStatus),
    /// A move was asked of a run that is in this status, or has something at work.
    #[error(
        "the run is {0}; only one that stands still, WAITING, PAUSED or PENDING with nothing at work, can be moved"
    )]
    NotWaiting(RunStatus),
    /// The run's past does not fit the other version, for these reasons.
    #[error("the run does not fit that version: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    DoesNotFit(Vec<Misfit>),
    /// A step in this status cannot be reported on or resumed.
    #[error("step `{step}` is {status}; it cannot be {verb}")]
    WrongStep {
        /// The name of the step.
        step: String,
        /// The status that it is in.
        status: StepStatus,
        /// What was tried, as in "resumed".
        verb: &'static str,
    },
    /// A report came under a lease epoch that is over (R12).
    #[error("lease epoch {given} of step `{step}` is over; the last one made is {current}")]
    StaleLease {
        /// The name of the step.
        step: String,
        /// The lease epoch of the report.
        given: u32,
        /// The lease epoch that the task was handed out under last.
        current: u32,
    },
    /// Another worker has the task under this lease epoch.
    #[error("lease epoch {lease_epoch} of step `{step}` is already taken by {worker}")]
    AlreadyTaken {
        /// The name of the step.
        step: String,
        /// The lease epoch.
        lease_epoch: u32,
        /// The worker that has the task.
        worker: String,
    },
    /// The task is pinned to another build than the worker's.
    #[error(
        "step `{step}` is pinned to build `{build}`: a worker of another build is not given it, unless it is unpinned"
    )]
    PinnedToBuild {
        /// The name of the step.
        step: String,
        /// The build that may have the task.
        build: String,
    },
    /// An entry of this name with another result is in the journal.
    #[error("journal entry `{name}` already holds another result")]
    JournalConflict {
        /// The name of the entry.
        name: String,
    },
    /// The code asks for another wait than the journal has under this name (R19).
    #[error("`{name}` was recorded as {recorded}, and the code asks for {asked}")]
    JournalMismatch {
        /// The name of the durable call.
        name: String,
        /// What was recorded.
        recorded: String,
        /// What the code asks for.
        asked: String,
    },
    /// A part of the request makes no sense.
    #[error("{pointer}: {message}")]
    Malformed {
        /// A JSON pointer to the part.
        pointer: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// A limit is exceeded (R16).
    #[error("{what} is {actual}, over the limit of {limit}")]
    LimitExceeded {
        /// What is limited, as in "the input's size in bytes".
        what: &'static str,
        /// The limit.
        limit: u64,
        /// The figure that exceeds it.
        actual: u64,
    },
    /// The input does not satisfy the `inputSchema`: JSON pointers, each with a reason.
    #[error("the input does not satisfy the definition's inputSchema: {}", .0.iter().map(|(at, why)| format!("{at}: {why}")).collect::<Vec<_>>().join("; "))]
    InvalidInput(Vec<(String, String)>),
    /// The idempotency key was used for another request (R14).
    #[error("idempotency key `{0}` was used for another request")]
    KeyReused(String),
    /// A decision tried what the transition tables forbid: a defect of ours. The run must be loaded anew.
    #[error("refused by the transition tables: {0}")]
    Illegal(#[from] BadHistory),
}

fn from_then(room_in: Option<Millis>) -> String {
    room_in.map(|length| format!("; there is in {length}")).unwrap_or_default()
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// How a waitpoint was resolved, told to everyone who comes too late.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    /// The waitpoint.
    pub waitpoint: WaitpointId,
    /// The status that the waitpoint was resolved to.
    pub status: WaitStatus,
    /// Who or what resolved the waitpoint.
    pub by: Actor,
    /// When the waitpoint was resolved.
    pub at: Timestamp,
    /// What the waitpoint was resolved with.
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
            Refusal::LimitFull { .. } => "LIMIT_FULL",
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
