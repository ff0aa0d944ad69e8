//! Whether the new order leads to where the run is, by the ways that its steps took.

use std::collections::BTreeSet;

use crate::definition::{Definition, Order, Target};
use crate::flow::{Exit, not_taken};
use crate::id::StepAddress;
use crate::moving::{Misfit, MisfitCode, Plan, past};
use crate::run::Run;
use crate::status::StepStatus;

pub(super) fn arrange(run: &Run, to: &Definition, plan: &mut Plan, misfits: &mut Vec<Misfit>) {
    match (run.definition.order, to.order) {
        (Order::Sequence, Order::Sequence) => Past::of(run, to, plan).walk(plan, misfits),
        (Order::Graph, Order::Graph) => Past::of(run, to, plan).join(plan, misfits),
        (Order::Sequence, Order::Graph) => misfits.push(Misfit::of_run(
            MisfitCode::OrderChanged,
            "the run takes its steps as they are written, and the new version is a graph (`after`)",
        )),
        (Order::Graph, Order::Sequence) => misfits.push(Misfit::of_run(
            MisfitCode::OrderChanged,
            "the run is one of a graph (`after`), and the new version's steps follow each other as written",
        )),
    }
}

/// The past of a run, by the steps of the new definition.
struct Past<'a> {
    run: &'a Run,
    to: &'a Definition,
    /// The index of each step in the old definition; `None` for a step that is new, or not begun.
    was: Vec<Option<u16>>,
}

impl<'a> Past<'a> {
    fn of(run: &'a Run, to: &'a Definition, plan: &Plan) -> Past<'a> {
        let mut was = vec![None; to.steps.len()];
        for (old, new) in &plan.steps {
            was[usize::from(*new)] = Some(*old);
        }
        Past { run, to, was }
    }

    fn status(&self, step: u16) -> StepStatus {
        self.was[usize::from(step)]
            .map_or(StepStatus::Pending, |old| self.run.step_status(StepAddress::step(old)))
    }

    fn steps(&self) -> impl Iterator<Item = u16> {
        (0..).take(self.to.steps.len())
    }

    fn name(&self, step: u16) -> &str {
        &self.to.step(step).name
    }

    /// How a completed step leads on.
    fn exit(&self, step: u16) -> Exit {
        match self.was[usize::from(step)] {
            Some(old) => past::exit(self.run, old, self.to.step(step)),
            None => Exit::Next,
        }
    }

    /// Follows the written steps as the run did, to where it is.
    fn walk(&self, plan: &mut Plan, misfits: &mut Vec<Misfit>) {
        let active = self.steps().find(|step| is_begun(self.status(*step)));
        let mut taken = BTreeSet::new();
        let mut step = 0;
        let here = loop {
            let status = self.status(step);
            let exit = match status {
                StepStatus::Completed => self.exit(step),
                StepStatus::Skipped if self.to.step(step).when.is_some() => Exit::Next,
                StepStatus::Skipped => return misfits.push(self.not_done(step, "the run skipped it")),
                StepStatus::Running | StepStatus::Waiting | StepStatus::Failed => break step,
                StepStatus::Pending | StepStatus::Cancelled => match active {
                    Some(active) => {
                        let reason = format!("it comes before `{}`, where the run is", self.name(active));
                        return misfits.push(self.not_done(step, &reason));
                    }
                    None => break step,
                },
            };
            taken.insert(step);
            let target = match exit {
                Exit::Next => self.to.step(step).next,
                Exit::Branch { taken, .. } | Exit::Goto(taken) => taken,
            };
            match target {
                Target::Step(next) => step = next,
                Target::End => {
                    let reason = "the new version ends after it, and the run has gone on";
                    return misfits.push(Misfit::of(self.name(step), MisfitCode::StepOutOfOrder, reason));
                }
            }
        };
        for step in self.steps().filter(|step| *step != here && !taken.contains(step)) {
            let reason = match self.status(step) {
                StepStatus::Completed | StepStatus::Running | StepStatus::Waiting | StepStatus::Failed => {
                    format!("the run took it, and the new order does not lead by it to `{}`", self.name(here))
                }
                StepStatus::Skipped if step > here => {
                    format!("the run skipped it, and the new order has it after `{}`", self.name(here))
                }
                StepStatus::Pending if step < here => {
                    plan.skips.push(step);
                    continue;
                }
                StepStatus::Pending | StepStatus::Skipped | StepStatus::Cancelled => continue,
            };
            misfits.push(Misfit::of(self.name(step), MisfitCode::StepOutOfOrder, reason));
        }
        if self.status(here) == StepStatus::Pending {
            plan.ready.push(here);
        }
    }

    fn not_done(&self, step: u16, why: &str) -> Misfit {
        Misfit::of(
            self.name(step),
            MisfitCode::StepNotDone,
            format!("the new version would have done it: {why}"),
        )
    }

    /// Checks each step of the new graph: what it is after is done, and the way to it was taken, or was not.
    fn join(&self, plan: &mut Plan, misfits: &mut Vec<Misfit>) {
        let completed = || self.steps().filter(|step| self.status(*step) == StepStatus::Completed);
        let untaken: BTreeSet<u16> =
            completed().flat_map(|step| not_taken(self.to, step, self.exit(step))).collect();
        for step in self.steps() {
            let defined = self.to.step(step);
            let undone = defined.after.iter().find(|before| !self.status(**before).is_settled());
            let is_taken = defined.after.is_empty()
                || !untaken.contains(&step)
                    && defined.after.iter().any(|before| self.status(*before) == StepStatus::Completed);
            let is_skipped = match self.status(step) {
                StepStatus::Pending => {
                    if undone.is_none() {
                        plan.ready.push(step);
                    }
                    continue;
                }
                StepStatus::Cancelled => continue,
                StepStatus::Skipped => true,
                StepStatus::Completed | StepStatus::Running | StepStatus::Waiting | StepStatus::Failed => {
                    false
                }
            };
            if let Some(undone) = undone {
                let reason = format!(
                    "the run has come to it, and the new version has it after `{}`, which the run has not done",
                    self.name(*undone)
                );
                misfits.push(Misfit::of(&defined.name, MisfitCode::StepOutOfOrder, reason));
            } else if is_skipped && is_taken && defined.when.is_none() {
                misfits.push(self.not_done(step, "the run skipped it"));
            } else if !is_skipped && !is_taken {
                let reason = "the run took it, and by the new version's branches it would have been skipped";
                misfits.push(Misfit::of(&defined.name, MisfitCode::StepOutOfOrder, reason));
            }
        }
        plan.not_taken = untaken.into_iter().collect();
    }
}

/// Whether a step has begun and has not ended.
fn is_begun(status: StepStatus) -> bool {
    match status {
        StepStatus::Running | StepStatus::Waiting | StepStatus::Failed => true,
        StepStatus::Pending | StepStatus::Completed | StepStatus::Skipped | StepStatus::Cancelled => false,
    }
}
