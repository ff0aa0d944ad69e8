//! What a run's past says of its steps: which way each went on from, and what of a step must stay after it has ended.

use crate::definition::{Action, OnApprovalTimeout, OnTimeout, Step};
use crate::flow::Exit;
use crate::id::At;
use crate::moving::MisfitCode;
use crate::run::Run;
use crate::status::WaitStatus;
use crate::waitpoint::OWN_WAIT;

/// The same type of step. What it does in detail may differ.
pub(super) fn is_same_kind(old: &Action, new: &Action) -> bool {
    match (old, new) {
        (Action::Work(old), Action::Work(new)) => old.executor == new.executor,
        (
            Action::Work(_)
            | Action::Wait(_)
            | Action::Condition { .. }
            | Action::Signal { .. }
            | Action::Event { .. }
            | Action::Webhook { .. }
            | Action::Approval(_)
            | Action::Respond { .. }
            | Action::Child { .. }
            | Action::Map(_),
            new,
        ) => std::mem::discriminant(old) == std::mem::discriminant(new),
    }
}

/// A child that nobody waits for may not have been started yet: what it is started with stays.
pub(super) fn changed(old: &Action, new: &Action) -> Option<(MisfitCode, String)> {
    let (old, new) = match (old, new) {
        (Action::Map(old), Action::Map(new)) => (&old.step.action, &new.step.action),
        (old, new) => (old, new),
    };
    match old {
        Action::Child { wait: false, .. } => same_child(old, new),
        Action::Child { wait: true, .. }
        | Action::Work(_)
        | Action::Wait(_)
        | Action::Condition { .. }
        | Action::Signal { .. }
        | Action::Event { .. }
        | Action::Webhook { .. }
        | Action::Approval(_)
        | Action::Respond { .. }
        | Action::Map(_) => None,
    }
}

pub(super) fn same_child(old: &Action, new: &Action) -> Option<(MisfitCode, String)> {
    let Action::Child { definition, input, .. } = old else { return None };
    let reason = match new {
        Action::Child { definition: other, .. } if other != definition => {
            format!("it started a run of `{definition}`, and the new version would start `{other}`")
        }
        Action::Child { input: other, .. } if other != input => {
            format!("it started a run of `{definition}`, and the new version gives that another `input`")
        }
        Action::Child { .. } => return None,
        Action::Work(_)
        | Action::Wait(_)
        | Action::Condition { .. }
        | Action::Signal { .. }
        | Action::Event { .. }
        | Action::Webhook { .. }
        | Action::Approval(_)
        | Action::Respond { .. }
        | Action::Map(_) => format!("it started a run of `{definition}`, and the new version starts none"),
    };
    Some((MisfitCode::ChildChanged, reason))
}

/// What a step that has ended came to, as far as it says where the run went on.
#[derive(Clone, Copy)]
enum Came {
    Through,
    To(bool),
    TooLate,
    Rejected,
}

/// How a completed step leads on in the new definition, by what it came to in the old one.
pub(super) fn exit(run: &Run, old: u16, new: &Step) -> Exit {
    let goto = |way: OnTimeout| match way {
        OnTimeout::Goto(target) => Exit::Goto(target),
        OnTimeout::Fail | OnTimeout::Continue => Exit::Next,
    };
    match (&new.action, came(run, old)) {
        (Action::Condition { on_true, on_false, .. }, Came::To(result)) => {
            let on_false = on_false.unwrap_or(new.next);
            let (taken, other) = if result { (*on_true, on_false) } else { (on_false, *on_true) };
            Exit::Branch { taken, other: (other != taken).then_some(other) }
        }
        (
            Action::Signal { deadline, .. }
            | Action::Event { deadline, .. }
            | Action::Webhook { deadline, .. },
            Came::TooLate,
        ) => goto(deadline.on_timeout),
        (Action::Approval(approval), Came::TooLate) => match approval.on_timeout {
            OnApprovalTimeout::Goto(target) => Exit::Goto(target),
            OnApprovalTimeout::Reject => goto(approval.on_reject),
            OnApprovalTimeout::Fail | OnApprovalTimeout::Continue | OnApprovalTimeout::Approve => Exit::Next,
        },
        (Action::Approval(approval), Came::Rejected) => goto(approval.on_reject),
        (
            Action::Work(_)
            | Action::Wait(_)
            | Action::Condition { .. }
            | Action::Signal { .. }
            | Action::Event { .. }
            | Action::Webhook { .. }
            | Action::Approval(_)
            | Action::Respond { .. }
            | Action::Child { .. }
            | Action::Map(_),
            Came::Through | Came::To(_) | Came::TooLate | Came::Rejected,
        ) => Exit::Next,
    }
}

fn came(run: &Run, old: u16) -> Came {
    let at = At::step(old);
    let Some(state) = run.step(at) else { return Came::Through };
    let said = |key: &str| state.output.as_ref().and_then(|output| output.get(key));
    let own = state.waits.get(OWN_WAIT).and_then(|number| run.waitpoint(*number));
    match &run.definition.step(old).action {
        Action::Condition { .. } => Came::To(said("result").and_then(|it| it.as_bool()).unwrap_or(false)),
        Action::Signal { .. } | Action::Event { .. } | Action::Webhook { .. } | Action::Approval(_)
            if own.is_some_and(|wait| wait.status == WaitStatus::TimedOut) =>
        {
            Came::TooLate
        }
        Action::Approval(_) if said("decision").is_some_and(|it| it == "reject") => Came::Rejected,
        Action::Work(_)
        | Action::Wait(_)
        | Action::Signal { .. }
        | Action::Event { .. }
        | Action::Webhook { .. }
        | Action::Approval(_)
        | Action::Respond { .. }
        | Action::Child { .. }
        | Action::Map(_) => Came::Through,
    }
}
