//! A person approves, rejects or edits. Who that is comes with the context, never with the request.

use std::sync::Arc;

use serde::Serialize;

use crate::command::Reply;
use crate::flow::{self, Tally};
use crate::history::Change;
use crate::json::Json;
use crate::limits;
use crate::refusal::{Refusal, within};
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::{ApprovalRequest, BY_SCOPE, ByLink, Decision, ListensFor};

/// A person's vote on an approval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Vote {
    /// The number of the `APPROVAL` waitpoint.
    pub number: u32,
    /// Whether the person approves, rejects or edits.
    pub decision: Decision,
    /// With `edit`: the content that replaces what was shown. Votes on the earlier content do not count for it.
    pub edited_content: Option<Json>,
    /// What the person says about it.
    pub comment: Option<String>,
    /// The digest of the content that the person was shown; if the content has changed since, the vote is refused.
    pub content_digest: Option<String>,
    /// The scopes of the key that decides, as the server checked them.
    pub scopes: Vec<Arc<str>>,
    /// The link that the vote came by, as the server checked it; `None` for a key.
    pub link: Option<ByLink>,
}

impl Vote {
    /// A vote without a comment, by nobody with scopes or a link.
    pub fn new(number: u32, decision: Decision) -> Vote {
        let (edited_content, comment, content_digest) = (None, None, None);
        Vote { number, decision, edited_content, comment, content_digest, scopes: Vec::new(), link: None }
    }

    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let Vote { number, decision, edited_content, comment, content_digest, scopes, link } = self;
        let waitpoint = turn.open_to_others(number)?;
        let ListensFor::Approval(request) = &waitpoint.listens_for else {
            let (waitpoint, kind) = (turn.run.waitpoint_id(number), waitpoint.kind);
            return Err(Refusal::WrongKind { waitpoint, kind, verb: "decided" });
        };
        check_voter(turn, request, &scopes, link.as_ref())?;
        // An edit is a new proposal, open to everyone again.
        if decision != Decision::Edit && request.has_decided(&turn.by) {
            return Err(Refusal::AlreadyDecided { by: turn.by.clone() });
        }
        if content_digest.is_some_and(|digest| digest != request.content_digest()) {
            let (waitpoint, digest) = (turn.run.waitpoint_id(number), request.content_digest());
            return Err(Refusal::ContentChanged { waitpoint, digest });
        }
        check_content(decision, edited_content.as_ref(), comment.as_deref())?;
        turn.emit(Change::ApprovalDecided { number, decision, edited_content, comment, link })?;
        let waitpoint = turn.pending(number)?;
        let ListensFor::Approval(request) = &waitpoint.listens_for else { return Ok(Reply::Done) };
        let ((tally, approvals), quorum) = (flow::tally(request), request.quorum);
        let resolved = match tally {
            Tally::Open => false,
            Tally::Approved | Tally::Rejected => {
                let verdict = flow::verdict(request);
                flow::resolve(turn, number, WaitStatus::Completed, Some(verdict.into()))?;
                true
            }
        };
        Ok(Reply::Voted { approvals, quorum, resolved })
    }
}

/// Refuses a vote of somebody who has no right to decide: who is not one of the approvers, or started the run where
/// that is forbidden.
pub(super) fn check_voter(
    turn: &Turn<'_>,
    request: &ApprovalRequest,
    scopes: &[Arc<str>],
    link: Option<&ByLink>,
) -> Result<(), Refusal> {
    let by = &turn.by;
    let is_meant = |approver: &Arc<str>| match approver.strip_prefix(BY_SCOPE) {
        Some(scope) => scopes.iter().any(|has| &**has == scope),
        None => *approver == by.0,
    };
    // Who has a link for nobody in particular may be anyone, so also whoever started the run.
    let may_be_the_starter = *by == turn.run.started_by || link.is_some_and(|link| link.for_anyone);
    if !request.allow_self_approval && may_be_the_starter {
        let (by, started_by) = (by.clone(), turn.run.started_by.clone());
        return Err(Refusal::SelfApproval { by, started_by });
    }
    if !request.approvers.is_empty() && !request.approvers.iter().any(is_meant) {
        let approvers = request.approvers.iter().map(ToString::to_string).collect();
        return Err(Refusal::NotAnApprover { by: by.clone(), approvers });
    }
    Ok(())
}

fn check_content(decision: Decision, edited: Option<&Json>, comment: Option<&str>) -> Result<(), Refusal> {
    let malformed =
        |message: &str| Refusal::Malformed { pointer: "/editedContent", message: message.to_owned() };
    match (decision, edited) {
        (Decision::Edit, None) => return Err(malformed("`edit` needs the edited content")),
        (Decision::Approve | Decision::Reject, Some(_)) => return Err(malformed("goes with `edit` only")),
        (Decision::Edit, Some(content)) => {
            within("the content's size in bytes", content.bytes(), limits::PAYLOAD_BYTES)?;
        }
        (Decision::Approve | Decision::Reject, None) => {}
    }
    within("the comment's length", comment.map_or(0, |text| text.chars().count()), limits::DESCRIPTION_CHARS)
}
