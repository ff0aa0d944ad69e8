//! Steering a pending wait (R9): the same four verbs for every kind, each recorded with who did it.
//!
//! To end an approval's wait, or to bring its deadline nearer, is to decide it. It needs the right to decide, and counts
//! and is recorded as that person's vote; it never stands in for votes that a quorum still needs.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use crate::command::Reply;
use crate::command::vote::check_voter;
use crate::flow::{self, Completion};
use crate::history::Change;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::run::Run;
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::{Decision, Kind, ListensFor, Waitpoint};

/// An operator changes a wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steer {
    /// The number of the waitpoint.
    pub number: u32,
    /// What to do to the wait.
    pub steering: Steering,
    /// The scopes by which whoever steers may decide approvals, as they were checked; empty: they may decide none.
    pub scopes: Vec<Arc<str>>,
}

/// What an operator does to a wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Steering {
    /// Moves the wait's end, or its deadline, to another instant; a past one is due at once.
    Reschedule {
        /// The new instant.
        resume_at: Timestamp,
    },
    /// Ends the wait as if what it waits for had come.
    Complete {
        /// What the wait ends with.
        payload: Option<Json>,
    },
    /// Completes the step of a wait for other code, without its handler (R20).
    Skip {
        /// The output that the step is completed with.
        output: Json,
        /// What the operator gives as a reason.
        reason: Option<String>,
    },
    /// Ends the wait as if its instant, or its deadline, had come.
    TimeOut,
    /// Cancels the wait.
    Cancel,
}

impl Steer {
    /// A steering by somebody who has no right to decide approvals.
    pub fn new(number: u32, steering: Steering) -> Steer {
        Steer { number, steering, scopes: Vec::new() }
    }

    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let Steer { number, steering, scopes } = self;
        let waitpoint = turn.pending(number)?;
        let (kind, id) = (waitpoint.kind, turn.run.waitpoint_id(number));
        if let Steering::Reschedule { resume_at } = &steering
            && *resume_at > turn.bounds.max_wait.after(turn.now)
        {
            let message = format!("more than {} from now", turn.bounds.max_wait);
            return Err(Refusal::Malformed { pointer: "/resumeAt", message });
        }
        let was = waitpoint.resume_at;
        check_approval(turn, number, &steering, &scopes)?;
        check_approvals_beside(turn, number, &steering, &scopes)?;
        match steering {
            // It was over already, and is ended by its time and by nobody.
            Steering::Reschedule { resume_at }
                if kind == Kind::Approval
                    && resume_at <= turn.now
                    && was.is_some_and(|was| was <= resume_at) =>
            {
                turn.by_the_clock(|turn| flow::resolve(turn, number, WaitStatus::TimedOut, None))?;
            }
            // A decision that is recorded as one, not left to the timer.
            Steering::Reschedule { resume_at } if kind == Kind::Approval && resume_at <= turn.now => {
                flow::resolve(turn, number, WaitStatus::TimedOut, None)?;
            }
            Steering::Reschedule { resume_at } => {
                turn.emit(Change::WaitRescheduled { number, resume_at })?;
                // It may have been overdue, and is open again: what came meanwhile is still there (R5).
                look_again(turn, number)?;
            }
            Steering::Complete { payload } => {
                match kind {
                    Kind::Approval | Kind::Child => {
                        return Err(Refusal::WrongKind { waitpoint: id, kind, verb: "completed by hand" });
                    }
                    Kind::Webhook | Kind::Signal | Kind::Event | Kind::Code | Kind::Capacity => {
                        turn.open_to_others(number).map(|_| ())?;
                    }
                    Kind::Delay | Kind::Pause | Kind::Retry | Kind::Schedule => {}
                }
                // Nobody reads what is said to a wait for other code: any code may try from here on.
                let payload = payload.filter(|_| !matches!(kind, Kind::Code | Kind::Capacity));
                let bytes = payload.as_ref().map_or(0, Json::bytes);
                within("the payload's size in bytes", bytes, limits::PAYLOAD_BYTES)?;
                flow::resolve(turn, number, WaitStatus::Completed, payload)?;
            }
            Steering::Skip { output, reason } => skip(turn, number, output, reason)?,
            Steering::TimeOut => {
                let status = if kind.ends_by_time() { WaitStatus::Completed } else { WaitStatus::TimedOut };
                flow::resolve(turn, number, status, None)?;
            }
            Steering::Cancel => flow::resolve(turn, number, WaitStatus::Cancelled, None)?,
        }
        Ok(Reply::Waitpoint(id))
    }
}

/// Offers a wait what came before; where it holds the deadline of several, all of them.
fn look_again(turn: &mut Turn<'_>, number: u32) -> Result<(), Refusal> {
    let is_deadline = turn.run.waitpoint(number).is_some_and(Waitpoint::is_deadline);
    let beside: Vec<u32> = turn.run.beside(number).filter(|_| is_deadline).map(|wait| wait.number).collect();
    for other in beside.into_iter().chain([number]) {
        if turn.run.open.contains_key(&other) {
            flow::look_for_early_ones(turn, other)?;
        }
    }
    Ok(())
}

/// Where the steering of one of several waits may end the step before an approval beside it is decided: checks that whoever
/// asks may decide.
fn check_approvals_beside(
    turn: &Turn<'_>,
    number: u32,
    steering: &Steering,
    scopes: &[Arc<str>],
) -> Result<(), Refusal> {
    let Some(waitpoint) = turn.run.waitpoint(number) else { return Ok(()) };
    let may_end_it = match steering {
        Steering::Reschedule { resume_at } => waitpoint.resume_at.is_none_or(|was| *resume_at < was),
        Steering::Complete { .. } | Steering::TimeOut => true,
        Steering::Cancel | Steering::Skip { .. } => false,
    };
    if !may_end_it || waitpoint.kind == Kind::Approval {
        return Ok(());
    }
    for (approval, request) in
        turn.run.beside(number).filter_map(|wait| Some((wait.number, wait.listens_for.approval()?)))
    {
        if scopes.is_empty() {
            return Err(Refusal::MayNotDecide { waitpoint: turn.run.waitpoint_id(approval) });
        }
        check_voter(turn, request, scopes, None)?;
    }
    Ok(())
}

/// Completes a step that waits for other code, without that code (R20). Whatever else its handler waits for is
/// cancelled.
fn skip(turn: &mut Turn<'_>, number: u32, output: Json, reason: Option<String>) -> Result<(), Refusal> {
    let waitpoint = turn.pending(number)?;
    let kind = waitpoint.kind;
    let (Some(at), true) = (waitpoint.at, kind == Kind::Code) else {
        let waitpoint = turn.run.waitpoint_id(number);
        return Err(Refusal::WrongKind { waitpoint, kind, verb: "skipped: only a wait for other code can" });
    };
    // One that was moved to an instant that is over is ended by that (R4).
    turn.open_to_others(number)?;
    within("the output's size in bytes", output.bytes(), limits::PAYLOAD_BYTES)?;
    let chars = reason.as_ref().map_or(0, |reason| reason.chars().count());
    within("the reason's length", chars, limits::DESCRIPTION_CHARS)?;
    let state = flow::result_state(turn.run, at, Some(&output), None)
        .map_err(|failure| Refusal::Malformed { pointer: "/output", message: failure.message })?;
    let said =
        reason.map_or_else(|| json!({ "skipped": true }), |why| json!({ "skipped": true, "reason": why }));
    flow::end_wait(turn, number, WaitStatus::Completed, Some(said.into()))?;
    flow::complete(turn, at, Completion { waitpoint: Some(number), state, ..Completion::of(output) })
}

/// Where the steering of a wait decides an approval: checks that whoever asks may decide, and records their vote.
fn check_approval(
    turn: &mut Turn<'_>,
    number: u32,
    steering: &Steering,
    scopes: &[Arc<str>],
) -> Result<(), Refusal> {
    let Some(approval) = decided_by(turn.run, number, steering) else { return Ok(()) };
    let id = turn.run.waitpoint_id(approval);
    if scopes.is_empty() {
        return Err(Refusal::MayNotDecide { waitpoint: id });
    }
    let Some(waitpoint) = turn.run.waitpoint(approval) else { return Ok(()) };
    let ListensFor::Approval(request) = &waitpoint.listens_for else { return Ok(()) };
    check_voter(turn, request, scopes, None)?;
    // Bringing an escalation nearer lets others decide, and decides nothing itself.
    let (Some(at), true) = (waitpoint.at, approval == number) else { return Ok(()) };
    let decision = match steering {
        Steering::TimeOut | Steering::Reschedule { .. } => flow::timeout_means(turn.run, at),
        Steering::Cancel | Steering::Complete { .. } | Steering::Skip { .. } => Decision::Reject,
    };
    let has_decided = request.has_decided(&turn.by);
    if decision == Decision::Approve {
        let (approvals, quorum) = (flow::tally(request).1 + u32::from(!has_decided), request.quorum);
        if approvals < quorum {
            let by = turn.by.clone();
            return Err(Refusal::QuorumNotReached { waitpoint: id, by, approvals, quorum });
        }
    }
    let ends_now = match steering {
        Steering::Reschedule { resume_at } => *resume_at <= turn.now,
        Steering::TimeOut | Steering::Cancel | Steering::Complete { .. } | Steering::Skip { .. } => true,
    };
    if ends_now && !has_decided {
        let (edited_content, comment, link) = (None, None, None);
        turn.emit(Change::ApprovalDecided { number, decision, edited_content, comment, link })?;
    }
    Ok(())
}

/// The approval that this steering of a wait would decide, or open to more people.
fn decided_by(run: &Run, number: u32, steering: &Steering) -> Option<u32> {
    let waitpoint = run.waitpoint(number)?;
    let is_earlier = match steering {
        Steering::Reschedule { resume_at } => waitpoint.resume_at.is_none_or(|was| *resume_at < was),
        Steering::TimeOut | Steering::Cancel | Steering::Complete { .. } | Steering::Skip { .. } => true,
    };
    if !is_earlier {
        return None;
    }
    if waitpoint.kind == Kind::Approval {
        // By hand it is not completed at all.
        return (!matches!(steering, Steering::Complete { .. } | Steering::Skip { .. })).then_some(number);
    }
    if waitpoint.is_escalation() && !matches!(steering, Steering::Cancel | Steering::Skip { .. }) {
        let awaited = run.step(waitpoint.at?)?.awaiting.as_ref();
        return awaited.and_then(|awaiting| awaiting.waits.first().copied());
    }
    None
}
