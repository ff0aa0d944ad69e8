//! How votes decide an approval.

use serde_json::{Value, json};

use crate::definition::{Action, Approval, OnApprovalTimeout, OnTimeout};
use crate::flow::finish::{Completion, complete};
use crate::flow::wait::take_way_out;
use crate::history::{Change, StateChange};
use crate::id::StepAddress;
use crate::json::Json;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::turn::Turn;
use crate::waitpoint::{ApprovalRequest, Decision, ESCALATION};

/// What the votes on an approval come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tally {
    Open,
    Approved,
    Rejected,
}

/// Counts votes: approved when the quorum has approved; rejected as soon as the quorum cannot be reached any more or,
/// where it is not known how many may decide, with the first rejection.
pub(crate) fn tally(request: &ApprovalRequest) -> (Tally, u32) {
    let count = |wanted: fn(Decision) -> bool| {
        let votes = request.decisions.iter().filter(|vote| wanted(vote.decision)).count();
        u32::try_from(votes).unwrap_or(u32::MAX)
    };
    let approvals = count(|decision| match decision {
        Decision::Approve | Decision::Edit => true,
        Decision::Reject => false,
    });
    let rejections = count(|decision| decision == Decision::Reject);
    let voters = request.voters().map(|voters| u32::try_from(voters).unwrap_or(u32::MAX));
    let out_of_reach = voters.is_none_or(|voters| voters.saturating_sub(rejections) < request.quorum);
    let tally = if approvals >= request.quorum {
        Tally::Approved
    } else if rejections > 0 && out_of_reach {
        Tally::Rejected
    } else {
        Tally::Open
    };
    (tally, approvals)
}

/// What is recorded as the payload of a decided approval, and becomes the step's output.
pub(crate) fn verdict(request: &ApprovalRequest) -> Value {
    let edited = request.decisions.iter().any(|vote| vote.decision == Decision::Edit);
    let decision = match tally(request).0 {
        Tally::Rejected => "reject",
        Tally::Approved | Tally::Open if edited => "edit",
        Tally::Approved | Tally::Open => "approve",
    };
    json!({
        "decision": decision,
        "content": request.content,
        "contentDigest": request.content_digest(),
        "votes": request.decisions,
    })
}

/// Records that the time of a reminder, or of the escalation, has come, so that webhooks are told.
pub(super) fn remind_or_escalate(turn: &mut Turn<'_>, at: StepAddress, number: u32) -> Result<(), Refusal> {
    let escalates = turn.run.waitpoint(number).is_some_and(|wait| &*wait.name == ESCALATION);
    let awaited = turn.run.step(at).and_then(|step| step.awaiting.as_ref());
    let Some(number) = awaited.and_then(|awaiting| awaiting.waits.first().copied()) else { return Ok(()) };
    if !escalates {
        return turn.emit(Change::ApprovalReminded { number });
    }
    let escalation = defined(turn.run, at).and_then(|approval| approval.escalation.as_ref());
    let approvers = escalation.map(|escalation| escalation.to.clone()).unwrap_or_default();
    turn.emit(Change::ApprovalEscalated { number, approvers })
}

pub(super) fn decided(turn: &mut Turn<'_>, at: StepAddress, number: u32) -> Result<(), Refusal> {
    let request = request(turn.run, number);
    let on_reject = defined(turn.run, at).map_or(OnTimeout::Fail, |approval| approval.on_reject);
    match request.map(|request| (tally(request).0, request.clone())) {
        Some((Tally::Rejected, request)) => reject(turn, at, number, on_reject, verdict(&request)),
        Some((Tally::Approved | Tally::Open, request)) => {
            let state = approved(turn.run, at, &request, || verdict(&request));
            complete(turn, at, Completion { waitpoint: Some(number), state, ..Completion::default() })
        }
        None => Ok(()),
    }
}

/// The change of `state` by an approval: content that was edited replaces what was shown.
fn approved(
    run: &Run,
    at: StepAddress,
    request: &ApprovalRequest,
    output: impl FnOnce() -> Value,
) -> StateChange {
    let edited = request.decisions.iter().any(|vote| vote.decision == Decision::Edit);
    let Some(approval) = defined(run, at).filter(|_| edited) else { return StateChange::Nothing };
    let edited = (approval.content_key.to_string(), request.content.clone());
    let save_as = run.definition.step(at.step).save_as.as_ref();
    let saved = save_as.map(|key| (key.to_string(), Json::new(output())));
    StateChange::Set([edited].into_iter().chain(saved).collect())
}

/// The decision that an approval whose deadline has passed comes to.
pub(crate) fn timeout_means(run: &Run, at: StepAddress) -> Decision {
    match defined(run, at).map(|approval| approval.on_timeout) {
        Some(OnApprovalTimeout::Approve | OnApprovalTimeout::Continue | OnApprovalTimeout::Goto(_)) => {
            Decision::Approve
        }
        Some(OnApprovalTimeout::Fail | OnApprovalTimeout::Reject) | None => Decision::Reject,
    }
}

pub(super) fn timed_out(turn: &mut Turn<'_>, at: StepAddress, number: u32) -> Result<(), Refusal> {
    let Some(approval) = defined(turn.run, at) else { return Ok(()) };
    let (on_timeout, on_reject) = (approval.on_timeout, approval.on_reject);
    let content = request(turn.run, number).map(|request| request.content.clone());
    let with = |decision: &str| json!({ "timeout": true, "decision": decision, "content": content });
    let way = match on_timeout {
        OnApprovalTimeout::Fail => OnTimeout::Fail,
        OnApprovalTimeout::Continue => OnTimeout::Continue,
        OnApprovalTimeout::Goto(target) => OnTimeout::Goto(target),
        OnApprovalTimeout::Approve => {
            let output = with("approve");
            let state = request(turn.run, number)
                .map_or(StateChange::Nothing, |request| approved(turn.run, at, request, || output.clone()));
            let (output, waitpoint) = (Some(Json::new(output)), Some(number));
            return complete(turn, at, Completion { output, waitpoint, state, ..Completion::default() });
        }
        OnApprovalTimeout::Reject => return reject(turn, at, number, on_reject, with("reject")),
    };
    let output = json!({ "timeout": true });
    take_way_out(turn, at, number, way, output, "WAIT_TIMED_OUT", "nobody decided in time")
}

fn reject(
    turn: &mut Turn<'_>,
    at: StepAddress,
    number: u32,
    on_reject: OnTimeout,
    output: Value,
) -> Result<(), Refusal> {
    take_way_out(turn, at, number, on_reject, output, "APPROVAL_REJECTED", "the approval was rejected")
}

fn request(run: &Run, number: u32) -> Option<&ApprovalRequest> {
    run.waitpoint(number)?.listens_for.approval()
}

fn defined(run: &Run, at: StepAddress) -> Option<&Approval> {
    if let Action::Approval(approval) = &run.defined(at).action { Some(approval) } else { None }
}
