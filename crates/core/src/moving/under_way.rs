//! What must stay of a step that is under way: what was asked for is asked for still. Deadlines stay as they were
//! recorded, whatever the new version says; what happens when they are over is the new version's.

use std::sync::Arc;

use crate::definition::{Action, Approval, Group, Map, Work};
use crate::id::StepAddress;
use crate::moving::{MisfitCode, past};
use crate::run::Run;
use crate::waitpoint::OWN_WAIT;

type Changed = Option<(MisfitCode, String)>;

pub(super) fn changed(run: &Run, at: StepAddress, old: &Action, new: &Action) -> Changed {
    changed_wait(run, at, OWN_WAIT, old, new)
}

/// What has changed of a wait of this name.
fn changed_wait(run: &Run, at: StepAddress, name: &str, old: &Action, new: &Action) -> Changed {
    let wait = |reason: String| Some((MisfitCode::WaitChanged, reason));
    match (old, new) {
        (Action::Work(old), Action::Work(new)) => work(old, new),
        (Action::Signal { signal_type: old, .. }, Action::Signal { signal_type: new, .. }) if old != new => {
            wait(format!("it waits for the signal `{old}`, and the new version for `{new}`"))
        }
        (Action::Event { event_id: old, .. }, Action::Event { event_id: new, .. })
            if old != new && !is_constant(new, recorded_event(run, at, name)) =>
        {
            let waits_for = recorded_event(run, at, name).unwrap_or_default();
            wait(format!("it waits for the event `{waits_for}`, and the new version has another `eventId`"))
        }
        (Action::Event { matching: old, .. }, Action::Event { matching: new, .. }) if old != new => {
            wait("it waits for events by another `match` than the new version's".to_owned())
        }
        (
            Action::Webhook { allow_get: get, allow_sync: sync, .. },
            Action::Webhook { allow_get: new_get, allow_sync: new_sync, .. },
        ) if (get, sync) != (new_get, new_sync) => wait(
            "its link was made with other rights (`allowGet`, `allowSync`) than the new version's".to_owned(),
        ),
        (Action::Approval(old), Action::Approval(new)) => approval(old, new),
        (Action::Child { .. }, Action::Child { .. }) => past::same_child(old, new),
        (Action::Map(old), Action::Map(new)) => map(run, at, old, new),
        (Action::Group(old), Action::Group(new)) => group(run, at, old, new),
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
            | Action::Map(_)
            | Action::Group(_),
            _,
        ) => None,
    }
}

fn work(old: &Work, new: &Work) -> Changed {
    let reason = if old.handler != new.handler {
        format!("its task is one for `{}`, and the new version gives it to `{}`", old.handler, new.handler)
    } else if old.config != new.config {
        "its task was handed out with another `config` than the new version's".to_owned()
    } else if old.input != new.input {
        "its task was handed out with another input than the new version's".to_owned()
    } else {
        return None;
    };
    Some((MisfitCode::WorkChanged, reason))
}

fn approval(old: &Approval, new: &Approval) -> Changed {
    let what = if old.content_key != new.content_key {
        "`contentKey`"
    } else if old.content_schema != new.content_schema {
        "`contentSchema`"
    } else if old.approvers != new.approvers {
        "`approvers`"
    } else if old.quorum != new.quorum {
        "`quorum`"
    } else if old.allow_self_approval != new.allow_self_approval {
        "`allowSelfApproval`"
    } else {
        return None;
    };
    Some((
        MisfitCode::WaitChanged,
        format!("it waits for an approval with another {what} than the new version's"),
    ))
}

fn map(run: &Run, at: StepAddress, old: &Map, new: &Map) -> Changed {
    let other = |reason: &str| Some((MisfitCode::MapChanged, reason.to_owned()));
    if old.collect_failures != new.collect_failures {
        return other("it is under way, and the new version treats failed items in another way");
    }
    if !past::is_same_kind(&old.step.action, &new.step.action) {
        return other("it is under way, and the step inside is of another type");
    }
    changed(run, at, &old.step.action, &new.step.action)
}

fn group(run: &Run, at: StepAddress, old: &Group, new: &Group) -> Changed {
    let other = |reason: String| Some((MisfitCode::WaitChanged, reason));
    if old.wanted != new.wanted {
        return other(
            "it is under way, and the new version waits for another number of its waits".to_owned(),
        );
    }
    let names =
        |group: &Group| group.members.iter().map(|member| Arc::clone(&member.name)).collect::<Vec<_>>();
    if names(old) != names(new) {
        return other("it is under way, and the new version has other waits in it".to_owned());
    }
    old.members.iter().zip(&new.members).find_map(|(old, new)| {
        if past::is_same_kind(&old.action, &new.action) {
            changed_wait(run, at, &old.path, &old.action, &new.action)
        } else {
            other(format!("it is under way, and its wait `{}` is of another type", old.path))
        }
    })
}

/// The event id that the step run waits for, as it was recorded.
fn recorded_event<'r>(run: &'r Run, at: StepAddress, name: &str) -> Option<&'r str> {
    let wait = run.waitpoint(*run.step(at)?.waits.get(name)?)?;
    Some(&wait.listens_for.event()?.event_id)
}

fn is_constant(template: &crate::expression::Template, text: Option<&str>) -> bool {
    text.is_some() && template.as_constant().and_then(|constant| constant.as_str()) == text
}
