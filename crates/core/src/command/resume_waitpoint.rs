//! A call on a resume URL: of a waitpoint by its number, or of a step by its name, even before it begins (R5c, R5d).

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::command::Reply;
use crate::definition::Action;
use crate::flow::{self, NewWait, new_waitpoint};
use crate::history::Change;
use crate::id::StepAddress;
use crate::json::Json;
use crate::limits;
use crate::problem::nearest;
use crate::refusal::{Refusal, within};
use crate::status::WaitStatus;
use crate::turn::Turn;
use crate::waitpoint::{Kind, ListensFor, OWN_WAIT, Waitpoint};

/// A call on a resume link: it resolves a wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResumeWaitpoint {
    /// The waitpoint, or the step that waits or will wait.
    pub target: ResumeTarget,
    /// What the caller sent: `{body, headers, queryParams}`.
    #[serde(serialize_with = "without_headers")]
    pub payload: Json,
    /// Whether the call was made by a method that may change something.
    pub via: Via,
}

/// The wait that a call on a resume link resolves.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ResumeTarget {
    /// The waitpoint of this number.
    Waitpoint(u32),
    /// The wait of a webhook step, or the named wait of a task or of a step that waits for several things.
    Step {
        /// The name of the step; an item of a map is `name[3]`.
        step: String,
        /// The name of the wait; `None`: the wait of a webhook step.
        wait: Option<Arc<str>>,
    },
}

/// Whether the method of the call may change something (R7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// GET or HEAD: resolves only where `allowGet` says so.
    Read,
    /// POST: resolves the wait.
    Write,
}

/// Leaves headers out of what an idempotency key is compared by: callers count their attempts, sign them anew and
/// come through other proxies, and mean the same request.
fn without_headers<S: Serializer>(payload: &Json, serializer: S) -> Result<S::Ok, S::Error> {
    match payload.as_object() {
        Some(call) => serializer.collect_map(call.iter().filter(|(name, _)| *name != "headers")),
        None => payload.serialize(serializer),
    }
}

impl ResumeWaitpoint {
    pub(super) fn decide(self, turn: &mut Turn<'_>) -> Result<Reply, Refusal> {
        let ResumeWaitpoint { target, payload, via } = self;
        within("the payload's size in bytes", payload.bytes(), limits::PAYLOAD_BYTES)?;
        match target {
            ResumeTarget::Waitpoint(number) => resume(turn, number, payload, via),
            ResumeTarget::Step { step, wait } => {
                let Some(at) = turn.run.find_step(&step) else {
                    let names = turn.run.definition.steps.iter().map(|step| &*step.name);
                    let nearest = nearest(&step, names).map(str::to_owned);
                    return Err(Refusal::UnknownStep { name: step, nearest });
                };
                let name = wait.clone().unwrap_or_else(|| OWN_WAIT.into());
                match turn.run.step(at).and_then(|state| state.waits.get(&name).copied()) {
                    Some(number) => resume(turn, number, payload, via),
                    None => complete_early(turn, at, wait, payload, via),
                }
            }
        }
    }
}

fn resume(turn: &mut Turn<'_>, number: u32, payload: Json, via: Via) -> Result<Reply, Refusal> {
    if let Some(repeated) = turn.run.waitpoint(number).filter(|wait| is_repeat(wait, &payload, via)) {
        return Ok(Reply::Repeated(turn.run.waitpoint_id(repeated.number)));
    }
    let waitpoint = turn.open_to_others(number)?;
    let id = turn.run.waitpoint_id(number);
    let ListensFor::Call { allow_get } = &waitpoint.listens_for else {
        return Err(Refusal::WrongKind { waitpoint: id, kind: waitpoint.kind, verb: "resumed by a call" });
    };
    match via {
        Via::Read if !allow_get => return Err(Refusal::ReadOnly(id)),
        Via::Read | Via::Write => {}
    }
    flow::resolve(turn, number, WaitStatus::Completed, Some(payload))?;
    Ok(Reply::Waitpoint(id))
}

/// Whether this is the call that has ended the wait, sent again by a caller that did not get the answer: it has the
/// same `webhook-id`, or the same body and query.
fn is_repeat(waitpoint: &Waitpoint, payload: &Json, via: Via) -> bool {
    let (ListensFor::Call { allow_get }, WaitStatus::Completed) = (&waitpoint.listens_for, waitpoint.status)
    else {
        return false;
    };
    let Some(first) = &waitpoint.resume_payload else { return false };
    let webhook_id = |call: &Json| call.get("headers")?.get("webhook-id")?.as_str().map(str::to_owned);
    let same_message = webhook_id(payload).is_some_and(|id| webhook_id(first).as_ref() == Some(&id));
    let same = |part: &str| payload.get(part) == first.get(part);
    (via == Via::Write || *allow_get) && (same_message || (same("body") && same("queryParams")))
}

/// Stores a completed waitpoint for this step and no other; the step takes it when it comes to wait.
fn complete_early(
    turn: &mut Turn<'_>,
    at: StepAddress,
    wait: Option<Arc<str>>,
    payload: Json,
    via: Via,
) -> Result<Reply, Refusal> {
    turn.refuse_ended()?;
    let id = turn.run.waitpoint_id(flow::next_number(turn.run));
    let status = turn.run.step_status(at);
    if status.is_settled() || turn.run.step(at).is_some_and(|step| step.ended_at.is_some()) {
        return Err(Refusal::WrongStep { step: turn.run.step_name(at), status, verb: "resumed" });
    }
    let allow_get = if let (Action::Webhook { allow_get, .. }, None) = (&turn.run.defined(at).action, &wait) {
        *allow_get
    } else if let (Action::Group(group), Some(name)) = (&turn.run.defined(at).action, &wait)
        && let Some(Action::Webhook { allow_get, .. }) = group.wait(name).map(|member| &member.action)
    {
        *allow_get
    } else if let (Action::Work(_), Some(name)) = (&turn.run.defined(at).action, &wait) {
        turn.check_wait_name(name)?;
        turn.named_wait(at, name)?;
        false
    } else {
        return Err(Refusal::WrongStep { step: turn.run.step_name(at), status, verb: "resumed by a call" });
    };
    if via == Via::Read && !allow_get {
        return Err(Refusal::ReadOnly(id));
    }
    turn.check_room_for_waits(1)?;
    let (kind, listens_for) = (Kind::Webhook, ListensFor::Call { allow_get });
    let new = NewWait { kind, resume_at: None, listens_for, response: None };
    let opens = new_waitpoint(turn, Some(at), wait.unwrap_or_else(|| OWN_WAIT.into()), new);
    let number = opens.number;
    turn.emit(Change::WaitCreated { opens })?;
    flow::resolve(turn, number, WaitStatus::Completed, Some(payload))?;
    Ok(Reply::Waitpoint(id))
}
