//! What a run's past says of its steps: which way each went on from, and what of a step must stay after it has ended.

use std::sync::Arc;

use crate::definition::{Action, Exits, OnApprovalTimeout, Step, Target};
use crate::flow::Exit;
use crate::id::StepAddress;
use crate::moving::MisfitCode;
use crate::run::Run;
use crate::status::WaitStatus;
use crate::waitpoint::OWN_WAIT;

/// Whether two steps are of the same type. What they do in detail may differ.
pub(super) fn is_same_kind(old: &Action, new: &Action) -> bool {
    let executor = |action: &Action| action.work().map(|work| work.executor);
    std::mem::discriminant(old) == std::mem::discriminant(new) && executor(old) == executor(new)
}

/// What has changed of a child that nobody waits for and that may not have been started yet: its input must stay.
pub(super) fn changed(old: &Action, new: &Action) -> Option<(MisfitCode, String)> {
    let (old, new) = match (old, new) {
        (Action::Map(old), Action::Map(new)) => (&old.step.action, &new.step.action),
        (old, new) => (old, new),
    };
    if matches!(old, Action::Child { wait: false, .. }) { same_child(old, new) } else { None }
}

pub(super) fn same_child(old: &Action, new: &Action) -> Option<(MisfitCode, String)> {
    let Action::Child { definition, input, .. } = old else { return None };
    let reason = if let Action::Child { definition: other, input: other_input, .. } = new {
        if other != definition {
            format!("it started a run of `{definition}`, and the new version would start `{other}`")
        } else if other_input != input {
            format!("it started a run of `{definition}`, and the new version gives that another `input`")
        } else {
            return None;
        }
    } else {
        format!("it started a run of `{definition}`, and the new version starts none")
    };
    Some((MisfitCode::ChildChanged, reason))
}

/// How a step that has ended came to its end, as far as that says where the run went on.
enum Came {
    Through,
    To(bool),
    TooLate,
    Rejected,
    /// One of several waits came first, by its name.
    First(Arc<str>),
}

/// How a completed step leads on in the new definition, by how it ended in the old one.
pub(super) fn exit(run: &Run, old: u16, new: &Step) -> Exit {
    let Exits { too_late, rejected, by_first } = new.action.exits();
    let goto = |target: Option<Target>| target.map_or(Exit::Next, Exit::Goto);
    match came(run, old) {
        Came::Through => Exit::Next,
        Came::To(result) => branch(new, result),
        Came::TooLate if rejects_when_late(&new.action) => goto(rejected),
        Came::TooLate => goto(too_late),
        Came::Rejected => goto(rejected),
        Came::First(first) => goto(by_first.iter().find(|(name, _)| *name == first).map(|(_, to)| *to)),
    }
}

fn branch(new: &Step, result: bool) -> Exit {
    let Action::Condition { on_true, on_false, .. } = &new.action else { return Exit::Next };
    let on_false = on_false.unwrap_or(new.next);
    let (taken, other) = if result { (*on_true, on_false) } else { (on_false, *on_true) };
    Exit::Branch { taken, other: (other != taken).then_some(other) }
}

fn rejects_when_late(action: &Action) -> bool {
    matches!(action, Action::Approval(approval) if approval.on_timeout == OnApprovalTimeout::Reject)
}

fn came(run: &Run, old: u16) -> Came {
    let Some(state) = run.step(StepAddress::step(old)) else { return Came::Through };
    let said = |key: &str| state.output.as_ref().and_then(|output| output.get(key));
    let own = state.waits.get(OWN_WAIT).and_then(|number| run.waitpoint(*number));
    let action = &run.definition.step(old).action;
    let is_approval = matches!(action, Action::Approval(_));
    if action.group().is_some() {
        let first = said("first").and_then(|first| first.as_str());
        return match first.filter(|_| said("timeout").is_none()) {
            Some(first) => Came::First(first.into()),
            None => Came::TooLate,
        };
    }
    if matches!(action, Action::Condition { .. }) {
        Came::To(said("result").and_then(|it| it.as_bool()).unwrap_or(false))
    } else if (is_approval || action.deadline().is_some())
        && own.is_some_and(|wait| wait.status == WaitStatus::TimedOut)
    {
        Came::TooLate
    } else if is_approval && said("decision").is_some_and(|it| it == "reject") {
        Came::Rejected
    } else {
        Came::Through
    }
}
