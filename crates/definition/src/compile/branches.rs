//! Doubtful ways through a written sequence: a branch that runs into the other one, a step no way leads to.

use crate::findings::{Findings, quoted};
use crate::problem::{Code, Problem};
use crate::{Action, END, OnTimeout, Step, Target, document};

pub(super) fn warn(written: &[document::Step], steps: &[Step], findings: &mut Findings) {
    let reached = reachable(steps, 0, None);
    for (index, step) in steps.iter().enumerate().filter(|(index, _)| !reached[*index]) {
        findings.warning(|| {
            let message = format!("no way leads to the step {}", quoted(&step.name));
            Problem::new(format!("/steps/{index}"), Code::Unreachable, message)
        });
    }
    let mut reported = vec![false; steps.len()];
    for step in steps.iter().enumerate().filter(|(index, _)| reached[*index]).map(|(_, step)| step) {
        if let Action::Condition { on_true: Target::Step(a), on_false: Some(Target::Step(b)), .. } =
            step.action
            && a != b
        {
            // All jumps go forward, so only the upper branch can run into the lower one.
            fall_through(
                usize::from(a.min(b)),
                usize::from(a.max(b)),
                written,
                steps,
                &mut reported,
                findings,
            );
        }
    }
}

/// The written order alone leads from a step of the upper branch into the lower one.
fn fall_through(
    upper: usize,
    lower: usize,
    written: &[document::Step],
    steps: &[Step],
    reported: &mut [bool],
    findings: &mut Findings,
) {
    let last = lower - 1;
    let goes_on = !matches!(steps[last].action, Action::Condition { on_false: Some(_), .. });
    if goes_on
        && written[last].next.is_none()
        && !reported[last]
        && reachable(steps, upper, Some(lower))[last]
    {
        reported[last] = true;
        findings.warning(|| {
            let (upper, lower) = (quoted(&steps[upper].name), quoted(&steps[lower].name));
            let message = format!("the branch {upper} runs on into the other branch, {lower}");
            Problem::new(format!("/steps/{last}"), Code::FallThrough, message)
                .expected(format!("`next` here: `{END}`, a later step, or {lower} if it is meant"))
        });
    }
}

/// The steps some way leads to from `start`, not going beyond `until`.
fn reachable(steps: &[Step], start: usize, until: Option<usize>) -> Vec<bool> {
    let mut reached = vec![false; steps.len()];
    reached[start] = true;
    // Jumps go forward: whatever leads to a step is above it.
    for index in start..until.unwrap_or(steps.len()) {
        if reached[index] {
            for target in ways_on(&steps[index]) {
                if let Target::Step(next) = target {
                    reached[usize::from(next)] = true;
                }
            }
        }
    }
    reached
}

fn ways_on(step: &Step) -> Vec<Target> {
    if let Action::Condition { on_true, on_false, .. } = &step.action {
        // A condition that is skipped goes on like any other step.
        let skipped = step.when.as_ref().map(|_| step.next);
        return [*on_true, on_false.unwrap_or(step.next)].into_iter().chain(skipped).collect();
    }
    let exits = step.action.exits();
    let goes_on = step.when.is_some() || !always_jumps(&step.action);
    exits.targets().chain(goes_on.then_some(step.next)).collect()
}

/// Whether each of several waits leads elsewhere than to the next step, and so does a timeout.
fn always_jumps(action: &Action) -> bool {
    let Action::Group(group) = action else { return false };
    let goes_on_late = group.deadline.timeout.is_some() && group.deadline.on_timeout == OnTimeout::Continue;
    !goes_on_late && group.members.iter().all(|member| member.goto.is_some())
}
